#include "json_value.h"

#include <math.h>
#include <string.h>

#include "json_reader.h"
#include "json_writer.h"

/* ---- reading ---------------------------------------------------------- */

static tb_status read_value(struct tb_render *run,
                            struct tb_json_reader *reader,
                            struct tb_value *value);

static tb_status read_list(struct tb_render *run, struct tb_json_reader *reader,
                           struct tb_value *value)
{
    TB_TRY(tb_render_list(run, TB_VALUE_LIST, 0, value));
    TB_TRY(tb_json_enter_array(reader));
    for (;;) {
        bool found;
        struct tb_value item;
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            return TB_OK;
        TB_TRY(read_value(run, reader, &item));
        TB_TRY(tb_list_append(run, value->as.list, &item));
    }
}

static tb_status read_dict(struct tb_render *run, struct tb_json_reader *reader,
                           struct tb_value *value)
{
    TB_TRY(tb_render_dict(run, value));
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_value key = tb_value_text((struct tb_span){0}), item;
        TB_TRY(tb_json_next_key(reader, &key.as.text));
        if (!key.as.text.ptr)
            return TB_OK;
        TB_TRY(tb_json_decode_key(reader, run->arena, &key.as.text));
        TB_TRY(read_value(run, reader, &item));
        TB_TRY(tb_dict_set(run, value->as.dict, &key, &item));
    }
}

static tb_status read_number(struct tb_json_reader *reader,
                             struct tb_value *value)
{
    struct tb_json_number number;
    TB_TRY(tb_json_read_number(reader, &number));
    bool is_integer = true;
    for (size_t i = 0; i < number.text.len; i++) {
        uint8_t byte = number.text.ptr[i];
        is_integer &= byte == '-' || (byte >= '0' && byte <= '9');
    }
    if (number.is_integer)
        *value = tb_value_int(number.integer);
    else if (is_integer)
        *value =
            (struct tb_value){.kind = TB_VALUE_BIG, .as.text = number.text};
    else if (tb_span_equal(number.text, TB_SPAN("Infinity")))
        *value = tb_value_float(INFINITY);
    else if (tb_span_equal(number.text, TB_SPAN("-Infinity")))
        *value = tb_value_float(-INFINITY);
    else
        *value = tb_value_float(number.value);
    return TB_OK;
}

static tb_status read_container(struct tb_render *run,
                                struct tb_json_reader *reader, bool is_list,
                                struct tb_value *value)
{
    if (tb_json_depth(reader) >= TB_RENDER_MAX_VALUE_DEPTH)
        return tb_json_fail(reader, TB_ERR_LIMIT, "nested too deeply");
    return is_list ? read_list(run, reader, value)
                   : read_dict(run, reader, value);
}

static tb_status read_value(struct tb_render *run,
                            struct tb_json_reader *reader,
                            struct tb_value *value)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    switch (type) {
    case TB_JSON_OBJECT:
    case TB_JSON_ARRAY:
        return read_container(run, reader, type == TB_JSON_ARRAY, value);
    case TB_JSON_STRING:
        *value = tb_value_text((struct tb_span){0});
        return tb_json_read_string(reader, run->arena, &value->as.text);
    case TB_JSON_NUMBER:
        return read_number(reader, value);
    default:
        *value = type == TB_JSON_NULL ? tb_value_none()
                                      : tb_value_bool(type == TB_JSON_TRUE);
        return tb_json_skip(reader);
    }
}

tb_status tb_json_value_read(struct tb_render *run, struct tb_span json,
                             struct tb_value *value)
{
    struct tb_json_reader reader;
    tb_json_reader_init_span(&reader, json, 0, 1);
    run->error.status = TB_OK;
    tb_status status = read_value(run, &reader, value);
    if (status == TB_OK)
        status = tb_json_expect_end(&reader);
    if (status != TB_OK && reader.error.status == status)
        run->error = reader.error;
    else if (status != TB_OK && run->error.status != status)
        tb_render_fail_as(run, status, "cannot read JSON: %s",
                          tb_status_name(status));
    tb_json_reader_release(&reader);
    return status;
}

/* ---- writing ---------------------------------------------------------- */

struct writer {
    struct tb_render *run;
    const struct tb_json_style *style;
    size_t level;
};

static tb_status write_value(struct writer *writer,
                             const struct tb_value *value);

static tb_status write_text(struct writer *writer, struct tb_span text)
{
    struct tb_render *run = writer->run;
    tb_status status = writer->style->is_ascii
                           ? tb_json_write_string(run->out, text)
                           : tb_json_write_utf8_string(run->out, text);
    return status == TB_OK ? TB_OK
                           : tb_render_fail_as(run, status, "text too long");
}

static tb_status write_float(struct tb_render *run,
                             const struct tb_value *value)
{
    double number = value->as.number;
    if (isnan(number))
        return tb_render_write(run, TB_SPAN("NaN"));
    if (isinf(number))
        return tb_render_write(run, number < 0 ? TB_SPAN("-Infinity")
                                               : TB_SPAN("Infinity"));
    return tb_render_write_str(run, value);
}

