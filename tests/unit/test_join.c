/* Messages to one text: the two rules, as Python has them and as ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "join.h"
#include "memory.h"

struct content {
    char kind; /* T text, J JSON, N none, B bare string */
    const char *text;
};

struct join_case {
    const char *name;
    struct content contents[4];
    const char *nat_compat, *nat, *telemetry_compat, *telemetry;
};

#define STOPS "(stops)" /* Python would raise an exception */

static const struct join_case join_cases[] = {
    {"nothing", {{0}}, "", "", "", ""},
    {"strings",
     {{'T', "a"}, {'T', "b\nc"}},
     "a\nb\nc",
     "a\nb\nc",
     "a\nb\nc",
     "a\nb\nc"},
    {"empty string",
     {{'T', "a"}, {'T', ""}, {'T', "b"}},
     "a\nb",
     "a\nb",
     "a\n\nb",
     "a\n\nb"},
    {"only empty strings", {{'T', ""}, {'T', ""}}, "", "", "\n", "\n"},
    {"null",
     {{'T', "a"}, {'N', ""}, {'T', "b"}},
     "a\nb",
     "a\nb",
     "a\nb",
     "a\nb"},
    {"bare strings",
     {{'B', "user: a"}, {'B', ""}, {'B', "b"}},
     "user: a\n\nb",
     "user: a\n\nb",
     "",
     "user: a\n\nb"},
    {"text part",
     {{'J', "[{\"type\": \"text\", \"text\": \"hi\"}]"}},
     "[{'type': 'text', 'text': 'hi'}]",
     "hi",
     "hi",
     "hi"},
    {"Bedrock part",
     {{'J', "[{\"text\":\"hi\"}]"}},
     "[{'text': 'hi'}]",
     "hi",
     "hi",
     "hi"},
    {"text and image",
     {{'T', "a"},
      {'J', "[ {\"type\":\"text\",\"text\":\"look\"} ,{\"type\":\"image_url\","
            "\"image_url\":{\"url\":\"data:x\"}}, {\"text\":\"\\u00e9\"}]"},
      {'T', "b"}},
     "a\n[{'type': 'text', 'text': 'look'}, {'type': 'image_url', 'image_url': "
     "{'url': 'data:x'}}, {'text': '\xC3\xA9'}]\nb",
     "a\nlook\n\xC3\xA9\nb",
     "a\nlook\n\xC3\xA9\nb",
     "a\nlook\n\xC3\xA9\nb"},
    {"strings in a list",
     {{'J', "[\"a\", \"\", \"b\"]"}},
     "['a', '', 'b']",
     "a\nb",
     "a\n\nb",
     "a\nb"},
    {"empty text in a part",
     {{'J', "[{\"text\":\"\"},{\"text\":null},{\"text\":\"a\"},{}]"}},
     "[{'text': ''}, {'text': None}, {'text': 'a'}, {}]",
     "a",
     "a",
     "a"},
    {"text of a part is no string",
     {{'J', "[{\"text\":5},\"a\"]"}},
     "[{'text': 5}, 'a']",
     "a",
     STOPS,
     "a"},
    {"text of a part is false",
     {{'J', "[{\"text\":0},{\"text\":[ ]},{\"text\":{}},{\"text\":false},3]"}},
     "[{'text': 0}, {'text': []}, {'text': {}}, {'text': False}, 3]",
     "",
     "",
     ""},
    {"text twice: last one",
     {{'J', "[{\"text\":\"a\",\"text\":\"b\"}]"}},
     "[{'text': 'b'}]",
     "b",
     "b",
     "b"},
    {"false contents",
     {{'J', "[ ]"}, {'J', "{}"}, {'J', "0"}, {'J', "false"}},
     "",
     "",
     "",
     ""},
    {"zero in other forms", {{'J', "-0.0"}, {'J', "0e5"}}, "", "", "", ""},
    {"true contents",
     {{'J', "1.50"}, {'J', "true"}, {'J', "{\"a\":null}"}, {'J', "NaN"}},
     "1.5\nTrue\n{'a': None}\nnan",
     "",
     "",
     ""},
    {"list in a list", {{'J', "[[\"a\"]]"}}, "[['a']]", "", "", ""},
    {"an image alone adds no line",
     {{'T', "a"}, {'J', "[{\"type\":\"image\"}]"}, {'T', "b"}},
     "a\n[{'type': 'image'}]\nb",
     "a\nb",
     "a\nb",
     "a\nb"},
};

