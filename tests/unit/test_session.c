/* Pairing of starts and ends, and the order of calls. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "buffer.h"
#include "memory.h"
#include "session.h"

#define X NAN

struct input {
    char kind; /* S start, E end, W whole */
    const char *key;
    double time; /* of the start or of the end; a whole one ends 1 s later */
};

/* A call as a test expects it: "key:start-end" with '?' for what is not known,
 * and the first letter of a state that is not "answered". */
struct pairing_case {
    const char *name;
    tb_call_order order;
    bool keep_duplicate_ends;
    struct input input[8];
    const char *expected;
};

static const struct pairing_case pairing_cases[] = {
    {"nothing", TB_ORDER_START, false, {{0}}, ""},
    {"one call",
     TB_ORDER_START,
     false,
     {{'S', "a", 1}, {'E', "a", 2}},
     "a:1-2 "},
    {"overlap by start",
     TB_ORDER_START,
     false,
     {{'S', "a", 1}, {'S', "b", 2}, {'E', "b", 3}, {'E', "a", 4}},
     "a:1-4 b:2-3 "},
    {"overlap by end",
     TB_ORDER_END,
     false,
     {{'S', "a", 1}, {'S', "b", 2}, {'E', "b", 3}, {'E', "a", 4}},
     "b:2-3 a:1-4 "},
    {"end before its start in the file",
     TB_ORDER_START,
     false,
     {{'E', "a", 2}, {'S', "a", 1}},
     "a:1-2 "},
    {"no end",
     TB_ORDER_START,
     false,
     {{'S', "a", 1}, {'S', "b", 2}, {'E', "b", 3}},
     "a:1-?N b:2-3 "},
    {"no start",
     TB_ORDER_START,
     false,
     {{'S', "a", 1}, {'E', "a", 3}, {'E', "z", 2}},
     "a:1-3 z:?-2S "},
    {"no keys never pair",
     TB_ORDER_FILE,
     false,
     {{'S', "", 1}, {'E', "", 2}},
     ":1-?N :?-2S "},
    {"last start wins, first is left over",
     TB_ORDER_START,
     false,
     {{'S', "a", 1}, {'S', "a", 5}, {'E', "a", 6}},
     "a:1-?N a:5-6 "},
    {"last start wins though after the end",
     TB_ORDER_START,
     false,
     {{'S', "a", 1}, {'E', "a", 6}, {'S', "a", 5}},
     "a:1-?N a:5-6 "},
    {"second end is a duplicate",
     TB_ORDER_END,
     false,
     {{'S', "a", 1}, {'E', "a", 2}, {'E', "a", 3}},
     "a:1-2 a:?-3D "},
    {"second end is a call",
     TB_ORDER_END,
     true,
     {{'S', "a", 1}, {'E', "a", 2}, {'E', "a", 3}},
     "a:1-2 a:1-3 "},
    {"unknown end counts as 0",
     TB_ORDER_END,
     false,
     {{'S', "a", 1}, {'E', "a", 2}, {'S', "b", 3}, {'E', "b", X}},
     "b:3-? a:1-2 "},
    {"equal ends keep file order",
     TB_ORDER_END,
     false,
     {{'S', "a", 1}, {'S', "b", 2}, {'E', "b", 7}, {'E', "a", 7}},
     "b:2-7 a:1-7 "},
    {"equal starts keep file order",
     TB_ORDER_START,
     false,
     {{'S', "b", 1}, {'S', "a", 1}, {'E', "a", 2}, {'E', "b", 3}},
     "b:1-3 a:1-2 "},
    {"unknown start follows its predecessor",
     TB_ORDER_START,
     false,
     {{'W', "c", 30}, {'W', "a", 10}, {'W', "b", X}, {'W', "d", 20}},
     "a:10-11 b:?-? d:20-21 c:30-31 "},
    {"infinite times are unknown",
     TB_ORDER_START,
     false,
     {{'W', "c", 3}, {'W', "a", INFINITY}, {'W', "b", 1}},
     "b:1-2 c:3-4 a:inf-inf "},
    {"whole calls as they came",
     TB_ORDER_FILE,
     false,
     {{'W', "c", 3}, {'W', "a", 1}, {'W', "b", 2}},
     "c:3-4 a:1-2 b:2-3 "},
};

static void add(struct tb_session *session, const struct input *input)
{
    struct tb_part part = {.call = {.start_s = NAN, .end_s = NAN}};
    part.call.key = tb_span_of(input->key);
    part.kind = input->kind == 'S'   ? TB_PART_START
                : input->kind == 'E' ? TB_PART_END
                                     : TB_PART_WHOLE;
    if (input->kind != 'E')
        part.call.start_s = input->time;
    if (input->kind == 'E')
        part.call.end_s = input->time;
    if (input->kind == 'W')
        part.call.end_s = input->time + 1;
    assert_int_equal(tb_session_add(session, &part), TB_OK);
}

static void append_time(struct tb_buffer *text, double time)
{
    assert_int_equal(isnan(time) ? tb_buffer_append(text, TB_SPAN("?"))
                                 : tb_buffer_printf(text, "%g", time),
                     TB_OK);
}

