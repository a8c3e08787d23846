#include "text_method.h"

#include "unicode.h"
#include "utf8.h"

typedef tb_status (*method_fn)(struct tb_render *run, struct tb_span text,
                               const struct tb_given *given,
                               struct tb_value *value);

/* ---- arguments -------------------------------------------------------- */

static tb_status want_text(struct tb_render *run, const struct tb_value *value,
                           struct tb_span *text)
{
    if (!tb_value_is_text(value))
        return tb_render_fail(run, "argument must be str, not %s",
                              tb_value_type(value));
    *text = value->as.text;
    return TB_OK;
}

static bool is_absent(const struct tb_value *value)
{
    return value->kind == TB_VALUE_ABSENT;
}

// Methods of strings that take nothing by name.
static tb_status bind(struct tb_render *run, const struct tb_given *given,
                      const char *names, size_t min, struct tb_value *values)
{
    if (given->keyword_count)
        return tb_render_fail(run,
                              "a method of str takes no keyword arguments");
    return tb_given_bind(run, given, "str", names, min, values);
}

/* ---- case ------------------------------------------------------------- */

static tb_status write_mapped(struct tb_render *run, uint32_t cp,
                              tb_text_case to)
{
    uint32_t mapped[3];
    size_t count = tb_text_map_case(cp, to, mapped);
    for (size_t i = 0; i < count; i++)
        TB_TRY(tb_render_write_cp(run, mapped[i]));
    return TB_OK;
}

static bool is_cased(uint32_t cp)
{
    uint32_t mapped[3];
    if (tb_unicode_in(cp, TB_UNICODE_MASK_LC))
        return true;
    return tb_text_map_case(cp, TB_CASE_LOWER, mapped) != 1 ||
           mapped[0] != cp ||
           tb_text_map_case(cp, TB_CASE_UPPER, mapped) != 1 || mapped[0] != cp;
}

// Case_Ignorable, near enough for where a sigma stands.
static bool is_case_ignorable(uint32_t cp)
{
    if (cp < 0x80)
        return cp == '\'' || cp == '.' || cp == ':' || cp == '^' || cp == '`';
    return tb_unicode_in(cp, TB_UNICODE_MASK(TB_UNICODE_MN) |
                                 TB_UNICODE_MASK(TB_UNICODE_ME) |
                                 TB_UNICODE_MASK(TB_UNICODE_CF) |
                                 TB_UNICODE_MASK(TB_UNICODE_LM) |
                                 TB_UNICODE_MASK(TB_UNICODE_SK)) ||
           cp == 0xB7 || cp == 0x2019 || cp == 0x2018;
}

// A sigma at the end of a word has a lower case of its own.
static bool is_final_sigma(struct tb_span text, size_t at)
{
    uint32_t cp = 0;
    size_t before = at, after = at + 2;
    bool has_before = false;
    while (before > 0 && !has_before) {
        before = tb_text_before(text, before);
        tb_utf8_decode(text, before, &cp);
        if (is_case_ignorable(cp))
            continue;
        if (!is_cased(cp))
            return false;
        has_before = true;
    }
    while (after < text.len) {
        after += tb_utf8_decode(text, after, &cp);
        if (!is_case_ignorable(cp))
            return has_before && !is_cased(cp);
    }
    return has_before;
}

static tb_status write_case_at(struct tb_render *run, struct tb_span text,
                               size_t *at, tb_text_case to)
{
    uint32_t cp;
    size_t len = tb_utf8_decode(text, *at, &cp);
    if (cp == 0x3A3 && to == TB_CASE_LOWER && is_final_sigma(text, *at))
        TB_TRY(tb_render_write_cp(run, 0x3C2));
    else
        TB_TRY(write_mapped(run, cp, to));
    *at += len;
    return TB_OK;
}

tb_status tb_text_write_case(struct tb_render *run, struct tb_span text,
                             tb_text_case to)
{
    for (size_t at = 0; at < text.len;)
        TB_TRY(write_case_at(run, text, &at, to));
    return TB_OK;
}

tb_status tb_text_write_capitalized(struct tb_render *run, struct tb_span text)
{
    for (size_t at = 0; at < text.len;)
        TB_TRY(write_case_at(run, text, &at,
                             at == 0 ? TB_CASE_TITLE : TB_CASE_LOWER));
    return TB_OK;
}

