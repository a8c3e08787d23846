#include "chat_request.h"

#include "chat_tools.h"
#include "join.h"
#include "json_copy.h"
#include "json_writer.h"

/* What a message is made of, raw. Absent members are empty spans. */
struct fields {
    struct tb_span content, name, tool_call_id, reasoning;
    struct tb_span openai_calls; /* [{"function": {"name", "arguments"}}] */
    struct tb_span other_calls;  /* [{"name", "args", "id"}], as LangChain */
};

static tb_status append(struct tb_buffer *out, const char *text)
{
    return tb_buffer_append(out, tb_span_of(text));
}

// Appends `"key": raw`, with a comma before it, unless `raw` says nothing.
static tb_status append_member(struct tb_buffer *out, const char *key,
                               struct tb_span raw)
{
    if (raw.len == 0 || tb_span_equal(raw, TB_SPAN("null")))
        return TB_OK;
    TB_TRY(append(out, ", \""));
    TB_TRY(append(out, key));
    TB_TRY(append(out, "\": "));
    return tb_buffer_append(out, raw);
}

static bool is_filled_list(struct tb_span raw)
{
    return raw.len > 2 && raw.ptr[0] == '[' &&
           !tb_span_equal(raw, TB_SPAN("[]"));
}

/* ---- reading a message ------------------------------------------------------
 */

static tb_status read_kwargs(struct tb_json_reader *reader,
                             struct fields *fields)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    if (type != TB_JSON_OBJECT)
        return tb_json_skip(reader);
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        if (tb_span_equal(key, TB_SPAN("tool_calls")))
            TB_TRY(tb_json_read_raw(reader, &fields->openai_calls));
        else if (tb_span_equal(key, TB_SPAN("reasoning_content")))
            TB_TRY(tb_json_read_raw(reader, &fields->reasoning));
        else
            TB_TRY(tb_json_skip(reader));
    }
}

static tb_status read_fields(struct tb_json_reader *reader,
                             struct fields *fields)
{
    const struct {
        const char *key;
        struct tb_span *raw;
    } members[] = {
        {"content", &fields->content},
        {"name", &fields->name},
        {"tool_call_id", &fields->tool_call_id},
        {"reasoning_content", &fields->reasoning},
        {"tool_calls", &fields->other_calls},
    };
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        struct tb_span *raw = NULL;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
            if (tb_span_equal(key, tb_span_of(members[i].key)))
                raw = members[i].raw;
        if (raw)
            TB_TRY(tb_json_read_raw(reader, raw));
        else if (tb_span_equal(key, TB_SPAN("additional_kwargs")))
            TB_TRY(read_kwargs(reader, fields));
        else
            TB_TRY(tb_json_skip(reader));
    }
}

/* ---- tool calls
 * --------------------------------------------------------------- */

struct tool_call {
    struct tb_span id, name;  /* raw strings */
    struct tb_span arguments; /* raw: an object, or a string that holds one */
};

static tb_status read_tool_call(struct tb_json_reader *reader,
                                struct tool_call *call)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        tb_json_type type;
        TB_TRY(tb_json_peek(reader, &type));
        if (tb_span_equal(key, TB_SPAN("function")) && type == TB_JSON_OBJECT)
            TB_TRY(read_tool_call(reader, call));
        else if (tb_span_equal(key, TB_SPAN("id")))
            TB_TRY(tb_json_read_raw(reader, &call->id));
        else if (tb_span_equal(key, TB_SPAN("name")))
            TB_TRY(tb_json_read_raw(reader, &call->name));
        else if (tb_span_equal(key, TB_SPAN("args")) ||
                 tb_span_equal(key, TB_SPAN("arguments")))
            TB_TRY(tb_json_read_raw(reader, &call->arguments));
        else
            TB_TRY(tb_json_skip(reader));
    }
}

// Copies the value for nothing but the look at all of it that this takes.
static bool is_json_object(struct tb_span text, struct tb_arena *arena)
{
    struct tb_json_reader reader;
    struct tb_buffer copy = TB_BUFFER(SIZE_MAX / 2);
    tb_json_type type;
    tb_json_reader_init_span(&reader, text, 1, 1);
    bool is_object = text.len > 0 && tb_json_peek(&reader, &type) == TB_OK &&
                     type == TB_JSON_OBJECT &&
                     tb_json_copy(&reader, arena, true, &copy) == TB_OK &&
                     tb_json_expect_end(&reader) == TB_OK;
    tb_buffer_release(&copy);
    return is_object;
}

