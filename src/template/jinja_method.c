/* Methods of lists, dicts and the like; those of strings are in
 * text_method.c. */
#include <string.h>

#include "jinja_eval.h"

static bool has_word(const char *words, struct tb_span word)
{
    while (*words) {
        size_t len = strcspn(words, " ");
        if (tb_span_equal((struct tb_span){(const uint8_t *)words, len}, word))
            return true;
        words += len + (words[len] == ' ');
    }
    return false;
}

bool tb_method_exists(const struct tb_value *of, struct tb_span name,
                      bool *is_unsafe)
{
    static const struct {
        tb_value_kind kind;
        const char *safe;
        const char *unsafe;
    } methods[] = {
        {TB_VALUE_STRING,
         "capitalize casefold center count encode endswith expandtabs find "
         "format format_map index isalnum isalpha isascii isdecimal isdigit "
         "isidentifier islower isnumeric isprintable isspace istitle isupper "
         "join ljust lower lstrip maketrans partition removeprefix "
         "removesuffix replace rfind rindex rjust rpartition rsplit rstrip "
         "split splitlines startswith strip swapcase title translate upper "
         "zfill",
         ""},
        {TB_VALUE_DICT, "copy fromkeys get items keys values",
         "clear pop popitem setdefault update"},
        {TB_VALUE_LIST, "copy count index",
         "append clear extend insert pop remove reverse sort"},
        {TB_VALUE_TUPLE, "count index", ""},
        {TB_VALUE_RANGE, "count index", ""},
        {TB_VALUE_INT,
         "as_integer_ratio bit_count bit_length conjugate from_bytes to_bytes",
         ""},
        {TB_VALUE_BOOL,
         "as_integer_ratio bit_count bit_length conjugate from_bytes to_bytes",
         ""},
        {TB_VALUE_FLOAT, "as_integer_ratio conjugate fromhex hex is_integer",
         ""},
        {TB_VALUE_LOOP, "changed cycle", ""},
        {TB_VALUE_CYCLER, "next reset", ""},
        {TB_VALUE_VIEW, "isdisjoint mapping", ""},
    };
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (methods[i].kind != of->kind)
            continue;
        *is_unsafe = has_word(methods[i].unsafe, name);
        return *is_unsafe || has_word(methods[i].safe, name);
    }
    return false;
}

static bool is_named(const struct tb_method *method, const char *name)
{
    return tb_span_equal(method->name, tb_span_of(name));
}

static tb_status no_keywords(struct tb_render *run,
                             const struct tb_method *method,
                             const struct tb_given *given, size_t min,
                             size_t max)
{
    if (given->keyword_count == 0 && given->count >= min && given->count <= max)
        return TB_OK;
    return tb_render_fail(run, "%.*s() takes other arguments",
                          (int)method->name.len,
                          (const char *)method->name.ptr);
}

static tb_status fail_unbuilt(struct tb_render *run,
                              const struct tb_method *method)
{
    return tb_render_fail_as(run, TB_ERR_UNSUPPORTED,
                             "the method '%.*s' of '%s'", (int)method->name.len,
                             (const char *)method->name.ptr,
                             tb_value_type(&method->self));
}

/* ---- dicts ------------------------------------------------------------ */

static tb_status call_view(struct tb_render *run,
                           const struct tb_method *method, tb_view_kind kind,
                           struct tb_value *value)
{
    struct tb_view *view = TB_RENDER_NEW(run, struct tb_view, 1);
    if (!view)
        return tb_render_no_memory(run);
    *view = (struct tb_view){kind, method->self.as.dict};
    *value = (struct tb_value){.kind = TB_VALUE_VIEW, .as.view = view};
    return TB_OK;
}

static tb_status call_get(struct tb_render *run, const struct tb_method *method,
                          const struct tb_given *given, struct tb_value *value)
{
    const struct tb_value *found;
    TB_TRY(no_keywords(run, method, given, 1, 2));
    TB_TRY(tb_dict_find(run, method->self.as.dict, &given->items[0], &found));
    if (found)
        *value = *found;
    else
        *value = given->count == 2 ? given->items[1] : tb_value_none();
    return TB_OK;
}

static tb_status call_dict(struct tb_render *run,
                           const struct tb_method *method,
                           const struct tb_given *given, struct tb_value *value)
{
    if (is_named(method, "get"))
        return call_get(run, method, given, value);
    if (is_named(method, "fromkeys"))
        return fail_unbuilt(run, method);
    TB_TRY(no_keywords(run, method, given, 0, 0));
    if (is_named(method, "items"))
        return call_view(run, method, TB_VIEW_ITEMS, value);
    if (is_named(method, "keys"))
        return call_view(run, method, TB_VIEW_KEYS, value);
    if (is_named(method, "values"))
        return call_view(run, method, TB_VIEW_VALUES, value);
    *value = method->self; // copy: nothing can change either of them
    return TB_OK;
}

/* ---- lists ------------------------------------------------------------ */

