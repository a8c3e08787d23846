#include "answer.h"

#include "record_fields.h"

struct answer {
    struct tb_arena *arena;
    struct tb_span reasoning, content;
    struct tb_buffer parts;       /* content that is a list */
    struct tb_buffer tools;       /* name and arguments of each tool call */
    struct tb_buffer inner_tools; /* of additional_kwargs; mostly the same */
};

static tb_status add_line(struct tb_buffer *buffer, struct tb_span text)
{
    if (text.len == 0)
        return TB_OK;
    if (buffer->len)
        TB_TRY(tb_buffer_append_byte(buffer, '\n'));
    return tb_buffer_append(buffer, text);
}

// Arguments are a string with JSON inside, or the JSON itself.
static tb_status read_arguments(struct answer *answer,
                                struct tb_json_reader *reader,
                                struct tb_span *text)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_STRING)
        return tb_json_read_string(reader, answer->arena, text);
    return tb_field_raw(reader, text);
}

// {"function": {"name", "arguments"}}, {"name", "args"} or {"name",
// "arguments"}
static tb_status read_tool_call(struct answer *answer,
                                struct tb_json_reader *reader,
                                struct tb_span *name, struct tb_span *arguments)
{
    bool entered;
    TB_TRY(tb_field_enter_object(reader, &entered));
    while (entered) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("name")))
            TB_TRY(tb_field_string(reader, answer->arena, name));
        else if (tb_span_equal(key, TB_SPAN("arguments")) ||
                 tb_span_equal(key, TB_SPAN("args")))
            TB_TRY(read_arguments(answer, reader, arguments));
        else if (tb_span_equal(key, TB_SPAN("function")))
            TB_TRY(read_tool_call(answer, reader, name, arguments));
        else
            TB_TRY(tb_json_skip(reader));
    }
    return TB_OK;
}

static tb_status read_tool_calls(struct answer *answer,
                                 struct tb_json_reader *reader,
                                 struct tb_buffer *tools)
{
    bool entered;
    TB_TRY(tb_field_enter_array(reader, &entered));
    while (entered) {
        bool found;
        struct tb_span name = {0}, arguments = {0};
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            break;
        TB_TRY(read_tool_call(answer, reader, &name, &arguments));
        TB_TRY(add_line(tools, name));
        TB_TRY(add_line(tools, arguments));
    }
    return TB_OK;
}

static tb_status read_part(struct answer *answer, struct tb_json_reader *reader)
{
    tb_json_type type;
    struct tb_span text = {0};
    bool entered;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_STRING) {
        TB_TRY(tb_json_read_string(reader, answer->arena, &text));
        return add_line(&answer->parts, text);
    }
    TB_TRY(tb_field_enter_object(reader, &entered));
    while (entered) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("text")))
            TB_TRY(tb_field_string(reader, answer->arena, &text));
        else
            TB_TRY(tb_json_skip(reader));
    }
    return add_line(&answer->parts, text);
}

static tb_status read_content(struct answer *answer,
                              struct tb_json_reader *reader)
{
    tb_json_type type;
    bool entered;
    TB_TRY(tb_json_peek(reader, &type));
    if (type != TB_JSON_ARRAY)
        return tb_field_string(reader, answer->arena, &answer->content);
    TB_TRY(tb_field_enter_array(reader, &entered));
    for (;;) {
        bool found;
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            return TB_OK;
        TB_TRY(read_part(answer, reader));
    }
}

/* `is_inner`: the object is `additional_kwargs`, where LangChain and
 * LlamaIndex keep what is the server's own. */
static tb_status read_message(struct answer *answer,
                              struct tb_json_reader *reader, bool is_inner)
{
    bool entered;
    TB_TRY(tb_field_enter_object(reader, &entered));
    while (entered) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("content"))) {
            TB_TRY(read_content(answer, reader));
        } else if (tb_span_equal(key, TB_SPAN("reasoning_content")) ||
                   tb_span_equal(key, TB_SPAN("reasoning"))) {
            TB_TRY(tb_field_string(reader, answer->arena, &answer->reasoning));
        } else if (tb_span_equal(key, TB_SPAN("tool_calls"))) {
            TB_TRY(read_tool_calls(answer, reader,
                                   is_inner ? &answer->inner_tools
                                            : &answer->tools));
        } else if (tb_span_equal(key, TB_SPAN("additional_kwargs")) &&
                   !is_inner) {
            TB_TRY(read_message(answer, reader, true));
        } else {
            TB_TRY(tb_json_skip(reader));
        }
    }
    return TB_OK;
}

// Most answers are one string, which is then not copied.
static tb_status compose(struct answer *answer, struct tb_span *text)
{
    struct tb_span parts = tb_buffer_span(&answer->parts);
    struct tb_span tools = tb_buffer_span(
        answer->tools.len ? &answer->tools : &answer->inner_tools);
    if (answer->reasoning.len + parts.len + tools.len == 0) {
        *text = answer->content;
        return TB_OK;
    }
    struct tb_buffer all = TB_BUFFER(TB_JSON_MAX_VALUE_LEN);
    tb_status status = add_line(&all, answer->reasoning);
    if (status == TB_OK)
        status = add_line(&all, answer->content);
    if (status == TB_OK)
        status = add_line(&all, parts);
    if (status == TB_OK)
        status = add_line(&all, tools);
    if (status == TB_OK)
        status = tb_arena_copy(answer->arena, tb_buffer_span(&all), text);
    tb_buffer_release(&all);
    return status;
}

tb_status tb_answer_read(struct tb_json_reader *reader, struct tb_arena *arena,
                         struct tb_span *text)
{
    struct answer answer = {.arena = arena,
                            .parts = TB_BUFFER(TB_JSON_MAX_VALUE_LEN),
                            .tools = TB_BUFFER(TB_JSON_MAX_VALUE_LEN),
                            .inner_tools = TB_BUFFER(TB_JSON_MAX_VALUE_LEN)};
    tb_status status = read_message(&answer, reader, false);
    if (status == TB_OK)
        status = compose(&answer, text);
    tb_buffer_release(&answer.parts);
    tb_buffer_release(&answer.tools);
    tb_buffer_release(&answer.inner_tools);
    return status;
}
