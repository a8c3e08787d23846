#include "message_list.h"

#include <string.h>

#include "record_fields.h"
#include "utf8.h"

static tb_status read_items(struct tb_message_list *list,
                            struct tb_json_reader *reader, bool may_nest);

static tb_status add(struct tb_message_list *list, struct tb_message message)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 16;
        struct tb_message *items =
            TB_ARENA_NEW(list->arena, struct tb_message, capacity);
        if (!items)
            return TB_ERR_MEMORY;
        if (list->count)
            memcpy(items, list->items, list->count * sizeof(*items));
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = message;
    return TB_OK;
}

/* Something inside a value whose raw bytes are at hand is read by a reader of
 * its own. */
static void begin_inner(struct tb_json_reader *inner, struct tb_span raw)
{
    tb_json_reader_init_span(inner, raw, 1, 1);
}

// Takes over what the inner reader counted, and its failure.
static tb_status end_inner(struct tb_message_list *list,
                           struct tb_json_reader *reader,
                           const struct tb_json_reader *inner, tb_status status)
{
    list->lone_surrogate_count += inner->lone_surrogate_count;
    list->bad_utf8_count += inner->bad_utf8_count;
    if (status == TB_OK || inner->error.status != status)
        return status;
    return tb_json_fail(reader, status, "%s", inner->error.message);
}

static tb_status decode(struct tb_message_list *list,
                        struct tb_json_reader *reader, struct tb_span raw,
                        struct tb_span *text)
{
    struct tb_json_reader inner;
    begin_inner(&inner, raw);
    return end_inner(list, reader, &inner,
                     tb_json_read_string(&inner, list->arena, text));
}

/* ---- contents --------------------------------------------------------- */

/* Counts what is wrong in a string that nobody needs decoded yet: only one
 * with surrogate escapes or bytes that are no UTF-8 has anything. */
static tb_status check_string(struct tb_message_list *list,
                              struct tb_json_reader *reader)
{
    struct tb_span raw, text;
    TB_TRY(tb_json_read_raw(reader, &raw));
    if (!tb_span_contains(raw, TB_SPAN("\\ud")) &&
        !tb_span_contains(raw, TB_SPAN("\\uD")) &&
        tb_utf8_valid_len(raw) == raw.len)
        return TB_OK;
    return decode(list, reader, raw, &text);
}

static tb_status read_part_text(struct tb_message_list *list,
                                struct tb_json_reader *reader, bool *has_text)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    *has_text = type == TB_JSON_STRING;
    return *has_text ? check_string(list, reader) : tb_json_skip(reader);
}

static tb_status read_part(struct tb_message_list *list,
                           struct tb_json_reader *reader)
{
    tb_json_type type;
    bool has_text = false, entered;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_STRING)
        return check_string(list, reader);
    TB_TRY(tb_field_enter_object(reader, &entered));
    list->image_count += entered;
    while (entered) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("text")))
            TB_TRY(read_part_text(list, reader, &has_text));
        else
            TB_TRY(tb_json_skip(reader));
    }
    list->image_count -= has_text;
    return TB_OK;
}

// Looks through the parts of a content that is a list.
static tb_status read_parts(struct tb_message_list *list,
                            struct tb_json_reader *reader)
{
    bool entered;
    TB_TRY(tb_field_enter_array(reader, &entered));
    while (entered) {
        bool found;
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            break;
        TB_TRY(read_part(list, reader));
    }
    return TB_OK;
}

static tb_status read_content(struct tb_message_list *list,
                              struct tb_json_reader *reader,
                              struct tb_message *message)
{
    tb_json_type type;
    struct tb_json_reader inner;
    message->content = TB_CONTENT_NONE;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_NULL)
        return tb_json_skip(reader);
    if (type == TB_JSON_STRING) {
        message->content = TB_CONTENT_TEXT;
        return tb_json_read_string(reader, list->arena, &message->text);
    }
    message->content = TB_CONTENT_JSON;
    TB_TRY(tb_json_read_raw(reader, &message->content_json));
    begin_inner(&inner, message->content_json);
    uint64_t before = list->lone_surrogate_count;
    TB_TRY(end_inner(list, reader, &inner, read_parts(list, &inner)));
    if (list->is_shown_by_repr)
        list->lone_surrogate_count = before;
    return TB_OK;
}

/* ---- messages --------------------------------------------------------- */

