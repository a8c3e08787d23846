/* Words that are cut many at a time are those that the scanner gives one by
 * one, and the vector code sees in a block what its portable twin sees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "buffer.h"
#include "pattern.h"
#include "pattern_block.h"
#include "pattern_class.h"
#include "pretokenizer.h"
#include "utf8.h"

#ifndef TB_ROUNDS // slow builds have fewer
#define TB_ROUNDS 40000
#endif

enum { TEXT_LEN = 400, ROUNDS = TB_ROUNDS };

static uint32_t next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* What the patterns treat differently, and runs of it. Rounds differ in how
 * much of it is beyond ASCII: with much, blocks are hardly used. */
static void make_text(uint32_t *seed, struct tb_buffer *text)
{
    static const char *const ascii[] = {
        "a",   "b",  "Ab", "ABc", "the", " ",    " ",     "  ",    "\n",
        "\t",  "\r", "1",  "23",  "456", ".",    ",",     "'",     "'s",
        "'ll", "/",  "//", "-",   "(",   ");\n", "\n\n ", " \n\t", "\x01"};
    static const char *const other[] = {
        "\xC2\xA0",     "\xC3\xA9",         "\xCC\x81",     "\xD0\x94",
        "\xC5\xBF",     "\xE3\x80\x80",     "\xE4\xB8\xAD", "\xEF\xBC\x91",
        "\xE2\x80\x99", "\xF0\x9F\x98\x80", "\xE3\x81\x82", "\xE3\x83\xBB",
        "\xE3\x82\x99", "\xE9\xBE\xB0",     "\xC2\xB2",     "\xE2\x80\x8B",
        "\xC2\x85",     "\xF0\x91\xB7\xA0"};
    enum {
        ASCII_COUNT = sizeof(ascii) / sizeof(ascii[0]),
        OTHER_COUNT = sizeof(other) / sizeof(other[0]),
    };
    uint32_t among = next_random(seed) % 4 * 30; // one in so many is beyond
    size_t len = next_random(seed) % TEXT_LEN;
    tb_buffer_clear(text);
    while (text->len < len) {
        bool is_other = among && next_random(seed) % among == 0;
        const char *piece = is_other ? other[next_random(seed) % OTHER_COUNT]
                                     : ascii[next_random(seed) % ASCII_COUNT];
        uint32_t times = next_random(seed) % 16 ? 1 : next_random(seed) % 80;
        for (; times > 0; times--)
            assert_int_equal(tb_buffer_append(text, tb_span_of(piece)), TB_OK);
    }
}

static const tb_pattern_scan scanners[] = {
    tb_pattern_scan_gpt2,        tb_pattern_scan_llama3, tb_pattern_scan_qwen,
    tb_pattern_scan_cl100k_base, tb_pattern_scan_o200k,  tb_pattern_scan_tekken,
    tb_pattern_scan_kimi,        tb_pattern_scan_qwen35,
};

/* Steps one after the other, as files have them, and what they are as one. */
static const struct chain {
    tb_pattern_scan steps[3];
    size_t step_count;
    tb_pattern_scan scan;
    tb_pattern_cut cut;
} chains[] = {
    {{tb_pattern_scan_digits3, tb_pattern_scan_cjk, tb_pattern_scan_deepseek},
     3,
     tb_pattern_scan_deepseek_chain,
     tb_pattern_cut_deepseek_chain},
    {{tb_scan_numeric, tb_pattern_scan_gpt2},
     2,
     tb_pattern_scan_digits_gpt2,
     tb_pattern_cut_digits_gpt2},
};
enum { CHAIN_COUNT = sizeof(chains) / sizeof(chains[0]) };

static void compare(tb_pattern_cut cut, tb_pattern_scan scan,
                    struct tb_span text, size_t most)
{
    size_t ends[TEXT_LEN + TB_PATTERN_CUT_MORE];
    assert_non_null(cut);
    for (size_t at = 0; at < text.len;) {
        size_t count = cut(text, at, ends, most);
        assert_true(count > 0 && count <= most + TB_PATTERN_CUT_MORE);
        for (size_t i = 0; i < count; i++) {
            at = scan(text, at);
            if (ends[i] != at)
                fail_msg("%zu instead of %zu in '%.*s'", ends[i], at,
                         (int)text.len, (const char *)text.ptr);
        }
        assert_true(count >= most || at == text.len);
    }
}

static void compare_many(tb_pattern_cut cut, tb_pattern_scan scan,
                         uint32_t *seed)
{
    struct tb_buffer text = TB_BUFFER(1 << 16);
    for (int round = 0; round < ROUNDS; round++) {
        make_text(seed, &text);
        compare(cut, scan, tb_buffer_span(&text),
                1 + next_random(seed) % TEXT_LEN);
    }
    tb_buffer_release(&text);
}

