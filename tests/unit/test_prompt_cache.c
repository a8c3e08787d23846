/* tokenizer: ids that are taken over from an earlier prompt must be those that
 * encoding from scratch gives. The same for other tokenizers is held by
 * tests/oracle/resume_driver.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "memory.h"
#include "prompt_cache.h"
#include "safe_cut.h"
#include "utf8.h"

struct fixture {
    struct tb_tokenizer *tokenizer;
    struct tb_encoder *encoder; /* of the cache */
    struct tb_encoder *plain;   /* from scratch */
    struct tb_tokens wanted;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    assert_int_equal(tb_tokenizer_open("builtin", &fixture.tokenizer, NULL),
                     TB_OK);
    assert_int_equal(tb_encoder_new(fixture.tokenizer, &fixture.encoder),
                     TB_OK);
    assert_int_equal(tb_encoder_new(fixture.tokenizer, &fixture.plain), TB_OK);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    tb_tokens_release(&fixture->wanted);
    tb_encoder_free(fixture->encoder);
    tb_encoder_free(fixture->plain);
    tb_tokenizer_free(fixture->tokenizer);
    return 0;
}

static struct tb_prompt_cache *new_cache(const struct fixture *fixture)
{
    struct tb_prompt_cache *cache;
    assert_int_equal(tb_prompt_cache_new(fixture->encoder, true, &cache),
                     TB_OK);
    return cache;
}

static const char *text_of(struct tb_span text)
{
    static char shown[4096];
    size_t len = text.len < sizeof(shown) ? text.len : sizeof(shown) - 1;
    memcpy(shown, text.ptr, len);
    shown[len] = '\0';
    return shown;
}

/* Encodes both ways and compares. Returns what the cache says. */
static struct tb_prompt_tokens check(struct fixture *fixture,
                                     struct tb_prompt_cache *cache,
                                     struct tb_span text, uint64_t tag)
{
    struct tb_prompt_tokens got;
    fixture->wanted.count = 0;
    assert_int_equal(tb_encoder_encode(fixture->plain, text, &fixture->wanted),
                     TB_OK);
    assert_int_equal(tb_prompt_cache_encode(cache, text, tag, &got), TB_OK);
    bool is_equal =
        got.count == fixture->wanted.count &&
        (got.count == 0 || memcmp(got.ids, fixture->wanted.ids,
                                  got.count * sizeof(*got.ids)) == 0);
    if (!is_equal)
        fail_msg("other ids than from scratch for: %s", text_of(text));
    assert_true(got.shared_count <= got.count);
    assert_true(got.shared_count == 0 || got.base_tag != TB_PROMPT_NO_TAG);
    return got;
}

static const char prose[] =
    "You are a helpful agent. Use the tools that you have; don't guess.\n\n"
    "## Tools\n\n1. search(query): finds pages, e.g. \"weather in "
    "Z\xC3\xBCrich\""
    ".\n2. fetch(url) reads one page ; it costs 20 ms.\n\n"
    "User: what's the weather in \xE6\x9D\xB1\xE4\xBA\xAC, and why? I'd like "
    "3 sentences, NOT MORE.  Thanks!\r\n\r\n<|im_end|>\n"
    "Assistant: I'll look it up. HTTPServer said {\"temp\": 21.5, \"sky\": "
    "\"clear\"} , so it is warm; the wind comes from the sea\xE2\x80\xA6 and "
    "CAN'T be felt downtown. cafe\xCC\x81 au lait, na\xC3\xAFve, \xF0\x9F\x98"
    "\x80\xF0\x9F\x98\x80 smile.\n\tif x:\n\t\treturn 12345678, y   ,z\n"
    "<|endoftext|> the end. And then a last part that goes on and on, word "
    "after word, so that more than one checkpoint lies in it: one two three "
    "four five six seven eight nine ten eleven twelve, thirteen, fourteen.";

