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

struct tool_call {
    struct tb_arena *arena;
    struct tb_span name, arguments;
};

// Arguments are a string with JSON inside, or the JSON itself.
static tb_status read_arguments(struct tb_json_reader *reader, void *context)
{
    struct tool_call *call = context;
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_STRING)
        return tb_json_read_string(reader, call->arena, &call->arguments);
    return tb_field_raw(reader, &call->arguments);
}

// {"function": {"name", "arguments"}}, {"name", "args"} or {"name",
// "arguments"}
static tb_status read_tool_call(struct tb_json_reader *reader,
                                struct tool_call *call)
{
    const struct tb_field function[] = {
        TB_FIELD_TEXT("name", &call->name),
        TB_FIELD_READ("arguments", read_arguments, call),
        TB_FIELD_READ("args", read_arguments, call),
    };
    const struct tb_field fields[] = {
        function[0],
        function[1],
        function[2],
        TB_FIELD_OBJECT("function", function),
    };
    return TB_FIELDS_READ(reader, call->arena, fields);
}

static tb_status read_tool_calls(struct tb_json_reader *reader,
                                 struct tb_arena *arena,
                                 struct tb_buffer *tools)
{
    bool entered;
    TB_TRY(tb_field_enter_array(reader, &entered));
    while (entered) {
        bool found;
        struct tool_call call = {.arena = arena};
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            break;
        TB_TRY(read_tool_call(reader, &call));
        TB_TRY(add_line(tools, call.name));
        TB_TRY(add_line(tools, call.arguments));
    }
    return TB_OK;
}

// Of additional_kwargs.
static tb_status read_inner_calls(struct tb_json_reader *reader, void *context)
{
    struct answer *answer = context;
    return read_tool_calls(reader, answer->arena, &answer->inner_tools);
}

static tb_status read_calls(struct tb_json_reader *reader, void *context)
{
    struct answer *answer = context;
    return read_tool_calls(reader, answer->arena, &answer->tools);
}

static tb_status read_part(struct answer *answer, struct tb_json_reader *reader)
{
    struct tb_span text = {0};
    const struct tb_field part[] = {TB_FIELD_TEXT("text", &text)};
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    TB_TRY(type == TB_JSON_STRING
               ? tb_json_read_string(reader, answer->arena, &text)
               : TB_FIELDS_READ(reader, answer->arena, part));
    return add_line(&answer->parts, text);
}

static tb_status read_content(struct tb_json_reader *reader, void *context)
{
    struct answer *answer = context;
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

static tb_status read_message(struct answer *answer,
                              struct tb_json_reader *reader)
{
    // Here LangChain and LlamaIndex keep what is the server's own.
    const struct tb_field kwargs[] = {
        TB_FIELD_READ("content", read_content, answer),
        TB_FIELD_TEXT("reasoning_content", &answer->reasoning),
        TB_FIELD_TEXT("reasoning", &answer->reasoning),
        TB_FIELD_READ("tool_calls", read_inner_calls, answer),
    };
    const struct tb_field message[] = {
        kwargs[0],
        kwargs[1],
        kwargs[2],
        TB_FIELD_READ("tool_calls", read_calls, answer),
        TB_FIELD_OBJECT("additional_kwargs", kwargs),
    };
    return TB_FIELDS_READ(reader, answer->arena, message);
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
    tb_status status = read_message(&answer, reader);
    if (status == TB_OK)
        status = compose(&answer, text);
    tb_buffer_release(&answer.parts);
    tb_buffer_release(&answer.tools);
    tb_buffer_release(&answer.inner_tools);
    return status;
}