// A value as the text that clients make of it.
static tb_status append_as_text(struct tb_buffer *out, struct tb_span raw,
                                struct tb_arena *arena)
{
    struct tb_json_reader reader;
    struct tb_buffer text = TB_BUFFER(out->max_len);
    tb_json_reader_init_span(&reader, raw, 1, 1);
    tb_status status = tb_json_copy(&reader, arena, false, &text);
    if (status == TB_OK)
        status = tb_json_write_string(out, tb_buffer_span(&text));
    tb_buffer_release(&text);
    return status;
}

/* A template gets an object: servers parse the string that they are sent
 * before they render. Anything else stays what it is. */
static tb_status append_arguments(struct tb_buffer *out, struct tb_span raw,
                                  tb_chat_reader chat_reader,
                                  struct tb_arena *arena)
{
    struct tb_json_reader reader;
    struct tb_span text;
    bool is_text = raw.len > 0 && raw.ptr[0] == '"';
    if (raw.len == 0)
        raw = TB_SPAN("{}");
    if (chat_reader == TB_CHAT_FOR_ENDPOINT)
        return is_text ? tb_buffer_append(out, raw)
                       : append_as_text(out, raw, arena);
    if (!is_text)
        return tb_buffer_append(out, raw);
    tb_json_reader_init_span(&reader, raw, 1, 1);
    TB_TRY(tb_json_read_string(&reader, arena, &text));
    return tb_buffer_append(out, is_json_object(text, arena) ? text : raw);
}

static tb_status append_tool_call(struct tb_buffer *out,
                                  const struct tool_call *call,
                                  tb_chat_reader chat_reader,
                                  struct tb_arena *arena)
{
    TB_TRY(append(out, "{\"type\": \"function\""));
    TB_TRY(append_member(out, "id", call->id));
    TB_TRY(append(out, ", \"function\": {\"name\": "));
    TB_TRY(
        tb_buffer_append(out, call->name.len ? call->name : TB_SPAN("\"\"")));
    TB_TRY(append(out, ", \"arguments\": "));
    TB_TRY(append_arguments(out, call->arguments, chat_reader, arena));
    return append(out, "}}");
}

static tb_status append_tool_calls(struct tb_buffer *out, struct tb_span list,
                                   tb_chat_reader chat_reader,
                                   struct tb_arena *arena)
{
    struct tb_json_reader reader;
    tb_json_reader_init_span(&reader, list, 1, 1);
    TB_TRY(append(out, ", \"tool_calls\": ["));
    TB_TRY(tb_json_enter_array(&reader));
    for (size_t count = 0;; count++) {
        bool found;
        struct tool_call call = {0};
        TB_TRY(tb_json_next_item(&reader, &found));
        if (!found)
            return append(out, "]");
        TB_TRY(read_tool_call(&reader, &call));
        if (count)
            TB_TRY(append(out, ", "));
        TB_TRY(append_tool_call(out, &call, chat_reader, arena));
    }
}

/* ---- writing a message
 * ---------------------------------------------------------- */

/* Is `tag`, from behind its "{%", a loop over a content: `for x in
 * message.content`, `for x in message['content']`, `for x in content`? */
static bool is_parts_loop(struct tb_span tag)
{
    static const char *const contents[] = {
        "message.content", "message['content']", "message[\"content\"]",
        "content",         "m.content",          "m['content']"};
    while (tag.len && (tag.ptr[0] == '-' || tag.ptr[0] == '+' ||
                       tag.ptr[0] == ' ' || tag.ptr[0] == '\n'))
        tag = tb_span_from(tag, 1);
    if (!tb_span_starts_with(tag, TB_SPAN("for ")))
        return false;
    for (size_t at = 0; at + 4 < tag.len && tag.ptr[at] != '%'; at++) {
        struct tb_span rest = tb_span_from(tag, at);
        if (!tb_span_starts_with(rest, TB_SPAN(" in ")))
            continue;
        rest = tb_span_from(rest, 4);
        for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++)
            if (tb_span_starts_with(rest, tb_span_of(contents[i])))
                return true;
    }
    return false;
}

