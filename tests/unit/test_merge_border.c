/* Words that are cut where no merge joins two characters: the ids of the words
 * as a whole, for random vocabularies with merges of all sorts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "buffer.h"
#include "tokenizer_model.h"

#define SPACE "\xE2\x96\x81"

enum { MODELS = 300, TEXTS = 40, TOKENS_MOST = 64, PIECES_MOST = 40 };

static uint32_t next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* What texts are made of. Not every model has a token for each; two end with
 * the same byte as the space, and one text is the name of a byte's token. */
static const char *const characters[] = {
    SPACE,    "a", "b", "Z",        ".",        ",",
    "\n",     "7", "q", "\xC3\xA9", "\xD1\x81", "\xE4\xB8\x81",
    "<0x0A>",
};

enum { CHARACTERS = sizeof(characters) / sizeof(characters[0]) };

/* A vocabulary in the making; tokens are numbered as they come. */
struct vocabulary {
    char texts[TOKENS_MOST][64];
    unsigned count;
    struct tb_buffer merges;
};

static void add_token(struct vocabulary *made, const char *text)
{
    for (unsigned i = 0; i < made->count; i++)
        if (strcmp(made->texts[i], text) == 0)
            return;
    int len = snprintf(made->texts[made->count++], sizeof(made->texts[0]), "%s",
                       text);
    assert_in_range(len, 1, sizeof(made->texts[0]) - 1);
}

static void put_json(struct tb_buffer *json, const char *text)
{
    for (; *text; text++)
        assert_int_equal(*text == '\n'
                             ? tb_buffer_append(json, TB_SPAN("\\n"))
                             : tb_buffer_append_byte(json, (uint8_t)*text),
                         TB_OK);
}

static void add_merge(struct vocabulary *made, uint32_t *seed)
{
    char both[sizeof(made->texts[0])];
    const char *left = made->texts[next_random(seed) % made->count];
    const char *right = made->texts[next_random(seed) % made->count];
    if (snprintf(both, sizeof(both), "%s%s", left, right) >= (int)sizeof(both))
        return;
    struct tb_buffer *merges = &made->merges;
    assert_int_equal(
        tb_buffer_append(merges, tb_span_of(merges->len ? ",[\"" : "[\"")),
        TB_OK);
    put_json(merges, left);
    assert_int_equal(tb_buffer_append(merges, TB_SPAN("\",\"")), TB_OK);
    put_json(merges, right);
    assert_int_equal(tb_buffer_append(merges, TB_SPAN("\"]")), TB_OK);
    add_token(made, both);
}

/* Most have a token for each byte, some only a few, or none; some have no token
 * for what is unknown. */
static void add_byte_tokens(struct tb_buffer *json, unsigned from,
                            unsigned count)
{
    for (unsigned byte = 0; byte < count; byte++)
        assert_int_equal(
            tb_buffer_printf(json, ",\"<0x%02X>\":%u", byte, from + byte),
            TB_OK);
}

static void make_file(struct tb_buffer *json, uint32_t *seed)
{
    struct vocabulary made = {.merges = TB_BUFFER(1 << 20)};
    unsigned bytes = next_random(seed) % 4 == 0 ? next_random(seed) % 256 : 256;
    bool has_unknown = next_random(seed) % 4 != 0;
    for (unsigned i = 0; i + 1 < CHARACTERS; i++)
        if (next_random(seed) % 8 != 0)
            add_token(&made, characters[i]);
    // Sometimes a merge is of what stands for a byte.
    if (bytes == 256 && next_random(seed) % 4 == 0)
        add_token(&made, "<0x0A>");
    if (has_unknown)
        add_token(&made, "<unk>");
    unsigned merges = 1 + next_random(seed) % 30;
    for (unsigned i = 0; i < merges && made.count < TOKENS_MOST; i++)
        add_merge(&made, seed);
    assert_int_equal(
        tb_buffer_printf(json,
                         "{\"model\":{\"type\":\"BPE\",\"unk_token\":%s,"
                         "\"fuse_unk\":%s,\"byte_fallback\":true,\"vocab\":{",
                         has_unknown ? "\"<unk>\"" : "null",
                         next_random(seed) % 2 ? "true" : "false"),
        TB_OK);
    for (unsigned i = 0; i < made.count; i++) {
        assert_int_equal(tb_buffer_append(json, tb_span_of(i ? ",\"" : "\"")),
                         TB_OK);
        put_json(json, made.texts[i]);
        assert_int_equal(tb_buffer_printf(json, "\":%u", i), TB_OK);
    }
    add_byte_tokens(json, made.count, bytes);
    assert_int_equal(tb_buffer_append(json, TB_SPAN("},\"merges\":[")), TB_OK);
    assert_int_equal(tb_buffer_append(json, tb_buffer_span(&made.merges)),
                     TB_OK);
    assert_int_equal(tb_buffer_append(json, TB_SPAN("]}}")), TB_OK);
    tb_buffer_release(&made.merges);
}