static tb_status find_item(struct tb_render *run, const struct tb_list *items,
                           const struct tb_given *given, bool is_count,
                           struct tb_value *value)
{
    int64_t from = 0, to = (int64_t)items->count, hits = 0;
    if (given->count > 1)
        TB_TRY(tb_eval_index(run, &given->items[1], &from));
    if (given->count > 2)
        TB_TRY(tb_eval_index(run, &given->items[2], &to));
    from += from < 0 ? (int64_t)items->count : 0;
    to += to < 0 ? (int64_t)items->count : 0;
    for (int64_t i = from < 0 ? 0 : from; i < to && i < (int64_t)items->count;
         i++) {
        bool is_equal;
        TB_TRY(tb_render_step(run, 1));
        TB_TRY(tb_render_equal(run, &items->items[i], &given->items[0],
                               &is_equal));
        if (is_equal && !is_count) {
            *value = tb_value_int(i);
            return TB_OK;
        }
        hits += is_equal;
    }
    if (!is_count)
        return tb_render_fail(run, "the value is not in the list");
    *value = tb_value_int(hits);
    return TB_OK;
}

static tb_status call_list(struct tb_render *run,
                           const struct tb_method *method,
                           const struct tb_given *given, struct tb_value *value)
{
    struct tb_list items;
    bool is_count = is_named(method, "count");
    if (is_named(method, "copy")) {
        TB_TRY(no_keywords(run, method, given, 0, 0));
        *value = method->self;
        return TB_OK;
    }
    TB_TRY(no_keywords(run, method, given, 1, is_count ? 1 : 3));
    TB_TRY(tb_render_items(run, &method->self, &items));
    return find_item(run, &items, given, is_count, value);
}

/* ---- loops and cyclers ------------------------------------------------ */

static tb_status call_cycle(struct tb_render *run, const struct tb_loop *loop,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    if (given->count == 0)
        return tb_render_fail(run, "no items for cycling given");
    *value = given->items[loop->index % given->count];
    return TB_OK;
}

static tb_status call_changed(struct tb_render *run, struct tb_loop *loop,
                              const struct tb_given *given,
                              struct tb_value *value)
{
    struct tb_value now;
    bool is_equal = false;
    TB_TRY(tb_render_list(run, TB_VALUE_TUPLE, given->count, &now));
    for (size_t i = 0; i < given->count; i++)
        TB_TRY(tb_list_append(run, now.as.list, &given->items[i]));
    if (loop->changed.kind != TB_VALUE_ABSENT)
        TB_TRY(tb_render_equal(run, &loop->changed, &now, &is_equal));
    loop->changed = now;
    *value = tb_value_bool(!is_equal);
    return TB_OK;
}

static tb_status call_cycler(const struct tb_method *method,
                             struct tb_value *value)
{
    struct tb_cycler *cycler = method->self.as.cycler;
    *value = tb_value_none();
    if (is_named(method, "reset")) {
        cycler->at = 0;
        return TB_OK;
    }
    *value = cycler->items->items[cycler->at];
    cycler->at = (cycler->at + 1) % cycler->items->count;
    return TB_OK;
}

/* ---- numbers ---------------------------------------------------------- */

static tb_status call_number(struct tb_render *run,
                             const struct tb_method *method,
                             const struct tb_given *given,
                             struct tb_value *value)
{
    const struct tb_value *self = &method->self;
    TB_TRY(no_keywords(run, method, given, 0, 2));
    if (is_named(method, "conjugate") && given->count == 0) {
        *value = self->kind == TB_VALUE_BOOL ? tb_value_int(self->as.boolean)
                                             : *self;
        return TB_OK;
    }
    if (is_named(method, "is_integer") && given->count == 0) {
        double number = self->as.number;
        *value = tb_value_bool(number - number == 0 &&
                               number == __builtin_floor(number));
        return TB_OK;
    }
    if (is_named(method, "bit_length") && given->count == 0) {
        int64_t integer = tb_value_integer(self);
        uint64_t size = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
        int64_t length = 0;
        for (; size; size >>= 1)
            length++;
        *value = tb_value_int(length);
        return TB_OK;
    }
    return fail_unbuilt(run, method);
}

tb_status tb_method_call(struct tb_render *run, const struct tb_method *method,
                         const struct tb_given *given, struct tb_value *value)
{
    switch (method->self.kind) {
    case TB_VALUE_STRING:
        return tb_text_method_call(run, method, given, value);
    case TB_VALUE_DICT:
        return call_dict(run, method, given, value);
    case TB_VALUE_LIST:
    case TB_VALUE_TUPLE:
    case TB_VALUE_RANGE:
        return call_list(run, method, given, value);
    case TB_VALUE_LOOP:
        return is_named(method, "cycle")
                   ? call_cycle(run, method->self.as.loop, given, value)
                   : call_changed(run, method->self.as.loop, given, value);
    case TB_VALUE_CYCLER:
        return call_cycler(method, value);
    case TB_VALUE_INT:
    case TB_VALUE_BOOL:
    case TB_VALUE_FLOAT:
        return call_number(run, method, given, value);
    default:
        return fail_unbuilt(run, method);
    }
}
