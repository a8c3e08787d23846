/* Attributes, items and slices. */
#include <stdarg.h>
#include <stdio.h>

#include "jinja_eval.h"
#include "text.h"

tb_status tb_eval_undefined(struct tb_render *run, bool is_unsafe,
                            struct tb_value *value, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    struct tb_undefined *undefined = TB_RENDER_NEW(run, struct tb_undefined, 1);
    if (!undefined || tb_arena_copy(run->arena, tb_span_of(text),
                                    &undefined->message) != TB_OK)
        return tb_render_no_memory(run);
    undefined->is_unsafe = is_unsafe;
    *value = (struct tb_value){.kind = TB_VALUE_UNDEFINED,
                               .as.undefined = undefined};
    return TB_OK;
}

static const char *object_name(const struct tb_value *of)
{
    return of->kind == TB_VALUE_NONE ? "None" : tb_value_type(of);
}

static tb_status no_attribute(struct tb_render *run, const struct tb_value *of,
                              struct tb_span name, struct tb_value *value)
{
    return tb_eval_undefined(run, false, value,
                             "'%s%s' has no attribute '%.*s'", object_name(of),
                             of->kind == TB_VALUE_NONE ? "" : " object",
                             tb_span_shown(name, 80), (const char *)name.ptr);
}

static tb_status no_element(struct tb_render *run, const struct tb_value *of,
                            const struct tb_value *key, struct tb_value *value)
{
    if (tb_value_is_text(key))
        return no_attribute(run, of, key->as.text, value);
    if (key->kind == TB_VALUE_INT)
        return tb_eval_undefined(run, false, value,
                                 "%s object has no element "
                                 "%lld",
                                 object_name(of), (long long)key->as.integer);
    return tb_eval_undefined(run, false, value, "%s object has no such element",
                             object_name(of));
}

/* ---- attributes ------------------------------------------------------- */

static tb_status loop_neighbour(struct tb_render *run, struct tb_loop *loop,
                                bool is_next, struct tb_value *value)
{
    if (is_next)
        TB_TRY(tb_loop_fill(run, loop, loop->index + 2));
    bool has = is_next ? loop->index + 1 < loop->items.count : loop->index > 0;
    if (!has)
        return tb_eval_undefined(run, false, value, "there is no %s item",
                                 is_next ? "next" : "previous");
    *value = loop->items.items[is_next ? loop->index + 1 : loop->index - 1];
    return TB_OK;
}

// `*found` false: no such attribute.
static tb_status loop_attribute(struct tb_render *run,
                                const struct tb_value *of, struct tb_span name,
                                struct tb_value *value, bool *found)
{
    struct tb_loop *loop = of->as.loop;
    bool needs_all = tb_span_starts_with(name, TB_SPAN("revindex")) ||
                     tb_span_equal(name, TB_SPAN("length"));
    if (needs_all || tb_span_equal(name, TB_SPAN("last")))
        TB_TRY(tb_loop_fill(run, loop, needs_all ? SIZE_MAX : loop->index + 2));
    int64_t index = (int64_t)loop->index, count = (int64_t)loop->items.count;
    const struct {
        const char *name;
        int64_t number;
    } numbers[] = {
        {"index", index + 1},        {"index0", index},
        {"revindex", count - index}, {"revindex0", count - index - 1},
        {"length", count},           {"depth", (int64_t)loop->depth + 1},
        {"depth0", loop->depth},
    };
    *found = true;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (tb_span_equal(name, tb_span_of(numbers[i].name))) {
            *value = tb_value_int(numbers[i].number);
            return TB_OK;
        }
    if (tb_span_equal(name, TB_SPAN("first")))
        *value = tb_value_bool(index == 0);
    else if (tb_span_equal(name, TB_SPAN("last")))
        *value = tb_value_bool(index + 1 == count);
    else if (tb_span_equal(name, TB_SPAN("previtem")))
        return loop_neighbour(run, loop, false, value);
    else if (tb_span_equal(name, TB_SPAN("nextitem")))
        return loop_neighbour(run, loop, true, value);
    else
        *found = false;
    return TB_OK;
}

