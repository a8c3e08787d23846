/* Filters over lists, dicts and other things with items, but for those that
 * compare them (filter_order.c) or choose some (filter_choose.c). */
#include <string.h>

#include "filter_item.h"

/* ---- simple ----------------------------------------------------------- */

static tb_status filter_list(struct tb_render *run,
                             const struct tb_value *input,
                             const struct tb_given *given,
                             struct tb_value *value)
{
    TB_TRY(tb_given_bind(run, given, "list", "", 0, NULL));
    return tb_filter_copy_items(run, input, value);
}

static tb_status filter_first(struct tb_render *run,
                              const struct tb_value *input,
                              const struct tb_given *given,
                              struct tb_value *value)
{
    struct tb_list items;
    TB_TRY(tb_given_bind(run, given, "first", "", 0, NULL));
    if (input->kind == TB_VALUE_ITERATOR &&
        input->as.iterator->at < input->as.iterator->count) {
        *value = input->as.iterator->items[input->as.iterator->at++];
        return TB_OK;
    }
    TB_TRY(tb_render_items(run, input, &items));
    if (items.count == 0)
        return tb_eval_undefined(run, false, value,
                                 "No first item, sequence was empty.");
    *value = items.items[0];
    return TB_OK;
}

static tb_status check_reversible(struct tb_render *run,
                                  const struct tb_value *input)
{
    if (input->kind == TB_VALUE_ITERATOR)
        return tb_render_fail(run, "'%s' object is not reversible",
                              tb_value_type(input));
    return TB_OK;
}

static tb_status filter_last(struct tb_render *run,
                             const struct tb_value *input,
                             const struct tb_given *given,
                             struct tb_value *value)
{
    struct tb_list items;
    TB_TRY(tb_given_bind(run, given, "last", "", 0, NULL));
    TB_TRY(check_reversible(run, input));
    TB_TRY(tb_render_items(run, input, &items));
    if (items.count == 0)
        return tb_eval_undefined(run, false, value,
                                 "No last item, sequence was empty.");
    *value = items.items[items.count - 1];
    return TB_OK;
}

static void reverse(struct tb_list *list)
{
    for (size_t i = 0; i < list->count / 2; i++) {
        struct tb_value other = list->items[i];
        list->items[i] = list->items[list->count - 1 - i];
        list->items[list->count - 1 - i] = other;
    }
}

static tb_status filter_reverse(struct tb_render *run,
                                const struct tb_value *input,
                                const struct tb_given *given,
                                struct tb_value *value)
{
    struct tb_value copy;
    size_t mark = tb_render_mark(run);
    TB_TRY(tb_given_bind(run, given, "reverse", "", 0, NULL));
    TB_TRY(tb_filter_copy_items(run, input, &copy));
    reverse(copy.as.list);
    if (input->kind == TB_VALUE_ITERATOR) {
        *value = copy;
        return TB_OK;
    }
    if (!tb_value_is_text(input))
        return tb_render_iterator(run, "list_reverseiterator", copy.as.list,
                                  TB_OK, value);
    for (size_t i = 0; i < copy.as.list->count; i++)
        TB_TRY(tb_render_write(run, copy.as.list->items[i].as.text));
    TB_TRY(tb_render_take_value(run, mark, value));
    value->is_safe = input->is_safe;
    return TB_OK;
}

static tb_status filter_join(struct tb_render *run,
                             const struct tb_value *input,
                             const struct tb_given *given,
                             struct tb_value *value)
{
    struct tb_value arguments[2], absent = {.kind = TB_VALUE_ABSENT}, item;
    struct tb_list items;
    struct tb_span between = {0};
    TB_TRY(tb_given_bind(run, given, "join", "d attribute", 0, arguments));
    if (!tb_filter_is_absent(&arguments[0]))
        TB_TRY(tb_render_str(run, &arguments[0], &between));
    TB_TRY(tb_render_items(run, input, &items));
    size_t mark = tb_render_mark(run);
    for (size_t i = 0; i < items.count; i++) {
        TB_TRY(tb_render_step(run, 1));
        TB_TRY(tb_filter_attribute(run, &items.items[i], &arguments[1], &absent,
                                   &item));
        if (i > 0)
            TB_TRY(tb_render_write(run, between));
        TB_TRY(tb_render_write_str(run, &item));
    }
    return tb_render_take_value(run, mark, value);
}

