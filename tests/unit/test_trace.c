/* Traces to events, records to parts, timestamps, agents. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent_type.h"
#include "memory.h"
#include "timestamp.h"
#include "trace.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_TEXT ((size_t)1 << 24)

#define OK(call) assert_int_equal((call), TB_OK)

/* ---- events ----------------------------------------------------------- */

#define START(key)                                                             \
    "{\"payload\":{\"event_type\":\"LLM_START\",\"UUID\":\"" key "\"}}"
#define END(key)                                                               \
    "{\"payload\":{\"event_type\":\"LLM_END\",\"UUID\":\"" key "\"}}"
#define TOKEN "{\"payload\":{\"event_type\":\"LLM_NEW_TOKEN\",\"x\":\"}]\"}}"
#define REQUEST(number, steps)                                                 \
    "{\"request_number\":" number ",\"intermediate_steps\":[" steps "]}"
#define CALL(session, time)                                                    \
    "{\"event_type\":\"llm_call\",\"session_id\":" session                     \
    ",\"timestamp\":" time "}"

/* One line of a telemetry file. */
#define LINE(session, time) CALL(session, time) "\n"

enum { NAT, TEL, NAT_C, TEL_C }; /* _C: as Python */

/* Expected events: (name a session begins, a record by its key or line (?: it
 * cannot be parsed), )
 * it ends, X it is dropped, cut/syntax/type a loss with its line. */
struct event_case {
    const char *name;
    int mode;
    uint64_t skip, max; /* max 0: all */
    const char *input, *expected;
};

