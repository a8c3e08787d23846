/* Recorded calls as requests: forms of messages, and damage to tools. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "chat_request.h"
#include "chat_tools.h"

struct request_case {
    const char *role;
    const char *json; /* of the one message */
    tb_chat_reader chat_reader;
    const char *expected;
};

static void test_messages(void **state)
{
    static const struct request_case cases[] = {
        {"user", "{\"type\": \"human\", \"content\": \"a\\u00e9\"}",
         TB_CHAT_FOR_TEXT, "[{\"role\": \"user\", \"content\": \"a\\u00e9\"}]"},
        // A content that is a list, for templates of both kinds.
        {"user",
         "{\"content\": [{\"type\": \"text\", \"text\": \"a\"}, \"b\"]}",
         TB_CHAT_FOR_TEXT, "[{\"role\": \"user\", \"content\": \"a\\nb\"}]"},
        {"user", "{\"content\": [{\"type\": \"text\", \"text\": \"a\"}]}",
         TB_CHAT_FOR_PARTS,
         "[{\"role\": \"user\", \"content\": "
         "[{\"type\": \"text\", \"text\": \"a\"}]}]"},
        // LangChain's own list of calls goes before what it keeps of OpenAI's.
        {"assistant",
         "{\"content\": \"\", \"additional_kwargs\": {\"tool_calls\": "
         "[{\"id\": \"x\", \"function\": {\"name\": \"g\", \"arguments\": "
         "\"{}\"}}]}, \"tool_calls\": [{\"name\": \"f\", \"args\": "
         "{\"q\": 1}, \"id\": \"c\"}]}",
         TB_CHAT_FOR_TEXT,
         "[{\"role\": \"assistant\", \"content\": \"\", \"tool_calls\": "
         "[{\"type\": \"function\", \"id\": \"c\", \"function\": "
         "{\"name\": \"f\", \"arguments\": {\"q\": 1}}}]}]"},
        // Arguments in a string: an object if it is one, else the string.
        {"assistant",
         "{\"content\": null, \"tool_calls\": [{\"id\": \"c\", \"function\": "
         "{\"name\": \"f\", \"arguments\": \"{\\\"q\\\": [1, {}]}\"}}]}",
         TB_CHAT_FOR_TEXT,
         "[{\"role\": \"assistant\", \"content\": \"\", \"tool_calls\": "
         "[{\"type\": \"function\", \"id\": \"c\", \"function\": "
         "{\"name\": \"f\", \"arguments\": {\"q\": [1, {}]}}}]}]"},
        {"assistant",
         "{\"content\": null, \"tool_calls\": [{\"id\": \"c\", \"function\": "
         "{\"name\": \"f\", \"arguments\": \"{foo: 1}\"}}]}",
         TB_CHAT_FOR_TEXT,
         "[{\"role\": \"assistant\", \"content\": \"\", \"tool_calls\": "
         "[{\"type\": \"function\", \"id\": \"c\", \"function\": "
         "{\"name\": \"f\", \"arguments\": \"{foo: 1}\"}}]}]"},
        {"tool",
         "{\"content\": \"r\", \"type\": \"tool\", \"name\": \"f\", "
         "\"tool_call_id\": \"c\", \"artifact\": null}",
         TB_CHAT_FOR_TEXT,
         "[{\"role\": \"tool\", \"content\": \"r\", \"tool_call_id\": \"c\", "
         "\"name\": \"f\"}]"},
        // An endpoint wants arguments as text, and parts that say their type.
        {"assistant",
         "{\"content\": \"\", \"tool_calls\": [{\"name\": \"f\", "
         "\"args\": {\"q\": 1}, \"id\": \"c\"}]}",
         TB_CHAT_FOR_ENDPOINT,
         "[{\"role\": \"assistant\", \"content\": null, \"tool_calls\": "
         "[{\"type\": \"function\", \"id\": \"c\", \"function\": "
         "{\"name\": \"f\", \"arguments\": \"{\\\"q\\\": 1}\"}}]}]"},
        {"assistant",
         "{\"content\": \"\", \"tool_calls\": [{\"function\": "
         "{\"name\": \"f\", \"arguments\": \"{\\\"q\\\": 1}\"}}]}",
         TB_CHAT_FOR_ENDPOINT,
         "[{\"role\": \"assistant\", \"content\": null, \"tool_calls\": "
         "[{\"type\": \"function\", \"function\": "
         "{\"name\": \"f\", \"arguments\": \"{\\\"q\\\": 1}\"}}]}]"},
        {"tool",
         "{\"content\": \"r\", \"name\": \"f\", \"tool_call_id\": \"c\"}",
         TB_CHAT_FOR_ENDPOINT,
         "[{\"role\": \"tool\", \"content\": \"r\", \"tool_call_id\": "
         "\"c\"}]"},
        {"user",
         "{\"content\": [{\"type\": \"text\", \"text\": \"a\"}, "
         "{\"type\": \"image_url\"}]}",
         TB_CHAT_FOR_ENDPOINT,
         "[{\"role\": \"user\", \"content\": [{\"type\": \"text\", "
         "\"text\": \"a\"}, {\"type\": \"image_url\"}]}]"},
        {"user", "{\"content\": [{\"text\": \"a\"}, \"b\"]}",
         TB_CHAT_FOR_ENDPOINT,
         "[{\"role\": \"user\", \"content\": \"a\\nb\"}]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tb_message message = {.role = tb_span_of(cases[i].role),
                                     .json = tb_span_of(cases[i].json)};
        struct tb_call call = {.messages = &message, .message_count = 1};
        struct tb_buffer messages = TB_BUFFER(1 << 16);
        struct tb_buffer tools = TB_BUFFER(1 << 16);
        bool has_roles = false;
        assert_int_equal(tb_chat_request(&call, cases[i].chat_reader, NULL,
                                         &messages, &tools, &has_roles, NULL),
                         TB_OK);
        assert_true(has_roles);
        assert_int_equal(tools.len, 0);
        assert_int_equal(tb_buffer_append_byte(&messages, 0), TB_OK);
        assert_string_equal((const char *)messages.ptr, cases[i].expected);
        tb_buffer_release(&messages);
        tb_buffer_release(&tools);
    }
}

