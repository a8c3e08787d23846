/* replay: what is read of a run and of its calls, how they are joined, and
 * which causes are seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call_line.h"
#include "memory.h"
#include "replay_cause.h"
#include "request_line.h"

static char folder[] = "/tmp/tracebake-test-XXXXXX";

/* ---- lines ------------------------------------------------------------ */

static tb_status read_call(const char *text, struct tb_call_line *call,
                           struct tb_error *error)
{
    struct tb_arena arena = {0};
    tb_status status =
        tb_call_line_read(tb_span_of(text), 100, 7, &arena, call, error);
    tb_arena_release(&arena);
    return status;
}

static void test_call_line(void **state)
{
    (void)state;
    struct tb_call_line call;
    assert_int_equal(
        read_call("{\"row\": 3, \"session_id\": \"a\", \"turn\": 2, "
                  "\"input_length\": 5, \"output_length\": 6, "
                  "\"prompt_tokens\": 70, \"prompt\": \"joined\", "
                  "\"delay\": 8, \"timestamp\": 9, \"recorded\": "
                  "{\"prompt_tokens\": 71, \"cached_tokens\": 64}}",
                  &call, NULL),
        TB_OK);
    assert_true(call.has_row && call.has_delay && call.has_timestamp);
    assert_true(call.has_usage && call.has_cached && call.is_joined);
    assert_true(tb_span_equal(call.session_id, TB_SPAN("a")));
    assert_int_equal(call.row, 3);
    assert_int_equal(call.turn, 2);
    assert_int_equal(call.input_length, 5);
    assert_int_equal(call.output_length, 6);
    assert_int_equal(call.prompt_tokens, 70);
    assert_int_equal(call.delay_ms, 8);
    assert_int_equal(call.timestamp_ms, 9);
    assert_int_equal(call.usage_tokens, 71);
    assert_int_equal(call.cached_tokens, 64);
    assert_true(isnan(call.start_s) && isnan(call.end_s));
    assert_int_equal(
        read_call("{\"skipped\": \"no_end\", \"recorded_session\": \"s\", "
                  "\"agent\": \"a\", \"model\": \"m\", \"start\": 1.5, "
                  "\"first_token\": 2, \"end\": null, \"failed\": true, "
                  "\"tried_again\": 1}",
                  &call, NULL),
        TB_OK);
    assert_false(call.has_row);
    assert_true(call.is_failed && !call.is_tried_again);
    struct tb_call_record record = tb_call_line_record(&call);
    assert_true(record.start_s == 1.5 && record.first_token_s == 2);
    assert_true(isnan(record.end_s) && !record.has_row && record.is_failed);
    assert_true(tb_span_equal(record.session, TB_SPAN("s")) &&
                tb_span_equal(record.agent, TB_SPAN("a")) &&
                tb_span_equal(record.model, TB_SPAN("m")) &&
                tb_span_equal(record.skipped, TB_SPAN("no_end")));
}

static void test_broken_call_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        tb_status status;
        const char *says;
    } cases[] = {
        {"[]", TB_ERR_TYPE, "expected an object"},
        {"{\"row\": 1", TB_ERR_CUT, "ends"},
        {"{\"row\": 1} x", TB_ERR_SYNTAX, ""},
        {"{}", TB_ERR_TYPE, "'row'"},
        {"{\"row\": 1}", TB_ERR_TYPE, "'session_id'"},
        {"{\"row\": 1, \"session_id\": \"\"}", TB_ERR_TYPE, "'turn'"},
        {"{\"row\": 1, \"session_id\": \"\", \"turn\": 4294967296}",
         TB_ERR_TYPE, "'turn'"},
        {"{\"row\": 1, \"session_id\": \"\", \"turn\": 0}", TB_ERR_TYPE,
         "'output_length'"},
        {"{\"row\": 1, \"session_id\": \"\", \"turn\": 0, "
         "\"output_length\": 1}",
         TB_ERR_TYPE, "'prompt_tokens'"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tb_call_line call;
        struct tb_error error = {0};
        assert_int_equal(read_call(cases[i].text, &call, &error),
                         cases[i].status);
        assert_int_equal(error.status, cases[i].status);
        assert_int_equal(error.line, 7);
        assert_true(error.offset >= 100);
        assert_non_null(strstr(error.message, cases[i].says));
    }
}