static tb_status map_all(struct tb_render *run, struct tb_span text,
                         const struct tb_given *given, tb_text_case to,
                         struct tb_value *value)
{
    size_t mark = tb_render_mark(run);
    TB_TRY(bind(run, given, "", 0, NULL));
    TB_TRY(tb_text_write_case(run, text, to));
    return tb_render_take_value(run, mark, value);
}

static tb_status call_upper(struct tb_render *run, struct tb_span text,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    return map_all(run, text, given, TB_CASE_UPPER, value);
}

static tb_status call_lower(struct tb_render *run, struct tb_span text,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    return map_all(run, text, given, TB_CASE_LOWER, value);
}

static tb_status call_casefold(struct tb_render *run, struct tb_span text,
                               const struct tb_given *given,
                               struct tb_value *value)
{
    return map_all(run, text, given, TB_CASE_FOLD, value);
}

static tb_status call_capitalize(struct tb_render *run, struct tb_span text,
                                 const struct tb_given *given,
                                 struct tb_value *value)
{
    size_t mark = tb_render_mark(run);
    TB_TRY(bind(run, given, "", 0, NULL));
    TB_TRY(tb_text_write_capitalized(run, text));
    return tb_render_take_value(run, mark, value);
}

static tb_status call_title(struct tb_render *run, struct tb_span text,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    size_t mark = tb_render_mark(run);
    bool is_inside = false;
    TB_TRY(bind(run, given, "", 0, NULL));
    for (size_t at = 0; at < text.len;) {
        uint32_t cp;
        tb_utf8_decode(text, at, &cp);
        TB_TRY(write_case_at(run, text, &at,
                             is_inside ? TB_CASE_LOWER : TB_CASE_TITLE));
        is_inside = is_cased(cp);
    }
    return tb_render_take_value(run, mark, value);
}

static tb_status call_swapcase(struct tb_render *run, struct tb_span text,
                               const struct tb_given *given,
                               struct tb_value *value)
{
    size_t mark = tb_render_mark(run);
    TB_TRY(bind(run, given, "", 0, NULL));
    for (size_t at = 0; at < text.len;) {
        uint32_t cp, mapped[3];
        tb_utf8_decode(text, at, &cp);
        bool is_upper =
            tb_text_map_case(cp, TB_CASE_LOWER, mapped) != 1 || mapped[0] != cp;
        TB_TRY(write_case_at(run, text, &at,
                             is_upper ? TB_CASE_LOWER : TB_CASE_UPPER));
    }
    return tb_render_take_value(run, mark, value);
}

/* ---- stripping -------------------------------------------------------- */

static tb_status strip(struct tb_render *run, struct tb_span text,
                       const struct tb_given *given, bool is_left,
                       bool is_right, struct tb_value *value)
{
    struct tb_value set;
    struct tb_span chars = {0};
    TB_TRY(bind(run, given, "chars", 0, &set));
    if (!is_absent(&set) && set.kind != TB_VALUE_NONE) {
        TB_TRY(want_text(run, &set, &chars));
        if (!chars.ptr)
            chars = TB_SPAN(""); // given and empty: strips nothing
    }
    // Each of the text's characters may be compared with each of `chars`.
    TB_TRY(tb_render_scan(run, chars.len < 64 ? 0 : text.len * chars.len));
    *value = tb_value_text(tb_text_strip(text, chars, is_left, is_right));
    return TB_OK;
}

static tb_status call_strip(struct tb_render *run, struct tb_span text,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    return strip(run, text, given, true, true, value);
}

static tb_status call_lstrip(struct tb_render *run, struct tb_span text,
                             const struct tb_given *given,
                             struct tb_value *value)
{
    return strip(run, text, given, true, false, value);
}

static tb_status call_rstrip(struct tb_render *run, struct tb_span text,
                             const struct tb_given *given,
                             struct tb_value *value)
{
    return strip(run, text, given, false, true, value);
}