static const struct event_case event_cases[] = {
    {"two requests", NAT, 0, 0,
     "[" REQUEST("0", START("a") "," END("a")) "," REQUEST("1", START("b")) "]",
     "(conv_0 a a ) (conv_1 b ) "},
    {"other steps are skipped", NAT, 0, 0,
     "[" REQUEST("7",
                 TOKEN "," START("a") "," TOKEN "," END("a") "," TOKEN) "]",
     "(conv_7 a a ) "},
    {"white space and lines", NAT, 0, 0,
     " [\r\n {\n \"request_number\" : 3 ,\n\t\"intermediate_steps\" "
     ":\n[ " START("a") " ,\n" END("a") " ]\n }\n ]\r\n",
     "(conv_3 a a ) "},
    {"byte order mark", NAT, 0, 0, "\xEF\xBB\xBF[" REQUEST("0", START("a")) "]",
     "(conv_0 a ) "},
    {"empty list", NAT, 0, 0, "[]", ""},
    {"no steps", NAT, 0, 0, "[" REQUEST("0", "") "]", "(conv_0 ) "},
    {"steps are absent", NAT, 0, 0, "[{\"request_number\":4}]", "(conv_4 ) "},
    {"number behind the steps", NAT, 0, 0,
     "[{\"x\":[1],\"intermediate_steps\":[" START("a") "," TOKEN "," END(
         "a") "],\"y\":{},\"request_number\":5}," REQUEST("6", START("b")) "]",
     "(conv_5 a a ) (conv_6 b ) "},
    {"no number", NAT, 0, 0, "[{\"intermediate_steps\":[" START("a") "]}]",
     "(conv_0 a ) "},
    {"unknown keys", NAT, 0, 0,
     "[{\"a\":{\"intermediate_steps\":[1]},\"request_number\":1,\"b\":\"]}\","
     "\"intermediate_steps\":[{\"p\":[],\"payload\":{\"d\":{\"event_type\":"
     "\"LLM_END\"},\"event_type\":\"LLM_START\",\"UUID\":\"a\"},\"q\":1}],"
     "\"c\":null}]",
     "(conv_1 a ) "},
    {"numbers as Python prints them", NAT, 0, 0,
     "[" REQUEST("\"x\\u00e9\"", "") "," REQUEST("1.50", "") "," REQUEST(
         "null",
         "") "," REQUEST("true",
                         "") "," REQUEST("-0",
                                         "") "," REQUEST("123456789012345678901"
                                                         "234567890",
                                                         "") "]",
     "(conv_x\xC3\xA9 ) (conv_1.5 ) (conv_None ) (conv_True ) (conv_0 ) "
     "(conv_123456789012345678901234567890 ) "},
    {"a number that repeats", NAT, 0, 0,
     "[" REQUEST("0", "") "," REQUEST("0", "") "," REQUEST("1", "") "," REQUEST(
         "0", "") "]",
     "(conv_0 ) (conv_0#2 ) (conv_1 ) (conv_0#3 ) "},
    {"a number that repeats, Python", NAT_C, 0, 0,
     "[" REQUEST("0", "") "," REQUEST("0", "") "]", "(conv_0 ) (conv_0 ) "},
    {"skip and limit", NAT, 1, 1,
     "[" REQUEST("0", START("a")) "," REQUEST("1", START("b")) "," REQUEST(
         "2", START("c")) ",broken",
     "(conv_1 b ) "},
    {"skip counts what is no request", NAT, 1, 0,
     "[5," REQUEST("1", START("b")) "]", "(conv_1 b ) "},
    {"one request without a list", NAT, 0, 0, REQUEST("2", START("a")),
     "(conv_2 a ) "},
    {"requests by line", NAT, 0, 0,
     REQUEST("1", START("a")) "\n" REQUEST("2", START("b")) "\n",
     "(conv_1 a ) (conv_2 b ) "},
    {"empty file", NAT, 0, 0, "", "cut:1 "},
    {"blank file", NAT, 0, 0, " \n", "cut:2 "},
    {"another kind of file", NAT, 0, 0, "{\"a\":1}", "type:1 "},
    {"a string", NAT, 0, 0, "\"x\"", "type:1 "},
    {"text", NAT, 0, 0, "hello", "syntax:1 "},
    {"cut in a step", NAT, 0, 0,
     "[" REQUEST("0", START("a")) ",\n{\"request_number\":1,\"intermediate_"
                                  "steps\":[" START("b") ",{\"payl",
     "(conv_0 a ) (conv_1 b X cut:2 "},
    {"cut in a prompt that quotes a request", NAT, 0, 0,
     "[" REQUEST("0", START("a")) ",{\"request_number\":1,\"intermediate_steps"
                                  "\":[{\"payload\":{\"event_type\":\"LLM_"
                                  "START\",\"m\":\"\\\"request_"
                                  "number\\\": 7",
     "(conv_0 a ) (conv_1 X cut:1 "},
    {"cut before the number", NAT, 0, 0,
     "[{\"intermediate_steps\":[" START("a") "," START("b"), "cut:1 "},
    {"cut between requests", NAT, 0, 0, "[" REQUEST("0", START("a")) ",",
     "(conv_0 a ) cut:1 "},
    {"list is not closed", NAT, 0, 0, "[" REQUEST("0", START("a")),
     "(conv_0 a ) cut:1 "},
    {"request is not closed", NAT, 0, 0,
     "[{\"request_number\":0,\"intermediate_steps\":[" START("a") "]",
     "(conv_0 a X cut:1 "},
    {"text behind the list", NAT, 0, 0, "[" REQUEST("0", START("a")) "] x",
     "(conv_0 a ) syntax:1 "},
    {"a request is no object", NAT, 0, 0,
     "[null,\n5," REQUEST("0", START("a")) ",\"x\"]",
     "type:1 type:2 (conv_0 a ) type:2 "},
    {"steps are no list", NAT, 0, 0,
     "["
     "{\"request_number\":0,\"intermediate_steps\":null},\n"
     "{\"intermediate_steps\":{\"a\":1},\"request_number\":1}," REQUEST(
         "2", START("c")) "]",
     "(conv_0 type:1 ) (conv_1 type:2 ) (conv_2 c ) "},
    {"a step is no object", NAT, 0, 0,
     "[" REQUEST("0", START("a") ",null,\"x\"," END("a")) "]",
     "(conv_0 a type:1 type:1 a ) "},
    {"payload is nothing", NAT, 0, 0,
     "[" REQUEST("0", "{},{\"payload\":null},{\"payload\":{}},{\"payload\":"
                      "{\"event_type\":null}}," START("a")) "]",
     "(conv_0 a ) "},
    {"a broken step costs itself", NAT, 0, 0,
     "[" REQUEST(
         "0", START("a") ",\n{\"payload\":{\"event_type\" 5}},\n" END("a")) "]",
     "(conv_0 a syntax:2 a ) "},
    {"brackets are broken", NAT, 0, 0,
     "[" REQUEST("0", START("a")) "," REQUEST("1",
                                              START("b") ",{\"x\":1}}") "]",
     "(conv_0 a ) (conv_1 b X syntax:1 "},
    {"broken steps before the number", NAT, 0, 0,
     "[{\"intermediate_steps\":[" START("a") " " END(
         "a") "],\"request_number\":1}," REQUEST("2", START("b")) "]",
     "(conv_1 a X syntax:1 (conv_2 b ) "},

    {"by session and time", TEL, 0, 0,
     LINE("\"b\"", "3") LINE("\"a\"", "2") LINE("\"b\"", "1"),
     "(a 2 ) (b 3 1 ) "},
    {"other events are skipped", TEL, 0, 0,
     "{\"event_type\":\"tool_call\",\"session_id\":\"a\"}\n{\"x\":[1,{}]}"
     "\n" CALL("\"a\"", "2"),
     "(a 3 ) "},
    {"equal times keep file order", TEL, 0, 0,
     LINE("\"a\"", "5") LINE("\"a\"", "5") CALL("\"a\"", "4"), "(a 3 1 2 ) "},
    {"byte order mark and CRLF", TEL, 0, 0,
     "\xEF\xBB\xBF" CALL("\"s\"", "1") "\r\n" CALL("\"s\"", "2") "\r\n",
     "(s 1 2 ) "},
    {"blank lines", TEL, 0, 0,
     "\n\n" LINE("\"s\"", "1") "  \n\n" LINE("\"s\"", "2") "\n", "(s 3 6 ) "},
    {"glued on one line", TEL, 0, 0,
     CALL("\"s\"", "1") CALL("\"s\"", "2") " " LINE("\"s\"", "3")
         CALL("\"s\"", "4"),
     "(s 1 1 1 2 ) "},
    {"over several lines", TEL, 0, 0,
     "{\n  \"event_type\": \"llm_call\",\n  \"session_id\": \"s\",\n"
     "  \"x\": [\n    {\n    \"y\": 1}\n  ],\n  \"timestamp\": 1\n}\n" LINE(
         "\"s\"", "2"),
     "(s 1 10 ) "},
    {"indented lines", TEL, 0, 0,
     " " LINE("\"s\"", "1") "  bad\n\t" LINE(
         "\"s\"", "2") " { \"x\" 1}\n " CALL("\"s\"", "3"),
     "syntax:2 syntax:4 (s 1 3 5 ) "},
    {"a cut line costs itself", TEL, 0, 0,
     LINE("\"s\"", "1") "{\"event_type\":\"llm_call\",\"x\":\"ab\n" LINE(
         "\"s\"", "2") "{\"event_type\":\"llm_call\",\"x\":[1,\n" LINE("\"s\"",
                                                                       "3"),
     "syntax:2 syntax:4 (s 1 3 5 ) "},
    {"garbage", TEL, 0, 0,
     "foo\nbar\n" CALL("\"s\"", "1") "garbage\n" LINE("\"s\"", "2") "end",
     "syntax:1 syntax:2 syntax:3 syntax:5 (s 3 4 ) "},
    {"a broken event and what belongs to it", TEL, 0, 0,
     "{\n  \"a\" 1,\n  \"b\": 2\n}\n" CALL("\"s\"", "1"), "syntax:2 (s 5 ) "},
    {"cut at the end of the file", TEL, 0, 0,
     LINE("\"s\"", "1") "{\"event_type\":\"llm_call\",\"session_id\":\"s\"",
     "cut:2 (s 1 ) "},
    {"no object", TEL, 0, 0, "[1,2]\n5\n\"x\"\n" LINE("\"s\"", "1") "null\n",
     "type:1 type:2 type:3 type:5 (s 4 ) "},
    {"nothing", TEL, 0, 0, "", ""},
    {"mixed zones sort by instant", TEL, 0, 0,
     LINE("\"s\"", "\"2026-01-01T09:00:00.010+09:00\"")
         LINE("\"s\"", "\"2026-01-01T00:00:00.009Z\"")
             CALL("\"s\"", "\"2025-12-31 "
                           "20:30:00.011-03:30\""),
     "(s 2 1 3 ) "},
    {"mixed zones, Python", TEL_C, 0, 0,
     LINE("\"s\"", "\"2026-01-01T09:00:00.010+09:00\"")
         LINE("\"s\"", "\"2026-01-01T00:00:00.009Z\"")
             CALL("\"s\"", "\"2025-12-31 "
                           "20:30:00.011-03:30\""),
     "(s 3 2 1 ) "},
    {"mixed units", TEL, 0, 0,
     LINE("\"s\"", "1767225600.011") LINE("\"s\"", "1767225600010")
         LINE("\"s\"", "1767225600009000000") CALL("\"s\"", "176722560"
                                                            "0008000"),
     "(s 4 3 2 1 ) "},
    {"unknown times stay behind their predecessor", TEL, 0, 0,
     LINE("\"s\"", "NaN") LINE("\"s\"", "20") LINE("\"s\"", "null")
         LINE("\"s\"", "10") LINE("\"s\"", "\"soon\"") "{\"session_id\":\"s\","
                                                       "\"event_type\":\"llm_"
                                                       "call\"}",
     "(s 1 4 5 6 2 3 ) "},
    {"session ids that are no strings", TEL, 0, 0,
     LINE("7", "1") LINE("null", "1") CALL("2.50", "1"),
     "(2.5 3 ) (7 1 ) (line_2 2 ) "},
    {"Python stops at an event", TEL_C, 0, 0,
     LINE("null", "1") LINE(
         "\"s\"", "5") "{\"session_id\":\"s\",\"event_type\":\"llm_call\"}"
                       "\n" LINE("\"s\"", "\"4\"") LINE("\"s\"", "[]")
                           LINE("\"s\"", "null") LINE("\"t\"", "\"b\"")
                               LINE("\"t\"", "\"a\"") CALL("\"s\"", "-4.5"),
     "type:1 type:3 type:4 type:5 type:6 (s 9 2 ) (t 8 7 ) "},
    {"numbers as Python compares them", TEL_C, 0, 0,
     LINE("\"s\"", "9007199254740993") LINE("\"s\"", "9007199254740992.0")
         LINE("\"s\"", "9007199254740991") LINE("\"s\"", "-Infinity")
             LINE("\"s\"", "-0.0") LINE("\"s\"", "0") CALL("\"s\"", "-1"),
     "(s 4 7 5 6 3 2 1 ) "},
    {"sessions by code point", TEL, 0, 0,
     LINE("\"\\ud83d\\ude00\"", "1") LINE("\"\\uffee\"", "1") LINE("\"B\"", "1")
         CALL("\"a\"", "1"),
     "(B 3 ) (a 4 ) (\xEF\xBF\xAE 2 ) (\xF0\x9F\x98\x80 1 ) "},
};

