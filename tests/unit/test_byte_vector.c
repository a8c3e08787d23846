/* What sixteen bytes at a time give is what one byte at a time gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "byte_vector.h"

#if defined(TB_HAS_BYTES16)
enum { ROUNDS = 20000 };

// Every second byte is ASCII's; borders come often enough of themselves.
static void make_bytes(uint32_t *seed, uint8_t bytes[64])
{
    for (int i = 0; i < 64; i++) {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 17;
        *seed ^= *seed << 5;
        bytes[i] = (uint8_t)(*seed & 256 ? *seed : *seed & 127);
    }
}

typedef bool (*single)(uint8_t byte);
typedef tb_bytes16 (*sixteen)(tb_bytes16 bytes);

static bool is_quote(uint8_t byte)
{
    return byte == '"';
}
static tb_bytes16 quotes(tb_bytes16 bytes)
{
    return tb_bytes16_equal(bytes, '"');
}

static bool is_small(uint8_t byte)
{
    return byte >= 'a' && byte <= 'z';
}
static tb_bytes16 small_ones(tb_bytes16 bytes)
{
    return tb_bytes16_between(bytes, 'a', 'z');
}

static bool is_first_or_last(uint8_t byte)
{
    return byte == 1 || byte == '~';
}
static tb_bytes16 first_or_last(tb_bytes16 bytes)
{
    return tb_bytes16_or(tb_bytes16_between(bytes, 1, 1),
                         tb_bytes16_between(bytes, '~', '~'));
}

static bool is_any(uint8_t byte)
{
    return byte >= 1 && byte <= '~';
}
static tb_bytes16 any_of(tb_bytes16 bytes)
{
    return tb_bytes16_between(bytes, 1, '~');
}

static bool is_high(uint8_t byte)
{
    return byte > 127;
}
static tb_bytes16 high_ones(tb_bytes16 bytes)
{
    return tb_bytes16_high(bytes);
}

static bool is_letter_of_any_case(uint8_t byte)
{
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}
static tb_bytes16 letters_of_any_case(tb_bytes16 bytes)
{
    return small_ones(tb_bytes16_or(bytes, tb_bytes16_of(0x20)));
}

static const struct {
    single of_one;
    sixteen of_all;
} comparisons[] = {
    {is_quote, quotes},
    {is_small, small_ones},
    {is_first_or_last, first_or_last},
    {is_any, any_of},
    {is_high, high_ones},
    {is_letter_of_any_case, letters_of_any_case},
};

static void compare_sixteen(const uint8_t *bytes, single of_one, uint64_t bits)
{
    unsigned first = 0;
    while (first < 16 && !of_one(bytes[first]))
        first++;
    assert_int_equal(bits != 0, first < 16);
    if (bits == 0)
        return;
    assert_int_equal(tb_bytes16_first(bits), first);
    uint64_t before = tb_bytes16_before(bits);
    assert_int_equal(before, (UINT64_C(1) << first * TB_BYTES16_WIDTH) - 1);
}

static void compare(const uint8_t bytes[64], single of_one, sixteen of_all)
{
    tb_bytes16 masks[4];
    uint64_t wanted = 0;
    for (int i = 0; i < 4; i++) {
        masks[i] = of_all(tb_bytes16_load(bytes + 16 * i));
        compare_sixteen(bytes + 16 * i, of_one, tb_bytes16_bits(masks[i]));
    }
    for (int i = 0; i < 64; i++)
        wanted |= (uint64_t)of_one(bytes[i]) << i;
    assert_int_equal(tb_bytes64_bits(masks), wanted);
}

static void test_masks(void **state)
{
    (void)state;
    uint32_t seed = 2463534242u;
    uint8_t bytes[64];
    for (int round = 0; round < ROUNDS; round++) {
        make_bytes(&seed, bytes);
        for (size_t i = 0; i < sizeof(comparisons) / sizeof(*comparisons); i++)
            compare(bytes, comparisons[i].of_one, comparisons[i].of_all);
    }
}

static void test_store_is_load(void **state)
{
    (void)state;
    uint32_t seed = 123456789u;
    uint8_t bytes[64], copy[16];
    make_bytes(&seed, bytes);
    for (size_t at = 0; at <= 48; at++) {
        tb_bytes16_store(copy, tb_bytes16_load(bytes + at));
        assert_memory_equal(copy, bytes + at, sizeof(copy));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_store_is_load),
    };
    return cmocka_run_group_tests_name("byte_vector", tests, NULL, NULL);
}
#else
// This machine goes by single bytes: there is nothing to compare them with.
int main(void)
{
    return 0;
}
#endif