static tb_status filter_sum(struct tb_render *run, const struct tb_value *input,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    struct tb_value arguments[2], absent = {.kind = TB_VALUE_ABSENT}, item;
    struct tb_list items;
    TB_TRY(tb_given_bind(run, given, "sum", "attribute start", 0, arguments));
    TB_TRY(tb_render_items(run, input, &items));
    struct tb_value sum =
        tb_filter_is_absent(&arguments[1]) ? tb_value_int(0) : arguments[1];
    if (tb_value_is_text(&sum))
        return tb_render_fail(run, "sum() can't sum strings");
    for (size_t i = 0; i < items.count; i++) {
        TB_TRY(tb_filter_attribute(run, &items.items[i], &arguments[0], &absent,
                                   &item));
        TB_TRY(tb_eval_binary(run, TB_OP_ADD, &sum, &item, &sum));
    }
    *value = sum;
    return TB_OK;
}

static tb_status filter_items(struct tb_render *run,
                              const struct tb_value *input,
                              const struct tb_given *given,
                              struct tb_value *value)
{
    struct tb_value items;
    struct tb_list none = {0};
    TB_TRY(tb_given_bind(run, given, "items", "", 0, NULL));
    if (tb_value_is_undefined(input))
        return tb_render_iterator(run, "generator", &none, TB_OK, value);
    if (input->kind != TB_VALUE_DICT) {
        // A generator fails when it is used, not when it is made.
        tb_status status =
            tb_render_fail(run, "Can only get item pairs from a mapping.");
        return tb_render_iterator(run, "generator", &none, status, value);
    }
    TB_TRY(tb_filter_dict_items(run, input, &items));
    return tb_render_iterator(run, "generator", items.as.list, TB_OK, value);
}

/* ---- cutting ---------------------------------------------------------- */

static tb_status make_batch(struct tb_render *run, const struct tb_value *input,
                            const struct tb_given *given, struct tb_list *rows)
{
    struct tb_value arguments[2], row = tb_value_none();
    struct tb_list items;
    int64_t width;
    TB_TRY(tb_given_bind(run, given, "batch", "linecount fill_with", 1,
                         arguments));
    TB_TRY(tb_eval_index(run, &arguments[0], &width));
    TB_TRY(tb_render_items(run, input, &items));
    for (size_t i = 0; i < items.count; i++) {
        bool is_full = i > 0 && (int64_t)row.as.list->count == width;
        if (i == 0 || is_full) {
            TB_TRY(tb_render_list(run, TB_VALUE_LIST, 0, &row));
            TB_TRY(tb_list_append(run, rows, &row));
        }
        TB_TRY(tb_list_append(run, row.as.list, &items.items[i]));
    }
    while (items.count > 0 && tb_filter_is_given(&arguments[1]) &&
           (int64_t)row.as.list->count < width)
        TB_TRY(tb_list_append(run, row.as.list, &arguments[1]));
    return TB_OK;
}

static tb_status filter_batch(struct tb_render *run,
                              const struct tb_value *input,
                              const struct tb_given *given,
                              struct tb_value *value)
{
    return tb_filter_generate(run, input, given, make_batch, value);
}

static tb_status make_slice(struct tb_render *run, const struct tb_value *input,
                            const struct tb_given *given, struct tb_list *rows)
{
    struct tb_value arguments[2], row;
    struct tb_list items;
    int64_t count;
    TB_TRY(
        tb_given_bind(run, given, "slice", "slices fill_with", 1, arguments));
    TB_TRY(tb_eval_index(run, &arguments[0], &count));
    TB_TRY(tb_render_items(run, input, &items));
    if (count == 0)
        return tb_render_fail(run, "integer division or modulo by zero");
    size_t at = 0, each = count > 0 ? items.count / (size_t)count : 0;
    size_t longer = count > 0 ? items.count % (size_t)count : 0;
    for (size_t i = 0; (int64_t)i < count; i++) {
        size_t end = at + each + (i < longer);
        TB_TRY(tb_render_list(run, TB_VALUE_LIST, 0, &row));
        for (; at < end; at++)
            TB_TRY(tb_list_append(run, row.as.list, &items.items[at]));
        if (tb_filter_is_given(&arguments[1]) && i >= longer)
            TB_TRY(tb_list_append(run, row.as.list, &arguments[1]));
        TB_TRY(tb_list_append(run, rows, &row));
    }
    return TB_OK;
}

static tb_status filter_slice(struct tb_render *run,
                              const struct tb_value *input,
                              const struct tb_given *given,
                              struct tb_value *value)
{
    return tb_filter_generate(run, input, given, make_slice, value);
}

const struct tb_filter tb_filters_list[] = {
    {"list", filter_list},   {"first", filter_first},
    {"last", filter_last},   {"reverse", filter_reverse},
    {"join", filter_join},   {"sum", filter_sum},
    {"items", filter_items}, {"batch", filter_batch},
    {"slice", filter_slice}, {NULL, NULL},
};
