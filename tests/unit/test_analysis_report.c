/* report: the figures of rows in text and JSON: what only a terminal shows,
 * names that are long, and memory that runs out. Whole pages stand in
 * tests/golden/analyze_*. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "analysis.h"
#include "memory.h"

static const uint64_t ids[] = {1, 2, 3, 4, 5, 6, 7, 8};

static tb_status add_rows(struct tb_trace_analysis *analysis)
{
    for (uint64_t i = 0; i < 40; i++) {
        struct tb_trace_row row = {
            .session = i % 2 ? TB_SPAN("a") : TB_SPAN("b"),
            .agent = i % 3 ? TB_SPAN("an agent with a very long name \xC3\xA9")
                           : TB_SPAN("x"),
            .priority = TB_SPAN("HIGH"),
            .input_length = 10 + i,
            .has_output = true,
            .output_length = i * i,
            .ids = ids,
            .id_count = (size_t)(10 + i + 7) / 8,
            .has_delay = true,
            .delay_ms = (double)i,
            .has_time = true,
            .time_ms = (double)i * 1000};
        TB_TRY(tb_trace_analysis_add(analysis, &row));
    }
    return tb_trace_analysis_finish(analysis);
}

static tb_status add_calls(struct tb_call_analysis *calls)
{
    for (uint64_t i = 0; i < 40; i++) {
        struct tb_call_record record = {
            .session = i % 2 ? TB_SPAN("a") : TB_SPAN("b"),
            .agent = TB_SPAN("an agent with a very long name \xC3\xA9"),
            .model = TB_SPAN("x"),
            .start_s = (double)i * 1000,
            .first_token_s = (double)i * 1001,
            .end_s = (double)i * 1100 + 1,
            .has_row = i % 5 != 0,
            .row = i + 1,
            .input_length = 10 + i,
            .counted_tokens = 10,
            .skipped = TB_SPAN("no_end"),
            .is_failed = i % 5 == 0,
            .has_usage = true,
            .has_cached = true,
            .usage_tokens = 123456789,
            .cached_tokens = i};
        TB_TRY(tb_call_analysis_add(calls, &record));
    }
    return tb_call_analysis_finish(calls);
}

typedef tb_status (*report_fn)(const struct tb_analysis_report *report,
                               struct tb_buffer *buffer);

static tb_status make(report_fn function, unsigned width,
                      struct tb_buffer *buffer)
{
    static const uint64_t chosen[] = {3};
    struct tb_trace_analysis analysis;
    struct tb_call_analysis calls = {0};
    struct tb_analysis_report report = {.analysis = &analysis,
                                        .path = "rows.jsonl",
                                        .path_count = 1,
                                        .block_size_origin = "given",
                                        .rows_origin = "default",
                                        .chosen_blocks = chosen,
                                        .chosen_count = 1,
                                        .kv_bytes_per_token = 1 << 20,
                                        .hit_rate = TB_HIT_RATE_COUNT,
                                        .width = width,
                                        .calls = &calls,
                                        .calls_path = "calls.jsonl"};
    tb_status status = tb_trace_analysis_init(&analysis, 8, false, NULL, 0);
    if (status == TB_OK)
        status = add_rows(&analysis);
    if (status == TB_OK)
        status = add_calls(&calls);
    if (status == TB_OK)
        status = function(&report, buffer);
    tb_trace_analysis_release(&analysis);
    tb_call_analysis_release(&calls);
    return status;
}

static size_t widest_line(struct tb_span text)
{
    size_t widest = 0, column = 0;
    for (size_t i = 0; i < text.len; i++) {
        column = text.ptr[i] == '\n' ? 0 : column + 1;
        widest = column > widest ? column : widest;
    }
    return widest;
}

static void expect_text(unsigned width, bool has_pictures)
{
    struct tb_buffer buffer = TB_BUFFER(1 << 20);
    assert_int_equal(make(tb_analysis_text, width, &buffer), TB_OK);
    struct tb_span text = tb_buffer_span(&buffer);
    assert_int_equal(tb_span_contains(text, TB_SPAN("##")), has_pictures);
    assert_int_equal(tb_span_contains(text, TB_SPAN("  up to 64 ")), width > 0);
    assert_int_equal(tb_span_contains(text, TB_SPAN("in flight over time")),
                     width > 0);
    assert_true(tb_span_contains(text, TB_SPAN("service, s  ")));
    // Two bytes of one character are one column.
    assert_true(widest_line(text) <= (width > 80 ? width : 81));
    tb_buffer_release(&buffer);
}

static void test_pictures(void **state)
{
    (void)state;
    expect_text(0, false);
    expect_text(40, false);
    expect_text(60, true);
    expect_text(80, true);
    expect_text(200, true);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    static const report_fn functions[] = {tb_analysis_text, tb_analysis_json};
    for (size_t i = 0; i < 2; i++) {
        tb_status status = TB_ERR_MEMORY;
        long count = 0;
        for (; status == TB_ERR_MEMORY && count < 10000; count++) {
            struct tb_buffer buffer = TB_BUFFER(1 << 20);
            tb_memory_fail_after(count);
            status = make(functions[i], 80, &buffer);
            tb_memory_fail_after(-1);
            tb_buffer_release(&buffer);
        }
        assert_int_equal(status, TB_OK);
        assert_true(count > 20);
    }
}

static void test_limit(void **state)
{
    (void)state;
    struct tb_buffer buffer = TB_BUFFER(100);
    assert_int_equal(make(tb_analysis_text, 0, &buffer), TB_ERR_LIMIT);
    assert_int_equal(make(tb_analysis_json, 0, &buffer), TB_ERR_LIMIT);
    tb_buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
