/* Filters over lists, dicts and other things with items. */
#include <string.h>

#include "jinja_filter.h"
#include "text_method.h"

static bool is_absent(const struct tb_value *value)
{
    return value->kind == TB_VALUE_ABSENT;
}

static bool is_given(const struct tb_value *value)
{
    return !is_absent(value) && value->kind != TB_VALUE_NONE;
}

static bool is_on(const struct tb_value *value)
{
    return !is_absent(value) && tb_value_is_true(value);
}

// A list of its own with the items.
static tb_status copy_items(struct tb_render *run, const struct tb_value *input,
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

/* ---- attributes ------------------------------------------------------- */

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

/* item.a.0.b for an attribute "a.0.b"; none or absent is the item itself. */
static tb_status get_attribute(struct tb_render *run,
                               const struct tb_value *item,
                               const struct tb_value *attribute,
                               const struct tb_value *absent,
                               struct tb_value *value)
{
    *value = *item;
    if (!is_given(attribute))
        return TB_OK;
    if (!tb_value_is_text(attribute)) {
        TB_TRY(tb_eval_getitem(run, value, attribute, value));
        if (is_given(absent) && tb_value_is_undefined(value))
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
        if (is_given(absent) && tb_value_is_undefined(value))
            *value = *absent;
        if (!is_last)
            rest = tb_span_from(rest, dot + 1);
    }
    return TB_OK;
}

static tb_status fold_case(struct tb_render *run, bool is_case_sensitive,
                           struct tb_value *value)
{
    size_t mark = tb_render_mark(run);
    if (is_case_sensitive || !tb_value_is_text(value))
        return TB_OK;
    TB_TRY(tb_text_write_case(run, value->as.text, TB_CASE_LOWER));
    return tb_render_take_value(run, mark, value);
}

/* ---- generators ------------------------------------------------------- */

/* An iterator over what `list` got before `status`; what was being done when
 * it failed is undone. */
static tb_status finish(struct tb_render *run, tb_status status, unsigned depth,
                        size_t mark, const struct tb_list *list,
                        struct tb_value *value)
{
    if (status == TB_ERR_VALUE) {
        run->depth = depth;
        run->out->len = mark;
    } else if (status != TB_OK) {
        return status;
    }
    return tb_render_iterator(run, "generator", list, status, value);
}

typedef tb_status (*make_fn)(struct tb_render *run,
                             const struct tb_value *input,
                             const struct tb_given *given,
                             struct tb_list *made);

static tb_status generate(struct tb_render *run, const struct tb_value *input,
                          const struct tb_given *given, make_fn make,
                          struct tb_value *value)
{
    struct tb_list made = {0};
    unsigned depth = run->depth;
    size_t mark = tb_render_mark(run);
    tb_status status = make(run, input, given, &made);
    return finish(run, status, depth, mark, &made, value);
}

/* ---- simple ----------------------------------------------------------- */

static tb_status filter_list(struct tb_render *run,
                             const struct tb_value *input,
                             const struct tb_given *given,
                             struct tb_value *value)
{
    TB_TRY(tb_given_bind(run, given, "list", "", 0, NULL));
    return copy_items(run, input, value);
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
    TB_TRY(copy_items(run, input, &copy));
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
    if (!is_absent(&arguments[0]))
        TB_TRY(tb_render_str(run, &arguments[0], &between));
    TB_TRY(tb_render_items(run, input, &items));
    size_t mark = tb_render_mark(run);
    for (size_t i = 0; i < items.count; i++) {
        TB_TRY(tb_render_step(run, 1));
        TB_TRY(
            get_attribute(run, &items.items[i], &arguments[1], &absent, &item));
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
        is_absent(&arguments[1]) ? tb_value_int(0) : arguments[1];
    if (tb_value_is_text(&sum))
        return tb_render_fail(run, "sum() can't sum strings");
    for (size_t i = 0; i < items.count; i++) {
        TB_TRY(
            get_attribute(run, &items.items[i], &arguments[0], &absent, &item));
        TB_TRY(tb_eval_binary(run, TB_OP_ADD, &sum, &item, &sum));
    }
    *value = sum;
    return TB_OK;
}

/* ---- dicts ------------------------------------------------------------ */

static tb_status dict_items(struct tb_render *run, const struct tb_value *input,
                            struct tb_value *value)
{
    struct tb_view *view = TB_RENDER_NEW(run, struct tb_view, 1);
    if (!view)
        return tb_render_no_memory(run);
    *view = (struct tb_view){TB_VIEW_ITEMS, input->as.dict};
    struct tb_value items = {.kind = TB_VALUE_VIEW, .as.view = view};
    return copy_items(run, &items, value);
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
    TB_TRY(dict_items(run, input, &items));
    return tb_render_iterator(run, "generator", items.as.list, TB_OK, value);
}

/* ---- sorting ---------------------------------------------------------- */

struct sort_item {
    struct tb_value value;
    struct tb_value *keys; /* key_count of them */
};

struct sorter {
    struct tb_render *run;
    size_t key_count;
    bool is_reverse;
};

static tb_status is_before(const struct sorter *sorter,
                           const struct sort_item *a, const struct sort_item *b,
                           bool *result)
{
    *result = false;
    for (size_t i = 0; i < sorter->key_count; i++) {
        int order;
        bool is_equal;
        TB_TRY(tb_render_step(sorter->run, 1));
        TB_TRY(
            tb_render_equal(sorter->run, &a->keys[i], &b->keys[i], &is_equal));
        if (is_equal && sorter->key_count > 1)
            continue;
        TB_TRY(tb_render_compare(sorter->run, &a->keys[i], &b->keys[i], "<",
                                 &order));
        *result = order == -1;
        return TB_OK;
    }
    return TB_OK;
}

// Merges two sorted halves; equal items keep their order.
static tb_status merge(const struct sorter *sorter, struct sort_item *items,
                       struct sort_item *spare, size_t middle, size_t count)
{
    size_t left = 0, right = middle, at = 0;
    while (left < middle || right < count) {
        bool takes_right = left == middle;
        if (left < middle && right < count)
            TB_TRY(sorter->is_reverse ? is_before(sorter, &items[left],
                                                  &items[right], &takes_right)
                                      : is_before(sorter, &items[right],
                                                  &items[left], &takes_right));
        spare[at++] = takes_right ? items[right++] : items[left++];
    }
    memcpy(items, spare, count * sizeof(*items));
    return TB_OK;
}

static tb_status sort_items(const struct sorter *sorter,
                            struct sort_item *items, size_t count)
{
    struct sort_item *spare =
        TB_RENDER_NEW(sorter->run, struct sort_item, count + 1);
    if (!spare)
        return tb_render_no_memory(sorter->run);
    for (size_t width = 1; width < count; width *= 2)
        for (size_t at = 0; at + width < count; at += width * 2) {
            size_t size = count - at < width * 2 ? count - at : width * 2;
            TB_TRY(merge(sorter, items + at, spare, width, size));
        }
    return TB_OK;
}

static size_t count_parts(const struct tb_value *attribute)
{
    if (!is_given(attribute) || !tb_value_is_text(attribute))
        return 1;
    return tb_span_count(attribute->as.text, ',') + 1;
}

// "a,b.c" sorts by several attributes.
static tb_status make_keys(struct tb_render *run, struct sort_item *item,
                           const struct tb_value *attribute, size_t count,
                           bool is_case_sensitive)
{
    struct tb_value absent = {.kind = TB_VALUE_ABSENT}, part = *attribute;
    item->keys = TB_RENDER_NEW(run, struct tb_value, count);
    if (!item->keys)
        return tb_render_no_memory(run);
    struct tb_span rest = {0};
    if (count > 1)
        rest = attribute->as.text;
    for (size_t i = 0; i < count; i++) {
        if (count > 1) {
            size_t comma = tb_text_find(rest, TB_SPAN(","), 0);
            part = tb_value_text((struct tb_span){
                rest.ptr, comma == SIZE_MAX ? rest.len : comma});
            if (comma != SIZE_MAX)
                rest = tb_span_from(rest, comma + 1);
        }
        TB_TRY(
            get_attribute(run, &item->value, &part, &absent, &item->keys[i]));
        TB_TRY(fold_case(run, is_case_sensitive, &item->keys[i]));
    }
    return TB_OK;
}

static tb_status sort(struct tb_render *run, const struct tb_value *input,
                      const struct tb_value *attribute, bool is_case_sensitive,
                      bool is_reverse, struct tb_value *value)
{
    struct tb_list items;
    struct sorter sorter = {run, count_parts(attribute), is_reverse};
    TB_TRY(tb_render_items(run, input, &items));
    struct sort_item *sorted =
        TB_RENDER_NEW(run, struct sort_item, items.count + 1);
    if (!sorted)
        return tb_render_no_memory(run);
    for (size_t i = 0; i < items.count; i++) {
        sorted[i].value = items.items[i];
        TB_TRY(make_keys(run, &sorted[i], attribute, sorter.key_count,
                         is_case_sensitive));
    }
    TB_TRY(sort_items(&sorter, sorted, items.count));
    TB_TRY(tb_render_list(run, TB_VALUE_LIST, items.count, value));
    for (size_t i = 0; i < items.count; i++)
        TB_TRY(tb_list_append(run, value->as.list, &sorted[i].value));
    return TB_OK;
}

static tb_status filter_sort(struct tb_render *run,
                             const struct tb_value *input,
                             const struct tb_given *given,
                             struct tb_value *value)
{
    struct tb_value arguments[3];
    TB_TRY(tb_given_bind(run, given, "sort", "reverse case_sensitive attribute",
                         0, arguments));
    return sort(run, input, &arguments[2], is_on(&arguments[1]),
                is_on(&arguments[0]), value);
}

static tb_status filter_dictsort(struct tb_render *run,
                                 const struct tb_value *input,
                                 const struct tb_given *given,
                                 struct tb_value *value)
{
    struct tb_value arguments[3], items, by = tb_value_int(0);
    TB_TRY(tb_given_bind(run, given, "dictsort", "case_sensitive by reverse", 0,
                         arguments));
    if (!is_absent(&arguments[1])) {
        struct tb_span name = tb_value_is_text(&arguments[1])
                                  ? arguments[1].as.text
                                  : TB_SPAN("");
        if (tb_span_equal(name, TB_SPAN("value")))
            by = tb_value_int(1);
        else if (!tb_span_equal(name, TB_SPAN("key")))
            return tb_render_fail(
                run, "You can only sort by either \"key\" or \"value\"");
    }
    if (tb_value_is_undefined(input))
        return tb_render_fail_undefined(run, input);
    if (input->kind != TB_VALUE_DICT)
        return tb_render_fail(run, "'%s' object has no attribute 'items'",
                              tb_value_type(input));
    TB_TRY(dict_items(run, input, &items));
    return sort(run, &items, &by, is_on(&arguments[0]), is_on(&arguments[2]),
                value);
}

static tb_status extreme(struct tb_render *run, const struct tb_value *input,
                         const struct tb_given *given, bool is_max,
                         struct tb_value *value)
{
    struct tb_value arguments[2], absent = {.kind = TB_VALUE_ABSENT};
    struct tb_value best = tb_value_none(), key;
    struct tb_list items;
    TB_TRY(tb_given_bind(run, given, is_max ? "max" : "min",
                         "case_sensitive attribute", 0, arguments));
    TB_TRY(tb_render_items(run, input, &items));
    if (items.count == 0)
        return tb_eval_undefined(run, false, value,
                                 "No aggregated item, sequence was empty.");
    for (size_t i = 0; i < items.count; i++) {
        int order = 0;
        TB_TRY(
            get_attribute(run, &items.items[i], &arguments[1], &absent, &key));
        TB_TRY(fold_case(run, is_on(&arguments[0]), &key));
        if (i > 0)
            TB_TRY(tb_render_compare(run, &key, &best, is_max ? ">" : "<",
                                     &order));
        if (i > 0 && order != (is_max ? 1 : -1))
            continue;
        best = key;
        *value = items.items[i];
    }
    return TB_OK;
}

static tb_status filter_min(struct tb_render *run, const struct tb_value *input,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    return extreme(run, input, given, false, value);
}

static tb_status filter_max(struct tb_render *run, const struct tb_value *input,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    return extreme(run, input, given, true, value);
}

static tb_status make_unique(struct tb_render *run,
                             const struct tb_value *input,
                             const struct tb_given *given, struct tb_list *kept)
{
    struct tb_value arguments[2], absent = {.kind = TB_VALUE_ABSENT}, key, seen;
    struct tb_list items;
    TB_TRY(tb_given_bind(run, given, "unique", "case_sensitive attribute", 0,
                         arguments));
    TB_TRY(tb_render_items(run, input, &items));
    TB_TRY(tb_render_dict(run, &seen));
    for (size_t i = 0; i < items.count; i++) {
        size_t count = seen.as.dict->count;
        TB_TRY(
            get_attribute(run, &items.items[i], &arguments[1], &absent, &key));
        TB_TRY(fold_case(run, is_on(&arguments[0]), &key));
        TB_TRY(tb_dict_set(run, seen.as.dict, &key, &key));
        if (seen.as.dict->count > count)
            TB_TRY(tb_list_append(run, kept, &items.items[i]));
    }
    return TB_OK;
}

static tb_status filter_unique(struct tb_render *run,
                               const struct tb_value *input,
                               const struct tb_given *given,
                               struct tb_value *value)
{
    return generate(run, input, given, make_unique, value);
}

// Sorted by the attribute; each group a pair of it and the list of its items.
static tb_status group(struct tb_render *run, const struct tb_list *items,
                       const struct tb_value *attribute,
                       const struct tb_value *absent, bool is_case_sensitive,
                       struct tb_value *value)
{
    struct tb_value key, last = tb_value_none(), pair, list = tb_value_none();
    TB_TRY(tb_render_list(run, TB_VALUE_LIST, 0, value));
    for (size_t i = 0; i < items->count; i++) {
        bool is_equal = false;
        struct tb_value shown;
        TB_TRY(get_attribute(run, &items->items[i], attribute, absent, &key));
        shown = key;
        TB_TRY(fold_case(run, is_case_sensitive, &key));
        if (i > 0)
            TB_TRY(tb_render_equal(run, &key, &last, &is_equal));
        if (!is_equal) {
            TB_TRY(tb_render_list(run, TB_VALUE_LIST, 0, &list));
            TB_TRY(tb_render_pair(run, &shown, &list, &pair));
            TB_TRY(tb_list_append(run, value->as.list, &pair));
        }
        TB_TRY(tb_list_append(run, list.as.list, &items->items[i]));
        last = key;
    }
    return TB_OK;
}

static tb_status filter_groupby(struct tb_render *run,
                                const struct tb_value *input,
                                const struct tb_given *given,
                                struct tb_value *value)
{
    struct tb_value arguments[3], sorted;
    struct tb_list items;
    TB_TRY(tb_given_bind(run, given, "groupby",
                         "attribute default case_sensitive", 1, arguments));
    if (is_given(&arguments[1]))
        return tb_render_fail_as(run, TB_ERR_UNSUPPORTED,
                                 "the filter 'groupby' with a default");
    TB_TRY(
        sort(run, input, &arguments[0], is_on(&arguments[2]), false, &sorted));
    items = *sorted.as.list;
    return group(run, &items, &arguments[0], &arguments[1],
                 is_on(&arguments[2]), value);
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
    while (items.count > 0 && is_given(&arguments[1]) &&
           (int64_t)row.as.list->count < width)
        TB_TRY(tb_list_append(run, row.as.list, &arguments[1]));
    return TB_OK;
}

static tb_status filter_batch(struct tb_render *run,
                              const struct tb_value *input,
                              const struct tb_given *given,
                              struct tb_value *value)
{
    return generate(run, input, given, make_batch, value);
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
        if (is_given(&arguments[1]) && i >= longer)
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
    return generate(run, input, given, make_slice, value);
}

/* ---- map, select, reject ---------------------------------------------- */

// What is given behind the first `skip` positional arguments.
static struct tb_given rest_of(const struct tb_given *given, size_t skip)
{
    struct tb_given rest = *given;
    rest.items = given->count > skip ? given->items + skip : NULL;
    rest.count = given->count > skip ? given->count - skip : 0;
    return rest;
}

static tb_status map_attributes(struct tb_render *run,
                                const struct tb_list *items,
                                const struct tb_given *given,
                                struct tb_list *mapped)
{
    struct tb_value arguments[2], item;
    TB_TRY(tb_given_bind(run, given, "map", "attribute default", 1, arguments));
    for (size_t i = 0; i < items->count; i++) {
        TB_TRY(get_attribute(run, &items->items[i], &arguments[0],
                             &arguments[1], &item));
        TB_TRY(tb_list_append(run, mapped, &item));
    }
    return TB_OK;
}

static tb_status map_filter(struct tb_render *run, const struct tb_list *items,
                            const struct tb_given *given,
                            struct tb_list *mapped)
{
    struct tb_value item;
    struct tb_given rest = rest_of(given, 1);
    if (given->count == 0 || !tb_value_is_text(&given->items[0]))
        return tb_render_fail(run, "map requires a filter argument");
    struct tb_span name = given->items[0].as.text;
    int index = tb_jinja_filter_index(name);
    if (index == TB_JINJA_UNBUILT)
        return tb_render_fail_as(run, TB_ERR_UNSUPPORTED, "the filter '%.*s'",
                                 (int)name.len, (const char *)name.ptr);
    if (index < 0)
        return tb_render_fail(run, "No filter named '%.*s'.", (int)name.len,
                              (const char *)name.ptr);
    for (size_t i = 0; i < items->count; i++) {
        TB_TRY(tb_filter_apply(run, index, &items->items[i], &rest, &item));
        TB_TRY(tb_list_append(run, mapped, &item));
    }
    return TB_OK;
}

static tb_status filter_map(struct tb_render *run, const struct tb_value *input,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    struct tb_list items = {0}, mapped = {0};
    unsigned depth = run->depth;
    size_t mark = tb_render_mark(run);
    bool has_attribute = given->count == 0 && given->keyword_count > 0;
    bool is_used = tb_value_is_true(input);
    tb_status status = TB_OK;
    if (is_used)
        status = tb_render_items(run, input, &items);
    if (status == TB_OK && is_used)
        status = has_attribute ? map_attributes(run, &items, given, &mapped)
                               : map_filter(run, &items, given, &mapped);
    return finish(run, status, depth, mark, &mapped, value);
}

static tb_status choose(struct tb_render *run, const struct tb_list *items,
                        const struct tb_given *given, bool has_attribute,
                        bool wanted, struct tb_list *kept)
{
    struct tb_value absent = {.kind = TB_VALUE_ABSENT}, item;
    struct tb_given rest = rest_of(given, (size_t)has_attribute + 1);
    if (has_attribute && given->count == 0)
        return tb_render_fail(run, "Missing parameter for attribute name");
    const struct tb_value *attribute =
        has_attribute ? &given->items[0] : &absent;
    int index = -1;
    if (given->count > has_attribute) {
        const struct tb_value *name = &given->items[has_attribute];
        if (tb_value_is_text(name))
            index = tb_jinja_test_index(name->as.text);
        if (index < 0)
            return tb_render_fail(run, "No test of that name.");
    }
    for (size_t i = 0; i < items->count; i++) {
        bool is_true;
        TB_TRY(get_attribute(run, &items->items[i], attribute, &absent, &item));
        if (index >= 0)
            TB_TRY(tb_test_apply(run, index, &item, &rest, &is_true));
        else
            is_true = tb_value_is_true(&item);
        if (is_true == wanted)
            TB_TRY(tb_list_append(run, kept, &items->items[i]));
    }
    return TB_OK;
}

static tb_status pick(struct tb_render *run, const struct tb_value *input,
                      const struct tb_given *given, bool has_attribute,
                      bool wanted, struct tb_value *value)
{
    struct tb_list items = {0}, kept = {0};
    unsigned depth = run->depth;
    size_t mark = tb_render_mark(run);
    bool is_used = tb_value_is_true(input);
    tb_status status = TB_OK;
    if (is_used)
        status = tb_render_items(run, input, &items);
    if (status == TB_OK && is_used)
        status = choose(run, &items, given, has_attribute, wanted, &kept);
    return finish(run, status, depth, mark, &kept, value);
}

static tb_status filter_select(struct tb_render *run,
                               const struct tb_value *input,
                               const struct tb_given *given,
                               struct tb_value *value)
{
    return pick(run, input, given, false, true, value);
}

static tb_status filter_reject(struct tb_render *run,
                               const struct tb_value *input,
                               const struct tb_given *given,
                               struct tb_value *value)
{
    return pick(run, input, given, false, false, value);
}

static tb_status filter_selectattr(struct tb_render *run,
                                   const struct tb_value *input,
                                   const struct tb_given *given,
                                   struct tb_value *value)
{
    return pick(run, input, given, true, true, value);
}

static tb_status filter_rejectattr(struct tb_render *run,
                                   const struct tb_value *input,
                                   const struct tb_given *given,
                                   struct tb_value *value)
{
    return pick(run, input, given, true, false, value);
}

// attr() looks at attributes only, not at the items of a dict.
static tb_status filter_attr(struct tb_render *run,
                             const struct tb_value *input,
                             const struct tb_given *given,
                             struct tb_value *value)
{
    struct tb_value name;
    TB_TRY(tb_given_bind(run, given, "attr", "name", 1, &name));
    if (!tb_value_is_text(&name))
        return tb_render_fail(run, "attribute name must be string");
    if (input->kind != TB_VALUE_DICT ||
        !tb_dict_find_text(input->as.dict, name.as.text))
        return tb_eval_getattr(run, input, name.as.text, value);
    bool is_unsafe;
    if (tb_method_exists(input, name.as.text, &is_unsafe))
        return tb_eval_getattr(run, input, name.as.text, value);
    return tb_eval_undefined(
        run, false, value, "'dict object' has no attribute '%.*s'",
        (int)name.as.text.len, (const char *)name.as.text.ptr);
}

const struct tb_filter tb_filters_list[] = {
    {"list", filter_list},
    {"first", filter_first},
    {"last", filter_last},
    {"reverse", filter_reverse},
    {"join", filter_join},
    {"sum", filter_sum},
    {"items", filter_items},
    {"sort", filter_sort},
    {"dictsort", filter_dictsort},
    {"min", filter_min},
    {"max", filter_max},
    {"unique", filter_unique},
    {"groupby", filter_groupby},
    {"batch", filter_batch},
    {"slice", filter_slice},
    {"map", filter_map},
    {"select", filter_select},
    {"reject", filter_reject},
    {"selectattr", filter_selectattr},
    {"rejectattr", filter_rejectattr},
    {"attr", filter_attr},
    {NULL, NULL},
};
