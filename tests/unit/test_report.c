/* report: the summary as text and JSON, and the meta file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "meta.h"
#include "summary.h"

static void add_row(struct tb_stats *stats, const char *session,
                    const char *agent, uint64_t usage, uint64_t counted)
{
    struct tb_stats_row row = {
        .session_id = tb_span_of(session),
        .agent = tb_span_of(agent),
        .input_length = usage,
        .output_length = 12,
        .block_count = (usage + 127) / 128,
        .new_tokens = usage / 4,
        .has_usage = true,
        .usage_tokens = usage,
        .counted_tokens = counted,
    };
    assert_int_equal(tb_stats_add_row(stats, &row), TB_OK);
}

static void fill(struct tb_stats *stats)
{
    add_row(stats, "conv_0", "planner", 1000, 1000);
    add_row(stats, "conv_0", "worker", 2000, 1500);
    add_row(stats, "conv_1", "worker", 4000, 3000);
    tb_stats_add_skip(stats, TB_SKIP_NO_END, NULL);
    stats->call_count = 4;
    stats->block_size = 128;
    (void)snprintf(stats->tokenizer, sizeof(stats->tokenizer), "builtin");
    (void)snprintf(stats->tokenizer_fingerprint,
                   sizeof(stats->tokenizer_fingerprint), "%032d", 7);
    (void)snprintf(stats->output_path, sizeof(stats->output_path), "a.jsonl");
}

static void expect_contains(const struct tb_buffer *buffer, const char *text)
{
    if (!tb_span_contains(tb_buffer_span(buffer), tb_span_of(text)))
        fail_msg("'%s' is not in:\n%.*s", text, (int)buffer->len,
                 (const char *)buffer->ptr);
}

static void expect_lacks(const struct tb_buffer *buffer, const char *text)
{
    if (tb_span_contains(tb_buffer_span(buffer), tb_span_of(text)))
        fail_msg("'%s' is in:\n%.*s", text, (int)buffer->len,
                 (const char *)buffer->ptr);
}

static void test_text(void **state)
{
    (void)state;
    struct tb_stats stats = {0};
    struct tb_buffer text = TB_BUFFER(1 << 20);
    fill(&stats);
    assert_int_equal(tb_summary_text(&stats, 0, &text), TB_OK);
    expect_contains(&text, "2 sessions, 3 rows -> a.jsonl\n");
    expect_contains(&text, "input tokens           1,000     2,333     2,000 "
                           "    4,000     4,000     4,000\n");
    expect_contains(&text, "75.0 % of all prompt tokens stand in blocks that "
                           "an");
    expect_contains(&text, "ours differ in 2 of 3 rows, by\n");
    expect_contains(&text, "warning");
    expect_contains(&text, "4 in all: 3 rows, 1 skipped\n");
    expect_contains(&text, "1 started but never ended\n");
    expect_contains(&text, "increments");
    expect_lacks(&text, "lost");
    expect_lacks(&text, "by priority");
    expect_lacks(&text, "--compat");
    tb_buffer_release(&text);
    tb_stats_release(&stats);
}

static void test_text_fits_80_columns(void **state)
{
    (void)state;
    struct tb_stats stats = {0};
    struct tb_buffer text = TB_BUFFER(1 << 20);
    fill(&stats);
    add_row(&stats, "conv_2",
            "a name of an agent that is much longer than any column", 9876543,
            1234567);
    stats.is_compat = true;
    stats.lone_surrogate_count = stats.image_count = 1234567;
    stats.lost_record_count = stats.cut_session_count = 1;
    stats.output_counted_count = stats.output_unknown_count = 1234567;
    stats.uncounted_answer_count = 1234567;
    stats.cached_row_count = stats.cached_prompt_tokens = 9876543;
    stats.overlap_count = 1234567;
    assert_int_equal(tb_summary_text(&stats, 0, &text), TB_OK);
    expect_contains(&text, "--compat");
    size_t column = 0;
    for (size_t i = 0; i < text.len; i++) {
        column = text.ptr[i] == '\n' ? 0 : column + 1;
        assert_true(column <= 80);
    }
    tb_buffer_release(&text);
    tb_stats_release(&stats);
}

static void test_text_shows_largest_agents(void **state)
{
    (void)state;
    struct tb_stats stats = {0};
    struct tb_buffer text = TB_BUFFER(1 << 20);
    char name[20];
    for (int i = 0; i < 13; i++) {
        (void)snprintf(name, sizeof(name), "agent-%d", i);
        add_row(&stats, "s", name, 100, 100);
        if (i == 12)
            add_row(&stats, "s", name, 100, 100);
    }
    assert_int_equal(tb_summary_text(&stats, 0, &text), TB_OK);
    expect_contains(&text, "agent-12");
    expect_contains(&text, "agent-0 ");
    expect_contains(&text, "agent-8 ");
    expect_lacks(&text, "agent-9 ");
    expect_contains(&text, "  and 3 more\n");
    tb_buffer_release(&text);
    tb_stats_release(&stats);
}

/* On a terminal there are pictures, as wide as it is. */
static void test_text_with_pictures(void **state)
{
    (void)state;
    struct tb_stats stats = {0};
    struct tb_buffer text = TB_BUFFER(1 << 20);
    fill(&stats);
    stats.cache_served[0] = 250;
    stats.cache_served[1] = 500;
    stats.cache_size_count = 2;
    stats.cache_prompt_tokens = 1000;
    assert_int_equal(tb_summary_text(&stats, 55, &text), TB_OK);
    expect_contains(&text,
                    "input length                 rows\n"
                    "  up to 1,024                   1  ####################\n"
                    "  up to 2,048                   1  ####################\n"
                    "  up to 4,096                   1  "
                    "####################\n");
    expect_contains(&text, "by cache size, LRU         served\n"
                           "  1 block                  25.0 %  #####\n"
                           "  2 blocks                 50.0 %  ##########\n");
    tb_buffer_clear(&text);
    assert_int_equal(tb_summary_text(&stats, 0, &text), TB_OK);
    expect_lacks(&text, "#");
    expect_lacks(&text, "up to 1,024");
    tb_buffer_release(&text);
    tb_stats_release(&stats);
}

