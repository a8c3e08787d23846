#include "chat_tools.h"

#include "json_reader.h"

enum { MAX_MEMBERS = 64 }; /* of one object that is put in order */

struct member {
    struct tb_span key, value; /* raw */
};

struct members {
    struct member items[MAX_MEMBERS];
    size_t count;
};

static tb_status read_members(struct tb_json_reader *reader,
                              struct members *members)
{
    members->count = 0;
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct member member;
        TB_TRY(tb_json_next_key(reader, &member.key));
        if (!member.key.ptr)
            return TB_OK;
        TB_TRY(tb_json_read_raw(reader, &member.value));
        if (members->count == MAX_MEMBERS)
            return tb_json_fail(reader, TB_ERR_LIMIT,
                                "a tool has more than %d keys", MAX_MEMBERS);
        members->items[members->count++] = member;
    }
}

static struct member *find_member(struct members *members, struct tb_span key)
{
    for (size_t i = 0; i < members->count; i++)
        if (tb_span_equal(members->items[i].key, key))
            return &members->items[i];
    return NULL;
}

static tb_status append_member(struct tb_buffer *out, struct member *member,
                               bool *has_any)
{
    TB_TRY(tb_buffer_append(out, *has_any ? TB_SPAN(", \"") : TB_SPAN("\"")));
    TB_TRY(tb_buffer_append(out, member->key));
    TB_TRY(tb_buffer_append(out, TB_SPAN("\": ")));
    TB_TRY(tb_buffer_append(out, member->value));
    member->key = (struct tb_span){0}; // done
    *has_any = true;
    return TB_OK;
}

/* Appends an object: first the members of `order`, then all others. */
static tb_status append_ordered(struct tb_buffer *out, struct members *members,
                                const char *const order[3])
{
    bool has_any = false;
    TB_TRY(tb_buffer_append_byte(out, '{'));
    for (int i = 0; i < 3; i++) {
        struct member *member = find_member(members, tb_span_of(order[i]));
        if (member)
            TB_TRY(append_member(out, member, &has_any));
    }
    for (size_t i = 0; i < members->count; i++)
        if (members->items[i].key.ptr)
            TB_TRY(append_member(out, &members->items[i], &has_any));
    return tb_buffer_append_byte(out, '}');
}

static void drop_if(struct members *members, struct tb_span key,
                    struct tb_span value)
{
    struct member *member = find_member(members, key);
    if (member && tb_span_equal(member->value, value))
        member->key = (struct tb_span){0}; // as if it were done
}

// The parameters of a function, when they are damaged.
static tb_status repair_parameters(struct tb_span raw, struct tb_buffer *out,
                                   struct tb_error *error)
{
    static const char *const order[3] = {"properties", "required", "type"};
    struct members members;
    struct tb_json_reader reader;
    if (raw.len == 0 || raw.ptr[0] != '{')
        return tb_buffer_append(out, raw);
    tb_json_reader_init_span(&reader, raw, 1, 1);
    tb_status status = read_members(&reader, &members);
    if (status != TB_OK) {
        if (error)
            *error = reader.error;
        return status;
    }
    struct member *type = find_member(&members, TB_SPAN("type_"));
    if (!type)
        return tb_buffer_append(out, raw);
    type->key = TB_SPAN("type");
    drop_if(&members, TB_SPAN("additionalProperties"), TB_SPAN("false"));
    drop_if(&members, TB_SPAN("strict"), TB_SPAN("true"));
    return append_ordered(out, &members, order);
}

static tb_status repair_function(struct members *function,
                                 struct tb_buffer *out, struct tb_error *error)
{
    static const char *const order[3] = {"name", "description", "parameters"};
    struct tb_buffer fixed = TB_BUFFER(out->max_len);
    struct member *parameters = find_member(function, TB_SPAN("parameters"));
    tb_status status = TB_OK;
    if (parameters) {
        status = repair_parameters(parameters->value, &fixed, error);
        parameters->value = tb_buffer_span(&fixed);
    }
    if (status == TB_OK)
        status = append_ordered(out, function, order);
    tb_buffer_release(&fixed);
    return status;
}

static tb_status repair_tool(struct tb_json_reader *reader,
                             struct tb_buffer *out, struct tb_error *error)
{
    static const char *const order[3] = {"type", "function", "function"};
    struct members tool, inner;
    TB_TRY(read_members(reader, &tool));
    struct member *function = find_member(&tool, TB_SPAN("function"));
    if (!function || function->value.ptr[0] != '{')
        return append_ordered(out, &tool, order);
    struct tb_json_reader function_reader;
    tb_json_reader_init_span(&function_reader, function->value, 1, 1);
    tb_status read = read_members(&function_reader, &inner);
    if (read != TB_OK) {
        if (error)
            *error = function_reader.error;
        return read;
    }
    struct tb_buffer fixed = TB_BUFFER(out->max_len);
    tb_status status = repair_function(&inner, &fixed, error);
    function->value = tb_buffer_span(&fixed);
    if (status == TB_OK)
        status = append_ordered(out, &tool, order);
    tb_buffer_release(&fixed);
    return status;
}

tb_status tb_chat_tools_repair(struct tb_span tools, struct tb_buffer *out,
                               struct tb_error *error)
{
    // `type_` is what all this is about; nobody else writes it.
    if (!tb_span_contains(tools, TB_SPAN("\"type_\"")))
        return tb_buffer_append(out, tools);
    struct tb_json_reader reader;
    tb_json_reader_init_span(&reader, tools, 1, 1);
    tb_status status = tb_json_enter_array(&reader);
    if (status == TB_OK)
        status = tb_buffer_append_byte(out, '[');
    for (size_t count = 0; status == TB_OK; count++) {
        bool found;
        status = tb_json_next_item(&reader, &found);
        if (status != TB_OK || !found)
            break;
        if (count)
            TB_TRY_DONE(tb_buffer_append(out, TB_SPAN(", ")));
        status = repair_tool(&reader, out, error);
    }
    if (status == TB_OK)
        status = tb_buffer_append_byte(out, ']');
done:
    if (status != TB_OK && error && error->status == TB_OK)
        *error = reader.error;
    return status;
}