static tb_status write_constant(struct tb_render *run,
                                const struct tb_value *value)
{
    if (value->kind == TB_VALUE_NONE)
        return tb_render_write(run, TB_SPAN("null"));
    return tb_render_write(run, value->as.boolean ? TB_SPAN("true")
                                                  : TB_SPAN("false"));
}

static tb_status write_break(struct writer *writer)
{
    if (!writer->style->is_indented)
        return TB_OK;
    TB_TRY(tb_render_write_byte(writer->run, '\n'));
    for (size_t i = 0; i < writer->level; i++)
        TB_TRY(tb_render_write(writer->run, writer->style->indent));
    return TB_OK;
}

static tb_status write_between(struct writer *writer, bool is_first)
{
    if (!is_first)
        TB_TRY(tb_render_write(writer->run, writer->style->between));
    return write_break(writer);
}

static tb_status write_list(struct writer *writer, const struct tb_list *list)
{
    if (list->count == 0)
        return tb_render_write(writer->run, TB_SPAN("[]"));
    TB_TRY(tb_render_write_byte(writer->run, '['));
    writer->level++;
    for (size_t i = 0; i < list->count; i++) {
        TB_TRY(write_between(writer, i == 0));
        TB_TRY(write_value(writer, &list->items[i]));
    }
    writer->level--;
    TB_TRY(write_break(writer));
    return tb_render_write_byte(writer->run, ']');
}

static tb_status write_key(struct writer *writer, const struct tb_value *key)
{
    struct tb_render *run = writer->run;
    switch (key->kind) {
    case TB_VALUE_STRING:
        return write_text(writer, key->as.text);
    case TB_VALUE_NONE:
    case TB_VALUE_BOOL:
    case TB_VALUE_INT:
    case TB_VALUE_BIG:
    case TB_VALUE_FLOAT:
        TB_TRY(tb_render_write_byte(run, '"'));
        TB_TRY(write_value(writer, key));
        return tb_render_write_byte(run, '"');
    default:
        return tb_render_fail(run,
                              "keys must be str, int, float, bool or None, "
                              "not %s",
                              tb_value_type(key));
    }
}

static tb_status sift(struct tb_render *run, const struct tb_pair **pairs,
                      size_t count)
{
    // Keys of one object are few and mostly in order: insertion will do.
    for (size_t i = 1; i < count; i++) {
        const struct tb_pair *pair = pairs[i];
        size_t at = i;
        for (; at > 0; at--) {
            int order;
            TB_TRY(tb_render_step(run, 1));
            TB_TRY(tb_render_compare(run, &pairs[at - 1]->key, &pair->key, "<",
                                     &order));
            if (order <= 0)
                break;
            pairs[at] = pairs[at - 1];
        }
        pairs[at] = pair;
    }
    return TB_OK;
}

static tb_status write_dict(struct writer *writer, const struct tb_dict *dict)
{
    struct tb_render *run = writer->run;
    if (dict->count == 0)
        return tb_render_write(run, TB_SPAN("{}"));
    const struct tb_pair **pairs =
        TB_RENDER_NEW(run, const struct tb_pair *, dict->count);
    if (!pairs)
        return tb_render_no_memory(run);
    for (size_t i = 0; i < dict->count; i++)
        pairs[i] = &dict->pairs[i];
    if (writer->style->is_sorted)
        TB_TRY(sift(run, pairs, dict->count));
    TB_TRY(tb_render_write_byte(run, '{'));
    writer->level++;
    for (size_t i = 0; i < dict->count; i++) {
        TB_TRY(write_between(writer, i == 0));
        TB_TRY(write_key(writer, &pairs[i]->key));
        TB_TRY(tb_render_write(run, writer->style->colon));
        TB_TRY(write_value(writer, &pairs[i]->value));
    }
    writer->level--;
    TB_TRY(write_break(writer));
    return tb_render_write_byte(run, '}');
}

static tb_status write_value(struct writer *writer,
                             const struct tb_value *value)
{
    struct tb_render *run = writer->run;
    TB_TRY(tb_render_step(run, 1));
    switch (value->kind) {
    case TB_VALUE_STRING:
        return write_text(writer, value->as.text);
    case TB_VALUE_NONE:
    case TB_VALUE_BOOL:
        return write_constant(run, value);
    case TB_VALUE_INT:
    case TB_VALUE_BIG:
        return tb_render_write_str(run, value);
    case TB_VALUE_FLOAT:
        return write_float(run, value);
    case TB_VALUE_LIST:
    case TB_VALUE_TUPLE:
    case TB_VALUE_DICT:
        TB_TRY(tb_render_enter(run));
        TB_TRY(value->kind == TB_VALUE_DICT
                   ? write_dict(writer, value->as.dict)
                   : write_list(writer, value->as.list));
        run->depth--;
        return TB_OK;
    default:
        return tb_render_fail(run, "Object of type %s is not JSON serializable",
                              tb_value_type(value));
    }
}

tb_status tb_json_value_write(struct tb_render *run,
                              const struct tb_value *value,
                              const struct tb_json_style *style)
{
    struct writer writer = {.run = run, .style = style};
    return write_value(&writer, value);
}