static bool simple_attribute(struct tb_render *run, const struct tb_value *of,
                             struct tb_span name, struct tb_value *value)
{
    if (of->kind == TB_VALUE_MACRO && tb_span_equal(name, TB_SPAN("name"))) {
        *value = tb_value_text(
            tb_name_table_name(&run->code->names, of->as.macro->node->name));
        return true;
    }
    if (of->kind == TB_VALUE_CYCLER &&
        tb_span_equal(name, TB_SPAN("current"))) {
        *value = of->as.cycler->items->items[of->as.cycler->at];
        return true;
    }
    if (of->kind == TB_VALUE_RANGE) {
        *value = tb_value_int(of->as.range->start);
        if (tb_span_equal(name, TB_SPAN("start")))
            return true;
        *value = tb_value_int(of->as.range->stop);
        if (tb_span_equal(name, TB_SPAN("stop")))
            return true;
        *value = tb_value_int(of->as.range->step);
        return tb_span_equal(name, TB_SPAN("step"));
    }
    if (!tb_value_is_number(of))
        return false;
    if (tb_span_equal(name, TB_SPAN("imag"))) {
        *value =
            of->kind == TB_VALUE_FLOAT ? tb_value_float(0) : tb_value_int(0);
        return true;
    }
    bool is_whole = of->kind != TB_VALUE_FLOAT;
    if (is_whole && tb_span_equal(name, TB_SPAN("denominator"))) {
        *value = tb_value_int(1);
        return true;
    }
    if (!tb_span_equal(name, TB_SPAN("real")) &&
        !(is_whole && tb_span_equal(name, TB_SPAN("numerator"))))
        return false;
    *value = of->kind == TB_VALUE_BOOL ? tb_value_int(of->as.boolean) : *of;
    return true;
}

// Python's getattr(): not the items of a dict.
static tb_status find_attribute(struct tb_render *run,
                                const struct tb_value *of, struct tb_span name,
                                struct tb_value *value, bool *found)
{
    bool is_unsafe;
    const struct tb_value *item;
    *found = true;
    if (tb_method_exists(of, name, &is_unsafe)) {
        if (is_unsafe)
            return tb_eval_undefined(
                run, true, value,
                "access to attribute '%.*s' of '%s' object is unsafe.",
                (int)name.len, (const char *)name.ptr, tb_value_type(of));
        struct tb_method *method = TB_RENDER_NEW(run, struct tb_method, 1);
        if (!method)
            return tb_render_no_memory(run);
        *method = (struct tb_method){*of, name};
        *value =
            (struct tb_value){.kind = TB_VALUE_METHOD, .as.method = method};
        return TB_OK;
    }
    if (of->kind == TB_VALUE_LOOP)
        return loop_attribute(run, of, name, value, found);
    if (of->kind == TB_VALUE_NAMESPACE &&
        (item = tb_dict_find_text(of->as.dict, name))) {
        *value = *item;
        return TB_OK;
    }
    struct tb_value result;
    *found = simple_attribute(run, of, name, &result);
    if (*found)
        *value = result;
    return TB_OK;
}

tb_status tb_eval_getattr(struct tb_render *run, const struct tb_value *of,
                          struct tb_span name, struct tb_value *value)
{
    bool found;
    const struct tb_value *item;
    struct tb_value object = *of;
    if (tb_value_is_undefined(&object))
        return tb_render_fail_undefined(run, &object);
    TB_TRY(find_attribute(run, &object, name, value, &found));
    if (found)
        return TB_OK;
    if (object.kind == TB_VALUE_DICT &&
        (item = tb_dict_find_text(object.as.dict, name))) {
        *value = *item;
        return TB_OK;
    }
    return no_attribute(run, &object, name, value);
}

/* ---- items ------------------------------------------------------------ */

