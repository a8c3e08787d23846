#include "filter_item.h"

#include <string.h>

#include "text_method.h"

tb_status tb_filter_copy_items(struct tb_render *run,
                               const struct tb_value *input,
                               struct tb_value *value)
{
    struct tb_list items;
    TB_TRY(tb_render_items(run, input, &items));
    TB_TRY(tb_render_list(run, TB_VALUE_LIST, items.count, value));
    if (items.count)
        memcpy(value->as.list->items, items.items,
               items.count * sizeof(*items.items));
    value->as.list->count = items.count;
    return tb_render_step(run, items.count);
}

static bool is_number_text(struct tb_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    return text.len > 0 && text.len < 18;
}

static struct tb_value part_key(struct tb_span part)
{
    int64_t number = 0;
    if (!is_number_text(part))
        return tb_value_text(part);
    for (size_t i = 0; i < part.len; i++)
        number = number * 10 + (part.ptr[i] - '0');
    return tb_value_int(number);
}

tb_status tb_filter_attribute(struct tb_render *run,
                              const struct tb_value *item,
                              const struct tb_value *attribute,
                              const struct tb_value *absent,
                              struct tb_value *value)
{
    *value = *item;
    if (!tb_filter_is_given(attribute))
        return TB_OK;
    if (!tb_value_is_text(attribute)) {
        TB_TRY(tb_eval_getitem(run, value, attribute, value));
        if (tb_filter_is_given(absent) && tb_value_is_undefined(value))
            *value = *absent;
        return TB_OK;
    }
    struct tb_span rest = attribute->as.text;
    for (bool is_last = false; !is_last;) {
        size_t dot = tb_text_find(rest, TB_SPAN("."), 0);
        is_last = dot == SIZE_MAX;
        struct tb_value key =
            part_key((struct tb_span){rest.ptr, is_last ? rest.len : dot});
        TB_TRY(tb_eval_getitem(run, value, &key, value));
        if (tb_filter_is_given(absent) && tb_value_is_undefined(value))
            *value = *absent;
        if (!is_last)
            rest = tb_span_from(rest, dot + 1);
    }
    return TB_OK;
}

tb_status tb_filter_fold_case(struct tb_render *run, bool is_case_sensitive,
                              struct tb_value *value)
{
    size_t mark = tb_render_mark(run);
    if (is_case_sensitive || !tb_value_is_text(value))
        return TB_OK;
    TB_TRY(tb_text_write_case(run, value->as.text, TB_CASE_LOWER));
    return tb_render_take_value(run, mark, value);
}

tb_status tb_filter_finish(struct tb_render *run, tb_status status,
                           unsigned depth, size_t mark,
                           const struct tb_list *list, struct tb_value *value)
{
    if (status == TB_ERR_VALUE) {
        run->depth = depth;
        run->out->len = mark;
    } else if (status != TB_OK) {
        return status;
    }
    return tb_render_iterator(run, "generator", list, status, value);
}

tb_status tb_filter_generate(struct tb_render *run,
                             const struct tb_value *input,
                             const struct tb_given *given, tb_filter_make make,
                             struct tb_value *value)
{
    struct tb_list made = {0};
    unsigned depth = run->depth;
    size_t mark = tb_render_mark(run);
    tb_status status = make(run, input, given, &made);
    return tb_filter_finish(run, status, depth, mark, &made, value);
}

tb_status tb_filter_dict_items(struct tb_render *run,
                               const struct tb_value *input,
                               struct tb_value *value)
{
    struct tb_view *view = TB_RENDER_NEW(run, struct tb_view, 1);
    if (!view)
        return tb_render_no_memory(run);
    *view = (struct tb_view){TB_VIEW_ITEMS, input->as.dict};
    struct tb_value items = {.kind = TB_VALUE_VIEW, .as.view = view};
    return tb_filter_copy_items(run, &items, value);
}