/* The prose again and again: pieces are longer where a text is. */
static struct tb_span long_prose(void)
{
    static char text[8 * sizeof(prose)];
    for (size_t at = 0; at < sizeof(text); at += sizeof(prose)) {
        memcpy(text + at, prose, sizeof(prose));
        text[at + sizeof(prose) - 1] = ' ';
    }
    return (struct tb_span){(const uint8_t *)text, sizeof(text)};
}

static bool is_between_characters(struct tb_span text, size_t at)
{
    return at == text.len || (text.ptr[at] & 0xC0) != 0x80;
}

static void cut_at_every_byte(struct fixture *fixture, struct tb_span text,
                              size_t from)
{
    struct tb_prompt_cache *cache = new_cache(fixture);
    size_t reused = 0;
    for (size_t len = from; len <= text.len; len++) {
        if (!is_between_characters(text, len))
            continue;
        struct tb_span cut = {text.ptr, len};
        check(fixture, cache, text, 2 * len);
        reused += check(fixture, cache, cut, 2 * len + 1).shared_count;
    }
    assert_true(reused > 0);
    tb_prompt_cache_free(cache);
}

static void test_text_cut_at_every_byte(void **state)
{
    struct tb_span text = long_prose();
    cut_at_every_byte(*state, tb_span_of(prose), 0);
    cut_at_every_byte(*state, text, text.len - 2 * sizeof(prose));
}

static void grow_by_every_byte(struct fixture *fixture, struct tb_span text,
                               size_t from)
{
    struct tb_prompt_cache *cache = new_cache(fixture);
    for (size_t len = from; len <= text.len; len++)
        if (is_between_characters(text, len))
            check(fixture, cache, (struct tb_span){text.ptr, len}, len);
    tb_prompt_cache_free(cache);
}

static void test_text_grows_by_every_byte(void **state)
{
    struct tb_span text = long_prose();
    grow_by_every_byte(*state, tb_span_of(prose), 0);
    grow_by_every_byte(*state, text, text.len - 2 * sizeof(prose));
}

static void test_both_parts_of_a_cut_text(void **state)
{
    struct fixture *fixture = *state;
    struct tb_span text = tb_span_of(prose);
    struct tb_tokens whole = {0}, parts = {0};
    size_t count = 0;
    assert_int_equal(tb_encoder_encode(fixture->plain, text, &whole), TB_OK);
    for (size_t at = tb_safe_cut_after(text, 0); at < text.len;
         at = tb_safe_cut_after(text, at)) {
        struct tb_span front = {text.ptr, at};
        parts.count = 0;
        assert_int_equal(tb_encoder_encode(fixture->plain, front, &parts),
                         TB_OK);
        assert_int_equal(tb_encoder_encode_rest(fixture->plain,
                                                tb_span_from(text, at), &parts),
                         TB_OK);
        assert_int_equal(parts.count, whole.count);
        assert_memory_equal(parts.ids, whole.ids,
                            whole.count * sizeof(*whole.ids));
        count++;
    }
    assert_true(count > 40);
    tb_tokens_release(&whole);
    tb_tokens_release(&parts);
}

/* ---- random texts -----------------------------------------------------------
 */

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void append_random(uint64_t *seed, struct tb_buffer *text, size_t count)
{
    static const char *const parts[] = {" ",
                                        "  ",
                                        " the",
                                        " a",
                                        "b ",
                                        ". so ",
                                        "don't",
                                        "'re",
                                        "'",
                                        "\n",
                                        "\r\n",
                                        "\n\n ",
                                        "\t",
                                        "HTTPGet",
                                        "X",
                                        "s",
                                        "123",
                                        "0 ",
                                        ") x",
                                        "; then",
                                        "\xCC\x81",
                                        "e\xCC\x81",
                                        "\xE6\x9D\xB1",
                                        "\xE3\x80\x82",
                                        "<|endoftext|>",
                                        "<|end",
                                        "|>",
                                        "\xF0\x9F\x98\x80",
                                        "...",
                                        "{\"k\":",
                                        " word after word, all plain",
                                        "\xC2\xA0",
                                        "\xE2\x80\xA8"};
    for (size_t i = 0; i < count; i++)
        assert_int_equal(
            tb_buffer_append(
                text, tb_span_of(parts[next_random(seed) %
                                       (sizeof(parts) / sizeof(parts[0]))])),
            TB_OK);
}