static bool is_telemetry(int mode)
{
    return mode == TEL || mode == TEL_C;
}

static bool is_python(int mode)
{
    return mode == NAT_C || mode == TEL_C;
}

static tb_dialect_id dialect_of(int mode)
{
    return is_telemetry(mode) ? TB_DIALECT_TELEMETRY : TB_DIALECT_NAT;
}

static void describe_record(int mode, const struct tb_trace_event *event,
                            struct tb_buffer *text)
{
    struct tb_arena arena = {0};
    struct tb_part part;
    struct tb_error error;
    const struct tb_trace_parser parser = {dialect_of(mode), is_python(mode),
                                           NULL};
    tb_status status = tb_trace_parse(&parser, event->json, event->offset,
                                      event->line, &arena, &part, &error);
    assert_int_equal(part.call.line, event->line);
    if (status != TB_OK)
        OK(tb_buffer_append_byte(text, '?'));
    else if (is_telemetry(mode))
        OK(tb_buffer_append_u64(text, event->line));
    else
        OK(tb_buffer_append(text, part.call.key));
    OK(tb_buffer_append_byte(text, ' '));
    tb_arena_release(&arena);
}

static void describe_event(int mode, const struct tb_trace_event *event,
                           struct tb_buffer *text)
{
    static const char *const losses[] = {"cut", "syntax", "type"};
    switch (event->kind) {
    case TB_TRACE_SESSION:
        OK(tb_buffer_append_byte(text, '('));
        OK(tb_buffer_append(text, event->name));
        OK(tb_buffer_append_byte(text, ' '));
        break;
    case TB_TRACE_RECORD:
        describe_record(mode, event, text);
        break;
    case TB_TRACE_SESSION_END:
        OK(tb_buffer_append(text, TB_SPAN(") ")));
        break;
    case TB_TRACE_SESSION_DROP:
        assert_true(event->error.message[0] != '\0');
        OK(tb_buffer_append(text, TB_SPAN("X ")));
        break;
    case TB_TRACE_LOSS:
        assert_true(event->error.message[0] != '\0');
        assert_true(event->error.path[0] != '\0');
        OK(tb_buffer_printf(text, "%s:%d ", losses[event->loss],
                            (int)event->error.line));
        break;
    default:
        break;
    }
}

// Stops at the first failure of the run, which only a test of memory has.
static tb_status describe_trace(const struct event_case *c, const char *path,
                                struct tb_buffer *text)
{
    struct tb_trace_options options = {
        .skip_sessions = c->skip,
        .max_sessions = c->max ? c->max : UINT64_MAX,
        .is_compat = is_python(c->mode),
    };
    struct tb_input *input = NULL;
    struct tb_trace_reader *reader = NULL;
    struct tb_trace_event event;
    struct tb_error error = {0};
    tb_status status = tb_input_open(path, &input, &error);
    if (status == TB_OK)
        status = tb_trace_open(dialect_of(c->mode), &options, input, &reader,
                               &error);
    while (status == TB_OK) {
        status = tb_trace_next(reader, &event, &error);
        if (status != TB_OK || event.kind == TB_TRACE_END)
            break;
        if (text)
            describe_event(c->mode, &event, text);
    }
    if (status == TB_OK) { // the end is the end, however often one asks
        OK(tb_trace_next(reader, &event, &error));
        assert_int_equal(event.kind, TB_TRACE_END);
    }
    tb_trace_close(reader);
    tb_input_close(input);
    return status;
}

static void check_text(const struct event_case *c, const char *how,
                       struct tb_buffer *text)
{
    if (!tb_span_equal(tb_buffer_span(text), tb_span_of(c->expected)))
        fail_msg("%s, %s: expected \"%s\", got \"%.*s\"", c->name, how,
                 c->expected, (int)text->len, (const char *)text->ptr);
    tb_buffer_release(text);
}

static void write_file(const char *input, char *path)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    size_t len = strlen(input);
    assert_int_equal(write(fd, input, len), len);
    close(fd);
}

static void test_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(event_cases); i++) {
        char path[] = "/tmp/tb_test_XXXXXX";
        struct tb_buffer text = TB_BUFFER(MAX_TEXT);
        write_file(event_cases[i].input, path);
        OK(describe_trace(&event_cases[i], path, &text));
        unlink(path);
        check_text(&event_cases[i], "file", &text);
    }
}

struct drip {
    const char *input;
    int fds[2];
};