static tb_status read_request(const char *text, struct tb_arena *arena,
                              struct tb_request_line *request)
{
    return tb_request_line_read(tb_span_of(text), 0, 1, arena, request, NULL);
}

static void test_request_line(void **state)
{
    (void)state;
    struct tb_arena arena = {0};
    struct tb_request_line request;
    assert_int_equal(
        read_request(
            "{\"metadata\": {\"conversation_id\": \"a\", \"x_correlation_id\": "
            "\"p\", \"turn_index\": 1, \"request_start_ns\": "
            "1796089912649407781, \"request_end_ns\": 1796089912650407781, "
            "\"benchmark_phase\": \"profiling\", \"was_cancelled\": false}, "
            "\"metrics\": {\"usage_prompt_tokens\": {\"value\": 9, \"unit\": "
            "\"tokens\"}, \"input_sequence_length\": {\"value\": 8.0}, "
            "\"output_sequence_length\": {\"value\": 7}, "
            "\"usage_prompt_cache_read_tokens\": {\"value\": 6}}, "
            "\"error\": null}",
            &arena, &request),
        TB_OK);
    assert_false(request.is_failed || request.is_warmup);
    assert_int_equal(request.turn, 1);
    assert_true(tb_span_equal(request.conversation, TB_SPAN("p")));
    assert_true(fabs(request.end_ms - request.start_ms - 1) < 1e-3);
    assert_true(request.has_prompt && request.has_text && request.has_output &&
                request.has_cached);
    assert_int_equal(request.prompt_tokens, 9);
    assert_int_equal(request.text_tokens, 8);
    assert_int_equal(request.output_tokens, 7); // nobody else counted
    assert_int_equal(request.cached_tokens, 6);
    assert_int_equal(
        read_request("{\"metadata\": {\"conversation_id\": \"a\", "
                     "\"turn_index\": 0, \"was_cancelled\": true}, "
                     "\"metrics\": {\"usage_completion_tokens\": {\"value\": "
                     "5}, \"output_sequence_length\": {\"value\": 4}}}",
                     &arena, &request),
        TB_OK);
    assert_true(request.is_failed && isnan(request.start_ms));
    assert_int_equal(request.output_tokens, 5); // the server's count leads
    assert_int_equal(
        read_request("{\"metadata\": {\"conversation_id\": \"a\", "
                     "\"turn_index\": 0}, \"error\": {\"message\": \"no\"}}",
                     &arena, &request),
        TB_OK);
    assert_true(request.is_failed);
    assert_true(tb_span_equal(request.fault, TB_SPAN("no")));
    assert_int_equal(
        read_request("{\"metadata\": {\"turn_index\": 0}}", &arena, &request),
        TB_ERR_TYPE);
    assert_int_equal(
        read_request("{\"metadata\": {\"conversation_id\": \"a\"}}", &arena,
                     &request),
        TB_ERR_TYPE);
    tb_arena_release(&arena);
}

/* ---- files ------------------------------------------------------------ */