static tb_status call_removeprefix(struct tb_render *run, struct tb_span text,
                                   const struct tb_given *given,
                                   struct tb_value *value)
{
    struct tb_value argument;
    struct tb_span part;
    TB_TRY(bind(run, given, "prefix", 1, &argument));
    TB_TRY(want_text(run, &argument, &part));
    if (tb_span_starts_with(text, part))
        text = tb_span_from(text, part.len);
    *value = tb_value_text(text);
    return TB_OK;
}

static tb_status call_removesuffix(struct tb_render *run, struct tb_span text,
                                   const struct tb_given *given,
                                   struct tb_value *value)
{
    struct tb_value argument;
    struct tb_span part;
    TB_TRY(bind(run, given, "suffix", 1, &argument));
    TB_TRY(want_text(run, &argument, &part));
    if (tb_span_ends_with(text, part))
        text.len -= part.len;
    *value = tb_value_text(text);
    return TB_OK;
}

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
    if (!is_absent(start) && start->kind != TB_VALUE_NONE)
        TB_TRY(tb_eval_index(run, start, &from));
    if (!is_absent(stop) && stop->kind != TB_VALUE_NONE)
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

// From the end: each place that is looked at may take all of `part`.
static tb_status find_last(struct tb_render *run, struct tb_span text,
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
    TB_TRY(bind(run, given, "sub start end", 1, arguments));
    TB_TRY(want_text(run, &arguments[0], &part));
    TB_TRY(cut_window(run, text, &arguments[1], &arguments[2], &window));
    if (window.is_valid && is_last)
        TB_TRY(find_last(run, window.text, part, &at));
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
    TB_TRY(bind(run, given, "sub start end", 1, arguments));
    TB_TRY(want_text(run, &arguments[0], &part));
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
    TB_TRY(bind(run, given, "part start end", 1, arguments));
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
    TB_TRY(bind(run, given, "old new count", 2, arguments));
    TB_TRY(want_text(run, &arguments[0], &from));
    TB_TRY(want_text(run, &arguments[1], &to));
    if (!is_absent(&arguments[2]))
        TB_TRY(tb_eval_index(run, &arguments[2], &count));
    return tb_text_replace(run, text, from, to, count, value);
}

/* ---- splitting and joining -------------------------------------------- */

static tb_status append_text(struct tb_render *run, struct tb_list *list,
                             struct tb_span text)
{
    struct tb_value item = tb_value_text(text);
    return tb_list_append(run, list, &item);
}

static tb_status split_space(struct tb_render *run, struct tb_span text,
                             int64_t max, struct tb_list *list)
{
    struct tb_span none = {0};
    for (; max != 0; max--) {
        text = tb_text_strip(text, none, true, false);
        if (text.len == 0)
            return TB_OK;
        size_t at = 0;
        while (at < text.len) {
            uint32_t cp;
            size_t len = tb_utf8_decode(text, at, &cp);
            if (tb_text_is_space(cp))
                break;
            at += len;
        }
        TB_TRY(append_text(run, list, (struct tb_span){text.ptr, at}));
        text = tb_span_from(text, at);
    }
    text = tb_text_strip(text, none, true, false);
    return text.len ? append_text(run, list, text) : TB_OK;
}

static tb_status split_part(struct tb_render *run, struct tb_span text,
                            struct tb_span part, int64_t max,
                            struct tb_list *list)
{
    for (; max != 0; max--) {
        size_t hit = tb_text_find(text, part, 0);
        if (hit == SIZE_MAX)
            break;
        TB_TRY(append_text(run, list, (struct tb_span){text.ptr, hit}));
        text = tb_span_from(text, hit + part.len);
    }
    return append_text(run, list, text);
}

static tb_status rsplit_space(struct tb_render *run, struct tb_span text,
                              int64_t max, struct tb_list *list)
{
    struct tb_span none = {0};
    for (; max != 0; max--) {
        text = tb_text_strip(text, none, false, true);
        if (text.len == 0)
            return TB_OK;
        size_t at = text.len;
        while (at > 0) {
            uint32_t cp;
            size_t before = tb_text_before(text, at);
            tb_utf8_decode(text, before, &cp);
            if (tb_text_is_space(cp))
                break;
            at = before;
        }
        TB_TRY(append_text(run, list, tb_span_from(text, at)));
        text.len = at;
    }
    text = tb_text_strip(text, none, false, true);
    return text.len ? append_text(run, list, text) : TB_OK;
}

