/* stats: figures of rows, and what counts as a loss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "stats.h"

static void test_percentiles_are_nearest_rank(void **state)
{
    (void)state;
    struct tb_series series = {0};
    assert_int_equal(tb_series_percentile(&series, 0.5), 0);
    assert_true(tb_series_mean(&series) == 0);
    for (uint64_t value = 100; value > 0; value--)
        assert_int_equal(tb_series_add(&series, value), TB_OK);
    static const struct {
        double fraction;
        uint64_t value;
    } cases[] = {{0, 1},    {0.01, 1},  {0.07, 7},    {0.071, 8}, {0.5, 50},
                 {0.9, 90}, {0.99, 99}, {0.991, 100}, {1, 100}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(tb_series_percentile(&series, cases[i].fraction),
                         cases[i].value);
    assert_true(tb_series_mean(&series) == 50.5);
    assert_int_equal(tb_series_add(&series, 0), TB_OK);
    assert_int_equal(tb_series_percentile(&series, 0), 0);
    tb_memory_free(series.values);
}

static struct tb_stats_row row_of(const char *session, const char *agent,
                                  uint64_t usage, uint64_t counted)
{
    return (struct tb_stats_row){
        .session_id = tb_span_of(session),
        .agent = tb_span_of(agent),
        .priority = TB_SPAN("HIGH"),
        .input_length = usage,
        .output_length = 10,
        .block_count = usage / 64,
        .new_tokens = counted / 2,
        .has_usage = true,
        .usage_tokens = usage,
        .counted_tokens = counted,
    };
}

static void add(struct tb_stats *stats, struct tb_stats_row row)
{
    assert_int_equal(tb_stats_add_row(stats, &row), TB_OK);
}

static void test_rows(void **state)
{
    (void)state;
    struct tb_stats stats = {0};
    add(&stats, row_of("a", "planner", 1000, 1000));
    add(&stats, row_of("b", "worker", 1000, 750));
    add(&stats, row_of("a", "worker", 200, 250));
    assert_int_equal(stats.row_count, 3);
    assert_int_equal(stats.sessions.count, 2);
    assert_int_equal(stats.turns.sum, 3);
    assert_int_equal(stats.turns.values[0], 2);
    assert_int_equal(stats.new_tokens, 1000);
    assert_int_equal(stats.usage_row_count, 3);
    assert_int_equal(stats.adjusted_count, 2);
    assert_int_equal(stats.usage_led_count, 2);
    assert_int_equal(stats.block_tokens, 2200);
    assert_true(tb_stats_cached_share(&stats) == 1200.0 / 2200);
    assert_int_equal(stats.difference_permille.count, 2);
    assert_int_equal(stats.difference_permille.sum, 500);
    assert_int_equal(stats.agents.count, 2);
    const struct tb_stats_group *worker = &stats.agent_groups[1];
    assert_int_equal(worker->row_count, 2);
    assert_int_equal(worker->input_tokens, 1200);
    assert_int_equal(worker->adjusted_count, 2);
    assert_int_equal(stats.agent_groups[0].adjusted_count, 0);
    assert_int_equal(stats.priorities.count, 1);
    assert_int_equal(stats.priority_groups[0].output_tokens, 30);
    assert_int_equal(tb_series_percentile(&stats.turns, 1), 2);
    tb_stats_release(&stats);
}

static void test_many_agents(void **state)
{
    (void)state;
    struct tb_stats stats = {0};
    char name[20];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 1000; i++) {
            (void)snprintf(name, sizeof(name), "agent-%d", i);
            add(&stats, row_of(name, name, 100, 90));
        }
    }
    assert_int_equal(stats.agents.count, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(stats.agent_groups[i].row_count, 2);
        assert_int_equal(stats.agent_groups[i].difference_permille.sum, 200);
    }
    tb_stats_release(&stats);
}

static void test_row_without_usage_agent_and_priority(void **state)
{
    (void)state;
    struct tb_stats stats = {0};
    struct tb_stats_row row = {.session_id = TB_SPAN("s"), .input_length = 5};
    row.is_output_unknown = true;
    add(&stats, row);
    row.has_usage = true; /* a server that counted nothing */
    row.counted_tokens = 5;
    row.has_cached = true;
    add(&stats, row);
    assert_int_equal(stats.agents.count, 0);
    assert_int_equal(stats.priorities.count, 0);
    assert_int_equal(stats.usage_row_count, 0);
    assert_int_equal(stats.adjusted_count, 0);
    assert_int_equal(stats.cached_row_count, 1);
    assert_int_equal(stats.output_unknown_count, 2);
    tb_stats_release(&stats);
}

static void test_skips_and_messages(void **state)
{
    (void)state;
    struct tb_stats stats = {0};
    struct tb_error error;
    for (int i = 0; i < TB_STATS_MAX_MESSAGES + 5; i++) {
        tb_fail(&error, TB_ERR_TYPE, "number %d", i);
        tb_stats_add_skip(&stats, TB_SKIP_UNREADABLE, &error);
    }
    tb_stats_add_skip(&stats, TB_SKIP_NO_END, NULL);
    assert_int_equal(tb_stats_skipped(&stats), TB_STATS_MAX_MESSAGES + 6);
    assert_int_equal(stats.message_count, TB_STATS_MAX_MESSAGES + 5);
    assert_string_equal(stats.messages[0].message, "number 0");
    assert_string_equal(stats.messages[TB_STATS_MAX_MESSAGES - 1].message,
                        "number 19");
    for (int skip = 0; skip < TB_SKIP_COUNT; skip++) {
        assert_true(strlen(tb_skip_key((tb_skip)skip)) > 0);
        assert_true(strlen(tb_skip_text((tb_skip)skip)) > 0);
    }
    tb_stats_release(&stats);
}

static void test_losses(void **state)
{
    (void)state;
    struct tb_stats stats = {0};
    assert_false(tb_stats_has_loss(&stats));
    stats.empty_session_count = stats.image_count = 1;
    stats.output_unknown_count = stats.overlap_count = 1;
    assert_false(tb_stats_has_loss(&stats));
    uint64_t *const losses[] = {
        &stats.skipped[TB_SKIP_SURROGATE], &stats.lost_record_count,
        &stats.cut_session_count,          &stats.uncounted_answer_count,
        &stats.lone_surrogate_count,       &stats.bad_utf8_count};
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        *losses[i] = 1;
        assert_true(tb_stats_has_loss(&stats));
        *losses[i] = 0;
    }
    tb_stats_release(&stats);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    tb_status status = TB_ERR_MEMORY;
    for (long count = 0; status != TB_OK; count++) {
        struct tb_stats stats = {0};
        struct tb_stats_row row = row_of("session", "agent", 100, 90);
        tb_memory_fail_after(count);
        status = tb_stats_add_row(&stats, &row);
        tb_memory_fail_after(-1);
        assert_true(status == TB_OK || status == TB_ERR_MEMORY);
        tb_stats_release(&stats);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentiles_are_nearest_rank),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_many_agents),
        cmocka_unit_test(test_row_without_usage_agent_and_priority),
        cmocka_unit_test(test_skips_and_messages),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
