/* analysis_page: the data of the page, and that nothing in a name leaves it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "analysis_page.h"
#include "group_ranking.h"
#include "memory.h"

enum { BLOCK_LEN = 4 };

static const uint64_t ids[] = {1, 2, 3, 4};

static tb_status add(struct tb_trace_analysis *analysis, const char *session,
                     const char *agent, uint64_t length, double ms)
{
    struct tb_trace_row row = {.session = tb_span_of(session),
                               .agent = tb_span_of(agent),
                               .input_length = length,
                               .has_output = true,
                               .output_length = 70,
                               .ids = ids,
                               .id_count = (length + 3) / BLOCK_LEN,
                               .has_time = true,
                               .time_ms = ms,
                               .has_delay = true,
                               .delay_ms = 3};
    return tb_trace_analysis_add(analysis, &row);
}

static tb_status fill(struct tb_trace_analysis *analysis, const char *agent)
{
    TB_TRY(tb_trace_analysis_init(analysis, BLOCK_LEN, false, NULL, 0));
    TB_TRY(add(analysis, "a", agent, 6, 100));
    TB_TRY(add(analysis, "a", agent, 12, 102));
    TB_TRY(add(analysis, "b", agent, 8, 101));
    return tb_trace_analysis_finish(analysis);
}

static struct tb_analysis_report report_of(struct tb_trace_analysis *analysis,
                                           const char *path)
{
    return (struct tb_analysis_report){.analysis = analysis,
                                       .path = path,
                                       .path_count = 1,
                                       .block_size_origin = "given",
                                       .rows_origin = "given",
                                       .hit_rate = -1};
}

static size_t count_of(const struct tb_buffer *buffer, const char *text)
{
    size_t count = 0, len = strlen(text);
    for (size_t at = 0; at + len <= buffer->len; at++)
        count += memcmp(buffer->ptr + at, text, len) == 0;
    return count;
}

static void test_curves(void **state)
{
    (void)state;
    static const char expected[] =
        "{\"agents\": 1, \"priorities\": 0, \"caches\": [{\"block_size\": 4, "
        "\"blocks\": [1, 2], \"tokens\": [8, 16]}], "
        // Rows of 6, 12 and 8 tokens.
        "\"prompt_length\": {\"at\": [6, 7, 8, 9, 10, 11, 12, 13], \"curves\": "
        "[{\"name\": \"\", \"count\": 3, \"rows\": [3, 2, 2, 1, 1, 1, 1, 0]}, "
        "{\"name\": \"x\", \"count\": 3, \"rows\": [3, 2, 2, 1, 1, 1, 1, "
        "0]}]}, "
        // Row 3 has none, row 2 its last block.
        "\"new_length\": {\"at\": [1, 2, 3, 4, 5, 6, 7], \"curves\": "
        "[{\"name\": \"\", \"count\": 3, \"rows\": [2, 2, 2, 2, 1, 1, 0]}, "
        "{\"name\": \"x\", \"count\": 3, \"rows\": [2, 2, 2, 2, 1, 1, 0]}]}, "
        // Between 64 and 128 only even lengths have a point.
        "\"output_length\": {\"at\": [70, 72], \"curves\": [{\"name\": \"\", "
        "\"count\": 3, \"rows\": [3, 0]}, {\"name\": \"x\", \"count\": 3, "
        "\"rows\": [3, 0]}]}, "
        "\"gaps\": {\"at\": [2, 3, 4], \"curves\": [{\"name\": \"delay\", "
        "\"count\": 1, \"rows\": [1, 1, 0]}, {\"name\": \"interval\", "
        "\"count\": 1, \"rows\": [1, 0, 0]}]}, "
        "\"times\": {\"width_ms\": 1.0, \"first_ms\": 100.0, \"rows\": [1, 1, "
        "1], \"prompt_tokens\": [6, 8, 12], \"new_tokens\": [6, 0, 4], "
        "\"sessions\": [1, 2, 1]}, \"calls\": null}\n";
    struct tb_trace_analysis analysis;
    struct tb_buffer json = TB_BUFFER(1 << 20);
    assert_int_equal(fill(&analysis, "x"), TB_OK);
    struct tb_analysis_report report = report_of(&analysis, "a.jsonl");
    assert_int_equal(tb_analysis_curves(&report, &json), TB_OK);
    assert_int_equal(tb_buffer_append_byte(&json, 0), TB_OK);
    assert_string_equal((const char *)json.ptr, expected);
    tb_buffer_release(&json);
    tb_trace_analysis_release(&analysis);
}

static void test_names_end_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"</script><script>alert(1)</script>",
                                        "<!--<script>",
                                        "]]><style>",
                                        "@data@",
                                        "\"},{\"",
                                        "\xE2\x80\xA8</SCRIPT\t>",
                                        "\xFF</script"};
    struct tb_trace_analysis analysis;
    struct tb_buffer plain = TB_BUFFER(1 << 24);
    assert_int_equal(fill(&analysis, "x"), TB_OK);
    struct tb_analysis_report report = report_of(&analysis, "a.jsonl");
    assert_int_equal(tb_analysis_page(&report, &plain), TB_OK);
    tb_trace_analysis_release(&analysis);
    assert_int_equal(count_of(&plain, "@data@"), 0);
    assert_int_equal(count_of(&plain, "@report_"), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct tb_buffer page = TB_BUFFER(1 << 24);
        assert_int_equal(fill(&analysis, names[i]), TB_OK);
        report = report_of(&analysis, names[i]);
        assert_int_equal(tb_analysis_page(&report, &page), TB_OK);
        // All tags are the page's own.
        assert_int_equal(count_of(&page, "<"), count_of(&plain, "<"));
        tb_buffer_release(&page);
        tb_trace_analysis_release(&analysis);
    }
    tb_buffer_release(&plain);
}

static void test_json_in_a_script(void **state)
{
    (void)state;
    struct tb_buffer buffer = TB_BUFFER(100);
    assert_int_equal(tb_page_json(&buffer, TB_SPAN("{\"a\": \"<</\"}")), TB_OK);
    assert_true(tb_span_equal(tb_buffer_span(&buffer),
                              TB_SPAN("{\"a\": \"\\u003c\\u003c/\"}")));
    tb_buffer_release(&buffer);
}

static void test_ranking(void **state)
{
    (void)state;
    const struct tb_length_group groups[] = {
        {.row_count = 2}, {.row_count = 5}, {.row_count = 2}, {.row_count = 9}};
    static const uint32_t expected[] = {3, 1, 0, 2};
    uint32_t numbers[5];
    for (size_t most = 0; most <= 5; most++) {
        size_t count = tb_group_ranking(groups, 4, numbers, most);
        assert_int_equal(count, most < 4 ? most : 4);
        assert_memory_equal(numbers, expected, count * sizeof(*numbers));
    }
    const struct tb_call_group calls[] = {{.call_count = 2},
                                          {.call_count = 5},
                                          {.call_count = 2},
                                          {.call_count = 9}};
    assert_int_equal(tb_call_group_ranking(calls, 4, numbers, 5), 4);
    assert_memory_equal(numbers, expected, sizeof(expected));
}

/* As many agents as rows: the page lists those with most rows. */
static void test_many_agents(void **state)
{
    (void)state;
    enum { AGENTS = 150 };
    struct tb_trace_analysis analysis;
    struct tb_buffer page = TB_BUFFER(1 << 24);
    assert_int_equal(
        tb_trace_analysis_init(&analysis, BLOCK_LEN, false, NULL, 0), TB_OK);
    for (int i = 0; i < AGENTS; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "agent-%d", i);
        assert_int_equal(add(&analysis, "", name, 8, i), TB_OK);
    }
    assert_int_equal(add(&analysis, "", "agent-149", 8, 0), TB_OK);
    assert_int_equal(tb_trace_analysis_finish(&analysis), TB_OK);
    struct tb_analysis_report report = report_of(&analysis, "a.jsonl");
    assert_int_equal(tb_analysis_page(&report, &page), TB_OK);
    assert_int_equal(count_of(&page, "\"agents\": 150"), 1);
    assert_int_equal(count_of(&page, "\"agent-98\""), 1);
    assert_int_equal(count_of(&page, "\"agent-99\""), 0);
    assert_int_equal(count_of(&page, "{\"name\": \"agent-149\", \"rows\": 2"),
                     1);
    tb_buffer_release(&page);
    tb_trace_analysis_release(&analysis);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct tb_trace_analysis analysis;
    assert_int_equal(fill(&analysis, "<x>"), TB_OK);
    struct tb_analysis_report report = report_of(&analysis, "a.jsonl");
    tb_status status = TB_ERR_MEMORY;
    long count = 0;
    for (; status == TB_ERR_MEMORY && count < 1000; count++) {
        struct tb_buffer page = TB_BUFFER(1 << 24);
        tb_memory_fail_after(count);
        status = tb_analysis_page(&report, &page);
        tb_memory_fail_after(-1);
        tb_buffer_release(&page);
    }
    assert_int_equal(status, TB_OK);
    assert_true(count > 4);
    struct tb_buffer small = TB_BUFFER(1000);
    assert_int_equal(tb_analysis_page(&report, &small), TB_ERR_LIMIT);
    tb_buffer_release(&small);
    tb_trace_analysis_release(&analysis);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curves),
        cmocka_unit_test(test_names_end_nothing),
        cmocka_unit_test(test_json_in_a_script),
        cmocka_unit_test(test_ranking),
        cmocka_unit_test(test_many_agents),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests_name("analysis_page", tests, NULL, NULL);
}
