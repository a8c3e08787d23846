/* Arguments, and the functions that every template can call. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "c_locale.h"
#include "jinja_eval.h"

enum { RAISED_MAX = 300 }; // bytes of raise_exception's text that are kept

/* ---- arguments -------------------------------------------------------- */

static tb_status eval_positional(struct tb_render *run,
                                 const struct tb_arguments *arguments,
                                 struct tb_given *given)
{
    struct tb_list items = {0};
    struct tb_value value;
    for (const struct tb_node *one = arguments->positional; one;
         one = one->next) {
        TB_TRY(tb_eval(run, one, &value));
        TB_TRY(tb_list_append(run, &items, &value));
    }
    if (arguments->more) {
        struct tb_list more;
        TB_TRY(tb_eval(run, arguments->more, &value));
        TB_TRY(tb_render_items(run, &value, &more));
        for (size_t i = 0; i < more.count; i++)
            TB_TRY(tb_list_append(run, &items, &more.items[i]));
    }
    given->items = items.items;
    given->count = items.count;
    return TB_OK;
}

static tb_status add_keyword(struct tb_render *run, struct tb_given *given,
                             struct tb_span name, const struct tb_value *value)
{
    for (size_t i = 0; i < given->keyword_count; i++)
        if (tb_span_equal(given->keywords[i].name, name))
            return tb_render_fail(
                run, "got multiple values for keyword argument '%.*s'",
                (int)name.len, (const char *)name.ptr);
    given->keywords[given->keyword_count++] = (struct tb_keyword){name, *value};
    return TB_OK;
}

static tb_status eval_keywords(struct tb_render *run,
                               const struct tb_arguments *arguments,
                               struct tb_given *given)
{
    struct tb_value more = {.kind = TB_VALUE_ABSENT}, value;
    size_t count = 0;
    for (const struct tb_node *one = arguments->keywords; one; one = one->next)
        count++;
    if (arguments->more_keywords) {
        TB_TRY(tb_eval(run, arguments->more_keywords, &more));
        if (more.kind != TB_VALUE_DICT)
            return tb_render_fail(run,
                                  "argument after ** must be a mapping, "
                                  "not %s",
                                  tb_value_type(&more));
        count += more.as.dict->count;
    }
    given->keywords = TB_RENDER_NEW(run, struct tb_keyword, count);
    if (!given->keywords)
        return tb_render_no_memory(run);
    for (const struct tb_node *one = arguments->keywords; one;
         one = one->next) {
        TB_TRY(tb_eval(run, one->a, &value));
        TB_TRY(add_keyword(run, given, one->value.as.text, &value));
    }
    for (size_t i = 0; more.kind == TB_VALUE_DICT && i < more.as.dict->count;
         i++) {
        const struct tb_pair *pair = &more.as.dict->pairs[i];
        if (!tb_value_is_text(&pair->key))
            return tb_render_fail(run, "keywords must be strings");
        TB_TRY(add_keyword(run, given, pair->key.as.text, &pair->value));
    }
    return TB_OK;
}

tb_status tb_eval_arguments(struct tb_render *run,
                            const struct tb_arguments *arguments,
                            struct tb_given *given)
{
    *given = (struct tb_given){0};
    if (arguments->positional || arguments->more)
        TB_TRY(eval_positional(run, arguments, given));
    if (arguments->keywords || arguments->more_keywords)
        TB_TRY(eval_keywords(run, arguments, given));
    return TB_OK;
}

// The place of `name` among `names`, or `count`.
static size_t place_of(struct tb_span name, const char *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = strcspn(names, " ");
        if (tb_span_equal(name, (struct tb_span){(const uint8_t *)names, len}))
            return i;
        names += len + (names[len] == ' ');
    }
    return count;
}

static size_t count_names(const char *names)
{
    size_t count = names[0] != '\0';
    for (; *names; names++)
        count += *names == ' ';
    return count;
}

tb_status tb_given_bind(struct tb_render *run, const struct tb_given *given,
                        const char *what, const char *names, size_t min,
                        struct tb_value *values)
{
    size_t count = count_names(names);
    if (given->count > count)
        return tb_render_fail(run,
                              "%s() takes %zu arguments but %zu were given",
                              what, count, given->count);
    for (size_t i = 0; i < count; i++) {
        values[i].kind = TB_VALUE_ABSENT;
        if (i < given->count)
            values[i] = given->items[i];
    }
    for (size_t i = 0; i < given->keyword_count; i++) {
        const struct tb_keyword *keyword = &given->keywords[i];
        size_t place = place_of(keyword->name, names, count);
        if (place == count || values[place].kind != TB_VALUE_ABSENT)
            return tb_render_fail(
                run, "%s() got an unexpected keyword argument '%.*s'", what,
                (int)keyword->name.len, (const char *)keyword->name.ptr);
        values[place] = keyword->value;
    }
    for (size_t i = 0; i < min; i++)
        if (values[i].kind == TB_VALUE_ABSENT)
            return tb_render_fail(run, "%s() misses an argument", what);
    return TB_OK;
}

/* ---- functions -------------------------------------------------------- */