static void test_cuts_are_scans(void **state)
{
    (void)state;
    uint32_t seed = 88172645u;
    for (size_t i = 0; i < sizeof(scanners) / sizeof(scanners[0]); i++)
        compare_many(tb_pattern_cut_of(scanners[i]), scanners[i], &seed);
    for (size_t i = 0; i < CHAIN_COUNT; i++)
        compare_many(chains[i].cut, chains[i].scan, &seed);
}

static void add_steps(const struct chain *from, struct tb_pretokenizer *to)
{
    for (size_t i = 0; i < from->step_count; i++)
        to->steps[to->step_count++] = (struct tb_pretokenizer_step){
            .scan = from->steps[i],
            .behavior = TB_SPLIT_ISOLATED,
            .has_gaps = from->steps[i] == tb_scan_numeric};
}

struct scanned {
    tb_pattern_scan scan;
    struct tb_span text;
    size_t at;
};

static tb_status on_word(void *context, struct tb_span word)
{
    struct scanned *scanned = context;
    size_t end = scanned->scan(scanned->text, scanned->at);
    if (word.ptr != scanned->text.ptr + scanned->at ||
        word.len != end - scanned->at)
        fail_msg("%zu instead of %zu in '%.*s'", end, scanned->at + word.len,
                 (int)scanned->text.len, (const char *)scanned->text.ptr);
    scanned->at = end;
    return TB_OK;
}

static void compare_with_steps(const struct chain *chain, uint32_t *seed)
{
    struct tb_buffer text = TB_BUFFER(1 << 16);
    struct tb_pretokenizer steps = {0};
    struct tb_pretokenizer_work work;
    tb_pretokenizer_work_init(&work);
    add_steps(chain, &steps);
    assert_ptr_equal(tb_pretokenizer_only_cut(&steps), chain->cut);
    for (int round = 0; round < ROUNDS; round++) {
        make_text(seed, &text);
        struct scanned scanned = {chain->scan, tb_buffer_span(&text), 0};
        // A step sees its piece only: texts end where pieces do.
        assert_int_equal(tb_pretokenizer_split(&steps, scanned.text, 0, &work,
                                               on_word, &scanned),
                         TB_OK);
        assert_int_equal(scanned.at, text.len);
    }
    tb_pretokenizer_work_release(&work);
    tb_buffer_release(&text);
}

static void test_chains_are_their_steps(void **state)
{
    (void)state;
    uint32_t seed = 362436069u;
    for (size_t i = 0; i < CHAIN_COUNT; i++)
        compare_with_steps(&chains[i], &seed);
}

/* The step for digits has newer tables than patterns have. What it knows more
 * of are signs for them, beyond U+FFFF. */
static void test_numbers_are_newer(void **state)
{
    (void)state;
    const uint32_t other = TB_CLASS_LETTER | TB_CLASS_MARK | TB_CLASS_SPACE;
    int newer_count = 0;
    for (uint32_t code = 0; code < 0x110000; code++) {
        uint8_t bytes[TB_UTF8_MAX_LEN];
        if (code >= 0xD800 && code < 0xE000)
            continue;
        struct tb_span text = {bytes, tb_utf8_encode(code, bytes)};
        uint32_t bits = tb_char_at(text, 0).bits;
        bool is_numeric = tb_scan_numeric(text, 0) == text.len;
        if (is_numeric == !!(bits & TB_CLASS_NUMBER))
            continue;
        if (!is_numeric || code <= 0xFFFF || bits & other)
            fail_msg("U+%04X", code);
        newer_count++;
    }
    assert_true(newer_count > 0);
}

static void test_blocks_are_their_twins(void **state)
{
    (void)state;
    uint32_t seed = 123456789u;
    uint8_t bytes[TB_BLOCK_LEN];
    for (int round = 0; round < 100000; round++) {
        struct tb_pattern_block vector, portable;
        for (int i = 0; i < TB_BLOCK_LEN; i++)
            bytes[i] = (uint8_t)next_random(&seed);
        tb_pattern_block(bytes, &vector);
        tb_pattern_block_portable(bytes, &portable);
        assert_memory_equal(&vector, &portable, sizeof(vector));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts_are_scans),
        cmocka_unit_test(test_chains_are_their_steps),
        cmocka_unit_test(test_numbers_are_newer),
        cmocka_unit_test(test_blocks_are_their_twins),
    };
    return cmocka_run_group_tests_name("pattern_cut", tests, NULL, NULL);
}
