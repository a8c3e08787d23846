/* Equality, order and membership as Python has them. */
#include <math.h>

#include "render.h"
#include "text.h"

static tb_status equal_lists(struct tb_render *run, const struct tb_list *a,
                             const struct tb_list *b, bool *is_equal)
{
    *is_equal = a->count == b->count;
    for (size_t i = 0; i < a->count && *is_equal; i++) {
        TB_TRY(tb_render_step(run, 1));
        TB_TRY(tb_render_equal(run, &a->items[i], &b->items[i], is_equal));
    }
    return TB_OK;
}

static tb_status equal_dicts(struct tb_render *run, const struct tb_dict *a,
                             const struct tb_dict *b, bool *is_equal)
{
    *is_equal = a->count == b->count;
    for (size_t i = 0; i < a->count && *is_equal; i++) {
        const struct tb_value *other;
        TB_TRY(tb_render_step(run, 1));
        TB_TRY(tb_dict_find(run, b, &a->pairs[i].key, &other));
        *is_equal = false;
        if (other)
            TB_TRY(tb_render_equal(run, &a->pairs[i].value, other, is_equal));
    }
    return TB_OK;
}

static bool equal_numbers(const struct tb_value *a, const struct tb_value *b)
{
    if (tb_value_is_integer(a) && tb_value_is_integer(b))
        return tb_value_integer(a) == tb_value_integer(b);
    if (a->kind == TB_VALUE_BIG && b->kind == TB_VALUE_BIG)
        return tb_span_equal(a->as.text, b->as.text);
    if (a->kind != TB_VALUE_FLOAT && b->kind != TB_VALUE_FLOAT)
        return false; // an integer that fits and one that does not
    return tb_value_number(a) == tb_value_number(b);
}

static bool equal_ranges(const struct tb_range *a, const struct tb_range *b)
{
    return a->count == b->count && (a->count == 0 || a->start == b->start) &&
           (a->count < 2 || a->step == b->step);
}

static bool equal_simple(const struct tb_value *a, const struct tb_value *b)
{
    switch (a->kind) {
    case TB_VALUE_UNDEFINED:
    case TB_VALUE_NONE:
        return true;
    case TB_VALUE_STRING:
        return tb_span_equal(a->as.text, b->as.text);
    case TB_VALUE_RANGE:
        return equal_ranges(a->as.range, b->as.range);
    case TB_VALUE_FUNCTION:
        return a->as.function == b->as.function;
    default:
        return a->as.list == b->as.list; // the same object
    }
}

tb_status tb_render_equal(struct tb_render *run, const struct tb_value *a,
                          const struct tb_value *b, bool *is_equal)
{
    if (tb_value_is_number(a) && tb_value_is_number(b)) {
        *is_equal = equal_numbers(a, b);
        return TB_OK;
    }
    *is_equal = false;
    if (a->kind != b->kind)
        return TB_OK;
    bool is_list = a->kind == TB_VALUE_LIST || a->kind == TB_VALUE_TUPLE;
    if (!is_list && a->kind != TB_VALUE_DICT) {
        *is_equal = equal_simple(a, b);
        bool is_scanned = tb_value_is_text(a) && *is_equal;
        return is_scanned ? tb_render_scan(run, a->as.text.len) : TB_OK;
    }
    TB_TRY(tb_render_enter(run));
    if (is_list)
        TB_TRY(equal_lists(run, a->as.list, b->as.list, is_equal));
    else
        TB_TRY(equal_dicts(run, a->as.dict, b->as.dict, is_equal));
    run->depth--;
    return TB_OK;
}

static int sign_of(double difference)
{
    if (isnan(difference))
        return 2;
    return (difference > 0) - (difference < 0);
}

static int compare_numbers(const struct tb_value *a, const struct tb_value *b)
{
    if (tb_value_is_integer(a) && tb_value_is_integer(b)) {
        int64_t left = tb_value_integer(a), right = tb_value_integer(b);
        return (left > right) - (left < right);
    }
    double left = tb_value_number(a), right = tb_value_number(b);
    if (isnan(left) || isnan(right))
        return 2;
    return sign_of((left > right) - (left < right));
}