static tb_status call_range(struct tb_render *run, const struct tb_given *given,
                            struct tb_value *value)
{
    struct tb_value bounds[3];
    int64_t numbers[3] = {0, 0, 1};
    TB_TRY(tb_given_bind(run, given, "range", "start stop step", 1, bounds));
    if (given->keyword_count)
        return tb_render_fail(run, "range() takes no keyword arguments");
    for (size_t i = 0; i < given->count; i++)
        TB_TRY(tb_eval_index(run, &bounds[i], &numbers[i]));
    if (given->count == 1) {
        numbers[1] = numbers[0];
        numbers[0] = 0;
    }
    if (numbers[2] == 0)
        return tb_render_fail(run, "range() arg 3 must not be zero");
    // In floating point first: the difference may not fit.
    double span =
        ((double)numbers[1] - (double)numbers[0]) / (double)numbers[2];
    if (span > TB_RENDER_MAX_RANGE)
        return tb_render_fail(run, "Range too big. The sandbox blocks ranges "
                                   "larger than MAX_RANGE (100000).");
    struct tb_range *range = TB_RENDER_NEW(run, struct tb_range, 1);
    if (!range)
        return tb_render_no_memory(run);
    *range = (struct tb_range){numbers[0], numbers[1], numbers[2],
                               span > 0 ? (int64_t)ceil(span) : 0};
    *value = (struct tb_value){.kind = TB_VALUE_RANGE, .as.range = range};
    return TB_OK;
}

// From a mapping or from pairs.
static tb_status add_pairs(struct tb_render *run, struct tb_dict *dict,
                           const struct tb_value *from)
{
    struct tb_list items, pair;
    if (from->kind == TB_VALUE_DICT) {
        for (size_t i = 0; i < from->as.dict->count; i++)
            TB_TRY(tb_dict_set(run, dict, &from->as.dict->pairs[i].key,
                               &from->as.dict->pairs[i].value));
        return TB_OK;
    }
    TB_TRY(tb_render_items(run, from, &items));
    for (size_t i = 0; i < items.count; i++) {
        TB_TRY(tb_render_items(run, &items.items[i], &pair));
        if (pair.count != 2)
            return tb_render_fail(run,
                                  "dictionary update sequence element #%zu "
                                  "has length %zu; 2 is required",
                                  i, pair.count);
        TB_TRY(tb_dict_set(run, dict, &pair.items[0], &pair.items[1]));
    }
    return TB_OK;
}

static tb_status call_dict(struct tb_render *run, const struct tb_given *given,
                           struct tb_value *value)
{
    struct tb_value dict;
    TB_TRY(tb_render_dict(run, &dict));
    if (given->count > 1)
        return tb_render_fail(run, "dict expected at most 1 argument, got %zu",
                              given->count);
    if (given->count == 1)
        TB_TRY(add_pairs(run, dict.as.dict, &given->items[0]));
    for (size_t i = 0; i < given->keyword_count; i++) {
        struct tb_value key = tb_value_text(given->keywords[i].name);
        TB_TRY(tb_dict_set(run, dict.as.dict, &key, &given->keywords[i].value));
    }
    *value = dict;
    return TB_OK;
}

static tb_status call_namespace(struct tb_render *run,
                                const struct tb_given *given,
                                struct tb_value *value)
{
    TB_TRY(call_dict(run, given, value));
    value->kind = TB_VALUE_NAMESPACE;
    for (size_t i = 0; i < value->as.dict->count; i++) {
        const struct tb_value *key = &value->as.dict->pairs[i].key;
        if (tb_value_is_text(key) && key->as.text.len > 0 &&
            key->as.text.ptr[0] == '_')
            return tb_render_fail(run, "Chat templates cannot store "
                                       "underscore-prefixed attributes on a "
                                       "namespace");
    }
    return TB_OK;
}

static tb_status call_cycler(struct tb_render *run,
                             const struct tb_given *given,
                             struct tb_value *value)
{
    struct tb_value items;
    if (given->count == 0 || given->keyword_count)
        return tb_render_fail(run, "at least one item has to be provided");
    struct tb_cycler *cycler = TB_RENDER_NEW(run, struct tb_cycler, 1);
    if (!cycler)
        return tb_render_no_memory(run);
    TB_TRY(tb_render_list(run, TB_VALUE_TUPLE, given->count, &items));
    for (size_t i = 0; i < given->count; i++)
        TB_TRY(tb_list_append(run, items.as.list, &given->items[i]));
    cycler->items = items.as.list;
    *value = (struct tb_value){.kind = TB_VALUE_CYCLER, .as.cycler = cycler};
    return TB_OK;
}

static tb_status call_joiner(struct tb_render *run,
                             const struct tb_given *given,
                             struct tb_value *value)
{
    struct tb_value separator;
    TB_TRY(tb_given_bind(run, given, "joiner", "sep", 0, &separator));
    if (separator.kind == TB_VALUE_ABSENT)
        separator = tb_value_text(TB_SPAN(", "));
    struct tb_joiner *joiner = TB_RENDER_NEW(run, struct tb_joiner, 1);
    if (!joiner)
        return tb_render_no_memory(run);
    joiner->separator = separator;
    *value = (struct tb_value){.kind = TB_VALUE_JOINER, .as.joiner = joiner};
    return TB_OK;
}