// Writes a byte and waits until it was read.
static void *write_slowly(void *context)
{
    struct drip *drip = context;
    for (const char *at = drip->input; *at; at++) {
        int left = 1;
        if (write(drip->fds[1], at, 1) != 1)
            break;
        while (ioctl(drip->fds[0], FIONREAD, &left) == 0 && left > 0)
            ;
    }
    close(drip->fds[1]);
    return NULL;
}

static void test_byte_by_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(event_cases); i++) {
        const struct event_case *c = &event_cases[i];
        if (c->max) // it would not read to the end, and leave the writer alone
            continue;
        struct drip drip = {.input = c->input};
        pthread_t writer;
        char path[32];
        struct tb_buffer text = TB_BUFFER(MAX_TEXT);
        assert_int_equal(pipe(drip.fds), 0);
        (void)snprintf(path, sizeof(path), "/dev/fd/%d", drip.fds[0]);
        assert_int_equal(pthread_create(&writer, NULL, write_slowly, &drip), 0);
        OK(describe_trace(c, path, &text));
        // What broke off must not leave the writer waiting.
        char rest[256];
        while (read(drip.fds[0], rest, sizeof(rest)) > 0)
            ;
        pthread_join(writer, NULL);
        close(drip.fds[0]);
        check_text(c, "byte by byte", &text);
    }
}

/* One byte too many or too few among the steps of a request costs that request
 * and no other, wherever it is. */
static void test_salvage(void **state)
{
    (void)state;
    static const char before[] = "[" REQUEST("0", START("a")) ",\n";
    static const char broken[] = REQUEST("1", START("b") "," END("b"));
    static const char after[] =
        ",\n" REQUEST("2", START("c")) "\n," REQUEST("3", "") "]\n";
    static const char wanted[] = "(conv_2 c ) (conv_3 ) ";
    size_t first = sizeof("{\"request_number\":1,\"intermediate_steps\":[") - 1;
    struct event_case c = {.name = "salvage", .mode = NAT};
    for (size_t at = first; at < sizeof(broken) - 1; at++) {
        for (int damage = 0; damage < 4; damage++) {
            static const char *const inserted[] = {"", "\"", "}", "["};
            struct tb_buffer input = TB_BUFFER(MAX_TEXT), text = input;
            char path[] = "/tmp/tb_test_XXXXXX";
            OK(tb_buffer_printf(&input, "%s%.*s%s%s%s", before, (int)at, broken,
                                inserted[damage], broken + at + (damage == 0),
                                after));
            OK(tb_buffer_append_byte(&input, 0));
            write_file((char *)input.ptr, path);
            OK(describe_trace(&c, path, &text));
            struct tb_span got = tb_buffer_span(&text);
            if (!tb_span_starts_with(got, TB_SPAN("(conv_0 a ) ")) ||
                !tb_span_ends_with(got, tb_span_of(wanted)))
                fail_msg("%s at %zu: %.*s", inserted[damage], at, (int)got.len,
                         (const char *)got.ptr);
            tb_buffer_release(&input);
            tb_buffer_release(&text);
            unlink(path);
        }
    }
}

/* Telemetry is read twice. What was changed between is told, what was only
 * added does not matter. */
static void test_changed_while_it_is_read(void **state)
{
    (void)state;
    static const char content[] = LINE("\"s\"", "1") LINE("\"s\"", "2");
    struct tb_trace_options options = {.max_sessions = UINT64_MAX};
    static const struct {
        const char *content;
        tb_status status;
    } later[] = {
        {LINE("\"s\"", "1") LINE("\"s\"", "2") LINE("\"t\"", "3"), TB_OK},
        {LINE("\"s\"", "1") LINE("\"s\"", "3"), TB_ERR_IO},
        {LINE("\"s\"", "1"), TB_ERR_CUT},
    };
    for (size_t i = 0; i < COUNT(later); i++) {
        char path[] = "/tmp/tb_test_XXXXXX";
        struct tb_input *input;
        struct tb_trace_reader *reader;
        struct tb_trace_event event = {0};
        struct tb_error error = {0};
        write_file(content, path);
        OK(tb_input_open(path, &input, NULL));
        OK(tb_trace_open(TB_DIALECT_TELEMETRY, &options, input, &reader, NULL));
        OK(tb_trace_next(reader, &event, &error)); // all was read once
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_true(fputs(later[i].content, file) >= 0);
        assert_int_equal(fclose(file), 0);
        tb_status status = TB_OK;
        while (status == TB_OK && event.kind != TB_TRACE_END)
            status = tb_trace_next(reader, &event, &error);
        assert_int_equal(status, later[i].status);
        assert_true(status == TB_OK || error.message[0]);
        tb_trace_close(reader);
        tb_input_close(input);
        unlink(path);
    }
}

static void test_out_of_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(event_cases); i++) {
        char path[] = "/tmp/tb_test_XXXXXX";
        write_file(event_cases[i].input, path);
        tb_status status = TB_ERR_MEMORY;
        for (int count = 0; status == TB_ERR_MEMORY; count++) {
            tb_memory_fail_after(count);
            status = describe_trace(&event_cases[i], path, NULL);
            tb_memory_fail_after(-1);
        }
        assert_int_equal(status, TB_OK);
        unlink(path);
    }
}

/* A file that is larger than any window, and whose lines are all cut off
 * inside a list: each must cost itself, not all that follows. */
static void test_large(void **state)
{
    (void)state;
    enum { LINES = 20000 };
    struct tb_buffer text = TB_BUFFER(MAX_TEXT), input = TB_BUFFER(MAX_TEXT);
    struct event_case c = {.name = "cut lines", .mode = TEL};
    char path[] = "/tmp/tb_test_XXXXXX";
    for (int i = 0; i < LINES; i++) {
        const char *line = i % 2
                               ? "{\"event_type\":\"llm_call\",\"session_id\":"
                                 "\"s\",\"timestamp\":%d,\"x\":[1,2]}\n"
                               : "{\"x\":[{\"timestamp\":%d,\n";
        OK(tb_buffer_printf(&input, line, i));
    }
    OK(tb_buffer_append_byte(&input, 0));
    write_file((const char *)input.ptr, path);
    OK(describe_trace(&c, path, &text));
    unlink(path);
    assert_int_equal(tb_span_count(tb_buffer_span(&text), 'x'), LINES / 2);
    assert_int_equal(tb_span_count(tb_buffer_span(&text), ' '),
                     LINES + 2); // losses and records, and the session's ends
    tb_buffer_release(&text);
    tb_buffer_release(&input);
}

/* ---- parts ------------------------------------------------------------ */