static tb_status rsplit_part(struct tb_render *run, struct tb_span text,
                             struct tb_span part, int64_t max,
                             struct tb_list *list)
{
    for (; max != 0; max--) {
        size_t hit;
        TB_TRY(find_last(run, text, part, &hit));
        if (hit == SIZE_MAX)
            break;
        TB_TRY(append_text(run, list, tb_span_from(text, hit + part.len)));
        text.len = hit;
    }
    return append_text(run, list, text);
}

static void reverse(struct tb_list *list)
{
    for (size_t i = 0; i < list->count / 2; i++) {
        struct tb_value other = list->items[i];
        list->items[i] = list->items[list->count - 1 - i];
        list->items[list->count - 1 - i] = other;
    }
}

static tb_status split(struct tb_render *run, struct tb_span text,
                       const struct tb_given *given, bool is_right,
                       struct tb_value *value)
{
    struct tb_value arguments[2];
    struct tb_span part = {0};
    int64_t max = -1;
    TB_TRY(tb_given_bind(run, given, "split", "sep maxsplit", 0, arguments));
    bool has_part =
        !is_absent(&arguments[0]) && arguments[0].kind != TB_VALUE_NONE;
    if (has_part)
        TB_TRY(want_text(run, &arguments[0], &part));
    if (has_part && part.len == 0)
        return tb_render_fail(run, "empty separator");
    if (!is_absent(&arguments[1]))
        TB_TRY(tb_eval_index(run, &arguments[1], &max));
    TB_TRY(tb_render_list(run, TB_VALUE_LIST, 0, value));
    struct tb_list *list = value->as.list;
    if (!is_right)
        return has_part ? split_part(run, text, part, max, list)
                        : split_space(run, text, max, list);
    TB_TRY(has_part ? rsplit_part(run, text, part, max, list)
                    : rsplit_space(run, text, max, list));
    reverse(list);
    return TB_OK;
}

static tb_status call_split(struct tb_render *run, struct tb_span text,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    return split(run, text, given, false, value);
}

static tb_status call_rsplit(struct tb_render *run, struct tb_span text,
                             const struct tb_given *given,
                             struct tb_value *value)
{
    return split(run, text, given, true, value);
}

static tb_status call_splitlines(struct tb_render *run, struct tb_span text,
                                 const struct tb_given *given,
                                 struct tb_value *value)
{
    struct tb_value keep;
    struct tb_span line;
    size_t at = 0, end_len;
    TB_TRY(tb_given_bind(run, given, "splitlines", "keepends", 0, &keep));
    bool is_kept = !is_absent(&keep) && tb_value_is_true(&keep);
    TB_TRY(tb_render_list(run, TB_VALUE_LIST, 0, value));
    while (tb_text_next_line(text, &at, &line, &end_len)) {
        if (is_kept)
            line.len += end_len;
        TB_TRY(append_text(run, value->as.list, line));
    }
    return TB_OK;
}

static tb_status partition(struct tb_render *run, struct tb_span text,
                           const struct tb_given *given, bool is_last,
                           struct tb_value *value)
{
    struct tb_value argument;
    struct tb_span part, empty = {0}, head = text, tail = empty;
    TB_TRY(bind(run, given, "sep", 1, &argument));
    TB_TRY(want_text(run, &argument, &part));
    if (part.len == 0)
        return tb_render_fail(run, "empty separator");
    size_t hit;
    if (is_last)
        TB_TRY(find_last(run, text, part, &hit));
    else
        hit = tb_text_find(text, part, 0);
    if (hit != SIZE_MAX) {
        head.len = hit;
        tail = tb_span_from(text, hit + part.len);
    } else {
        part = empty;
        if (is_last) {
            tail = text;
            head = empty;
        }
    }
    TB_TRY(tb_render_list(run, TB_VALUE_TUPLE, 3, value));
    TB_TRY(append_text(run, value->as.list, head));
    TB_TRY(append_text(run, value->as.list, part));
    return append_text(run, value->as.list, tail);
}

static tb_status call_partition(struct tb_render *run, struct tb_span text,
                                const struct tb_given *given,
                                struct tb_value *value)
{
    return partition(run, text, given, false, value);
}