static tb_status use_joiner(struct tb_joiner *joiner, struct tb_value *value)
{
    *value = joiner->is_used ? joiner->separator
                             : tb_value_text((struct tb_span){0});
    joiner->is_used = true;
    return TB_OK;
}

static tb_status call_raise(struct tb_render *run, const struct tb_given *given,
                            struct tb_value *value)
{
    struct tb_value message;
    struct tb_span text;
    (void)value;
    TB_TRY(
        tb_given_bind(run, given, "raise_exception", "message", 1, &message));
    TB_TRY(tb_render_str(run, &message, &text));
    int len = (int)(text.len < RAISED_MAX ? text.len : RAISED_MAX);
    return tb_render_fail(run, "%.*s", len, (const char *)text.ptr);
}

/* strftime's format for C: what only Python's has is put in its place (%f), or
 * empty as for a time without a zone (%z, %Z). */
static tb_status write_c_format(struct tb_render *run, struct tb_span format)
{
    double whole;
    unsigned micro = (unsigned)(modf(run->now_s, &whole) * 1e6 + 0.5);
    if (micro > 999999)
        micro = 999999;
    for (size_t i = 0; i < format.len; i++) {
        uint8_t next = i + 1 < format.len ? format.ptr[i + 1] : 0;
        if (format.ptr[i] == '%' && next == 'f')
            TB_TRY(tb_render_printf(run, "%06u", micro));
        else if (format.ptr[i] == '%' && next != 'z' && next != 'Z' && next)
            TB_TRY(tb_render_write(run, (struct tb_span){format.ptr + i, 2}));
        else if (format.ptr[i] != '%' || !next)
            TB_TRY(tb_render_write_byte(run, format.ptr[i]));
        i += format.ptr[i] == '%' && next;
    }
    return tb_render_write_byte(run, '\0');
}

static tb_status call_strftime(struct tb_render *run,
                               const struct tb_given *given,
                               struct tb_value *value)
{
    struct tb_value format;
    struct tb_span text;
    struct tm parts;
    char result[1024];
    time_t now = (time_t)floor(run->now_s);
    size_t mark = tb_render_mark(run);
    TB_TRY(tb_given_bind(run, given, "strftime_now", "format", 1, &format));
    if (!tb_value_is_text(&format))
        return tb_render_fail(run, "strftime() argument 1 must be str, not %s",
                              tb_value_type(&format));
    TB_TRY(write_c_format(run, format.as.text));
    TB_TRY(tb_render_take(run, mark, &text));
    if (!gmtime_r(&now, &parts) || text.len > sizeof(result) / 4)
        return tb_render_fail_as(run, TB_ERR_LIMIT,
                                 "format of a time too long");
    size_t len =
        tb_time_to_text(result, sizeof(result), (const char *)text.ptr, &parts);
    TB_TRY(
        tb_render_write(run, (struct tb_span){(const uint8_t *)result, len}));
    return tb_render_take_value(run, mark, value);
}

static const struct {
    const char *name;
    tb_status (*call)(struct tb_render *run, const struct tb_given *given,
                      struct tb_value *value);
} functions[] = {
    {"range", call_range},           {"dict", call_dict},
    {"namespace", call_namespace},   {"cycler", call_cycler},
    {"joiner", call_joiner},         {"raise_exception", call_raise},
    {"strftime_now", call_strftime}, {"lipsum", NULL},
};

int tb_function_index(struct tb_span name)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (tb_span_equal(name, tb_span_of(functions[i].name)))
            return (int)i;
    return -1;
}

tb_status tb_function_call(struct tb_render *run, int function,
                           const struct tb_given *given, struct tb_value *value)
{
    if (!functions[function].call)
        return tb_render_fail_as(run, TB_ERR_UNSUPPORTED, "the function '%s'",
                                 functions[function].name);
    return functions[function].call(run, given, value);
}

tb_status tb_eval_call(struct tb_render *run, const struct tb_value *callee,
                       const struct tb_given *given, struct tb_value *value)
{
    struct tb_value result;
    TB_TRY(tb_render_step(run, 1));
    switch (callee->kind) {
    case TB_VALUE_FUNCTION:
        TB_TRY(tb_function_call(run, callee->as.function, given, &result));
        break;
    case TB_VALUE_MACRO:
        TB_TRY(tb_macro_call(run, callee->as.macro, given, &result));
        break;
    case TB_VALUE_METHOD:
        TB_TRY(tb_method_call(run, callee->as.method, given, &result));
        break;
    case TB_VALUE_LOOP:
        TB_TRY(tb_loop_call(run, callee->as.loop, given, &result));
        break;
    case TB_VALUE_JOINER:
        TB_TRY(use_joiner(callee->as.joiner, &result));
        break;
    case TB_VALUE_UNDEFINED:
        return tb_render_fail_undefined(run, callee);
    default:
        return tb_render_fail(run, "'%s' object is not callable",
                              tb_value_type(callee));
    }
    *value = result;
    return TB_OK;
}