bool tb_chat_template_takes_parts(struct tb_span source)
{
    for (size_t at = 0; at + 2 < source.len; at++)
        if (source.ptr[at] == '{' && source.ptr[at + 1] == '%' &&
            is_parts_loop(tb_span_from(source, at + 2)))
            return true;
    return false;
}

/* The texts of a list of parts as one string, with line breaks between. */
static tb_status append_flat(struct tb_buffer *out, struct tb_span parts,
                             struct tb_error *error)
{
    struct tb_message message = {.content = TB_CONTENT_JSON,
                                 .content_json = parts};
    struct tb_call call = {.messages = &message, .message_count = 1};
    struct tb_buffer text = TB_BUFFER(out->max_len);
    tb_status status =
        tb_join_messages(&call, TB_JOIN_TELEMETRY, false, &text, error);
    if (status == TB_OK)
        status = tb_json_write_string(out, tb_buffer_span(&text));
    tb_buffer_release(&text);
    return status;
}

// Steps over an object; does it say its type?
static tb_status look_for_type(struct tb_json_reader *reader, bool *is_typed)
{
    *is_typed = false;
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        *is_typed |= tb_span_equal(key, TB_SPAN("type"));
        TB_TRY(tb_json_skip(reader));
    }
}

// Is every part an object that says its type, as endpoints want it?
static bool has_typed_parts(struct tb_span parts)
{
    struct tb_json_reader reader;
    bool found, is_typed = true;
    tb_json_reader_init_span(&reader, parts, 1, 1);
    tb_status status = tb_json_enter_array(&reader);
    while (status == TB_OK && is_typed) {
        status = tb_json_next_item(&reader, &found);
        if (status == TB_OK && !found)
            return true;
        if (status == TB_OK)
            status = look_for_type(&reader, &is_typed);
    }
    return false;
}

static bool do_parts_stay(struct tb_span content, tb_chat_reader chat_reader)
{
    return chat_reader == TB_CHAT_FOR_PARTS ||
           (chat_reader == TB_CHAT_FOR_ENDPOINT && has_typed_parts(content));
}

/* The content: as it stands, or, where the recorder calls it something else,
 * from the model. Where there is none, as with tool calls alone, it is empty
 * text: templates look at it, and null counts as absent there. Clients send
 * null. */
static tb_status append_content(struct tb_buffer *out,
                                const struct tb_message *message,
                                struct tb_span content,
                                tb_chat_reader chat_reader, bool has_calls,
                                struct tb_error *error)
{
    TB_TRY(append(out, ", \"content\": "));
    bool is_empty = !content.len || tb_span_equal(content, TB_SPAN("\"\""));
    if (chat_reader == TB_CHAT_FOR_ENDPOINT && has_calls && is_empty)
        return append(out, "null");
    bool has_content = content.len && !tb_span_equal(content, TB_SPAN("null"));
    if (!has_content && message->content == TB_CONTENT_TEXT)
        return tb_json_write_string(out, message->text);
    if (!has_content && message->content == TB_CONTENT_JSON)
        content = message->content_json;
    else if (!has_content)
        content = TB_SPAN("\"\"");
    bool is_list = content.len && content.ptr[0] == '[';
    return is_list && !do_parts_stay(content, chat_reader)
               ? append_flat(out, content, error)
               : tb_buffer_append(out, content);
}

static tb_status append_object(struct tb_buffer *out,
                               const struct tb_message *message,
                               tb_chat_reader chat_reader,
                               struct tb_arena *arena, struct tb_error *error)
{
    struct fields fields = {0};
    struct tb_json_reader reader;
    tb_json_reader_init_span(&reader, message->json, 1, 1);
    tb_status status = read_fields(&reader, &fields);
    if (status != TB_OK) {
        if (error)
            *error = reader.error;
        return status;
    }
    // What LangChain sends is made of its own list, not of what it keeps of
    // the answer that it got.
    struct tb_span calls = is_filled_list(fields.other_calls)
                               ? fields.other_calls
                               : fields.openai_calls;
    TB_TRY(append(out, "{\"role\": "));
    TB_TRY(tb_json_write_string(out, message->role));
    bool has_calls = is_filled_list(calls);
    TB_TRY(append_content(out, message, fields.content, chat_reader, has_calls,
                          error));
    TB_TRY(append_member(out, "reasoning_content", fields.reasoning));
    if (has_calls)
        TB_TRY(append_tool_calls(out, calls, chat_reader, arena));
    TB_TRY(append_member(out, "tool_call_id", fields.tool_call_id));
    // Templates of old look at a result's name; the interface has none.
    bool is_result = tb_span_equal(message->role, TB_SPAN("tool"));
    if (!is_result || chat_reader != TB_CHAT_FOR_ENDPOINT)
        TB_TRY(append_member(out, "name", fields.name));
    return append(out, "}");
}