static tb_status call_rpartition(struct tb_render *run, struct tb_span text,
                                 const struct tb_given *given,
                                 struct tb_value *value)
{
    return partition(run, text, given, true, value);
}

static tb_status call_join(struct tb_render *run, struct tb_span text,
                           const struct tb_given *given, struct tb_value *value)
{
    struct tb_value argument;
    struct tb_list items;
    size_t mark = tb_render_mark(run);
    TB_TRY(bind(run, given, "iterable", 1, &argument));
    TB_TRY(tb_render_items(run, &argument, &items));
    for (size_t i = 0; i < items.count; i++) {
        if (!tb_value_is_text(&items.items[i]))
            return tb_render_fail(run,
                                  "sequence item %zu: expected str "
                                  "instance, %s found",
                                  i, tb_value_type(&items.items[i]));
        if (i > 0)
            TB_TRY(tb_render_write(run, text));
        TB_TRY(tb_render_write(run, items.items[i].as.text));
    }
    return tb_render_take_value(run, mark, value);
}

/* ---- padding ---------------------------------------------------------- */

static tb_status write_times(struct tb_render *run, struct tb_span text,
                             int64_t times)
{
    return tb_render_repeat(run, text, times);
}

tb_status tb_text_pad(struct tb_render *run, struct tb_span text, int64_t width,
                      struct tb_span fill, tb_text_side side,
                      struct tb_value *value)
{
    size_t mark = tb_render_mark(run);
    int64_t space = width - (int64_t)tb_text_count(text);
    int64_t left = side == TB_SIDE_RIGHT ? space : 0;
    if (side == TB_SIDE_CENTER)
        left = space / 2 + (space & width & 1);
    if (space <= 0) {
        *value = tb_value_text(text);
        return TB_OK;
    }
    TB_TRY(write_times(run, fill, left));
    TB_TRY(tb_render_write(run, text));
    TB_TRY(write_times(run, fill, space - left));
    return tb_render_take_value(run, mark, value);
}

static tb_status pad(struct tb_render *run, struct tb_span text,
                     const struct tb_given *given, tb_text_side side,
                     struct tb_value *value)
{
    struct tb_value arguments[2];
    struct tb_span fill = TB_SPAN(" ");
    int64_t width;
    TB_TRY(bind(run, given, "width fillchar", 1, arguments));
    TB_TRY(tb_eval_index(run, &arguments[0], &width));
    if (!is_absent(&arguments[1]))
        TB_TRY(want_text(run, &arguments[1], &fill));
    if (tb_text_count(fill) != 1)
        return tb_render_fail(run, "The fill character must be exactly one "
                                   "character long");
    return tb_text_pad(run, text, width, fill, side, value);
}

static tb_status call_center(struct tb_render *run, struct tb_span text,
                             const struct tb_given *given,
                             struct tb_value *value)
{
    return pad(run, text, given, TB_SIDE_CENTER, value);
}

static tb_status call_ljust(struct tb_render *run, struct tb_span text,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    return pad(run, text, given, TB_SIDE_LEFT, value);
}

static tb_status call_rjust(struct tb_render *run, struct tb_span text,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    return pad(run, text, given, TB_SIDE_RIGHT, value);
}

static tb_status call_zfill(struct tb_render *run, struct tb_span text,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    struct tb_value argument;
    int64_t width;
    size_t mark = tb_render_mark(run);
    TB_TRY(bind(run, given, "width", 1, &argument));
    TB_TRY(tb_eval_index(run, &argument, &width));
    int64_t space = width - (int64_t)tb_text_count(text);
    bool has_sign = text.len > 0 && (text.ptr[0] == '+' || text.ptr[0] == '-');
    if (has_sign)
        TB_TRY(tb_render_write_byte(run, text.ptr[0]));
    TB_TRY(write_times(run, TB_SPAN("0"), space));
    TB_TRY(tb_render_write(run, tb_span_from(text, has_sign)));
    return tb_render_take_value(run, mark, value);
}