/* A part as a test expects it: S, E, W or - for its kind, then what is there:
 * k=key m=model a=agent p=priority t=start-end u=prompt/completion/cached/
 * reasoning, a message as role[text] role{json} role() or bare "text", T=tools
 * A=answer I=images L=lone surrogates B=bad bytes. */
struct part_case {
    const char *name;
    int mode;
    const char *json, *expected;
};

#define STEP(type, fields)                                                     \
    "{\"payload\":{\"event_type\":\"LLM_" type "\"," fields "}}"
#define INPUTS(list) STEP("START", "\"metadata\":{\"chat_inputs\":" list "}")
#define USAGE(fields)                                                          \
    STEP("END", "\"usage_info\":{\"token_usage\":{" fields "}}")
#define EVENT(fields) "{\"event_type\":\"llm_call\"," fields "}"
#define MESSAGES(list) EVENT("\"request_payload\":{\"messages\":" list "}")
#define RESPONSE(fields) EVENT("\"response_payload\":{" fields "}")

static const struct part_case part_cases[] = {
    {"start", NAT,
     "{\"function_ancestry\":{\"function_name\":\"f\"},\"payload\":{"
     "\"metadata\":{\"chat_inputs\":[{\"role\":\"user\",\"content\":\"hi\\n\"}]"
     ","
     "\"tools_schema\":[{\"a\":1}]},\"event_type\":\"LLM_START\",\"UUID\":"
     "\"u\","
     "\"event_timestamp\":12.5,\"name\":\"m\",\"usage_info\":{\"token_usage\":"
     "{\"prompt_tokens\":3}}}}",
     "S k=u m=m a=f t=12.5-? user[hi\n] T=[{\"a\":1}] "},
    {"end", NAT,
     "{\"payload\":{\"UUID\":\"u\",\"event_type\":\"LLM_END\",\"event_timestamp"
     "\":13,\"data\":{\"output\":\"yes\"},\"usage_info\":{\"token_usage\":{"
     "\"prompt_tokens\":9,\"completion_tokens\":2,\"cached_tokens\":4,"
     "\"reasoning_tokens\":0}}}}",
     "E k=u t=?-13 u=9/2/4/0 A=yes "},
    {"all null", NAT,
     "{\"function_ancestry\":null,\"payload\":{\"event_type\":\"LLM_START\","
     "\"event_timestamp\":null,\"name\":null,\"metadata\":null,\"data\":null,"
     "\"usage_info\":null,\"UUID\":null}}",
     "S "},
    {"end without usage", NAT, STEP("END", "\"usage_info\":null"), "E "},
    {"end without token usage", NAT,
     STEP("END", "\"usage_info\":{\"token_usage\":null}"), "E "},
    {"counts of all kinds", NAT,
     USAGE("\"prompt_tokens\":12.0,\"completion_tokens\":\"7\","
           "\"cached_tokens\":null,\"reasoning_tokens\":NaN"),
     "E u=12/7/-/- "},
    {"counts that are none", NAT,
     USAGE("\"prompt_tokens\":-1,\"completion_tokens\":true,"
           "\"cached_tokens\":\"many\",\"reasoning_tokens\":1e30"),
     "E "},
    {"zero is a count", NAT, USAGE("\"prompt_tokens\":0"), "E u=0/-/-/- "},
    {"time that is none", NAT, STEP("END", "\"event_timestamp\":NaN"), "E "},
    {"time that is text", NAT, STEP("END", "\"event_timestamp\":\"1.5\""),
     "E "},
    {"key that is a number", NAT, STEP("END", "\"UUID\":5"), "E k=5 "},
    {"no LLM step", NAT, "{\"payload\":{\"event_type\":\"TOOL_END\"}}", "- "},
    {"no payload", NAT, "{\"payload\":\"LLM_END\"}", "- "},
    {"empty tools", NAT, STEP("START", "\"metadata\":{\"tools_schema\":[ ]}"),
     "S "},
    {"LangChain types", NAT,
     INPUTS("[{\"type\":\"human\",\"content\":\"a\"},{\"type\":\"ai\","
            "\"content\":\"b\"},{\"type\":\"system\",\"content\":\"c\"},"
            "{\"type\":\"tool\",\"content\":\"d\"},{\"type\":\"AIMessageChunk\""
            ",\"content\":\"e\"},{\"type\":\"x\",\"content\":\"f\"},{\"type\":"
            "\"ai\",\"role\":\"r\",\"content\":\"g\"}]"),
     "S user[a] assistant[b] system[c] tool[d] assistant[e] x[f] r[g] "},
    {"contents of all kinds", NAT,
     INPUTS("[{\"content\":null},{},{\"content\":\"\"},{\"content\": [ 1 ] },"
            "{\"content\":5},{\"content\":{\"a\":[]}},{\"content\":true}]"),
     "S () () [] {[ 1 ]} {5} {{\"a\":[]}} {true} "},
    {"LlamaIndex", NAT, INPUTS("[\"user: hi\",\"\",\"assistant: None\"]"),
     "S \"user: hi\" \"\" \"assistant: None\" "},
    {"what is no message", NAT, INPUTS("[1,null,[\"x\"],\"a\"]"), "S \"a\" "},
    {"images", NAT,
     INPUTS("[{\"role\":\"u\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
            "{\"type\":\"image_url\"},\"b\",{\"type\":\"image\",\"text\":null}]"
            "}]"),
     "S u{[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image_url\"},\"b\","
     "{\"type\":\"image\",\"text\":null}]} I=2 "},
    {"Semantic Kernel", NAT,
     INPUTS("[{\"messages\":[{\"role\":\"user\",\"items\":[{\"text\":\"a\"}]},"
            "{\"role\":\"assistant\",\"content\":\"b\"}]}]"),
     "S user{[{\"text\":\"a\"}]} assistant[b] "},
    {"Semantic Kernel without a list", NAT,
     INPUTS(
         "{\"messages\":[{\"role\":\"user\",\"items\":[{\"text\":\"a\"}]}]}"),
     "S user{[{\"text\":\"a\"}]} "},
    {"Semantic Kernel, Python", NAT_C,
     INPUTS("{\"messages\":[{\"role\":\"user\"}],\"a\\nb\":1}"),
     "S \"messages\" \"a\nb\" "},
    {"Strands", NAT,
     INPUTS("[{\"text\":\"sys\",\"role\":\"system\"},{\"role\":\"user\","
            "\"content\":[{\"text\":\"a\"},{\"toolUse\":{}}]}]"),
     "S system[sys] user{[{\"text\":\"a\"},{\"toolUse\":{}}]} I=1 "},
    {"text beside content", NAT,
     INPUTS("[{\"text\":\"no\",\"content\":\"yes\"}]"), "S [yes] "},
    {"text without content, Python", NAT_C, INPUTS("[{\"text\":\"no\"}]"),
     "S () "},
    {"one text", NAT, INPUTS("\"h\\u00e9\""), "S \"h\xC3\xA9\" "},
    {"one text, Python", NAT_C, INPUTS("\"h\\u00e9\\ud83d\\ude00\""),
     "S \"h\n\xC3\xA9\n\xF0\x9F\x98\x80\" "},
    {"inputs that are none", NAT, INPUTS("5"), "S "},
    {"lone surrogates", NAT,
     INPUTS("[{\"role\":\"u\",\"content\":\"a\\ud83d b\"},{\"role\":\"u\","
            "\"content\":\"\\ude00\\ud83d\"},{\"content\":[{\"text\":\"\\ud800"
            "\"},\"\\udfff\"]},\"\\ud900\"]"),
     "S u[a\xEF\xBF\xBD b] u[\xEF\xBF\xBD\xEF\xBF\xBD] {[{\"text\":\"\\ud800\"}"
     ",\"\\udfff\"]} \"\xEF\xBF\xBD\" L=6 "},
    {"a whole pair", NAT,
     INPUTS("[{\"content\":[{\"text\":\"\\ud83d\\ude00\"}]},"
            "{\"content\":\"\\ud83d\\ude00\"}]"),
     "S {[{\"text\":\"\\ud83d\\ude00\"}]} [\xF0\x9F\x98\x80] "},
    {"bad bytes", NAT,
     INPUTS("[{\"content\":\"a\xFF\"},{\"content\":[\"\xC3\"]}]"),
     "S [a\xEF\xBF\xBD] {[\"\xC3\"]} B=2 "},
    {"answer of LlamaIndex", NAT,
     STEP("END", "\"metadata\":{\"chat_responses\":{\"role\":\"assistant\","
                 "\"additional_kwargs\":{\"tool_calls\":[{\"function\":{"
                 "\"arguments\":\"{\\\"q\\\": 1}\",\"name\":\"f\"}}]}}},"
                 "\"data\":{\"output\":\"\"}"),
     "E A=f\n{\"q\": 1} "},
    {"answer of LangChain", NAT,
     STEP("END", "\"metadata\":{\"chat_responses\":[{\"text\":\"\",\"message\":"
                 "{\"content\":[{\"text\":\"a\"}],\"tool_calls\":[{\"name\":"
                 "\"f\",\"args\":{\"q\":1}}],\"additional_kwargs\":{"
                 "\"tool_calls\":[{\"function\":{\"name\":\"no\"}}]}}}]}"),
     "E A=a\nf\n{\"q\":1} "},
    {"answer is not looked at by Python", NAT_C,
     STEP("END", "\"data\":{\"output\":\"\\ud800\"}"), "E "},
    {"broken inside", NAT, INPUTS("[{\"content\":\"\\q\"}]"), "syntax 1"},
    {"broken inside on line 3", NAT,
     "{\"payload\":{\"event_type\":\"LLM_START\",\n\"metadata\":{\n"
     "\"chat_inputs\":[{\"content\" 5}]}}}",
     "syntax 3"},
    {"cut", NAT, "{\"payload\":{", "cut off 1"},

    {"call", TEL,
     EVENT(
         "\"timestamp\":\"1970-01-01T00:01:00.5Z\",\"latency_ms\":1500,"
         "\"session_id\":\"s\",\"latency_priority\":\"HIGH\","
         "\"request_payload\":{\"model\":\"m\",\"tools\":[{}],\"messages\":["
         "{\"role\":\"system\",\"content\":\"You are a Deep Research agent.\"}"
         ",{\"role\":\"user\",\"content\":[{\"text\":\"a\"}]}]},"
         "\"response_payload\":{\"usage\":{\"prompt_tokens\":9,"
         "\"completion_tokens\":2,\"prompt_tokens_details\":{"
         "\"cached_tokens\":4},\"completion_tokens_details\":{"
         "\"reasoning_tokens\":1}},\"choices\":[{\"message\":{\"content\":"
         "\"yes\"}},{\"message\":{\"content\":\"no\"}}]}"),
     "W m=m a=deep_coordinator p=HIGH t=60.5-62 u=9/2/4/1 system[You are a "
     "Deep Research agent.] user{[{\"text\":\"a\"}]} T=[{}] A=yes "},
    {"another event", TEL, "{\"event_type\":\"tool_call\"}", "- a=unknown "},
    {"payloads that are none", TEL,
     EVENT("\"request_payload\":null,\"response_payload\":\"x\""),
     "W a=unknown "},
    {"payloads that are lists", TEL,
     EVENT("\"request_payload\":[1],\"response_payload\":[]"), "W a=unknown "},
    {"priority null", TEL, EVENT("\"latency_priority\":null"),
     "W a=unknown p= "},
    {"no latency", TEL, EVENT("\"timestamp\":5,\"latency_ms\":null"),
     "W a=unknown t=5-? "},
    {"usage null", TEL,
     RESPONSE("\"choices\":[{\"message\":{\"content\":\"hello there\"}}],"
              "\"usage\":null"),
     "W a=unknown A=hello there "},
    {"usage empty", TEL, RESPONSE("\"usage\":{},\"choices\":[]"),
     "W a=unknown "},
    {"usage 0", TEL, RESPONSE("\"usage\":{\"completion_tokens\":0}"),
     "W a=unknown u=-/0/-/- "},
    {"answer in parts", TEL,
     RESPONSE("\"choices\":[{\"message\":{\"tool_calls\":[{\"function\":{"
              "\"name\":\"f\",\"arguments\":\"{}\"}},{\"function\":{\"name\":"
              "\"g\"}}],\"content\":\"c\",\"reasoning_content\":\"r\"}}]"),
     "W a=unknown A=r\nc\nf\n{}\ng "},
    {"answer as text", TEL, RESPONSE("\"choices\":[{\"text\":\"t\"}]"),
     "W a=unknown A=t "},
    {"choices that are none", TEL, RESPONSE("\"choices\":[null,5]"),
     "W a=unknown "},
    {"messages null", TEL, MESSAGES("null"), "W a=unknown "},
    {"messages null, Python", TEL_C, MESSAGES("null"), "type 1"},
    {"tool calls only", TEL,
     MESSAGES(
         "[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{}]}]"),
     "W a=unknown assistant() "},
    {"surrogate in the answer, Python", TEL_C,
     RESPONSE("\"choices\":[{\"message\":{\"content\":\"\\ud800\"}}]"),
     "W a=unknown "},
};

