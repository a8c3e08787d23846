/* call_analysis, in_flight: figures of a few calls that can be told by hand,
 * times that make no sense, and any request for memory that fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "call_analysis.h"
#include "memory.h"

/* ---- calls in flight -------------------------------------------------------
 */

static void test_levels(void **state)
{
    (void)state;
    struct tb_in_flight flight;
    // One up to 4 ms, one from 1 to 3, one that begins when another ends.
    uint64_t starts[] = {3000, 0, 1000}, ends[] = {5000, 4000, 3000};
    static const uint64_t least[] = {1, 2, 2, 2, 1}, most[] = {1, 2, 2, 2, 1};
    tb_in_flight_count(&flight, starts, ends, 3);
    assert_int_equal(flight.width_ms, 1);
    assert_int_equal(flight.count, 5);
    assert_int_equal(flight.most, 2);
    assert_true(flight.busy_us == 8000);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(flight.bins[i].least, least[i]);
        assert_int_equal(flight.bins[i].most, most[i]);
    }
}

// However wide a bin, the shortest peak in it is told.
static void test_peak_in_wide_bin(void **state)
{
    (void)state;
    struct tb_in_flight flight;
    uint64_t starts[] = {0, 500, 500, 500}, ends[] = {1, 501, 501, 600000000};
    tb_in_flight_count(&flight, starts, ends, 4);
    assert_int_equal(flight.width_ms, 2048);
    assert_int_equal(flight.bins[0].most, 3);
    assert_int_equal(flight.bins[0].least, 0);
    assert_int_equal(flight.bins[1].least, 1);
    assert_int_equal(flight.bins[flight.count - 1].least, 0);
}

static void test_bins_fill_up(void **state)
{
    (void)state;
    struct tb_in_flight flight;
    uint64_t start = 0, end = TB_FLIGHT_BINS * UINT64_C(1000);
    tb_in_flight_count(&flight, &start, &end, 1);
    assert_int_equal(flight.width_ms, 1);
    assert_int_equal(flight.count, TB_FLIGHT_BINS);
    start = 0;
    end = TB_FLIGHT_BINS * UINT64_C(1000) + 1;
    tb_in_flight_count(&flight, &start, &end, 1);
    assert_int_equal(flight.width_ms, 2);
    assert_int_equal(flight.count, TB_FLIGHT_BINS / 2 + 1);
    start = 0;
    end = UINT64_C(1) << 61;
    tb_in_flight_count(&flight, &start, &end, 1);
    assert_true(flight.count > TB_FLIGHT_BINS / 2 &&
                flight.count <= TB_FLIGHT_BINS);
    tb_in_flight_count(&flight, NULL, NULL, 0);
    assert_int_equal(flight.width_ms + flight.count + flight.most, 0);
}

/* ---- calls -----------------------------------------------------------------
 */

static struct tb_call_record call(const char *session, double start_s,
                                  double end_s)
{
    return (struct tb_call_record){.session = tb_span_of(session),
                                   .start_s = start_s,
                                   .first_token_s = NAN,
                                   .end_s = end_s,
                                   .skipped = TB_SPAN("no_start")};
}

static void test_odd_times(void **state)
{
    (void)state;
    static const double times[][2] = {
        {NAN, NAN}, {NAN, 5},  {INFINITY, 1e300}, {-1e300, 1e300}, {1e15, 2e15},
        {10, 9},    {10, NAN}, {10, 10},          {12, 13.5},      {-1e10, 5e9},
    };
    struct tb_call_analysis analysis = {0};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct tb_call_record record = call("s", times[i][0], times[i][1]);
        assert_int_equal(tb_call_analysis_add(&analysis, &record), TB_OK);
    }
    assert_int_equal(tb_call_analysis_finish(&analysis), TB_OK);
    assert_int_equal(analysis.all.service_ms.count, 3);
    assert_int_equal(tb_tally_percentile(&analysis.all.service_ms, 1),
                     UINT64_C(15000000000000));
    assert_int_equal(analysis.timeless_count, 7);
    assert_int_equal(analysis.flight.most, 2);
    assert_int_equal(analysis.gap_ms.count, 0);
    assert_int_equal(analysis.overlap_count, 4);
    tb_call_analysis_release(&analysis);
}

static void test_lanes(void **state)
{
    (void)state;
    enum { SESSIONS = TB_CALL_LANES + 6 };
    struct tb_call_analysis analysis = {0};
    for (int i = 0; i < SESSIONS; i++)
        for (int k = 0; k <= i % 10; k++) {
            char name[16];
            (void)snprintf(name, sizeof(name), "s%d", i);
            struct tb_call_record record = call(name, 100 - k, 200);
            assert_int_equal(tb_call_analysis_add(&analysis, &record), TB_OK);
        }
    assert_int_equal(tb_call_analysis_finish(&analysis), TB_OK);
    assert_int_equal(analysis.lane_count, TB_CALL_LANES);
    for (size_t i = 0; i < TB_CALL_LANES; i++) {
        const struct tb_call_lane *lane = &analysis.lanes[i];
        // Those of ten calls first, and of them the earlier ones.
        assert_int_equal(lane->count, 10 - i / 3);
        assert_int_equal(lane->session, 9 - i / 3 + 10 * (i % 3));
        for (size_t k = 1; k < lane->count; k++)
            assert_true(analysis.calls[lane->first + k - 1].start_us <
                        analysis.calls[lane->first + k].start_us);
    }
    tb_call_analysis_release(&analysis);
}

/* ---- memory ----------------------------------------------------------------
 */

static tb_status analyze(struct tb_call_analysis *analysis)
{
    for (uint64_t i = 0; i < 100; i++) {
        char agent[16];
        (void)snprintf(agent, sizeof(agent), "agent %d", (int)(i % 20));
        struct tb_call_record record = call(agent, (double)i, (double)i + 1.5);
        record.agent = record.model = tb_span_of(agent);
        record.has_row = i % 3 > 0;
        record.row = i + 1;
        record.input_length = record.usage_tokens = 2 * i;
        record.has_usage = record.has_cached = true;
        TB_TRY(tb_call_analysis_add(analysis, &record));
        struct tb_call_row row = {2 * i, 2 * i, i};
        TB_TRY(tb_call_analysis_add_row(analysis, i + 1, &row));
    }
    return tb_call_analysis_finish(analysis);
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    tb_status status = TB_ERR_MEMORY;
    long count = 0;
    for (; status == TB_ERR_MEMORY && count < 10000; count++) {
        struct tb_call_analysis analysis = {0};
        tb_memory_fail_after(count);
        status = analyze(&analysis);
        tb_memory_fail_after(-1);
        assert_true(status != TB_OK || analysis.unfit_count == 0);
        tb_call_analysis_release(&analysis);
    }
    assert_int_equal(status, TB_OK);
    assert_true(count > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_peak_in_wide_bin),
        cmocka_unit_test(test_bins_fill_up),
        cmocka_unit_test(test_odd_times),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