static tb_status call_expandtabs(struct tb_render *run, struct tb_span text,
                                 const struct tb_given *given,
                                 struct tb_value *value)
{
    struct tb_value argument;
    int64_t size = 8, column = 0;
    size_t mark = tb_render_mark(run);
    TB_TRY(tb_given_bind(run, given, "expandtabs", "tabsize", 0, &argument));
    if (!is_absent(&argument))
        TB_TRY(tb_eval_index(run, &argument, &size));
    for (size_t at = 0; at < text.len;) {
        uint32_t cp;
        size_t len = tb_utf8_decode(text, at, &cp);
        if (cp == '\t' && size > 0) {
            int64_t count = size - column % size;
            TB_TRY(write_times(run, TB_SPAN(" "), count));
            column += count;
        } else if (cp != '\t') {
            TB_TRY(tb_render_write(run, (struct tb_span){text.ptr + at, len}));
            column = cp == '\n' || cp == '\r' ? 0 : column + 1;
        }
        at += len;
    }
    return tb_render_take_value(run, mark, value);
}

/* ---- asking ----------------------------------------------------------- */

// Upper case by its category, or since it has a lower case.
static bool is_upper_case(uint32_t cp)
{
    uint32_t mapped[3];
    if (tb_unicode_in(cp, TB_UNICODE_MASK(TB_UNICODE_LU)))
        return true;
    return !tb_unicode_in(cp, TB_UNICODE_MASK(TB_UNICODE_LL)) &&
           (tb_text_map_case(cp, TB_CASE_LOWER, mapped) != 1 ||
            mapped[0] != cp);
}

bool tb_text_is_cased(struct tb_span text, bool is_upper)
{
    bool found = false;
    for (size_t at = 0; at < text.len;) {
        uint32_t cp;
        at += tb_utf8_decode(text, at, &cp);
        if (!is_cased(cp))
            continue;
        if (is_upper_case(cp) != is_upper ||
            tb_unicode_in(cp, TB_UNICODE_MASK(TB_UNICODE_LT)))
            return false;
        found = true;
    }
    return found;
}

static bool is_title(struct tb_span text)
{
    bool is_inside = false, found = false;
    for (size_t at = 0; at < text.len;) {
        uint32_t cp;
        at += tb_utf8_decode(text, at, &cp);
        bool cased = is_cased(cp);
        if (cased && is_upper_case(cp) == is_inside)
            return false;
        is_inside = cased;
        found |= cased;
    }
    return found;
}

static bool is_all(struct tb_span text, bool (*is_it)(uint32_t cp))
{
    for (size_t at = 0; at < text.len;) {
        uint32_t cp;
        at += tb_utf8_decode(text, at, &cp);
        if (!is_it(cp))
            return false;
    }
    return text.len > 0;
}

static bool is_alpha(uint32_t cp)
{
    return tb_unicode_in(cp, TB_UNICODE_MASK_L);
}

static bool is_decimal(uint32_t cp)
{
    return tb_unicode_in(cp, TB_UNICODE_MASK(TB_UNICODE_ND));
}

// Superscripts and circled digits are digits too, fractions are not.
static bool is_digit(uint32_t cp)
{
    return is_decimal(cp) || cp == 0xB2 || cp == 0xB3 || cp == 0xB9 ||
           (cp >= 0x1369 && cp <= 0x1371) || cp == 0x19DA || cp == 0x2070 ||
           (cp >= 0x2074 && cp <= 0x2079) || (cp >= 0x2080 && cp <= 0x2089) ||
           (cp >= 0x2460 && cp <= 0x2468) || (cp >= 0x2474 && cp <= 0x247C) ||
           (cp >= 0x2488 && cp <= 0x2490) || cp == 0x24EA ||
           (cp >= 0x24F5 && cp <= 0x24FD) || cp == 0x24FF ||
           (cp >= 0x2776 && cp <= 0x277E) || (cp >= 0x2780 && cp <= 0x2788) ||
           (cp >= 0x278A && cp <= 0x2792);
}

static bool is_numeric(uint32_t cp)
{
    return tb_unicode_in(cp, TB_UNICODE_MASK_N);
}

static bool is_alnum(uint32_t cp)
{
    return is_alpha(cp) || is_numeric(cp);
}

static bool is_ascii(uint32_t cp)
{
    return cp < 0x80;
}