static const char *path_of(const char *name)
{
    static char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void test_settings(void **state)
{
    (void)state;
    struct tb_run_settings settings;
    struct tb_error error;
    write_file("settings",
               "{\"aiperf_version\": \"0.13.0\", \"was_cancelled\": true, "
               "\"input_config\": {\"endpoint\": {\"type\": \"chat\"}, "
               "\"datasets\": [{\"path\": \"r.jsonl\", \"block_size\": 64}], "
               "\"tokenizer\": {\"name\": \"t\"}, \"phases\": [{\"kind\": "
               "\"warmup\", \"requests\": 3}, {\"kind\": \"profiling\", "
               "\"requests\": 10, \"sessions\": 4}]}}");
    assert_int_equal(tb_run_settings_read(path_of("settings"), &settings, NULL),
                     TB_OK);
    assert_true(settings.is_found && settings.was_cancelled);
    assert_string_equal(settings.rows, "r.jsonl");
    assert_string_equal(settings.endpoint, "chat");
    assert_string_equal(settings.tokenizer, "t");
    assert_string_equal(settings.version, "0.13.0");
    assert_int_equal(settings.block_size, 64);
    assert_int_equal(settings.request_count, 10);
    assert_int_equal(settings.session_count, 4);
    write_file("settings", "{\"input_config\": {\"datasets\": 5, \"phases\": ");
    assert_int_equal(
        tb_run_settings_read(path_of("settings"), &settings, &error),
        TB_ERR_CUT);
    assert_string_equal(error.path, path_of("settings"));
    assert_false(settings.is_found);
    assert_int_equal(tb_run_settings_read(path_of("no"), &settings, NULL),
                     TB_ERR_NOT_FOUND);
}

static void test_log(void **state)
{
    (void)state;
    struct tb_run_log log;
    write_file("log", "x - INFO - Block size: 5\nx - ERROR - no room\n"
                      "x - ERROR - Hash IDs: Block size: 7\n");
    assert_int_equal(tb_run_log_read(path_of("log"), &log, NULL), TB_OK);
    assert_string_equal(log.fault, "no room");
    assert_int_equal(log.block_size, 0);
    write_file("log", "x - ERROR - Hash IDs: [0], Block size: 128 are not\n");
    assert_int_equal(tb_run_log_read(path_of("log"), &log, NULL), TB_OK);
    assert_int_equal(log.block_size, 128);
    write_file("log", "all is well\n");
    assert_int_equal(tb_run_log_read(path_of("log"), &log, NULL), TB_OK);
    assert_string_equal(log.fault, "");
}

/* ---- the join --------------------------------------------------------- */

// Sessions of two calls: 100 and 150 tokens, answers of 10, 20 ms between.
static void write_calls(int sessions)
{
    char text[16384];
    size_t len = 0;
    for (int i = 0; i < 2 * sessions; i++)
        len += (size_t)snprintf(
            text + len, sizeof(text) - len,
            "{\"row\": %d, \"session_id\": \"s%d\", \"turn\": %d, "
            "\"input_length\": %d, \"output_length\": 10, "
            "\"prompt_tokens\": %d, \"%s\": 20}\n",
            i + 1, i / 2, i % 2, i % 2 ? 40 : 100, i % 2 ? 150 : 100,
            i % 2 ? "delay" : "timestamp");
    write_file("calls", text);
}

struct sent {
    const char *session;
    int turn;
    const char *play;
    int prompt, output, start_ms; // the answer takes 10 ms
};

static void write_requests(const struct sent *sent, size_t count)
{
    char text[16384];
    size_t len = 0;
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(
            text + len, sizeof(text) - len,
            "{\"metadata\": {\"conversation_id\": \"%s\", \"turn_index\": %d, "
            "\"x_correlation_id\": \"%s\", \"request_start_ns\": %d000000, "
            "\"request_end_ns\": %d000000}, \"metrics\": "
            "{\"usage_prompt_tokens\": {\"value\": %d}, "
            "\"usage_completion_tokens\": {\"value\": %d}}}\n",
            sent[i].session, sent[i].turn, sent[i].play, sent[i].start_ms,
            sent[i].start_ms + 10, sent[i].prompt, sent[i].output);
    write_file("requests", text);
}

struct whole {
    struct tb_call_table calls;
    struct tb_replay_run run;
    struct tb_replay_check check;
    struct tb_replay_causes causes;
};

static tb_status compare(struct whole *whole,
                         const struct tb_replay_options *options)
{
    static const struct tb_replayed_rows rows = {.tokenizer = "t"};
    *whole = (struct whole){0};
    char calls[128];
    (void)snprintf(calls, sizeof(calls), "%s", path_of("calls"));
    TB_TRY(tb_call_table_read(&whole->calls, calls, NULL, NULL));
    TB_TRY(tb_request_table_read(&whole->run.requests, path_of("requests"),
                                 NULL, NULL));
    TB_TRY(tb_replay_check_make(&whole->calls, &whole->run.requests, options,
                                &whole->check));
    tb_replay_causes_find(&whole->check, &whole->run, &rows, &whole->causes);
    return TB_OK;
}

static void release(struct whole *whole)
{
    tb_replay_check_release(&whole->check);
    tb_replay_run_release(&whole->run);
    tb_call_table_release(&whole->calls);
}

static const struct tb_replay_options as_usual = {0};

static void test_equal(void **state)
{
    (void)state;
    struct whole whole;
    static const struct sent sent[] = {{"s0", 0, "p", 100, 10, 1000},
                                       {"s1", 0, "q", 100, 10, 1004},
                                       {"s0", 1, "p", 151, 10, 1033},
                                       {"s1", 1, "q", 149, 10, 1032}};
    write_calls(2);
    write_requests(sent, 4);
    assert_int_equal(compare(&whole, &as_usual), TB_OK);
    assert_true(whole.check.is_equal && whole.causes.count == 0);
    assert_int_equal(whole.check.answered_count, 4);
    assert_int_equal(whole.check.prompt.matches[TB_MATCH_EXACT], 2);
    assert_int_equal(whole.check.prompt.matches[TB_MATCH_WITHIN], 2);
    assert_int_equal(whole.check.output.matches[TB_MATCH_EXACT], 4);
    assert_int_equal(whole.check.gap.recorded.count, 2);
    assert_true(fabs(whole.check.gap_lag.early_ms - 2) < 1e-3);
    assert_int_equal(tb_series_percentile(&whole.check.gap_lag.late_us, 1),
                     3000);
    assert_int_equal(tb_series_percentile(&whole.check.start_lag.late_us, 1),
                     4000);
    release(&whole);
}

static void test_tolerances(void **state)
{
    (void)state;
    static const struct sent sent[] = {{"s0", 0, "p", 101, 10, 1000},
                                       {"s0", 1, "p", 152, 9, 1036}};
    static const struct {
        struct tb_replay_options options;
        uint64_t prompts, outputs, gaps; // off
    } cases[] = {
        {{0}, 2, 1, 0},
        {{.has_tolerance = true, .tolerance = 0}, 2, 1, 0},
        {{.has_tolerance = true, .tolerance = 1}, 1, 0, 0},
        {{.has_tolerance = true, .tolerance = 2}, 0, 0, 0},
        {{.has_tolerance = true,
          .tolerance = 2,
          .has_late = true,
          .late_ms = 6},
         0,
         0,
         0},
        {{.has_tolerance = true,
          .tolerance = 2,
          .has_late = true,
          .late_ms = 5},
         0,
         0,
         1},
    };
    write_calls(1);
    write_requests(sent, 2);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct whole whole;
        uint64_t off = cases[i].prompts + cases[i].outputs + cases[i].gaps;
        assert_int_equal(compare(&whole, &cases[i].options), TB_OK);
        const struct tb_replay_check *check = &whole.check;
        assert_int_equal(check->prompt.matches[TB_MATCH_OFF], cases[i].prompts);
        assert_int_equal(check->output.matches[TB_MATCH_OFF], cases[i].outputs);
        assert_int_equal(check->gap.matches[TB_MATCH_OFF], cases[i].gaps);
        assert_int_equal(check->is_equal, off == 0);
        assert_int_equal(check->worst_count > 0, off > 0);
        release(&whole);
    }
}