static void describe(const struct tb_session *session, struct tb_buffer *text)
{
    static const char *const marks[] = {"", "N", "S", "D"};
    tb_buffer_clear(text);
    for (size_t i = 0; i < session->call_count; i++) {
        const struct tb_session_call *made = &session->calls[i];
        assert_int_equal(tb_buffer_append(text, made->call.key), TB_OK);
        assert_int_equal(tb_buffer_append_byte(text, ':'), TB_OK);
        append_time(text, made->call.start_s);
        assert_int_equal(tb_buffer_append_byte(text, '-'), TB_OK);
        append_time(text, made->call.end_s);
        assert_int_equal(tb_buffer_printf(text, "%s ", marks[made->state]),
                         TB_OK);
    }
    assert_int_equal(tb_buffer_append_byte(text, '\0'), TB_OK);
}

static void test_pairing(void **state)
{
    (void)state;
    struct tb_session session = {0}; // one for all: reset must be enough
    struct tb_buffer text = TB_BUFFER(1 << 16);
    for (size_t i = 0; i < sizeof(pairing_cases) / sizeof(pairing_cases[0]);
         i++) {
        const struct pairing_case *c = &pairing_cases[i];
        tb_session_reset(&session);
        for (size_t k = 0; k < 8 && c->input[k].kind; k++)
            add(&session, &c->input[k]);
        assert_int_equal(
            tb_session_finish(&session, c->order, c->keep_duplicate_ends),
            TB_OK);
        describe(&session, &text);
        if (strcmp((const char *)text.ptr, c->expected) != 0)
            fail_msg("%s: expected \"%s\", got \"%s\"", c->name, c->expected,
                     (const char *)text.ptr);
    }
    tb_buffer_release(&text);
    tb_session_release(&session);
}

static void test_fields(void **state)
{
    (void)state;
    char key[] = "k", model[] = "m", agent[] = "a";
    struct tb_message message = {0};
    struct tb_part start = {TB_PART_START,
                            {.key = tb_span_of(key),
                             .start_s = 1,
                             .end_s = NAN,
                             .messages = &message,
                             .message_count = 1,
                             .tools = TB_SPAN("[1]"),
                             .tools_hash = 7,
                             .lone_surrogate_count = 1,
                             .image_count = 2,
                             .offset = 10,
                             .line = 3,
                             .prompt_number = 42}};
    struct tb_part end = {TB_PART_END,
                          {.key = tb_span_of(key),
                           .model = tb_span_of(model),
                           .agent = tb_span_of(agent),
                           .start_s = NAN,
                           .end_s = 2,
                           .usage = {.prompt = 5, .has_prompt = true},
                           .answer = TB_SPAN("yes"),
                           .lone_surrogate_count = 4,
                           .bad_utf8_count = 1,
                           .offset = 99}};
    struct tb_session session = {0};
    assert_int_equal(tb_session_add(&session, &start), TB_OK);
    assert_int_equal(tb_session_add(&session, &end), TB_OK);
    assert_int_equal(
        tb_session_add(&session, &(struct tb_part){.kind = TB_PART_NONE}),
        TB_OK);
    key[0] = model[0] = agent[0] = '!'; // the session has its own copies
    assert_int_equal(tb_session_finish(&session, TB_ORDER_START, false), TB_OK);
    assert_int_equal(session.call_count, 1);
    const struct tb_call *call = &session.calls[0].call;
    assert_true(tb_span_equal(call->key, TB_SPAN("k")));
    assert_true(tb_span_equal(call->model, TB_SPAN("m")));
    assert_true(tb_span_equal(call->agent, TB_SPAN("a")));
    assert_true(call->usage.has_prompt && call->usage.prompt == 5);
    assert_int_equal(call->tools_hash, 7);
    assert_int_equal(call->prompt_number, 42);
    assert_int_equal(call->offset, 10);
    assert_int_equal(call->line, 3);
    assert_int_equal(call->lone_surrogate_count, 5);
    assert_int_equal(call->bad_utf8_count, 1);
    assert_int_equal(call->image_count, 2);
    assert_null(call->messages);
    assert_int_equal(call->message_count + call->tools.len + call->answer.len,
                     0);
    tb_session_release(&session);
}

// 200,000 calls, all overlapping, ends in reverse: must not be quadratic.
static void test_many(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    struct tb_session session = {0};
    char key[16];
    for (int i = 0; i < COUNT; i++) {
        snprintf(key, sizeof(key), "%d", i);
        add(&session, &(struct input){'S', key, i});
    }
    for (int i = COUNT - 1; i >= 0; i--) {
        snprintf(key, sizeof(key), "%d", i);
        add(&session, &(struct input){'E', key, 2.0 * COUNT - i});
    }
    assert_int_equal(tb_session_finish(&session, TB_ORDER_START, false), TB_OK);
    assert_int_equal(session.call_count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(session.calls[i].state, TB_CALL_ANSWERED);
        assert_true(session.calls[i].call.start_s == i);
    }
    tb_session_release(&session);
}

static tb_status add_and_finish(struct tb_session *session)
{
    struct tb_part part = {TB_PART_START, {.key = TB_SPAN("a")}};
    TB_TRY(tb_session_add(session, &part));
    part.kind = TB_PART_END;
    TB_TRY(tb_session_add(session, &part));
    return tb_session_finish(session, TB_ORDER_END, false);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    tb_status status = TB_ERR_MEMORY;
    int failures = 0;
    for (; status == TB_ERR_MEMORY; failures++) {
        struct tb_session session = {0};
        tb_memory_fail_after(failures);
        status = add_and_finish(&session);
        tb_memory_fail_after(-1);
        tb_session_release(&session);
    }
    assert_int_equal(status, TB_OK);
    assert_true(failures > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairing),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
