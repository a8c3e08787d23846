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
#include "pretokenizer.h"

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
        "\xC2\x85"};
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
    tb_pattern_scan_gpt2,   tb_pattern_scan_llama3,
    tb_pattern_scan_qwen,   tb_pattern_scan_cl100k_base,
    tb_pattern_scan_o200k,  tb_pattern_scan_tekken,
    tb_pattern_scan_kimi,   tb_pattern_scan_deepseek_chain,
    tb_pattern_scan_qwen35,
};

static void compare(tb_pattern_scan scan, struct tb_span text, size_t most)
{
    tb_pattern_cut cut = scan == tb_pattern_scan_deepseek_chain
                             ? tb_pattern_cut_deepseek_chain
                             : tb_pattern_cut_of(scan);
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

static void test_cuts_are_scans(void **state)
{
    (void)state;
    uint32_t seed = 88172645u;
    struct tb_buffer text = TB_BUFFER(1 << 16);
    for (size_t i = 0; i < sizeof(scanners) / sizeof(scanners[0]); i++) {
        for (int round = 0; round < ROUNDS; round++) {
            make_text(&seed, &text);
            compare(scanners[i], tb_buffer_span(&text),
                    1 + next_random(&seed) % TEXT_LEN);
        }
    }
    tb_buffer_release(&text);
}

/* DeepSeek's steps one after the other, as its file has them. */
static void add_steps(struct tb_pretokenizer *chain)
{
    static const tb_pattern_scan scans[] = {
        tb_pattern_scan_digits3, tb_pattern_scan_cjk, tb_pattern_scan_deepseek};
    for (size_t i = 0; i < sizeof(scans) / sizeof(scans[0]); i++)
        chain->steps[chain->step_count++] = (struct tb_pretokenizer_step){
            .scan = scans[i], .behavior = TB_SPLIT_ISOLATED};
}

struct scanned {
    struct tb_span text;
    size_t at;
};

static tb_status on_word(void *context, struct tb_span word)
{
    struct scanned *scanned = context;
    size_t end = tb_pattern_scan_deepseek_chain(scanned->text, scanned->at);
    if (word.ptr != scanned->text.ptr + scanned->at ||
        word.len != end - scanned->at)
        fail_msg("%zu instead of %zu in '%.*s'", end, scanned->at + word.len,
                 (int)scanned->text.len, (const char *)scanned->text.ptr);
    scanned->at = end;
    return TB_OK;
}

static void test_chain_is_its_steps(void **state)
{
    (void)state;
    uint32_t seed = 362436069u;
    struct tb_buffer text = TB_BUFFER(1 << 16);
    struct tb_pretokenizer chain = {0};
    struct tb_pretokenizer_work work;
    tb_pretokenizer_work_init(&work);
    add_steps(&chain);
    for (int round = 0; round < ROUNDS; round++) {
        make_text(&seed, &text);
        struct scanned scanned = {tb_buffer_span(&text), 0};
        // A step sees its piece only: texts end where pieces do.
        assert_int_equal(tb_pretokenizer_split(&chain, scanned.text, 0, &work,
                                               on_word, &scanned),
                         TB_OK);
        assert_int_equal(scanned.at, text.len);
    }
    tb_pretokenizer_work_release(&work);
    tb_buffer_release(&text);
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
        cmocka_unit_test(test_chain_is_its_steps),
        cmocka_unit_test(test_blocks_are_their_twins),
    };
    return cmocka_run_group_tests_name("pattern_cut", tests, NULL, NULL);
}