static void test_who_belongs_to_whom(void **state)
{
    (void)state;
    struct whole whole;
    static const struct sent sent[] = {
        {"s1", 0, "q", 100, 10, 1000}, {"s1", 0, "r", 100, 10, 1001},
        {"s1", 1, "r", 150, 10, 1020}, {"s0", 2, "p", 150, 10, 1030},
        {"sX", 0, "x", 100, 10, 1031}, {"s0", 0, "p", 100, 10, 1032}};
    write_calls(2);
    write_requests(sent, 6);
    assert_int_equal(compare(&whole, &as_usual), TB_OK);
    assert_false(whole.check.is_equal);
    assert_int_equal(whole.check.answered_count, 2);
    assert_int_equal(whole.check.missing_count, 2); // turn 1 of both
    assert_int_equal(whole.check.extra_count, 2);
    assert_int_equal(whole.check.repeated_count, 2); // all of play r
    assert_int_equal(whole.causes.items[0].kind, TB_CAUSE_REPEATED);
    release(&whole);
}

static void test_the_worst_come_first(void **state)
{
    (void)state;
    struct whole whole;
    struct sent sent[24];
    char names[12][16];
    for (int i = 0; i < 24; i++) {
        (void)snprintf(names[i / 2], sizeof(names[0]), "s%d", i / 2);
        sent[i] = (struct sent){names[i / 2], i % 2,
                                names[i / 2], i % 2 ? 150 : 100 + (i * 7) % 24,
                                10,           1000};
    }
    write_calls(12);
    write_requests(sent, 24);
    assert_int_equal(compare(&whole, &as_usual), TB_OK);
    assert_int_equal(whole.check.prompt.matches[TB_MATCH_OFF], 11);
    assert_int_equal(whole.check.worst_count, TB_REPLAY_WORST);
    for (size_t i = 1; i < whole.check.worst_count; i++)
        assert_true(
            tb_replay_prompt_off(
                &whole.check.pairs[whole.check.worst[i - 1]]) >=
            tb_replay_prompt_off(&whole.check.pairs[whole.check.worst[i]]));
    assert_int_equal(
        tb_replay_prompt_off(&whole.check.pairs[whole.check.worst[0]]), 22);
    release(&whole);
}

