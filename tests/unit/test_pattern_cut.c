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

enum { TEXT_LEN = 400, ROUNDS = 40000 };

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
        "\xC2\xA0",     "\xC3\xA9",        "\xCC\x81",     "\xD0\x94",
        "\xC5\xBF",     "\xE3\x80\x80",    "\xE4\xB8\xAD", "\xEF\xBC\x91",
        "\xE2\x80\x99", "\xF0\x9F\x98\x80"};
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
    tb_pattern_scan_kimi,
};

static void compare(tb_pattern_scan scan, struct tb_span text, size_t most)
{
    tb_pattern_cut cut = tb_pattern_cut_of(scan);
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
        cmocka_unit_test(test_blocks_are_their_twins),
    };
    return cmocka_run_group_tests_name("pattern_cut", tests, NULL, NULL);
}
