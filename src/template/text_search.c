/* Methods of strings that look for a part of them. */
#include "text_method.h"

#include "utf8.h"

/* ---- looking for parts ------------------------------------------------ */

struct window {
    struct tb_span text; /* the part of the text that is looked at */
    size_t at;           /* where it begins, bytes */
    bool is_valid;       /* false: it begins behind the end */
};

// text[start:stop] as find() and its like take it, in code points.
static tb_status cut_window(struct tb_render *run, struct tb_span text,
                            const struct tb_value *start,
                            const struct tb_value *stop, struct window *window)
{
    int64_t count = (int64_t)tb_text_count(text), from = 0, to = count;
    if (!tb_text_is_absent(start) && start->kind != TB_VALUE_NONE)
        TB_TRY(tb_eval_index(run, start, &from));
    if (!tb_text_is_absent(stop) && stop->kind != TB_VALUE_NONE)
        TB_TRY(tb_eval_index(run, stop, &to));
    from = from < -count ? 0 : from < 0 ? from + count : from;
    to = to < -count ? 0 : to < 0 ? to + count : to > count ? count : to;
    window->is_valid = from <= count && from <= to;
    window->at = tb_text_offset(text, (size_t)from);
    size_t end = tb_text_offset(text, (size_t)to);
    if (end < window->at)
        end = window->at;
    window->text = (struct tb_span){text.ptr + window->at, end - window->at};
    if (!text.ptr)
        window->text.ptr = NULL;
    return TB_OK;
}

tb_status tb_text_scan_last(struct tb_render *run, struct tb_span text,
                            struct tb_span part, size_t *hit)
{
    *hit = tb_text_find_last(text, part);
    size_t seen = *hit == SIZE_MAX ? text.len : text.len - *hit;
    return tb_render_scan(run, seen * part.len);
}

static tb_status find(struct tb_render *run, struct tb_span text,
                      const struct tb_given *given, bool is_last,
                      bool must_find, struct tb_value *value)
{
    struct tb_value arguments[3];
    struct tb_span part;
    struct window window;
    size_t at = SIZE_MAX;
    TB_TRY(tb_text_bind(run, given, "sub start end", 1, arguments));
    TB_TRY(tb_text_want(run, &arguments[0], &part));
    TB_TRY(cut_window(run, text, &arguments[1], &arguments[2], &window));
    if (window.is_valid && is_last)
        TB_TRY(tb_text_scan_last(run, window.text, part, &at));
    else if (window.is_valid)
        at = tb_text_find(window.text, part, 0);
    if (at == SIZE_MAX && must_find)
        return tb_render_fail(run, "substring not found");
    *value = tb_value_int(-1);
    if (at != SIZE_MAX)
        *value = tb_value_int(
            (int64_t)tb_text_count((struct tb_span){text.ptr, window.at + at}));
    return TB_OK;
}

static tb_status call_find(struct tb_render *run, struct tb_span text,
                           const struct tb_given *given, struct tb_value *value)
{
    return find(run, text, given, false, false, value);
}

static tb_status call_rfind(struct tb_render *run, struct tb_span text,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    return find(run, text, given, true, false, value);
}

static tb_status call_index(struct tb_render *run, struct tb_span text,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    return find(run, text, given, false, true, value);
}

static tb_status call_rindex(struct tb_render *run, struct tb_span text,
                             const struct tb_given *given,
                             struct tb_value *value)
{
    return find(run, text, given, true, true, value);
}

static tb_status call_count(struct tb_render *run, struct tb_span text,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    struct tb_value arguments[3];
    struct tb_span part;
    struct window window;
    int64_t count = 0;
    TB_TRY(tb_text_bind(run, given, "sub start end", 1, arguments));
    TB_TRY(tb_text_want(run, &arguments[0], &part));
    TB_TRY(cut_window(run, text, &arguments[1], &arguments[2], &window));
    if (part.len == 0 && window.is_valid)
        count = (int64_t)tb_text_count(window.text) + 1;
    for (size_t at = 0; part.len > 0 && window.is_valid; at += part.len) {
        at = tb_text_find(window.text, part, at);
        if (at == SIZE_MAX)
            break;
        count++;
    }
    *value = tb_value_int(count);
    return TB_OK;
}