static bool item_at(const struct tb_value *of, int64_t index, size_t count,
                    struct tb_value *value)
{
    if (index < 0)
        index += (int64_t)count;
    if (index < 0 || (uint64_t)index >= count)
        return false;
    struct tb_span text = of->as.text;
    switch (of->kind) {
    case TB_VALUE_LIST:
    case TB_VALUE_TUPLE:
        *value = of->as.list->items[index];
        return true;
    case TB_VALUE_RANGE:
        *value = tb_range_item(of->as.range, index);
        return true;
    default: {
        size_t at = tb_text_offset(text, (size_t)index);
        uint32_t cp;
        size_t len = tb_text_decode(text, at, &cp);
        bool is_safe = of->is_safe;
        *value = tb_value_text((struct tb_span){text.ptr + at, len});
        value->is_safe = is_safe;
        return true;
    }
    }
}

static bool is_sequence(const struct tb_value *of)
{
    return of->kind == TB_VALUE_LIST || of->kind == TB_VALUE_TUPLE ||
           of->kind == TB_VALUE_STRING || of->kind == TB_VALUE_RANGE;
}

static bool is_unhashable(const struct tb_value *key)
{
    return key->kind == TB_VALUE_LIST || key->kind == TB_VALUE_DICT;
}

tb_status tb_eval_getitem(struct tb_render *run, const struct tb_value *of,
                          const struct tb_value *key, struct tb_value *value)
{
    size_t count;
    bool found = false;
    const struct tb_value *item = NULL;
    struct tb_value object = *of, index = *key;
    if (tb_value_is_undefined(&object))
        return tb_render_fail_undefined(run, &object);
    if (object.kind == TB_VALUE_DICT && !is_unhashable(&index))
        TB_TRY(tb_dict_find(run, object.as.dict, &index, &item));
    if (item) {
        *value = *item;
        return TB_OK;
    }
    if (object.kind == TB_VALUE_STRING)
        TB_TRY(tb_render_scan(run, object.as.text.len));
    if (is_sequence(&object) && tb_value_is_integer(&index) &&
        tb_value_length(&object, &count) &&
        item_at(&object, tb_value_integer(&index), count, value))
        return TB_OK;
    if (tb_value_is_text(&index))
        TB_TRY(find_attribute(run, &object, index.as.text, value, &found));
    return found ? TB_OK : no_element(run, &object, &index, value);
}

/* ---- slices ----------------------------------------------------------- */

tb_status tb_eval_index(struct tb_render *run, const struct tb_value *value,
                        int64_t *index)
{
    if (tb_value_is_integer(value)) {
        *index = tb_value_integer(value);
        return TB_OK;
    }
    if (value->kind == TB_VALUE_BIG) {
        *index = value->as.text.ptr[0] == '-' ? INT64_MIN : INT64_MAX;
        return TB_OK;
    }
    if (tb_value_is_undefined(value))
        return tb_render_fail_undefined(run, value);
    return tb_render_fail(run,
                          "'%s' object cannot be interpreted as an integer",
                          tb_value_type(value));
}

static int64_t clamp(int64_t index, int64_t count, int64_t low, int64_t high)
{
    if (index < 0)
        index = index < -count ? -1 : index + count;
    return index < low ? low : index > high ? high : index;
}

static tb_status slice_bound(struct tb_render *run,
                             const struct tb_value *bound, int64_t count,
                             bool is_backward, int64_t absent, int64_t *index)
{
    *index = absent;
    if (bound->kind == TB_VALUE_NONE)
        return TB_OK;
    if (!tb_value_is_integer(bound) && bound->kind != TB_VALUE_BIG)
        return tb_render_fail(run, "slice indices must be integers or None or "
                                   "have an __index__ method");
    TB_TRY(tb_eval_index(run, bound, index));
    *index = is_backward ? clamp(*index, count, -1, count - 1)
                         : clamp(*index, count, 0, count);
    return TB_OK;
}

struct steps {
    int64_t start, step, count;
};