// What LangChain calls the kinds of messages.
static struct tb_span role_of_type(struct tb_span type)
{
    static const struct {
        const char *type, *role;
    } roles[] = {
        {"human", "user"},
        {"ai", "assistant"},
        {"function", "tool"},
        {"HumanMessageChunk", "user"},
        {"AIMessageChunk", "assistant"},
        {"SystemMessageChunk", "system"},
        {"ToolMessageChunk", "tool"},
        {"FunctionMessageChunk", "tool"},
    };
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        if (tb_span_equal(type, tb_span_of(roles[i].type)))
            return tb_span_of(roles[i].role);
    }
    return type;
}

struct fields {
    struct tb_span role, type;
    bool has_content;        /* the key is there, even if null */
    struct tb_message other; /* `text`, `items` or `parts` for content */
    struct tb_span messages; /* raw: a list of messages inside */
};

static bool is_other_content(struct tb_span key)
{
    return tb_span_equal(key, TB_SPAN("text")) ||
           tb_span_equal(key, TB_SPAN("items")) ||
           tb_span_equal(key, TB_SPAN("parts"));
}

static tb_status read_field(struct tb_message_list *list,
                            struct tb_json_reader *reader, struct tb_span key,
                            struct tb_message *message, struct fields *fields)
{
    if (tb_span_equal(key, TB_SPAN("content"))) {
        fields->has_content = true;
        return read_content(list, reader, message);
    }
    if (tb_span_equal(key, TB_SPAN("role")))
        return tb_field_string(reader, list->arena, &fields->role);
    if (tb_span_equal(key, TB_SPAN("type")))
        return tb_field_string(reader, list->arena, &fields->type);
    if (list->is_compat)
        return tb_json_skip(reader);
    if (is_other_content(key) && fields->other.content == TB_CONTENT_NONE)
        return read_content(list, reader, &fields->other);
    if (tb_span_equal(key, TB_SPAN("messages")))
        return tb_field_raw(reader, &fields->messages);
    return tb_json_skip(reader);
}

static tb_status read_object(struct tb_message_list *list,
                             struct tb_json_reader *reader, bool may_nest)
{
    struct tb_message message = {0};
    struct fields fields = {0};
    uint32_t image_count = list->image_count;
    TB_TRY(tb_json_mark(reader));
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        TB_TRY(read_field(list, reader, key, &message, &fields));
    }
    message.json = tb_json_marked(reader);
    tb_json_unmark(reader);
    bool is_wrapper = !fields.role.ptr && !fields.has_content &&
                      tb_field_is_filled(fields.messages, '[');
    if (is_wrapper && may_nest) {
        struct tb_json_reader inner;
        list->image_count = image_count;
        begin_inner(&inner, fields.messages);
        return end_inner(list, reader, &inner, read_items(list, &inner, false));
    }
    if (message.content == TB_CONTENT_NONE) {
        message.content = fields.other.content;
        message.text = fields.other.text;
        message.content_json = fields.other.content_json;
    }
    message.role = fields.role.ptr ? fields.role : role_of_type(fields.type);
    return add(list, message);
}

/* ---- messages that came before -----------------------------------------
 */

static const char known_kind; // for the memo

/* What an object was read to. */
struct known_message {
    struct tb_message message;
    uint32_t image_count;
    uint64_t lone_surrogate_count, bad_utf8_count;
};

static tb_status add_known(struct tb_message_list *list,
                           const struct known_message *known)
{
    list->image_count += known->image_count;
    list->lone_surrogate_count += known->lone_surrogate_count;
    list->bad_utf8_count += known->bad_utf8_count;
    return add(list, known->message);
}

/* Reads an object from a copy that the memo keeps, so that all that comes out
 * of it can be kept too. `*known` stays NULL when it is none for the memo: it
 * is no single message, or something is wrong with it. */
static tb_status read_to_keep(const struct tb_message_list *list,
                              struct tb_span raw,
                              const struct known_message **known)
{
    struct tb_json_reader inner;
    struct tb_message_list one = {.arena = tb_memo_arena(list->memo),
                                  .is_compat = list->is_compat,
                                  .is_shown_by_repr = list->is_shown_by_repr};
    TB_TRY(tb_memo_copy(list->memo, raw, &raw));
    begin_inner(&inner, raw);
    if (read_object(&one, &inner, !list->is_compat) != TB_OK || one.count != 1)
        return TB_OK;
    struct known_message *made =
        TB_ARENA_NEW(one.arena, struct known_message, 1);
    if (!made)
        return TB_ERR_MEMORY;
    *made = (struct known_message){
        .message = one.items[0],
        .image_count = one.image_count,
        .lone_surrogate_count =
            one.lone_surrogate_count + inner.lone_surrogate_count,
        .bad_utf8_count = one.bad_utf8_count + inner.bad_utf8_count,
    };
    tb_memo_add(list->memo, &known_kind, raw, made);
    *known = made;
    return TB_OK;
}