static void describe_field(struct tb_buffer *text, const char *name,
                           struct tb_span value)
{
    if (value.len == 0)
        return;
    OK(tb_buffer_printf(text, "%s=%.*s ", name, (int)value.len,
                        (const char *)value.ptr));
}

static void describe_count(struct tb_buffer *text, const char *name,
                           uint32_t count)
{
    if (count)
        OK(tb_buffer_printf(text, "%s=%u ", name, count));
}

static void describe_usage(struct tb_buffer *text, const struct tb_usage *usage)
{
    const bool has[] = {usage->has_prompt, usage->has_completion,
                        usage->has_cached, usage->has_reasoning};
    const uint64_t counts[] = {usage->prompt, usage->completion, usage->cached,
                               usage->reasoning};
    if (!has[0] && !has[1] && !has[2] && !has[3])
        return;
    OK(tb_buffer_append(text, TB_SPAN("u=")));
    for (int i = 0; i < 4; i++) {
        OK(has[i] ? tb_buffer_append_u64(text, counts[i])
                  : tb_buffer_append_byte(text, '-'));
        OK(tb_buffer_append_byte(text, i < 3 ? '/' : ' '));
    }
}

static void describe_seconds(struct tb_buffer *text, double seconds)
{
    OK(isnan(seconds) ? tb_buffer_append_byte(text, '?')
                      : tb_buffer_printf(text, "%.10g", seconds));
}

