/* Filters that make something of each item, or choose by it. */
#include "filter_item.h"

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
        TB_TRY(tb_filter_attribute(run, &items->items[i], &arguments[0],
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
    return tb_filter_finish(run, status, depth, mark, &mapped, value);
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
        TB_TRY(tb_filter_attribute(run, &items->items[i], attribute, &absent,
                                   &item));
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
    return tb_filter_finish(run, status, depth, mark, &kept, value);
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

const struct tb_filter tb_filters_choose[] = {
    {"map", filter_map},
    {"select", filter_select},
    {"reject", filter_reject},
    {"selectattr", filter_selectattr},
    {"rejectattr", filter_rejectattr},
    {"attr", filter_attr},
    {NULL, NULL},
};