/* Another text that has its beginning in common with `text`. */
static void edit(uint64_t *seed, struct tb_span text, struct tb_buffer *edited)
{
    size_t at = text.len ? next_random(seed) % (text.len + 1) : 0;
    while (!is_between_characters(text, at))
        at++;
    tb_buffer_clear(edited);
    struct tb_span kept = {text.ptr, at};
    assert_int_equal(tb_buffer_append(edited, kept), TB_OK);
    append_random(seed, edited, next_random(seed) % 6);
    size_t go_on = at + next_random(seed) % 9;
    while (go_on < text.len && !is_between_characters(text, go_on))
        go_on++;
    if (next_random(seed) % 3 && go_on < text.len)
        assert_int_equal(tb_buffer_append(edited, tb_span_from(text, go_on)),
                         TB_OK);
}

static void test_random_edits(void **state)
{
    struct fixture *fixture = *state;
    struct tb_prompt_cache *cache = new_cache(fixture);
    struct tb_buffer text = TB_BUFFER(1 << 20), edited = TB_BUFFER(1 << 20);
    uint64_t seed = 3, tag = 0, reused = 0;
    for (int trial = 0; trial < 300; trial++) {
        tb_buffer_clear(&text);
        append_random(&seed, &text, next_random(&seed) % 300);
        check(fixture, cache, tb_buffer_span(&text), tag++);
        for (int turn = 0; turn < 8; turn++) {
            edit(&seed, tb_buffer_span(&text), &edited);
            reused += check(fixture, cache, tb_buffer_span(&edited), tag++)
                          .shared_count;
        }
    }
    assert_true(reused > 0);
    tb_buffer_release(&text);
    tb_buffer_release(&edited);
    tb_prompt_cache_free(cache);
}

/* ---- what else it promises --------------------------------------------------
 */

static void test_alternating_agents_find_their_prompts(void **state)
{
    struct fixture *fixture = *state;
    struct tb_prompt_cache *cache = new_cache(fixture);
    static const char fronts[3] = {'x', 'y', 'z'};
    struct tb_buffer text = TB_BUFFER(1 << 20);
    for (uint64_t turn = 0; turn < 12; turn++) {
        uint64_t agent = turn % 3;
        tb_buffer_clear(&text);
        assert_int_equal(tb_buffer_append_byte(&text, (uint8_t)fronts[agent]),
                         TB_OK);
        for (uint64_t i = 0; i <= turn / 3; i++)
            assert_int_equal(tb_buffer_append(&text, tb_span_of(prose)), TB_OK);
        struct tb_prompt_tokens got =
            check(fixture, cache, tb_buffer_span(&text), turn);
        if (turn >= 3) {
            assert_int_equal(got.base_tag, turn - 3);
            assert_true(got.shared_count > got.count / 4);
        }
    }
    tb_buffer_release(&text);
    tb_prompt_cache_free(cache);
}

static void test_without_reuse_nothing_is_shared(void **state)
{
    struct fixture *fixture = *state;
    struct tb_prompt_cache *cache;
    assert_int_equal(tb_prompt_cache_new(fixture->encoder, false, &cache),
                     TB_OK);
    for (uint64_t tag = 0; tag < 3; tag++) {
        struct tb_prompt_tokens got =
            check(fixture, cache, tb_span_of(prose), tag);
        assert_int_equal(got.shared_count, 0);
        assert_true(got.base_tag == TB_PROMPT_NO_TAG);
    }
    tb_prompt_cache_free(cache);
    tb_prompt_cache_free(NULL);
}

/* Prompts of some megabytes, each of which continues the one before; one that
 * begins otherwise takes the place of those. */
