/* Methods of strings that split them, and the one that joins. */
#include "text_method.h"

#include "utf8.h"

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
        TB_TRY(tb_text_scan_last(run, text, part, &hit));
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
        !tb_text_is_absent(&arguments[0]) && arguments[0].kind != TB_VALUE_NONE;
    if (has_part)
        TB_TRY(tb_text_want(run, &arguments[0], &part));
    if (has_part && part.len == 0)
        return tb_render_fail(run, "empty separator");
    if (!tb_text_is_absent(&arguments[1]))
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
    bool is_kept = !tb_text_is_absent(&keep) && tb_value_is_true(&keep);
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
    TB_TRY(tb_text_bind(run, given, "sep", 1, &argument));
    TB_TRY(tb_text_want(run, &argument, &part));
    if (part.len == 0)
        return tb_render_fail(run, "empty separator");
    size_t hit;
    if (is_last)
        TB_TRY(tb_text_scan_last(run, text, part, &hit));
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
    TB_TRY(tb_text_bind(run, given, "iterable", 1, &argument));
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

const struct tb_text_method tb_text_split_methods[] = {
    {"split", call_split},
    {"join", call_join},
    {"rsplit", call_rsplit},
    {"splitlines", call_splitlines},
    {"partition", call_partition},
    {"rpartition", call_rpartition},
    {0},
};
