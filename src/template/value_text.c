/* str() and repr() of values. */
#include <math.h>

#include "c_locale.h"
#include "json_writer.h"
#include "python_repr.h"
#include "render.h"

// The json layer knows how Python shows a string or a number.
static tb_status write_json_repr(struct tb_render *run, struct tb_span json)
{
    struct tb_error error;
    tb_status status = tb_python_repr(json, run->out, &error);
    if (status == TB_OK)
        return TB_OK;
    return tb_render_fail_as(run, status, "%s", error.message);
}

static tb_status write_text_repr(struct tb_render *run, struct tb_span text)
{
    struct tb_buffer json = TB_BUFFER(TB_RENDER_MAX_LEN);
    tb_status status = tb_json_write_string(&json, text);
    if (status == TB_OK)
        status = write_json_repr(run, tb_buffer_span(&json));
    else
        tb_render_fail_as(run, status, "text too long to show");
    tb_buffer_release(&json);
    return status;
}

static tb_status write_float(struct tb_render *run, double number)
{
    if (isnan(number))
        return tb_render_write(run, TB_SPAN("nan"));
    if (isinf(number))
        return tb_render_write(run,
                               number < 0 ? TB_SPAN("-inf") : TB_SPAN("inf"));
    char json[40];
    tb_real_to_text(json, sizeof(json), 17, 'e', number);
    return write_json_repr(run, tb_span_of(json));
}

static tb_status write_items(struct tb_render *run, const struct tb_list *list,
                             bool is_tuple)
{
    TB_TRY(tb_render_write_byte(run, is_tuple ? '(' : '['));
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0)
            TB_TRY(tb_render_write(run, TB_SPAN(", ")));
        TB_TRY(tb_render_write_repr(run, &list->items[i]));
    }
    if (is_tuple && list->count == 1)
        TB_TRY(tb_render_write_byte(run, ','));
    return tb_render_write_byte(run, is_tuple ? ')' : ']');
}

static tb_status write_pairs(struct tb_render *run, const struct tb_dict *dict)
{
    TB_TRY(tb_render_write_byte(run, '{'));
    for (size_t i = 0; i < dict->count; i++) {
        if (i > 0)
            TB_TRY(tb_render_write(run, TB_SPAN(", ")));
        TB_TRY(tb_render_write_repr(run, &dict->pairs[i].key));
        TB_TRY(tb_render_write(run, TB_SPAN(": ")));
        TB_TRY(tb_render_write_repr(run, &dict->pairs[i].value));
    }
    return tb_render_write_byte(run, '}');
}

static tb_status write_view(struct tb_render *run, const struct tb_value *value)
{
    struct tb_list items;
    TB_TRY(tb_render_items(run, value, &items));
    TB_TRY(tb_render_printf(run, "%s(", tb_value_type(value)));
    TB_TRY(write_items(run, &items, false));
    return tb_render_write_byte(run, ')');
}

static tb_status write_range(struct tb_render *run,
                             const struct tb_range *range)
{
    TB_TRY(tb_render_printf(run, "range(%lld, %lld", (long long)range->start,
                            (long long)range->stop));
    if (range->step != 1)
        TB_TRY(tb_render_printf(run, ", %lld", (long long)range->step));
    return tb_render_write_byte(run, ')');
}

static tb_status write_container(struct tb_render *run,
                                 const struct tb_value *value)
{
    switch (value->kind) {
    case TB_VALUE_LIST:
    case TB_VALUE_TUPLE:
        return write_items(run, value->as.list, value->kind == TB_VALUE_TUPLE);
    case TB_VALUE_DICT:
        return write_pairs(run, value->as.dict);
    case TB_VALUE_VIEW:
        return write_view(run, value);
    case TB_VALUE_NAMESPACE:
        TB_TRY(tb_render_write(run, TB_SPAN("<Namespace ")));
        TB_TRY(write_pairs(run, value->as.dict));
        return tb_render_write_byte(run, '>');
    default: // Python shows an address
        return tb_render_fail_as(run, TB_ERR_UNSUPPORTED,
                                 "text of a '%s' object", tb_value_type(value));
    }
}

tb_status tb_render_write_repr(struct tb_render *run,
                               const struct tb_value *value)
{
    TB_TRY(tb_render_step(run, 1));
    switch (value->kind) {
    case TB_VALUE_UNDEFINED:
        return tb_render_write(run, TB_SPAN("Undefined"));
    case TB_VALUE_NONE:
        return tb_render_write(run, TB_SPAN("None"));
    case TB_VALUE_BOOL:
        return tb_render_write(run, value->as.boolean ? TB_SPAN("True")
                                                      : TB_SPAN("False"));
    case TB_VALUE_INT:
        return tb_render_printf(run, "%lld", (long long)value->as.integer);
    case TB_VALUE_BIG:
        return tb_render_write(run, value->as.text);
    case TB_VALUE_FLOAT:
        return write_float(run, value->as.number);
    case TB_VALUE_STRING:
        if (value->is_safe)
            TB_TRY(tb_render_write(run, TB_SPAN("Markup(")));
        TB_TRY(write_text_repr(run, value->as.text));
        return value->is_safe ? tb_render_write_byte(run, ')') : TB_OK;
    case TB_VALUE_RANGE:
        return write_range(run, value->as.range);
    default:
        TB_TRY(tb_render_enter(run));
        TB_TRY(write_container(run, value));
        run->depth--;
        return TB_OK;
    }
}

tb_status tb_render_write_str(struct tb_render *run,
                              const struct tb_value *value)
{
    if (tb_value_is_text(value))
        return tb_render_write(run, value->as.text);
    if (value->kind == TB_VALUE_JOINER || value->kind == TB_VALUE_CYCLER)
        return tb_render_fail_as(run, TB_ERR_UNSUPPORTED,
                                 "text of a '%s' object", tb_value_type(value));
    if (tb_value_is_undefined(value))
        return TB_OK;
    return tb_render_write_repr(run, value);
}
