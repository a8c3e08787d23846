/* time_bins: exact, whatever the order and however far apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "time_bins.h"

static void add(struct tb_time_bins *bins, double ms, uint64_t tokens)
{
    tb_time_bins_add(
        bins, ms,
        &(struct tb_time_bin){.row_count = 1, .prompt_tokens = tokens});
}

static void test_one_place(void **state)
{
    (void)state;
    struct tb_time_bins bins = {0};
    tb_time_bins_finish(&bins);
    assert_int_equal(bins.count, 0);
    add(&bins, 1000.75, 3);
    add(&bins, 1000.25, 4);
    assert_int_equal(bins.count, 1);
    assert_true(bins.width_ms == 1 && bins.first == 1000);
    assert_int_equal(bins.items[0].row_count, 2);
    assert_int_equal(bins.items[0].prompt_tokens, 7);
}

static void test_border(void **state)
{
    (void)state;
    struct tb_time_bins bins = {0};
    add(&bins, 0, 1);
    add(&bins, TB_TIME_BINS - 1, 1);
    assert_true(bins.width_ms == 1);
    assert_int_equal(bins.count, TB_TIME_BINS);
    add(&bins, TB_TIME_BINS, 1);
    assert_true(bins.width_ms == 2);
    assert_int_equal(bins.count, TB_TIME_BINS / 2 + 1);
    add(&bins, -1, 1);
    assert_true(bins.width_ms == 2 && bins.first == -1);
    assert_int_equal(bins.items[1].row_count, 1);
}

static void test_any_order(void **state)
{
    (void)state;
    static const double times[] = {5,     -70000, 1e6,  0,    12.5,
                                   123.9, 99999,  -0.5, 4e5,  -3,
                                   1e6,   513,    511,  2048, 77};
    enum { COUNT = sizeof(times) / sizeof(times[0]) };
    struct tb_time_bins first = {0};
    for (size_t i = 0; i < COUNT; i++)
        add(&first, times[i], i + 1);
    for (size_t turn = 1; turn < COUNT; turn++) {
        struct tb_time_bins bins = {0};
        for (size_t i = COUNT; i-- > 0;)
            add(&bins, times[(i + turn) % COUNT], (i + turn) % COUNT + 1);
        assert_int_equal(bins.count, first.count);
        assert_true(bins.width_ms == first.width_ms &&
                    bins.first == first.first);
        assert_memory_equal(bins.items, first.items, sizeof(bins.items));
    }
    uint64_t rows = 0;
    for (uint32_t i = 0; i < first.count; i++)
        rows += first.items[i].row_count;
    assert_int_equal(rows, COUNT);
}

/* Beyond 2^53 bins have no numbers of their own. */
static void test_far_apart(void **state)
{
    (void)state;
    static const double pairs[][2] = {{-1.7e308, 1.7e308},
                                      {1e300, -1},
                                      {0x1p60, 0x1p60 + 256},
                                      {-0x1p60, 0x1p61},
                                      {1e300, 1.0001e300}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct tb_time_bins bins = {0};
        add(&bins, pairs[i][0], 1);
        add(&bins, pairs[i][1], 2);
        add(&bins, pairs[i][0], 4);
        assert_in_range(bins.count, 2, TB_TIME_BINS);
        uint64_t ends = bins.items[0].prompt_tokens +
                        bins.items[bins.count - 1].prompt_tokens;
        assert_int_equal(ends, 7);
        assert_true(isfinite(bins.first * bins.width_ms));
    }
}

static void test_open(void **state)
{
    (void)state;
    struct tb_time_bins bins = {0};
    static const uint64_t expected[] = {1, 2, 3, 1};
    for (int ms = 0; ms < 4; ms++)
        add(&bins, ms, 0);
    tb_time_bins_add(&bins, 2,
                     &(struct tb_time_bin){.row_count = 1, .session_count = 1});
    tb_time_bins_open(&bins, 0, 1);
    tb_time_bins_open(&bins, 1, 3);
    tb_time_bins_open(&bins, 2, 2);
    tb_time_bins_finish(&bins);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(bins.items[i].session_count, expected[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_place), cmocka_unit_test(test_border),
        cmocka_unit_test(test_any_order), cmocka_unit_test(test_far_apart),
        cmocka_unit_test(test_open),
    };
    return cmocka_run_group_tests_name("time_bins", tests, NULL, NULL);
}