static struct tb_call call_of(const struct content *contents,
                              struct tb_message *messages)
{
    struct tb_call call = {.messages = messages};
    for (; call.message_count < 4 && contents[call.message_count].kind;
         call.message_count++) {
        const struct content *content = &contents[call.message_count];
        struct tb_message *message = &messages[call.message_count];
        *message = (struct tb_message){.is_bare = content->kind == 'B'};
        message->content = content->kind == 'J'   ? TB_CONTENT_JSON
                           : content->kind == 'N' ? TB_CONTENT_NONE
                                                  : TB_CONTENT_TEXT;
        if (content->kind == 'J')
            message->content_json = tb_span_of(content->text);
        else
            message->text = tb_span_of(content->text);
    }
    return call;
}

static void check(const struct join_case *c, tb_join_rule rule, bool is_compat,
                  const char *expected)
{
    struct tb_message messages[4];
    struct tb_call call = call_of(c->contents, messages);
    struct tb_buffer text = TB_BUFFER(1 << 20);
    struct tb_error error = {0};
    tb_status status = tb_join_messages(&call, rule, is_compat, &text, &error);
    if (tb_span_equal(tb_span_of(expected), TB_SPAN(STOPS))) {
        assert_int_equal(status, TB_ERR_TYPE);
        assert_int_equal(error.status, TB_ERR_TYPE);
    } else {
        assert_int_equal(status, TB_OK);
        if (!tb_span_equal(tb_buffer_span(&text), tb_span_of(expected)))
            fail_msg("%s, rule %d, compat %d: expected \"%s\", got \"%.*s\"",
                     c->name, rule, is_compat, expected, (int)text.len,
                     (const char *)text.ptr);
    }
    tb_buffer_release(&text);
}

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(join_cases) / sizeof(join_cases[0]); i++) {
        const struct join_case *c = &join_cases[i];
        check(c, TB_JOIN_NAT, true, c->nat_compat);
        check(c, TB_JOIN_NAT, false, c->nat);
        check(c, TB_JOIN_TELEMETRY, true, c->telemetry_compat);
        check(c, TB_JOIN_TELEMETRY, false, c->telemetry);
    }
}

static void test_appends(void **state)
{
    (void)state;
    struct tb_message messages[4];
    struct tb_call call =
        call_of((struct content[4]){{'T', "a"}, {'T', "b"}}, messages);
    struct tb_buffer text = TB_BUFFER(1 << 20);
    assert_int_equal(tb_buffer_append(&text, TB_SPAN("> ")), TB_OK);
    assert_int_equal(tb_join_messages(&call, TB_JOIN_NAT, false, &text, NULL),
                     TB_OK);
    assert_true(tb_span_equal(tb_buffer_span(&text), TB_SPAN("> a\nb")));
    tb_buffer_release(&text);
}

static void test_bad_json(void **state)
{
    (void)state;
    static const char *const bad[] = {"[{\"text\":\"\\q\"}]", "[{\"text\" 1}]",
                                      "[\"a\""};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct tb_message messages[4];
        struct content contents[4] = {{'J', bad[i]}};
        struct tb_call call = call_of(contents, messages);
        struct tb_buffer text = TB_BUFFER(1 << 20);
        struct tb_error error = {0};
        for (int compat = 0; compat < 2; compat++) {
            tb_status status =
                tb_join_messages(&call, TB_JOIN_NAT, compat, &text, &error);
            assert_true(status == TB_ERR_SYNTAX || status == TB_ERR_CUT);
            assert_int_equal(error.status, status);
        }
        tb_buffer_release(&text);
    }
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct tb_message messages[4];
    struct content contents[4] = {{'T', "a"}, {'J', "[\"\\n\",{\"b\":1.5}]"}};
    struct tb_call call = call_of(contents, messages);
    for (int compat = 0; compat < 2; compat++) {
        tb_status status = TB_ERR_MEMORY;
        for (int i = 0; status == TB_ERR_MEMORY; i++) {
            struct tb_buffer text = TB_BUFFER(1 << 20);
            tb_memory_fail_after(i);
            status = tb_join_messages(&call, TB_JOIN_NAT, compat, &text, NULL);
            tb_memory_fail_after(-1);
            tb_buffer_release(&text);
        }
        assert_int_equal(status, TB_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_appends),
        cmocka_unit_test(test_bad_json),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