static tb_status compare_lists(struct tb_render *run, const struct tb_list *a,
                               const struct tb_list *b, const char *sign,
                               int *order)
{
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        bool is_equal;
        TB_TRY(tb_render_step(run, 1));
        TB_TRY(tb_render_equal(run, &a->items[i], &b->items[i], &is_equal));
        if (!is_equal)
            return tb_render_compare(run, &a->items[i], &b->items[i], sign,
                                     order);
    }
    *order = (a->count > b->count) - (a->count < b->count);
    return TB_OK;
}

tb_status tb_render_compare(struct tb_render *run, const struct tb_value *a,
                            const struct tb_value *b, const char *sign,
                            int *order)
{
    if (tb_value_is_number(a) && tb_value_is_number(b)) {
        *order = compare_numbers(a, b);
        return TB_OK;
    }
    if (tb_value_is_undefined(a))
        return tb_render_fail_undefined(run, a);
    if (tb_value_is_undefined(b))
        return tb_render_fail_undefined(run, b);
    if (tb_value_is_text(a) && tb_value_is_text(b)) {
        *order = tb_span_compare(a->as.text, b->as.text);
        *order = (*order > 0) - (*order < 0);
        return tb_render_scan(run, a->as.text.len);
    }
    if (a->kind == b->kind &&
        (a->kind == TB_VALUE_LIST || a->kind == TB_VALUE_TUPLE)) {
        TB_TRY(tb_render_enter(run));
        TB_TRY(compare_lists(run, a->as.list, b->as.list, sign, order));
        run->depth--;
        return TB_OK;
    }
    return tb_render_fail(
        run, "'%s' not supported between instances of '%s' and '%s'", sign,
        tb_value_type(a), tb_value_type(b));
}

static tb_status contains_text(struct tb_render *run, struct tb_span text,
                               const struct tb_value *item, bool *found)
{
    if (!tb_value_is_text(item))
        return tb_render_fail(run,
                              "'in <string>' requires string as left operand, "
                              "not %s",
                              tb_value_type(item));
    *found = tb_text_find(text, item->as.text, 0) != SIZE_MAX;
    return tb_render_scan(run, text.len);
}

// An iterator is used up to the item that was found.
static tb_status contains_next(struct tb_render *run,
                               struct tb_iterator *iterator,
                               const struct tb_value *item, bool *found)
{
    while (iterator->at < iterator->count) {
        TB_TRY(tb_render_step(run, 1));
        TB_TRY(tb_render_equal(run, &iterator->items[iterator->at++], item,
                               found));
        if (*found)
            return TB_OK;
    }
    if (iterator->status == TB_OK)
        return TB_OK;
    return tb_render_fail_as(run, iterator->status, "%s", iterator->message);
}

tb_status tb_render_contains(struct tb_render *run,
                             const struct tb_value *container,
                             const struct tb_value *item, bool *found)
{
    const struct tb_value *value;
    struct tb_list items;
    *found = false;
    switch (container->kind) {
    case TB_VALUE_STRING:
        return contains_text(run, container->as.text, item, found);
    case TB_VALUE_DICT:
        TB_TRY(tb_dict_find(run, container->as.dict, item, &value));
        *found = value != NULL;
        return TB_OK;
    case TB_VALUE_ITERATOR:
        return contains_next(run, container->as.iterator, item, found);
    default:
        break;
    }
    if (!tb_value_is_iterable(container))
        return tb_render_fail(run, "argument of type '%s' is not iterable",
                              tb_value_type(container));
    TB_TRY(tb_render_items(run, container, &items));
    for (size_t i = 0; i < items.count && !*found; i++) {
        TB_TRY(tb_render_step(run, 1));
        TB_TRY(tb_render_equal(run, &items.items[i], item, found));
    }
    return TB_OK;
}