static void describe_message(struct tb_buffer *text,
                             const struct tb_message *message)
{
    const char *format = message->is_bare                      ? "\"%.*s\" "
                         : message->content == TB_CONTENT_TEXT ? "[%.*s] "
                         : message->content == TB_CONTENT_JSON ? "{%.*s} "
                                                               : "() ";
    struct tb_span content = message->content == TB_CONTENT_JSON
                                 ? message->content_json
                                 : message->text;
    assert_true(message->json.len > 0);
    OK(tb_buffer_append(text, message->role));
    OK(tb_buffer_printf(text, format, (int)content.len,
                        (const char *)content.ptr));
}

static void describe_part(struct tb_buffer *text, const struct tb_part *part)
{
    const struct tb_call *call = &part->call;
    OK(tb_buffer_append_byte(text, (uint8_t) "-SEW"[part->kind]));
    OK(tb_buffer_append_byte(text, ' '));
    describe_field(text, "k", call->key);
    describe_field(text, "m", call->model);
    describe_field(text, "a", call->agent);
    if (call->has_priority)
        OK(tb_buffer_printf(text, "p=%.*s ", (int)call->priority.len,
                            (const char *)call->priority.ptr));
    if (!isnan(call->start_s) || !isnan(call->end_s)) {
        OK(tb_buffer_append(text, TB_SPAN("t=")));
        describe_seconds(text, call->start_s);
        OK(tb_buffer_append_byte(text, '-'));
        describe_seconds(text, call->end_s);
        OK(tb_buffer_append_byte(text, ' '));
    }
    describe_usage(text, &call->usage);
    for (size_t i = 0; i < call->message_count; i++)
        describe_message(text, &call->messages[i]);
    assert_int_equal(call->tools.len > 0, call->tools_hash != 0);
    describe_field(text, "T", call->tools);
    describe_field(text, "A", call->answer);
    describe_count(text, "I", call->image_count);
    describe_count(text, "L", call->lone_surrogate_count);
    describe_count(text, "B", call->bad_utf8_count);
}

static void test_parts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(part_cases); i++) {
        const struct part_case *c = &part_cases[i];
        struct tb_arena arena = {0};
        struct tb_buffer text = TB_BUFFER(MAX_TEXT);
        struct tb_part part;
        struct tb_error error = {0};
        const struct tb_trace_parser parser = {dialect_of(c->mode),
                                               is_python(c->mode), NULL};
        tb_status status = tb_trace_parse(&parser, tb_span_of(c->json), 1000, 1,
                                          &arena, &part, &error);
        if (status == TB_OK) {
            describe_part(&text, &part);
        } else {
            assert_int_equal(error.status, status);
            assert_int_equal(part.kind, TB_PART_NONE);
            OK(tb_buffer_printf(&text, "%s %d", tb_status_name(status),
                                (int)error.line));
        }
        if (!tb_span_equal(tb_buffer_span(&text), tb_span_of(c->expected)))
            fail_msg("%s: expected \"%s\", got \"%.*s\"", c->name, c->expected,
                     (int)text.len, (const char *)text.ptr);
        tb_buffer_release(&text);
        tb_arena_release(&arena);
    }
}

static void test_parts_out_of_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(part_cases); i++) {
        const struct part_case *c = &part_cases[i];
        tb_status status = TB_ERR_MEMORY;
        const struct tb_trace_parser parser = {dialect_of(c->mode),
                                               is_python(c->mode), NULL};
        for (int count = 0; status == TB_ERR_MEMORY; count++) {
            struct tb_arena arena = {0};
            struct tb_part part;
            tb_memory_fail_after(count);
            status = tb_trace_parse(&parser, tb_span_of(c->json), 0, 1, &arena,
                                    &part, NULL);
            tb_memory_fail_after(-1);
            tb_arena_release(&arena);
        }
    }
}