// Without a usage of the server, texts are added up.
static void test_texts_are_counted(void **state)
{
    (void)state;
    struct whole whole;
    write_calls(1);
    write_file("requests",
               "{\"metadata\": {\"conversation_id\": \"s0\", \"turn_index\": "
               "0}, \"metrics\": {\"input_sequence_length\": {\"value\": 100}, "
               "\"output_sequence_length\": {\"value\": 10}}}\n"
               "{\"metadata\": {\"conversation_id\": \"s0\", \"turn_index\": "
               "1}, \"metrics\": {\"input_sequence_length\": {\"value\": 151}, "
               "\"output_sequence_length\": {\"value\": 10}}}\n");
    assert_int_equal(compare(&whole, &as_usual), TB_OK);
    assert_true(whole.check.is_equal);
    assert_int_equal(whole.check.server_counted_count, 0);
    assert_int_equal(whole.check.prompt.matches[TB_MATCH_EXACT], 2);
    assert_int_equal(whole.check.gap.recorded.count, 0); // no times
    release(&whole);
}

static void test_causes_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < TB_CAUSE_COUNT; i++) {
        const char *name = tb_replay_cause_name((tb_replay_cause_kind)i);
        assert_non_null(name);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(
                name, tb_replay_cause_name((tb_replay_cause_kind)j));
    }
}

static void test_out_of_memory(void **state)
{
    (void)state;
    static const struct sent sent[] = {{"s0", 0, "p", 100, 10, 1000},
                                       {"s0", 1, "p", 151, 10, 1033}};
    tb_status status = TB_ERR_MEMORY;
    write_calls(2);
    write_requests(sent, 2);
    for (long count = 0; status != TB_OK; count++) {
        struct whole whole;
        tb_memory_fail_after(count);
        status = compare(&whole, &as_usual);
        tb_memory_fail_after(-1);
        assert_true(status == TB_OK || status == TB_ERR_MEMORY);
        release(&whole);
    }
    status = TB_ERR_MEMORY;
    write_file("settings", "{\"input_config\": {\"datasets\": [{\"path\": "
                           "\"r\\u0041\"}]}}");
    for (long count = 0; status != TB_OK; count++) {
        struct tb_run_settings settings;
        tb_memory_fail_after(count);
        status = tb_run_settings_read(path_of("settings"), &settings, NULL);
        tb_memory_fail_after(-1);
        assert_true(status == TB_OK || status == TB_ERR_MEMORY);
    }
}

static void test_runs_that_are_none(void **state)
{
    (void)state;
    struct tb_replay_run run = {0};
    struct tb_error error;
    assert_int_equal(tb_replay_run_read(&run, folder, NULL, &error),
                     TB_ERR_NOT_FOUND);
    assert_string_equal(error.path, folder);
    assert_int_equal(tb_replay_run_read(&run, path_of("no"), NULL, &error),
                     TB_ERR_NOT_FOUND);
    write_file("rows", "{\"input_length\": 3}\n");
    struct tb_call_table calls = {0};
    assert_int_equal(tb_call_table_read(&calls, path_of("rows"), NULL, &error),
                     TB_ERR_EMPTY);
    assert_int_equal(calls.losses.count, 1);
    tb_call_table_release(&calls);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"calls", "requests", "settings", "log",
                                        "rows"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        (void)unlink(path_of(names[i]));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_line),
        cmocka_unit_test(test_broken_call_lines),
        cmocka_unit_test(test_request_line),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_tolerances),
        cmocka_unit_test(test_who_belongs_to_whom),
        cmocka_unit_test(test_the_worst_come_first),
        cmocka_unit_test(test_texts_are_counted),
        cmocka_unit_test(test_causes_have_names),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_runs_that_are_none),
    };
    return cmocka_run_group_tests_name("replay", tests, set_up, tear_down);
}