static void test_bare_messages_need_a_role(void **state)
{
    static const struct {
        const char *text;
        bool has_roles;
        const char *expected;
    } cases[] = {
        {"system: be brief", true,
         "[{\"role\": \"system\", \"content\": \"be brief\"}]"},
        {"assistant: None", true,
         "[{\"role\": \"assistant\", \"content\": \"\"}]"},
        {"no role here", false, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tb_message message = {.is_bare = true,
                                     .content = TB_CONTENT_TEXT,
                                     .text = tb_span_of(cases[i].text)};
        struct tb_call call = {.messages = &message, .message_count = 1};
        struct tb_buffer messages = TB_BUFFER(1 << 16);
        struct tb_buffer tools = TB_BUFFER(1 << 16);
        bool has_roles;
        assert_int_equal(tb_chat_request(&call, TB_CHAT_FOR_TEXT, NULL,
                                         &messages, &tools, &has_roles, NULL),
                         TB_OK);
        assert_int_equal(has_roles, cases[i].has_roles);
        assert_int_equal(tb_buffer_append_byte(&messages, 0), TB_OK);
        if (has_roles)
            assert_string_equal((const char *)messages.ptr, cases[i].expected);
        tb_buffer_release(&messages);
        tb_buffer_release(&tools);
    }
}

static void test_tools_are_repaired(void **state)
{
    static const struct {
        const char *tools, *expected;
    } cases[] = {
        // Not damaged: as it is, spaces and all.
        {"[{\"function\":{\"name\":\"f\"}} ]",
         "[{\"function\":{\"name\":\"f\"}} ]"},
        {"[{\"type\": \"function\", \"function\": {\"description\": \"d\", "
         "\"name\": \"f\", \"parameters\": {\"required\": [\"q\"], "
         "\"properties\": {\"q\": {}}, \"type_\": \"object\", "
         "\"additionalProperties\": false, \"$defs\": {}, \"title\": \"t\", "
         "\"strict\": true}}}]",
         "[{\"type\": \"function\", \"function\": {\"name\": \"f\", "
         "\"description\": \"d\", \"parameters\": {\"properties\": "
         "{\"q\": {}}, \"required\": [\"q\"], \"type\": \"object\", "
         "\"$defs\": {}, \"title\": \"t\"}}}]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tb_buffer out = TB_BUFFER(1 << 16);
        assert_int_equal(
            tb_chat_tools_repair(tb_span_of(cases[i].tools), &out, NULL),
            TB_OK);
        assert_int_equal(tb_buffer_append_byte(&out, 0), TB_OK);
        assert_string_equal((const char *)out.ptr, cases[i].expected);
        tb_buffer_release(&out);
    }
}

static void test_broken_tools_say_why(void **state)
{
    struct tb_buffer out = TB_BUFFER(1 << 16);
    struct tb_error error = {0};
    (void)state;
    assert_int_equal(
        tb_chat_tools_repair(
            TB_SPAN("[{\"function\": {\"name\" 1, \"type_\": 2}}]"), &out,
            &error),
        TB_ERR_SYNTAX);
    assert_int_equal(error.status, TB_ERR_SYNTAX);
    assert_true(strlen(error.message) > 0);
    tb_buffer_release(&out);
}

static void test_templates_that_take_parts(void **state)
{
    (void)state;
    assert_true(tb_chat_template_takes_parts(
        TB_SPAN("{%- for part in message['content'] %}x{% endfor %}")));
    assert_true(tb_chat_template_takes_parts(
        TB_SPAN("{% for c in message.content -%}x{% endfor %}")));
    assert_false(tb_chat_template_takes_parts(
        TB_SPAN("{% if '</think>' in message.content %}x{% endif %}")));
    assert_false(tb_chat_template_takes_parts(
        TB_SPAN("{% for message in messages %}{{ message.content }}")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_bare_messages_need_a_role),
        cmocka_unit_test(test_tools_are_repaired),
        cmocka_unit_test(test_broken_tools_say_why),
        cmocka_unit_test(test_templates_that_take_parts),
    };
    return cmocka_run_group_tests_name("chat_request", tests, NULL, NULL);
}
