/* tokenizer: a BPE's vocabulary and merges, which are read and looked up many
 * at a time, and by two threads: the same as one by one, faults at the same
 * place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "bpe_pair.h"
#include "byte_level.h"
#include "memory.h"
#include "pool.h"
#include "tokenizer_model.h"
#include "utf8.h"

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

/* ---- a long list ------------------------------------------------------------
 */

/* How a merge is written: what is not plain is read by the reader alone. */
enum spelling { PLAIN, AS_PAIR, ESCAPED, SPACED, MIXED };

enum {
    LETTERS = 60,
    LONGEST = 8,
    LONG_MERGES = LETTERS * LETTERS * LONGEST, /* 300 KB: for two threads */
    NO_FAULT = -1
};

static void put(struct tb_buffer *json, const char *text)
{
    assert_int_equal(tb_buffer_append(json, tb_span_of(text)), TB_OK);
}

// The letter that stands for `n`: 'A' to '}' but for the backslash.
static char letter(unsigned n)
{
    return (char)(n + 'A' < '\\' ? n + 'A' : n + 'A' + 1);
}

// Merge `n` is of `left`, one to eight letters, and `right`, a letter.
static void name_merge(unsigned n, char left[LONGEST + 1], char right[2])
{
    unsigned len = n / (LETTERS * LETTERS) + 1;
    memset(left, letter(n / LETTERS % LETTERS), len);
    left[len] = '\0';
    right[0] = letter(n % LETTERS);
    right[1] = '\0';
}

static void put_merge(struct tb_buffer *json, unsigned n,
                      enum spelling spelling)
{
    char left[LONGEST + 1], right[2], text[64];
    name_merge(n, left, right);
    if (spelling == MIXED)
        spelling = (enum spelling)(n * 2654435761u >> 30);
    static const char *const forms[] = {[PLAIN] = "\"%s %s\"",
                                        [AS_PAIR] = "[\"%s\", \"%s\"]",
                                        [ESCAPED] = "\"%s \\u%04x\"",
                                        [SPACED] = " [ \"%s\"\t,\"%s\"\r]  "};
    if (spelling == ESCAPED)
        (void)snprintf(text, sizeof(text), forms[spelling], left,
                       (unsigned)right[0]);
    else
        (void)snprintf(text, sizeof(text), forms[spelling], left, right);
    put(json, text);
}

/* Letters, what they make by twos and more, and the sign for what is no UTF-8,
 * alone and with an A in front. A line for each merge; in line `bad` and in
 * those that follow, in its place, `fault`. */
static void make_long_file(struct tb_buffer *json, enum spelling spelling,
                           int bad, const char *fault)
{
    unsigned id = 2;
    char text[64], left[LONGEST + 1], right[2];
    tb_buffer_clear(json);
    put(json, "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"\xEF\xBF\xBD\":0,"
              "\"A\xEF\xBF\xBD\":1");
    for (unsigned n = 0; n < LETTERS; n++) {
        (void)snprintf(text, sizeof(text), ",\"%c\":%u", letter(n), id++);
        put(json, text);
    }
    for (unsigned n = 0; n < LONG_MERGES; n++) {
        name_merge(n, left, right);
        (void)snprintf(text, sizeof(text), ",\"%s%s\": %u", left, right, id++);
        put(json, text);
    }
    put(json, "},\"merges\":[\n");
    for (unsigned n = 0; n < LONG_MERGES; n++) {
        if (n > 0)
            put(json, ",\n");
        if (bad != NO_FAULT && n >= (unsigned)bad)
            put(json, fault);
        else
            put_merge(json, n, spelling);
    }
    put(json, "\n]}}");
}

static struct tb_tokenizer *read_long_file(const struct tb_buffer *json)
{
    struct tb_tokenizer *tokenizer = NULL;
    struct tb_error error = {0};
    if (tb_tokenizer_from_json(tb_buffer_span(json), &tokenizer, &error))
        fail_msg("%llu: %s", (unsigned long long)error.line, error.message);
    return tokenizer;
}

static void expect_same_merges(const struct tb_tokenizer *a,
                               const struct tb_tokenizer *b)
{
    assert_int_equal(a->bpe.merge_count, b->bpe.merge_count);
    for (uint32_t i = 0; i < a->bpe.merge_slot_count; i++) {
        const struct tb_merge *merge = &a->bpe.merges[i];
        if (merge->left != TB_NO_TOKEN)
            assert_int_equal(tb_bpe_find_merge(&b->bpe, TB_SPAN(""),
                                               merge->left, merge->right),
                             (uint64_t)merge->rank << 32 | merge->id);
    }
}

// From here on, and until it is given back, this thread may use one core.
static cpu_set_t use_one_core(void)
{
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    CPU_ZERO(&one);
    for (size_t core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &all)) {
            CPU_SET(core, &one);
            break;
        }
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(tb_pool_core_count(), 1);
    return all;
}