static void make_text(struct tb_buffer *text, uint32_t *seed)
{
    tb_buffer_clear(text);
    for (unsigned left = next_random(seed) % PIECES_MOST; left > 0; left--)
        assert_int_equal(
            tb_buffer_append(
                text, tb_span_of(characters[next_random(seed) % CHARACTERS])),
            TB_OK);
}

static struct tb_tokenizer *load(const struct tb_buffer *json)
{
    struct tb_tokenizer *tokenizer;
    struct tb_error error = {0};
    if (tb_tokenizer_from_json(tb_buffer_span(json), &tokenizer, &error) !=
        TB_OK)
        fail_msg("%s", error.message);
    return tokenizer;
}

// Of how many parts the texts were, so that a test that cuts nothing fails.
static size_t compare_texts(const struct tb_tokenizer *cutting,
                            const struct tb_tokenizer *whole, uint32_t *seed)
{
    struct tb_encoder *encoders[2];
    struct tb_tokens tokens[2] = {0};
    struct tb_buffer text = TB_BUFFER(1 << 20);
    size_t parts = 0, ends[8 * PIECES_MOST];
    assert_int_equal(tb_encoder_new(cutting, &encoders[0]), TB_OK);
    assert_int_equal(tb_encoder_new(whole, &encoders[1]), TB_OK);
    for (unsigned i = 0; i < TEXTS; i++) {
        make_text(&text, seed);
        for (unsigned k = 0; k < 2; k++) {
            tokens[k].count = 0;
            assert_int_equal(tb_encoder_encode(encoders[k],
                                               tb_buffer_span(&text),
                                               &tokens[k]),
                             TB_OK);
        }
        assert_int_equal(tokens[0].count, tokens[1].count);
        if (tokens[0].count)
            assert_memory_equal(tokens[0].ids, tokens[1].ids,
                                tokens[0].count * sizeof(tb_token));
        if (cutting->bpe.borders.is_any)
            parts += tb_merge_borders_cut(&cutting->bpe.borders,
                                          tb_buffer_span(&text), 0, ends,
                                          sizeof(ends) / sizeof(ends[0]));
    }
    for (unsigned k = 0; k < 2; k++) {
        tb_tokens_release(&tokens[k]);
        tb_encoder_free(encoders[k]);
    }
    tb_buffer_release(&text);
    return parts;
}

static void test_parts_are_the_whole(void **state)
{
    (void)state;
    uint32_t seed = 20250501u;
    size_t parts = 0;
    for (unsigned i = 0; i < MODELS; i++) {
        struct tb_buffer json = TB_BUFFER(1 << 20);
        make_file(&json, &seed);
        struct tb_tokenizer *cutting = load(&json), *whole = load(&json);
        whole->bpe.borders.is_any = false;
        parts += compare_texts(cutting, whole, &seed);
        tb_tokenizer_free(cutting);
        tb_tokenizer_free(whole);
        tb_buffer_release(&json);
    }
    // More than one in two texts, of twenty characters, has a border.
    assert_true(parts > 2 * MODELS * TEXTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_are_the_whole),
    };
    return cmocka_run_group_tests_name("merge_border", tests, NULL, NULL);
}
