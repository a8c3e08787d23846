/* tokenizer: a BPE's vocabulary and merges, which are read and looked up many
 * at a time: the same as one by one, faults at the same place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tokenizer.h"
#include "vocab.h"

enum { TOKENS = 500, MERGES = 300 };

static struct tb_span number_text(char *text, size_t size, unsigned number)
{
    int len = snprintf(text, size, "%x", number * 2654435761u);
    return (struct tb_span){(const uint8_t *)text, (size_t)len};
}

static void test_batch_is_one_by_one(void **state)
{
    (void)state;
    struct tb_vocab vocab;
    char texts[TB_VOCAB_BATCH][16];
    struct tb_span spans[TB_VOCAB_BATCH];
    tb_token ids[TB_VOCAB_BATCH];
    tb_vocab_init(&vocab);
    for (tb_token id = 0; id < TOKENS; id += 1 + id % 3) // with gaps
        assert_int_equal(
            tb_vocab_set(&vocab, id, number_text(texts[0], 16, id)), TB_OK);
    assert_int_equal(tb_vocab_index(&vocab, NULL, NULL), TB_OK);
    assert_false(vocab.has_twins);
    for (unsigned from = 0; from < TOKENS; from += TB_VOCAB_BATCH) {
        for (unsigned i = 0; i < TB_VOCAB_BATCH; i++)
            spans[i] = number_text(texts[i], sizeof(texts[i]), from + i);
        spans[5] = TB_SPAN("longer than any token of these");
        spans[6] = TB_SPAN("");
        tb_vocab_find_batch(&vocab, spans, ids, TB_VOCAB_BATCH);
        for (unsigned i = 0; i < TB_VOCAB_BATCH; i++)
            assert_int_equal(ids[i], tb_vocab_find(&vocab, spans[i]));
    }
    tb_vocab_release(&vocab);
}

static void test_twins(void **state)
{
    (void)state;
    struct tb_vocab vocab;
    tb_vocab_init(&vocab);
    for (tb_token id = 0; id < 3; id++)
        assert_int_equal(tb_vocab_set(&vocab, id, TB_SPAN("same")), TB_OK);
    assert_int_equal(tb_vocab_index(&vocab, NULL, NULL), TB_OK);
    assert_true(vocab.has_twins);
    assert_int_equal(tb_vocab_find(&vocab, TB_SPAN("same")), 2);
    tb_vocab_release(&vocab);
}

/* A vocabulary of a, b, ab, abb, abbb, ..., and merges of each with b; the
 * `bad`-th names what is not there. */
static tb_status make_file(struct tb_buffer *json, unsigned bad)
{
    TB_TRY(tb_buffer_printf(json, "{\"model\":{\"type\":\"BPE\",\"vocab\":{"
                                  "\"a\":0,\"b\":1"));
    for (unsigned i = 1; i <= MERGES; i++) {
        TB_TRY(tb_buffer_printf(json, ",\"a"));
        for (unsigned k = 0; k < i; k++)
            TB_TRY(tb_buffer_append_byte(json, 'b'));
        TB_TRY(tb_buffer_printf(json, "\":%u", i + 1));
    }
    TB_TRY(tb_buffer_printf(json, "},\"merges\":[\n"));
    for (unsigned i = 1; i <= MERGES; i++) {
        TB_TRY(tb_buffer_printf(json, "%s\"a", i > 1 ? ",\n" : ""));
        for (unsigned k = 1; k < i; k++)
            TB_TRY(tb_buffer_append_byte(json, 'b'));
        TB_TRY(tb_buffer_printf(json, i == bad ? " x\"" : " b\""));
    }
    return tb_buffer_printf(json, "]}}");
}

static void test_merges(void **state)
{
    (void)state;
    struct tb_buffer json = TB_BUFFER(1 << 20);
    struct tb_tokenizer *tokenizer;
    struct tb_encoder *encoder;
    struct tb_tokens tokens = {0};
    char text[MERGES + 3] = "a";
    memset(text + 1, 'b', MERGES + 1);
    assert_int_equal(make_file(&json, 0), TB_OK);
    assert_int_equal(
        tb_tokenizer_from_json(tb_buffer_span(&json), &tokenizer, NULL), TB_OK);
    assert_int_equal(tb_encoder_new(tokenizer, &encoder), TB_OK);
    assert_int_equal(tb_encoder_encode(encoder, tb_span_of(text), &tokens),
                     TB_OK);
    assert_int_equal(tokens.count, 2);
    assert_int_equal(tokens.ids[0], MERGES + 1);
    assert_int_equal(tokens.ids[1], 1);
    tb_tokens_release(&tokens);
    tb_encoder_free(encoder);
    tb_tokenizer_free(tokenizer);
    tb_buffer_release(&json);
}

static void test_place_of_a_fault(void **state)
{
    (void)state;
    static const unsigned bad[] = {1, 2, 31, 32, 33, 64, 65, 200, MERGES};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct tb_buffer json = TB_BUFFER(1 << 20);
        struct tb_tokenizer *tokenizer;
        struct tb_error error = {0};
        assert_int_equal(make_file(&json, bad[i]), TB_OK);
        assert_int_equal(
            tb_tokenizer_from_json(tb_buffer_span(&json), &tokenizer, &error),
            TB_ERR_VALUE);
        assert_non_null(strstr(error.message, "names 'x'"));
        assert_int_equal(error.line, bad[i] + 1);
        const char *at = strstr((const char *)json.ptr, " x\"");
        assert_int_equal(error.offset, at - (const char *)json.ptr + 3);
        tb_buffer_release(&json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_is_one_by_one),
        cmocka_unit_test(test_twins),
        cmocka_unit_test(test_merges),
        cmocka_unit_test(test_place_of_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