static tb_status ends(struct tb_render *run, struct tb_span text,
                      const struct tb_value *part, bool is_start, bool *result)
{
    if (!tb_value_is_text(part))
        return tb_render_fail(run,
                              "%s first arg must be str or a tuple of str, not "
                              "%s",
                              is_start ? "startswith" : "endswith",
                              tb_value_type(part));
    *result = is_start ? tb_span_starts_with(text, part->as.text)
                       : tb_span_ends_with(text, part->as.text);
    return TB_OK;
}

static tb_status call_ends(struct tb_render *run, struct tb_span text,
                           const struct tb_given *given, bool is_start,
                           struct tb_value *value)
{
    struct tb_value arguments[3];
    struct window window;
    bool result = false;
    TB_TRY(tb_text_bind(run, given, "part start end", 1, arguments));
    TB_TRY(cut_window(run, text, &arguments[1], &arguments[2], &window));
    if (arguments[0].kind == TB_VALUE_TUPLE) {
        const struct tb_list *parts = arguments[0].as.list;
        for (size_t i = 0; i < parts->count && !result; i++)
            TB_TRY(ends(run, window.text, &parts->items[i], is_start, &result));
    } else {
        TB_TRY(ends(run, window.text, &arguments[0], is_start, &result));
    }
    *value = tb_value_bool(result && window.is_valid);
    return TB_OK;
}

static tb_status call_startswith(struct tb_render *run, struct tb_span text,
                                 const struct tb_given *given,
                                 struct tb_value *value)
{
    return call_ends(run, text, given, true, value);
}

static tb_status call_endswith(struct tb_render *run, struct tb_span text,
                               const struct tb_given *given,
                               struct tb_value *value)
{
    return call_ends(run, text, given, false, value);
}

/* ---- replacing -------------------------------------------------------- */

static tb_status replace_between(struct tb_render *run, struct tb_span text,
                                 struct tb_span to, int64_t count)
{
    // An empty part stands before every character and at the end.
    size_t at = 0;
    for (; count != 0; count--) {
        TB_TRY(tb_render_write(run, to));
        if (at >= text.len)
            return TB_OK;
        uint32_t cp;
        size_t len = tb_utf8_decode(text, at, &cp);
        TB_TRY(tb_render_write(run, (struct tb_span){text.ptr + at, len}));
        at += len;
    }
    return tb_render_write(run, tb_span_from(text, at));
}

tb_status tb_text_replace(struct tb_render *run, struct tb_span text,
                          struct tb_span from, struct tb_span to, int64_t count,
                          struct tb_value *value)
{
    size_t mark = tb_render_mark(run), at = 0;
    if (from.len == 0) {
        TB_TRY(replace_between(run, text, to, count));
        return tb_render_take_value(run, mark, value);
    }
    for (; count != 0; count--) {
        size_t hit = tb_text_find(text, from, at);
        if (hit == SIZE_MAX)
            break;
        TB_TRY(tb_render_write(run, (struct tb_span){text.ptr + at, hit - at}));
        TB_TRY(tb_render_write(run, to));
        at = hit + from.len;
    }
    if (at == 0) {
        *value = tb_value_text(text);
        return TB_OK;
    }
    TB_TRY(tb_render_write(run, tb_span_from(text, at)));
    return tb_render_take_value(run, mark, value);
}

static tb_status call_replace(struct tb_render *run, struct tb_span text,
                              const struct tb_given *given,
                              struct tb_value *value)
{
    struct tb_value arguments[3];
    struct tb_span from, to;
    int64_t count = -1;
    TB_TRY(tb_text_bind(run, given, "old new count", 2, arguments));
    TB_TRY(tb_text_want(run, &arguments[0], &from));
    TB_TRY(tb_text_want(run, &arguments[1], &to));
    if (!tb_text_is_absent(&arguments[2]))
        TB_TRY(tb_eval_index(run, &arguments[2], &count));
    return tb_text_replace(run, text, from, to, count, value);
}

const struct tb_text_method tb_text_search_methods[] = {
    {"startswith", call_startswith},
    {"endswith", call_endswith},
    {"find", call_find},
    {"rfind", call_rfind},
    {"index", call_index},
    {"rindex", call_rindex},
    {"count", call_count},
    {"replace", call_replace},
    {0},
};
