/* tokenizer: the examples of docs/TOKENIZER.md say what the code does.
 *
 * An example is an indented line:
 *
 *     "text" -> [1, 2, 3]            ids by o200k_base
 *     o200k "text" -> ["a", " b"]    words by that pattern
 *     cut "text" -> ["a", " b"]      parts between all safe cuts
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "json_reader.h"
#include "pattern.h"
#include "safe_cut.h"

static size_t cut_scan(struct tb_span text, size_t at)
{
    return tb_safe_cut_after(text, at);
}

static tb_pattern_scan scan_of(struct tb_span name)
{
    static const struct {
        const char *name;
        tb_pattern_scan scan;
    } scans[] = {
        {"cut", cut_scan},
        {"gpt2", tb_pattern_scan_gpt2},
        {"cl100k_base", tb_pattern_scan_cl100k_base},
        {"llama3", tb_pattern_scan_llama3},
        {"qwen", tb_pattern_scan_qwen},
        {"o200k", tb_pattern_scan_o200k},
        {"tekken", tb_pattern_scan_tekken},
        {"kimi", tb_pattern_scan_kimi},
        {"qwen35", tb_pattern_scan_qwen35},
    };
    for (size_t i = 0; i < sizeof(scans) / sizeof(scans[0]); i++)
        if (tb_span_equal(name, tb_span_of(scans[i].name)))
            return scans[i].scan;
    return NULL;
}

struct example {
    const char *line; /* for messages */
    struct tb_span text;
    struct tb_json_reader result; /* before the list */
    struct tb_arena arena;
};

static bool next_item(struct example *example)
{
    bool found;
    assert_int_equal(tb_json_next_item(&example->result, &found), TB_OK);
    return found;
}

static void check_ids(struct example *example, struct tb_encoder *encoder)
{
    struct tb_tokens tokens = {0};
    size_t count = 0;
    assert_int_equal(tb_encoder_encode(encoder, example->text, &tokens), TB_OK);
    for (; next_item(example); count++) {
        struct tb_json_number number;
        assert_int_equal(tb_json_read_number(&example->result, &number), TB_OK);
        if (count == tokens.count || number.integer != tokens.ids[count])
            fail_msg("not so: %s", example->line);
    }
    if (count != tokens.count)
        fail_msg("%zu ids and not %zu: %s", tokens.count, count, example->line);
    tb_tokens_release(&tokens);
}

static void check_words(struct example *example, tb_pattern_scan scan)
{
    size_t at = 0;
    while (next_item(example)) {
        struct tb_span word;
        assert_int_equal(
            tb_json_read_string(&example->result, &example->arena, &word),
            TB_OK);
        size_t end = scan(example->text, at);
        struct tb_span got = {example->text.ptr + at, end - at};
        if (!tb_span_equal(got, word))
            fail_msg("not so: %s", example->line);
        at = end;
    }
    if (at != example->text.len)
        fail_msg("there is more: %s", example->line);
}

/* An indented line with an arrow behind a string is an example. */
static bool check_line(const char *line, struct tb_encoder *encoder)
{
    const char *first = line + strspn(line, " ");
    const char *quote = strchr(first, '"');
    const char *arrow = strstr(line, "\" -> [");
    if (first - line < 4 || !quote || !arrow || quote > arrow)
        return false;
    struct example example = {.line = line};
    struct tb_json_reader text;
    struct tb_span quoted = {(const uint8_t *)quote,
                             (size_t)(arrow + 1 - quote)};
    struct tb_span name = {(const uint8_t *)first, (size_t)(quote - first)};
    while (name.len && name.ptr[name.len - 1] == ' ')
        name.len--;
    tb_json_reader_init_span(&text, quoted, 0, 1);
    assert_int_equal(tb_json_read_string(&text, &example.arena, &example.text),
                     TB_OK);
    tb_json_reader_init_span(&example.result, tb_span_of(arrow + 5), 0, 1);
    assert_int_equal(tb_json_enter_array(&example.result), TB_OK);
    tb_pattern_scan scan = scan_of(name);
    if (name.len && !scan)
        fail_msg("no such pattern: %s", line);
    if (scan)
        check_words(&example, scan);
    else
        check_ids(&example, encoder);
    assert_int_equal(tb_json_expect_end(&example.result), TB_OK);
    tb_arena_release(&example.arena);
    return true;
}

static void test_examples(void **state)
{
    (void)state;
    struct tb_tokenizer *tokenizer;
    struct tb_encoder *encoder;
    char line[1024];
    unsigned count = 0;
    assert_int_equal(tb_tokenizer_open("builtin", &tokenizer, NULL), TB_OK);
    assert_int_equal(tb_encoder_new(tokenizer, &encoder), TB_OK);
    FILE *file = fopen(TB_DOCS "/TOKENIZER.md", "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        count += check_line(line, encoder);
    }
    (void)fclose(file);
    assert_true(count >= 20);
    tb_encoder_free(encoder);
    tb_tokenizer_free(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples)};
    return cmocka_run_group_tests_name("tokenizer_docs", tests, NULL, NULL);
}