static tb_status resolve_slice(struct tb_render *run,
                               const struct tb_slice *slice, int64_t count,
                               struct steps *steps)
{
    int64_t stop, step = 1;
    if (slice->step.kind != TB_VALUE_NONE)
        TB_TRY(tb_eval_index(run, &slice->step, &step));
    if (step == 0)
        return tb_render_fail(run, "slice step cannot be zero");
    if (step < -INT64_MAX)
        step = -INT64_MAX;
    bool is_backward = step < 0;
    TB_TRY(slice_bound(run, &slice->start, count, is_backward,
                       is_backward ? count - 1 : 0, &steps->start));
    TB_TRY(slice_bound(run, &slice->stop, count, is_backward,
                       is_backward ? -1 : count, &stop));
    int64_t span = is_backward ? steps->start - stop : stop - steps->start;
    int64_t width = is_backward ? -step : step;
    steps->step = step;
    steps->count = span > 0 ? (span - 1) / width + 1 : 0;
    return TB_OK;
}

static tb_status slice_text(struct tb_render *run, struct tb_span text,
                            const struct steps *steps, struct tb_value *value)
{
    if (steps->step == 1) {
        size_t at = tb_text_offset(text, (size_t)steps->start);
        struct tb_span rest = tb_span_from(text, at);
        rest.len = tb_text_offset(rest, (size_t)steps->count);
        *value = tb_value_text(rest);
        return TB_OK;
    }
    // By item: all code points first, so that time stays linear.
    struct tb_list items;
    struct tb_value whole = tb_value_text(text);
    size_t mark = tb_render_mark(run);
    TB_TRY(tb_render_items(run, &whole, &items));
    for (int64_t i = 0; i < steps->count; i++)
        TB_TRY(tb_render_write(
            run, items.items[steps->start + i * steps->step].as.text));
    return tb_render_take_value(run, mark, value);
}

static tb_status slice_list(struct tb_render *run, const struct tb_value *of,
                            const struct steps *steps, struct tb_value *value)
{
    struct tb_value result;
    TB_TRY(tb_render_list(run, of->kind, (size_t)steps->count, &result));
    for (int64_t i = 0; i < steps->count; i++)
        TB_TRY(tb_list_append(
            run, result.as.list,
            &of->as.list->items[steps->start + i * steps->step]));
    *value = result;
    return TB_OK;
}

static tb_status slice_range(struct tb_render *run, const struct tb_range *of,
                             const struct steps *steps, struct tb_value *value)
{
    struct tb_range *range = TB_RENDER_NEW(run, struct tb_range, 1);
    if (!range)
        return tb_render_no_memory(run);
    range->start = tb_range_item(of, steps->start).as.integer;
    if (__builtin_mul_overflow(of->step, steps->step, &range->step))
        range->step = of->step;
    range->count = steps->count;
    range->stop = tb_range_item(range, range->count).as.integer;
    *value = (struct tb_value){.kind = TB_VALUE_RANGE, .as.range = range};
    return TB_OK;
}

tb_status tb_eval_slice(struct tb_render *run, const struct tb_value *of,
                        const struct tb_slice *slice, struct tb_value *value)
{
    struct tb_value object = *of;
    struct steps steps;
    size_t count;
    if (tb_value_is_undefined(&object))
        return tb_render_fail_undefined(run, &object);
    if (object.kind == TB_VALUE_DICT)
        return tb_render_fail(run, "unhashable type: 'slice'");
    if (!is_sequence(&object) || !tb_value_length(&object, &count))
        return tb_render_fail(run, "'%s' object is not subscriptable",
                              tb_value_type(&object));
    if (object.kind == TB_VALUE_STRING)
        TB_TRY(tb_render_scan(run, object.as.text.len));
    TB_TRY(resolve_slice(run, slice, (int64_t)count, &steps));
    if (object.kind == TB_VALUE_STRING)
        return slice_text(run, object.as.text, &steps, value);
    if (object.kind == TB_VALUE_RANGE)
        return slice_range(run, object.as.range, &steps, value);
    return slice_list(run, &object, &steps, value);
}
