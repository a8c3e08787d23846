#include "text_method.h"

/* ---- arguments -------------------------------------------------------- */

tb_status tb_text_want(struct tb_render *run, const struct tb_value *value,
                       struct tb_span *text)
{
    if (!tb_value_is_text(value))
        return tb_render_fail(run, "argument must be str, not %s",
                              tb_value_type(value));
    *text = value->as.text;
    return TB_OK;
}

bool tb_text_is_absent(const struct tb_value *value)
{
    return value->kind == TB_VALUE_ABSENT;
}

tb_status tb_text_bind(struct tb_render *run, const struct tb_given *given,
                       const char *names, size_t min, struct tb_value *values)
{
    if (given->keyword_count)
        return tb_render_fail(run,
                              "a method of str takes no keyword arguments");
    return tb_given_bind(run, given, "str", names, min, values);
}

/* ---- all of them ------------------------------------------------------ */

static const struct tb_text_method format_methods[] = {
    {"format", tb_text_format},
    {0},
};

static const struct tb_text_method *const tables[] = {
    tb_text_strip_methods,  tb_text_split_methods, tb_text_search_methods,
    tb_text_letter_methods, format_methods,
};

static const struct tb_text_method *find_method(struct tb_span name)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        for (const struct tb_text_method *one = tables[i]; one->name; one++)
            if (tb_span_equal(name, tb_span_of(one->name)))
                return one;
    return NULL;
}

// What Markup's methods give is Markup again.
static void mark_safe(struct tb_value *value)
{
    bool is_list =
        value->kind == TB_VALUE_LIST || value->kind == TB_VALUE_TUPLE;
    value->is_safe = tb_value_is_text(value);
    for (size_t i = 0; is_list && i < value->as.list->count; i++)
        value->as.list->items[i].is_safe = true;
}

tb_status tb_text_method_call(struct tb_render *run,
                              const struct tb_method *method,
                              const struct tb_given *given,
                              struct tb_value *value)
{
    bool result;
    struct tb_span text = method->self.as.text;
    TB_TRY(tb_render_scan(run, text.len));
    const struct tb_text_method *found = find_method(method->name);
    if (found) {
        TB_TRY(found->call(run, text, given, value));
        if (method->self.is_safe)
            mark_safe(value);
        return TB_OK;
    }
    if (!tb_text_answer(method->name, text, &result))
        return tb_render_fail_as(
            run, TB_ERR_UNSUPPORTED, "the method '%.*s' of 'str'",
            (int)method->name.len, (const char *)method->name.ptr);
    TB_TRY(tb_text_bind(run, given, "", 0, NULL));
    *value = tb_value_bool(result);
    return TB_OK;
}