static void test_every_spelling_is_the_same(void **state)
{
    (void)state;
    struct tb_buffer json = TB_BUFFER(1 << 24);
    cpu_set_t all = use_one_core();
    make_long_file(&json, ESCAPED, NO_FAULT, NULL);
    struct tb_tokenizer *wanted = read_long_file(&json);
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
    assert_int_equal(wanted->bpe.merge_count, LONG_MERGES);
    for (int spelling = PLAIN; spelling <= MIXED; spelling++) {
        make_long_file(&json, (enum spelling)spelling, NO_FAULT, NULL);
        struct tb_tokenizer *got = read_long_file(&json);
        expect_same_merges(wanted, got);
        tb_tokenizer_free(got);
    }
    tb_tokenizer_free(wanted);
    tb_buffer_release(&json);
}

// What is no UTF-8 is U+FFFD, which may merge.
static void test_no_utf8(void **state)
{
    (void)state;
    struct tb_buffer json = TB_BUFFER(1 << 24);
    for (int bad = 0; bad <= LONG_MERGES; bad += LONG_MERGES / 3) {
        make_long_file(&json, PLAIN, bad, "\"A \xFF\"");
        struct tb_tokenizer *tokenizer = read_long_file(&json);
        assert_int_equal(tokenizer->bpe.merge_count, bad + (bad < LONG_MERGES));
        struct tb_span both = TB_SPAN("A\xEF\xBF\xBD");
        assert_int_equal(tb_vocab_find(&tokenizer->bpe.vocab, both), 1);
        tb_tokenizer_free(tokenizer);
    }
    tb_buffer_release(&json);
}

static void test_first_fault_of_a_long_list(void **state)
{
    (void)state;
    static const struct {
        const char *json, *message;
    } faults[] = {
        {"\"A ~\"", "names '~'"},
        {"\"A A A\"", "more than two tokens"},
        {"[\"A\"]", "needs two tokens"},
        {"\"AA\"", "with a space between"},
        {"\"A A\" \"A\"", "expected ','"},
        {"7", "expected a string"},
        {"", "expected a value"},
    };
    static const int places[] = {0, 32, LONG_MERGES / 2 + 1, LONG_MERGES - 2};
    struct tb_buffer json = TB_BUFFER(1 << 24);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        for (size_t k = 0; k < sizeof(places) / sizeof(places[0]); k++) {
            struct tb_tokenizer *tokenizer;
            struct tb_error error = {0};
            make_long_file(&json, PLAIN, places[k], faults[i].json);
            assert_int_not_equal(tb_tokenizer_from_json(tb_buffer_span(&json),
                                                        &tokenizer, &error),
                                 TB_OK);
            if (!strstr(error.message, faults[i].message))
                fail_msg("%s: %s", faults[i].json, error.message);
            assert_int_equal(error.line, places[k] + 2);
        }
    tb_buffer_release(&json);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct tb_buffer json = TB_BUFFER(1 << 24);
    struct tb_tokenizer *tokenizer;
    tb_status status = TB_ERR_MEMORY;
    make_long_file(&json, MIXED, NO_FAULT, NULL);
    for (long n = 0; status != TB_OK; n++) {
        tb_memory_fail_after(n);
        status =
            tb_tokenizer_from_json(tb_buffer_span(&json), &tokenizer, NULL);
        tb_memory_fail_after(-1);
        assert_true(status == TB_OK || status == TB_ERR_MEMORY);
        assert_true(n < 1000);
    }
    tb_tokenizer_free(tokenizer);
    tb_buffer_release(&json);
}

// The alphabet from its definition, and everything that is not in it.
static void test_byte_level(void **state)
{
    (void)state;
    uint8_t text[TB_UTF8_MAX_LEN + 1], bytes[sizeof(text)];
    size_t len;
    for (uint32_t code_point = 0; code_point < 0x110000; code_point++) {
        int byte = tb_byte_of_code_point(code_point);
        text[0] = 'x';
        struct tb_span span = {text, 1 + tb_utf8_encode(code_point, text + 1)};
        assert_int_equal(tb_byte_level_decode(span, bytes, &len), byte >= 0);
        if (byte >= 0)
            assert_int_equal(tb_code_point_of_byte((uint8_t)byte), code_point);
        if (byte >= 0)
            assert_true(len == 2 && bytes[0] == 'x' && bytes[1] == byte);
    }
    for (unsigned pair = 0; pair < 1 << 16; pair++) {
        uint32_t code_point = 0;
        text[0] = (uint8_t)(pair >> 8);
        text[1] = (uint8_t)pair;
        struct tb_span span = {text, 2};
        bool is_good = true;
        for (size_t at = 0; at < 2;) {
            at += tb_utf8_decode(span, at, &code_point);
            is_good = is_good && tb_byte_of_code_point(code_point) >= 0;
        }
        assert_int_equal(tb_byte_level_decode(span, bytes, &len), is_good);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_is_one_by_one),
        cmocka_unit_test(test_twins),
        cmocka_unit_test(test_merges),
        cmocka_unit_test(test_place_of_a_fault),
        cmocka_unit_test(test_every_spelling_is_the_same),
        cmocka_unit_test(test_no_utf8),
        cmocka_unit_test(test_first_fault_of_a_long_list),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_byte_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