static void test_peek_model(void **state)
{
    (void)state;
    static const struct {
        int mode;
        const char *json, *model;
    } cases[] = {
        {NAT, STEP("START", "\"x\":[{}],\"name\":\"m\\u00e9\""), "m\xC3\xA9"},
        {NAT, STEP("START", "\"name\":null"), ""},
        {NAT, "{\"payload\":null}", ""},
        {NAT, "{}", ""},
        {TEL, EVENT("\"request_payload\":{\"messages\":[],\"model\":\"m\"}"),
         "m"},
        {TEL, EVENT("\"request_payload\":[]"), ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tb_arena arena = {0};
        struct tb_span model;
        OK(tb_trace_peek_model(dialect_of(cases[i].mode),
                               tb_span_of(cases[i].json), &arena, &model));
        assert_true(tb_span_equal(model, tb_span_of(cases[i].model)));
        tb_arena_release(&arena);
    }
}

/* ---- agents ----------------------------------------------------------- */

static void test_agents(void **state)
{
    (void)state;
    static const struct {
        const char *messages, *agent, *python;
    } cases[] = {
#define SYSTEM(content) "{\"role\":\"system\",\"content\":" content "}"
#define USER(content) "{\"role\":\"user\",\"content\":" content "}"
        {SYSTEM("\"Gather and synthesize comprehensive\""), "research_worker",
         "research_worker"},
        {SYSTEM("\"For the given task, generate a plan\""), "research_planner",
         "research_planner"},
        {SYSTEM("\"Current date and time: now\""), "shallow_agent",
         "shallow_agent"},
        {SYSTEM("\" Current date and time:\""), "unknown", "unknown"},
        {SYSTEM("[{\"type\":\"x\"},\"s\",{\"text\":\"\"},{\"text\":\"Current "
                "date and time: a\"}]"),
         "shallow_agent", "shallow_agent"},
        {USER("\"a\"") "," SYSTEM("\"hi\"") "," SYSTEM(
             "\"Current date and time:\""),
         "unknown", "unknown"},
        {USER("\"Please Classify the user message\""), "classifier",
         "classifier"},
        {USER("\"Please Classify this\""), "classifier", "unknown"},
        {USER("\"a complexity analyzer\""), "complexity_analyzer",
         "complexity_analyzer"},
        {SYSTEM("null") "," USER("\"Classify the user message\""), "classifier",
         "classifier"},
        {SYSTEM("\"\"") "," USER("\"Classify the user message\""), "classifier",
         "classifier"},
        {SYSTEM("\"hi\"") "," USER("\"Classify the user message\""), "unknown",
         "unknown"},
        {USER("[{\"text\":\"Classify the user message\"}]"), "classifier",
         "classifier"},
        {USER("null") "," USER("\"Classify the user message\""), "classifier",
         "classifier"},
        {USER("\"a\"") "," USER("\"Classify the user message\""), "unknown",
         "unknown"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tb_buffer json = TB_BUFFER(MAX_TEXT);
        OK(tb_buffer_printf(&json, MESSAGES("[%s]"), cases[i].messages));
        for (int python = 0; python < 2; python++) {
            struct tb_arena arena = {0};
            struct tb_part part;
            const struct tb_trace_parser parser = {TB_DIALECT_TELEMETRY, python,
                                                   NULL};
            OK(tb_trace_parse(&parser, tb_buffer_span(&json), 0, 1, &arena,
                              &part, NULL));
            const char *expected = python ? cases[i].python : cases[i].agent;
            if (!tb_span_equal(part.call.agent, tb_span_of(expected)))
                fail_msg("%s: expected %s, got %.*s", cases[i].messages,
                         expected, (int)part.call.agent.len,
                         (const char *)part.call.agent.ptr);
            tb_arena_release(&arena);
        }
        tb_buffer_release(&json);
    }
}

/* ---- timestamps ------------------------------------------------------- */

#define UNKNOWN INT64_MIN

static void test_timestamps(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        int64_t ns;
    } cases[] = {
        {"\"1970-01-01T00:00:00Z\"", 0},
        {"\"1970-01-01\"", 0},
        {"\"1970-01-01T00:00\"", 0},
        {"\"2026-01-01T00:00:00.009Z\"", 1767225600009000000},
        {"\"2026-01-01T09:00:00.010+09:00\"", 1767225600010000000},
        {"\"2025-12-31 20:30:00.011-03:30\"", 1767225600011000000},
        {"\"2025-12-31 20:30:00.011-0330\"", 1767225600011000000},
        {"\"2026-01-01T02:00:00+02\"", 1767225600000000000},
        {"\"2026-01-01t00:00:00.123456789z\"", 1767225600123456789},
        {"\"2026-01-01T00:00:00.1234567899Z\"", 1767225600123456789},
        {"\"2026-01-01T00:00:00,5\"", 1767225600500000000},
        {"\"2026-01-01 00:00:00 UTC\"", 1767225600000000000},
        {"\" 2026-01-01 00:00:00 +00:00 \"", 1767225600000000000},
        {"\"2024-02-29T12:00:00Z\"", 1709208000000000000},
        {"\"2000-03-01T00:00:00Z\"", 951868800000000000},
        {"\"1969-12-31T23:59:59.5Z\"", -500000000},
        {"\"2016-12-31T23:59:60Z\"", 1483228800000000000},
        {"\"2023-02-29T12:00:00Z\"", UNKNOWN},
        {"\"2100-02-29\"", UNKNOWN},
        {"\"2026-13-01\"", UNKNOWN},
        {"\"2026-04-31\"", UNKNOWN},
        {"\"2026-01-01T24:00:00\"", UNKNOWN},
        {"\"2026-01-01T00:60:00\"", UNKNOWN},
        {"\"2026-01-01T00:00:00.Z\"", UNKNOWN},
        {"\"2026-01-01T00:00:00+1\"", UNKNOWN},
        {"\"2026-01-01T00:00:00Zx\"", UNKNOWN},
        {"\"2026-1-1\"", UNKNOWN},
        {"\"9999-01-01\"", UNKNOWN},
        {"\"\"", UNKNOWN},
        {"\"yesterday\"", UNKNOWN},
        {"\"1767225600\"", 1767225600000000000},
        {"\"1767225600010\"", 1767225600010000000},
        {"0", 0},
        {"1767225600", 1767225600000000000},
        {"1767225600.25", 1767225600250000000},
        {"1767225600010", 1767225600010000000},
        {"1767225600010.5", 1767225600010500000},
        {"1767225600010001", 1767225600010001000},
        {"1767225600123456789", 1767225600123456789},
        {"-1.5", -1500000000},
        {"1e300", UNKNOWN},
        {"99999999999999", UNKNOWN}, // milliseconds, in the year 5138
        {"NaN", UNKNOWN},
        {"-Infinity", UNKNOWN},
        {"null", UNKNOWN},
        {"true", UNKNOWN},
        {"{\"a\":[1]}", UNKNOWN},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tb_arena arena = {0};
        struct tb_json_reader reader;
        int64_t ns = 7;
        bool is_known;
        tb_json_reader_init_span(&reader, tb_span_of(cases[i].json), 0, 1);
        OK(tb_timestamp_read(&reader, &arena, &ns, &is_known));
        OK(tb_json_expect_end(&reader));
        bool is_right = is_known == (cases[i].ns != UNKNOWN) &&
                        (!is_known || ns == cases[i].ns);
        if (!is_right)
            fail_msg("%s: expected %lld, got %d %lld", cases[i].json,
                     (long long)cases[i].ns, is_known, (long long)ns);
        tb_arena_release(&arena);
    }
    assert_true(tb_timestamp_seconds(1767225600250000000) == 1767225600.25);
    assert_true(tb_timestamp_seconds(-1500000000) == -1.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_byte_by_byte),
        cmocka_unit_test(test_salvage),
        cmocka_unit_test(test_changed_while_it_is_read),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_parts_out_of_memory),
        cmocka_unit_test(test_peek_model),
        cmocka_unit_test(test_agents),
        cmocka_unit_test(test_timestamps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