static void test_text_without_rows(void **state)
{
    (void)state;
    struct tb_stats stats = {0};
    struct tb_buffer text = TB_BUFFER(1 << 20);
    tb_stats_add_skip(&stats, TB_SKIP_EMPTY_PROMPT, NULL);
    stats.call_count = 1;
    assert_int_equal(tb_summary_text(&stats, 0, &text), TB_OK);
    expect_contains(&text, "0 sessions, 0 rows\n");
    expect_contains(&text, "1 no text in the prompt\n");
    expect_lacks(&text, "min");
    expect_lacks(&text, "prefix cache");
    tb_buffer_release(&text);
    tb_stats_release(&stats);
}

static void test_json(void **state)
{
    (void)state;
    struct tb_stats stats = {0};
    struct tb_error error;
    struct tb_buffer json = TB_BUFFER(1 << 20);
    fill(&stats);
    tb_fail(&error, TB_ERR_TYPE, "expected \"x\"");
    tb_stats_add_message(&stats, &error);
    assert_int_equal(tb_summary_json(&stats, &json), TB_OK);
    expect_contains(&json, "{\"rows\": 3, \"sessions\": 2, \"calls\": 4, "
                           "\"skipped\": {\"no_end\": 1, ");
    expect_contains(&json, "\"input_length\": {\"min\": 1000, \"max\": 4000, "
                           "\"mean\": 2333.333333, \"p50\": 2000, ");
    expect_contains(&json, "\"prefix_cache\": {\"seen_tokens\": 5250, "
                           "\"prompt_tokens\": 7000, \"share\": 0.75}");
    expect_contains(&json, "\"counts\": {\"rows\": 3, \"differing\": 2, "
                           "\"server_leads\": 2, \"median_difference\": 0.25, "
                           "\"max_difference\": 0.25}");
    expect_contains(&json, "\"messages\": [\"expected \\\"x\\\"\"]");
    assert_int_equal(tb_span_count(tb_buffer_span(&json), '\n'), 1);
    tb_buffer_release(&json);
    tb_stats_release(&stats);
}

static void test_meta(void **state)
{
    (void)state;
    struct tb_stats stats = {0};
    struct tb_buffer json = TB_BUFFER(1 << 20);
    const struct tb_meta_input inputs[] = {{"a \"b\".json", 12, "00ff"},
                                           {"-", 0, "ff00"}};
    struct tb_meta meta = {.version = "1.0",
                           .inputs = inputs,
                           .input_count = 2,
                           .does_usage_lead = true};
    fill(&stats);
    assert_int_equal(tb_meta_json(&meta, &stats, &json), TB_OK);
    expect_contains(&json, "{\n  \"meta_format\": 1,\n");
    expect_contains(&json, "\n    {\n      \"path\": \"a \\\"b\\\".json\",\n"
                           "      \"size\": 12,\n");
    expect_contains(&json, "\"block_size\": 128,\n");
    expect_contains(&json, "    \"rows\": 3,\n");
    expect_lacks(&json, "command");
    expect_lacks(&json, "delay");
    meta.input_count = 0;
    meta.has_delay = true;
    meta.command = "tracebake nat x";
    tb_buffer_clear(&json);
    assert_int_equal(tb_meta_json(&meta, &stats, &json), TB_OK);
    expect_contains(&json, "\"inputs\": [],\n");
    expect_contains(&json, "\"delay_ms\": 0\n");
    tb_buffer_release(&json);
    tb_stats_release(&stats);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct tb_stats stats = {0};
    struct tb_buffer small = TB_BUFFER(100);
    struct tb_meta meta = {.version = "1.0"};
    fill(&stats);
    assert_int_equal(tb_summary_text(&stats, 0, &small), TB_ERR_LIMIT);
    assert_int_equal(tb_summary_json(&stats, &small), TB_ERR_LIMIT);
    assert_int_equal(tb_meta_json(&meta, &stats, &small), TB_ERR_LIMIT);
    tb_buffer_release(&small);
    tb_memory_fail_after(0);
    assert_int_equal(tb_summary_json(&stats, &small), TB_ERR_MEMORY);
    tb_memory_fail_after(-1);
    tb_stats_release(&stats);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_text_fits_80_columns),
        cmocka_unit_test(test_text_shows_largest_agents),
        cmocka_unit_test(test_text_with_pictures),
        cmocka_unit_test(test_text_without_rows),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_meta),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