// As append_object; a message that came before is copied.
static tb_status append_known(struct tb_buffer *out,
                              const struct tb_message *message,
                              tb_chat_reader chat_reader, struct tb_memo *memo,
                              struct tb_arena *arena, struct tb_error *error)
{
    static const char kinds[TB_CHAT_FOR_ENDPOINT + 1];
    tb_memo_kind kind = &kinds[chat_reader];
    size_t len, start = out->len;
    if (!memo || !tb_memo_takes(message->json))
        return append_object(out, message, chat_reader, arena, error);
    const struct tb_span *known = tb_memo_find(memo, kind, message->json, &len);
    if (known)
        return tb_buffer_append(out, *known);
    TB_TRY(append_object(out, message, chat_reader, arena, error));
    struct tb_span key, *made;
    made = TB_ARENA_NEW(tb_memo_arena(memo), struct tb_span, 1);
    if (!made)
        return TB_ERR_MEMORY;
    TB_TRY(tb_memo_copy(memo, message->json, &key));
    TB_TRY(tb_memo_copy(memo, tb_span_from(tb_buffer_span(out), start), made));
    tb_memo_add(memo, kind, key, made);
    return TB_OK;
}

/* LlamaIndex: "role: text", with the text None where there are only tool
 * calls, of which nothing is recorded. */
static bool split_bare(struct tb_span text, struct tb_span *role,
                       struct tb_span *content)
{
    static const char *const roles[] = {"system", "user",      "assistant",
                                        "tool",   "developer", "function"};
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        *role = tb_span_of(roles[i]);
        if (!tb_span_starts_with(text, *role))
            continue;
        struct tb_span rest = tb_span_from(text, role->len);
        if (!tb_span_starts_with(rest, TB_SPAN(": ")))
            continue;
        *content = tb_span_from(rest, 2);
        return true;
    }
    return false;
}

static tb_status append_bare(struct tb_buffer *out, struct tb_span role,
                             struct tb_span content)
{
    TB_TRY(append(out, "{\"role\": "));
    TB_TRY(tb_json_write_string(out, role));
    TB_TRY(append(out, ", \"content\": "));
    bool is_none = tb_span_equal(role, TB_SPAN("assistant")) &&
                   tb_span_equal(content, TB_SPAN("None"));
    TB_TRY(is_none ? append(out, "\"\"") : tb_json_write_string(out, content));
    return append(out, "}");
}

tb_status tb_chat_request(const struct tb_call *call,
                          tb_chat_reader chat_reader, struct tb_memo *memo,
                          struct tb_buffer *messages, struct tb_buffer *tools,
                          bool *has_roles, struct tb_error *error)
{
    struct tb_arena arena = {0};
    tb_status status = append(messages, "[");
    *has_roles = call->message_count > 0;
    for (size_t i = 0; i < call->message_count && status == TB_OK; i++) {
        const struct tb_message *message = &call->messages[i];
        struct tb_span role = message->role, content;
        *has_roles = message->is_bare
                         ? split_bare(message->text, &role, &content)
                         : role.len > 0;
        if (!*has_roles)
            break;
        if (i)
            TB_TRY_DONE(append(messages, ", "));
        TB_TRY_DONE(message->is_bare
                        ? append_bare(messages, role, content)
                        : append_known(messages, message, chat_reader, memo,
                                       &arena, error));
    }
    if (status == TB_OK)
        status = append(messages, "]");
    if (status == TB_OK && call->tools.len)
        status = tb_chat_tools_repair(call->tools, tools, error);
done:
    tb_arena_release(&arena);
    return status;
}