static bool is_printable(uint32_t cp)
{
    return cp == ' ' ||
           !tb_unicode_in(cp, TB_UNICODE_MASK_C | TB_UNICODE_MASK_Z);
}

static bool is_word(uint32_t cp)
{
    return cp == '_' || is_alpha(cp) ||
           tb_unicode_in(cp, TB_UNICODE_MASK(TB_UNICODE_MN) |
                                 TB_UNICODE_MASK(TB_UNICODE_MC) |
                                 TB_UNICODE_MASK(TB_UNICODE_ND) |
                                 TB_UNICODE_MASK(TB_UNICODE_NL) |
                                 TB_UNICODE_MASK(TB_UNICODE_PC));
}

static bool is_identifier(struct tb_span text)
{
    uint32_t cp;
    if (text.len == 0)
        return false;
    tb_utf8_decode(text, 0, &cp);
    return (cp == '_' || is_alpha(cp) ||
            tb_unicode_in(cp, TB_UNICODE_MASK(TB_UNICODE_NL))) &&
           is_all(text, is_word);
}

static const struct {
    const char *name;
    bool (*is_it)(uint32_t cp);
} questions[] = {
    {"isalpha", is_alpha},     {"isalnum", is_alnum},
    {"isdecimal", is_decimal}, {"isdigit", is_digit},
    {"isnumeric", is_numeric}, {"isspace", tb_text_is_space},
};

// The answer of an is...() method, if it is one of them.
static bool answer(struct tb_span name, struct tb_span text, bool *result)
{
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
        if (tb_span_equal(name, tb_span_of(questions[i].name))) {
            *result = is_all(text, questions[i].is_it);
            return true;
        }
    if (tb_span_equal(name, TB_SPAN("isascii")))
        *result = text.len == 0 || is_all(text, is_ascii);
    else if (tb_span_equal(name, TB_SPAN("isprintable")))
        *result = text.len == 0 || is_all(text, is_printable);
    else if (tb_span_equal(name, TB_SPAN("islower")))
        *result = tb_text_is_cased(text, false);
    else if (tb_span_equal(name, TB_SPAN("isupper")))
        *result = tb_text_is_cased(text, true);
    else if (tb_span_equal(name, TB_SPAN("istitle")))
        *result = is_title(text);
    else if (tb_span_equal(name, TB_SPAN("isidentifier")))
        *result = is_identifier(text);
    else
        return false;
    return true;
}

/* ---- all of them ------------------------------------------------------ */

static const struct {
    const char *name;
    method_fn call;
} methods[] = {
    {"strip", call_strip},
    {"split", call_split},
    {"lstrip", call_lstrip},
    {"rstrip", call_rstrip},
    {"startswith", call_startswith},
    {"endswith", call_endswith},
    {"replace", call_replace},
    {"join", call_join},
    {"format", tb_text_format},
    {"upper", call_upper},
    {"lower", call_lower},
    {"title", call_title},
    {"capitalize", call_capitalize},
    {"casefold", call_casefold},
    {"swapcase", call_swapcase},
    {"rsplit", call_rsplit},
    {"splitlines", call_splitlines},
    {"partition", call_partition},
    {"rpartition", call_rpartition},
    {"find", call_find},
    {"rfind", call_rfind},
    {"index", call_index},
    {"rindex", call_rindex},
    {"count", call_count},
    {"removeprefix", call_removeprefix},
    {"removesuffix", call_removesuffix},
    {"center", call_center},
    {"ljust", call_ljust},
    {"rjust", call_rjust},
    {"zfill", call_zfill},
    {"expandtabs", call_expandtabs},
};

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
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (!tb_span_equal(method->name, tb_span_of(methods[i].name)))
            continue;
        TB_TRY(methods[i].call(run, text, given, value));
        if (method->self.is_safe)
            mark_safe(value);
        return TB_OK;
    }
    if (!answer(method->name, text, &result))
        return tb_render_fail_as(
            run, TB_ERR_UNSUPPORTED, "the method '%.*s' of 'str'",
            (int)method->name.len, (const char *)method->name.ptr);
    TB_TRY(bind(run, given, "", 0, NULL));
    *value = tb_value_bool(result);
    return TB_OK;
}
