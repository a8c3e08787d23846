#include "join.h"

#include "json_reader.h"
#include "python_repr.h"

struct join {
    struct tb_buffer *text;
    bool has_any; /* the next content stands behind a newline */
    bool is_compat;
    struct tb_arena arena; /* strings of parts that had to be decoded */
};

// Makes room for the next content: a newline, but for the first.
static tb_status begin(struct join *join)
{
    if (join->has_any)
        return tb_buffer_append_byte(join->text, '\n');
    join->has_any = true;
    return TB_OK;
}

static tb_status add(struct join *join, struct tb_span content)
{
    TB_TRY(begin(join));
    return tb_buffer_append(join->text, content);
}

/* ---- lists of parts --------------------------------------------------- */

// Would Python take the value as false?
static tb_status read_is_falsy(struct tb_json_reader *reader, bool *is_falsy)
{
    tb_json_type type;
    struct tb_json_number number;
    struct tb_span raw;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_NUMBER) {
        TB_TRY(tb_json_read_number(reader, &number));
        *is_falsy = number.value == 0;
        return TB_OK;
    }
    TB_TRY(tb_json_read_raw(reader, &raw));
    *is_falsy = type == TB_JSON_NULL || type == TB_JSON_FALSE;
    if (type == TB_JSON_TRUE || *is_falsy)
        return TB_OK;
    // A string, list or object: is anything between its ends?
    size_t at = 1;
    while (type != TB_JSON_STRING && at < raw.len - 1 &&
           (raw.ptr[at] == ' ' || raw.ptr[at] == '\n' || raw.ptr[at] == '\r' ||
            raw.ptr[at] == '\t'))
        at++;
    *is_falsy = at + 1 == raw.len;
    return TB_OK;
}

/* Reads the `text` of a part. Anything but a string is as no text, but for
 * Python, which stops at what is neither string nor false. */
static tb_status read_part_text(struct join *join,
                                struct tb_json_reader *reader,
                                struct tb_span *text)
{
    tb_json_type type;
    *text = (struct tb_span){0};
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_STRING)
        return tb_json_read_string(reader, &join->arena, text);
    bool is_falsy;
    TB_TRY(read_is_falsy(reader, &is_falsy));
    if (join->is_compat && !is_falsy)
        return tb_json_fail(reader, TB_ERR_TYPE, "text of a part is no string");
    return TB_OK;
}

static tb_status add_object(struct join *join, struct tb_json_reader *reader)
{
    struct tb_span text = {0}; // a key that comes twice: the last one counts
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("text")))
            TB_TRY(read_part_text(join, reader, &text));
        else
            TB_TRY(tb_json_skip(reader));
    }
    return text.len ? add(join, text) : TB_OK;
}

static tb_status add_part(struct join *join, struct tb_json_reader *reader)
{
    tb_json_type type;
    struct tb_span text;
    TB_TRY(tb_json_peek(reader, &type));
    switch (type) {
    case TB_JSON_STRING:
        TB_TRY(tb_json_read_string(reader, &join->arena, &text));
        return text.len || join->is_compat ? add(join, text) : TB_OK;
    case TB_JSON_OBJECT:
        return add_object(join, reader);
    default:
        return tb_json_skip(reader);
    }
}

static tb_status add_list(struct join *join, struct tb_json_reader *reader)
{
    TB_TRY(tb_json_enter_array(reader));
    for (;;) {
        bool found;
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            return TB_OK;
        TB_TRY(add_part(join, reader));
    }
}

/* ---- contents --------------------------------------------------------- */

static tb_status add_texts(struct join *join, struct tb_json_reader *reader)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    return type == TB_JSON_ARRAY ? add_list(join, reader) : TB_OK;
}

static tb_status add_repr(struct join *join, struct tb_json_reader *reader,
                          struct tb_span json)
{
    bool is_falsy;
    TB_TRY(read_is_falsy(reader, &is_falsy));
    if (is_falsy)
        return TB_OK;
    TB_TRY(begin(join));
    return tb_python_repr(json, join->text, &reader->error);
}

static tb_status add_json(struct join *join, tb_join_rule rule,
                          struct tb_span json, struct tb_error *error)
{
    struct tb_json_reader reader;
    tb_json_reader_init_span(&reader, json, 0, 1);
    tb_status status = join->is_compat && rule == TB_JOIN_NAT
                           ? add_repr(join, &reader, json)
                           : add_texts(join, &reader);
    if (status != TB_OK && error && reader.error.status == status) {
        *error = reader.error;
        // The place is one in the content, not in the file.
        error->line = error->offset = 0;
    }
    return status;
}

static tb_status add_message(struct join *join, tb_join_rule rule,
                             const struct tb_message *message,
                             struct tb_error *error)
{
    bool is_nat = rule == TB_JOIN_NAT;
    if (message->is_bare)
        return is_nat || !join->is_compat ? add(join, message->text) : TB_OK;
    switch (message->content) {
    case TB_CONTENT_TEXT:
        return message->text.len || !is_nat ? add(join, message->text) : TB_OK;
    case TB_CONTENT_JSON:
        return add_json(join, rule, message->content_json, error);
    default:
        return TB_OK;
    }
}

tb_status tb_join_messages(const struct tb_call *call, tb_join_rule rule,
                           bool is_compat, struct tb_buffer *text,
                           struct tb_error *error)
{
    struct join join = {.text = text, .is_compat = is_compat};
    struct tb_error detail = {0};
    tb_status status = TB_OK;
    for (size_t i = 0; i < call->message_count && status == TB_OK; i++)
        status = add_message(&join, rule, &call->messages[i], &detail);
    if (status != TB_OK && detail.status != status)
        tb_fail(&detail, status, "cannot join the messages");
    if (status != TB_OK && error)
        *error = detail;
    tb_arena_release(&join.arena);
    return status;
}