static void test_huge_prompts_share_too(void **state)
{
    struct fixture *fixture = *state;
    struct tb_prompt_cache *cache = new_cache(fixture);
    struct tb_buffer text = TB_BUFFER(1 << 24);
    while (text.len < (9 << 19)) {
        assert_int_equal(tb_buffer_append(&text, tb_span_of(prose)), TB_OK);
        assert_int_equal(tb_buffer_append(&text, TB_SPAN(" ")), TB_OK);
    }
    struct tb_span whole = tb_buffer_span(&text);
    struct tb_span other = tb_span_from(whole, sizeof(prose) / 2);
    check(fixture, cache, (struct tb_span){whole.ptr, 4 << 20}, 0);
    for (size_t less = 3; less > 0; less--) {
        struct tb_span grown = {whole.ptr, whole.len - less * sizeof(prose)};
        struct tb_prompt_tokens tokens = check(fixture, cache, grown, less);
        assert_true(tokens.shared_count > tokens.count / 4 * 3);
    }
    check(fixture, cache, other, 4);
    assert_int_equal(check(fixture, cache, other, 5).base_tag, 4);
    assert_int_equal(check(fixture, cache, whole, 6).shared_count, 0);
    tb_prompt_cache_free(cache);
    tb_buffer_release(&text);
}

static void test_goes_on_after_a_failed_allocation(void **state)
{
    struct fixture *fixture = *state;
    struct tb_buffer text = TB_BUFFER(1 << 20), edited = TB_BUFFER(1 << 20);
    uint64_t seed = 9, failed = 0;
    for (long allowed = 0; allowed < 30; allowed++) {
        struct tb_prompt_cache *cache = new_cache(fixture);
        tb_buffer_clear(&text);
        append_random(&seed, &text, 200);
        struct tb_prompt_tokens got;
        check(fixture, cache, tb_buffer_span(&text), 0);
        for (int turn = 0; turn < 4; turn++) {
            edit(&seed, tb_buffer_span(&text), &edited);
            append_random(&seed, &edited, 400);
            tb_memory_fail_after(allowed);
            failed += tb_prompt_cache_encode(cache, tb_buffer_span(&edited), 1,
                                             &got) != TB_OK;
            tb_memory_fail_after(-1);
            check(fixture, cache, tb_buffer_span(&text), 2);
            check(fixture, cache, tb_buffer_span(&edited), 3);
        }
        tb_prompt_cache_free(cache);
    }
    assert_true(failed > 0);
    tb_buffer_release(&text);
    tb_buffer_release(&edited);
}

static void test_safe_cuts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t from, at;
    } cases[] = {
        {"a b", 0, 1},      {"a b", 1, 3},        {"ab cd ef", 0, 2},
        {"ab cd ef", 2, 5}, {"a  b", 0, 4},       {"a B", 0, 3},
        {"a. b", 0, 2},     {"a! b", 0, 4},       {"1 b", 0, 1},
        {"(x) y", 0, 3},    {"a ", 0, 2},         {"", 0, 0},
        {" a b", 0, 2},     {"\xC3\xA9 b", 0, 4}, {"a \xC3\xA9", 0, 4},
        {"a\n b", 0, 4},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(
            tb_safe_cut_after(tb_span_of(cases[i].text), cases[i].from),
            cases[i].at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_cut_at_every_byte),
        cmocka_unit_test(test_text_grows_by_every_byte),
        cmocka_unit_test(test_both_parts_of_a_cut_text),
        cmocka_unit_test(test_random_edits),
        cmocka_unit_test(test_alternating_agents_find_their_prompts),
        cmocka_unit_test(test_without_reuse_nothing_is_shared),
        cmocka_unit_test(test_huge_prompts_share_too),
        cmocka_unit_test(test_goes_on_after_a_failed_allocation),
        cmocka_unit_test(test_safe_cuts),
    };
    return cmocka_run_group_tests_name("prompt_cache", tests, set_up,
                                       tear_down);
}