static tb_status find_known(const struct tb_message_list *list,
                            struct tb_json_reader *reader,
                            const struct known_message **known)
{
    struct tb_json_reader start = *reader; // over memory: nothing is its own
    struct tb_span rest, raw;
    size_t len;
    TB_TRY(tb_json_rest(reader, &rest));
    *known = tb_memo_find(list->memo, &known_kind, rest, &len);
    if (*known) {
        tb_json_skip_known(reader, len);
        return TB_OK;
    }
    if (tb_json_read_raw(reader, &raw) == TB_OK && tb_memo_takes(raw))
        TB_TRY(read_to_keep(list, raw, known));
    if (!*known)
        *reader = start;
    return TB_OK;
}

static tb_status read_item(struct tb_message_list *list,
                           struct tb_json_reader *reader, bool may_nest)
{
    const struct known_message *known = NULL;
    if (list->memo && may_nest == !list->is_compat)
        TB_TRY(find_known(list, reader, &known));
    return known ? add_known(list, known) : read_object(list, reader, may_nest);
}

static tb_status add_bare(struct tb_message_list *list, struct tb_span text,
                          struct tb_span json)
{
    return add(list, (struct tb_message){.content = TB_CONTENT_TEXT,
                                         .is_bare = true,
                                         .text = text,
                                         .json = json});
}

static tb_status read_bare(struct tb_message_list *list,
                           struct tb_json_reader *reader)
{
    struct tb_span json, text;
    TB_TRY(tb_json_read_raw(reader, &json));
    TB_TRY(decode(list, reader, json, &text));
    return add_bare(list, text, json);
}

static tb_status read_items(struct tb_message_list *list,
                            struct tb_json_reader *reader, bool may_nest)
{
    TB_TRY(tb_json_enter_array(reader));
    for (;;) {
        bool found;
        tb_json_type type;
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            return TB_OK;
        TB_TRY(tb_json_peek(reader, &type));
        if (type == TB_JSON_OBJECT)
            TB_TRY(read_item(list, reader, may_nest));
        else if (type == TB_JSON_STRING)
            TB_TRY(read_bare(list, reader));
        else
            TB_TRY(tb_json_skip(reader));
    }
}

/* ---- what Python sees in something that is no list --------------------- */

static tb_status read_keys(struct tb_message_list *list,
                           struct tb_json_reader *reader)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key, text;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        // A key borrows from memory, where it stands in its quotes.
        struct tb_span json = {key.ptr - 1, key.len + 2};
        TB_TRY(decode(list, reader, json, &text));
        TB_TRY(add_bare(list, text, json));
        TB_TRY(tb_json_skip(reader));
    }
}

// One message that joins to what the letters, one below the other, are.
static tb_status read_letters(struct tb_message_list *list,
                              struct tb_json_reader *reader)
{
    struct tb_span json, text;
    TB_TRY(tb_json_read_raw(reader, &json));
    TB_TRY(decode(list, reader, json, &text));
    if (text.len == 0)
        return TB_OK;
    uint8_t *letters = text.len > SIZE_MAX / 4
                           ? NULL
                           : tb_arena_alloc(list->arena, text.len * 2);
    if (!letters)
        return TB_ERR_MEMORY;
    size_t len = 0;
    for (size_t at = 0; at < text.len;) {
        uint32_t cp;
        size_t letter_len = tb_utf8_decode(text, at, &cp);
        if (at > 0)
            letters[len++] = '\n';
        memcpy(letters + len, text.ptr + at, letter_len);
        len += letter_len;
        at += letter_len;
    }
    return add_bare(list, (struct tb_span){letters, len}, json);
}

tb_status tb_message_list_read(struct tb_message_list *list,
                               struct tb_json_reader *reader)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    switch (type) {
    case TB_JSON_ARRAY:
        return read_items(list, reader, !list->is_compat);
    case TB_JSON_OBJECT:
        return list->is_compat ? read_keys(list, reader)
                               : read_object(list, reader, true);
    case TB_JSON_STRING:
        return list->is_compat ? read_letters(list, reader)
                               : read_bare(list, reader);
    default:
        return tb_json_skip(reader);
    }
}

void tb_message_list_give(const struct tb_message_list *list,
                          struct tb_call *call)
{
    call->messages = list->items;
    call->message_count = list->count;
    call->image_count = list->image_count;
    call->lone_surrogate_count = (uint32_t)list->lone_surrogate_count;
    call->bad_utf8_count = (uint32_t)list->bad_utf8_count;
}
