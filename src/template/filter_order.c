/* Filters that compare items: they sort, group, or take the least. */
#include <string.h>

#include "filter_item.h"
#include "text_method.h"

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
    if (!tb_filter_is_given(attribute) || !tb_value_is_text(attribute))
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
        TB_TRY(tb_filter_attribute(run, &item->value, &part, &absent,
                                   &item->keys[i]));
        TB_TRY(tb_filter_fold_case(run, is_case_sensitive, &item->keys[i]));
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
    return sort(run, input, &arguments[2], tb_filter_is_on(&arguments[1]),
                tb_filter_is_on(&arguments[0]), value);
}

static tb_status filter_dictsort(struct tb_render *run,
                                 const struct tb_value *input,
                                 const struct tb_given *given,
                                 struct tb_value *value)
{
    struct tb_value arguments[3], items, by = tb_value_int(0);
    TB_TRY(tb_given_bind(run, given, "dictsort", "case_sensitive by reverse", 0,
                         arguments));
    if (!tb_filter_is_absent(&arguments[1])) {
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
    TB_TRY(tb_filter_dict_items(run, input, &items));
    return sort(run, &items, &by, tb_filter_is_on(&arguments[0]),
                tb_filter_is_on(&arguments[2]), value);
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
        TB_TRY(tb_filter_attribute(run, &items.items[i], &arguments[1], &absent,
                                   &key));
        TB_TRY(tb_filter_fold_case(run, tb_filter_is_on(&arguments[0]), &key));
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
        TB_TRY(tb_filter_attribute(run, &items.items[i], &arguments[1], &absent,
                                   &key));
        TB_TRY(tb_filter_fold_case(run, tb_filter_is_on(&arguments[0]), &key));
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
    return tb_filter_generate(run, input, given, make_unique, value);
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
        TB_TRY(tb_filter_attribute(run, &items->items[i], attribute, absent,
                                   &key));
        shown = key;
        TB_TRY(tb_filter_fold_case(run, is_case_sensitive, &key));
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
    if (tb_filter_is_given(&arguments[1]))
        return tb_render_fail_as(run, TB_ERR_UNSUPPORTED,
                                 "the filter 'groupby' with a default");
    TB_TRY(sort(run, input, &arguments[0], tb_filter_is_on(&arguments[2]),
                false, &sorted));
    items = *sorted.as.list;
    return group(run, &items, &arguments[0], &arguments[1],
                 tb_filter_is_on(&arguments[2]), value);
}

const struct tb_filter tb_filters_order[] = {
    {"sort", filter_sort},
    {"dictsort", filter_dictsort},
    {"min", filter_min},
    {"max", filter_max},
    {"unique", filter_unique},
    {"groupby", filter_groupby},
    {NULL, NULL},
};
