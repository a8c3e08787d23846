/* Methods of strings that take something off their ends, or put it there. */
#include "text_method.h"

#include "utf8.h"

/* ---- stripping -------------------------------------------------------- */

static tb_status strip(struct tb_render *run, struct tb_span text,
                       const struct tb_given *given, bool is_left,
                       bool is_right, struct tb_value *value)
{
    struct tb_value set;
    struct tb_span chars = {0};
    TB_TRY(tb_text_bind(run, given, "chars", 0, &set));
    if (!tb_text_is_absent(&set) && set.kind != TB_VALUE_NONE) {
        TB_TRY(tb_text_want(run, &set, &chars));
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
    TB_TRY(tb_text_bind(run, given, "prefix", 1, &argument));
    TB_TRY(tb_text_want(run, &argument, &part));
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
    TB_TRY(tb_text_bind(run, given, "suffix", 1, &argument));
    TB_TRY(tb_text_want(run, &argument, &part));
    if (tb_span_ends_with(text, part))
        text.len -= part.len;
    *value = tb_value_text(text);
    return TB_OK;
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
    TB_TRY(tb_text_bind(run, given, "width fillchar", 1, arguments));
    TB_TRY(tb_eval_index(run, &arguments[0], &width));
    if (!tb_text_is_absent(&arguments[1]))
        TB_TRY(tb_text_want(run, &arguments[1], &fill));
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
    TB_TRY(tb_text_bind(run, given, "width", 1, &argument));
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
    if (!tb_text_is_absent(&argument))
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

const struct tb_text_method tb_text_strip_methods[] = {
    {"strip", call_strip},
    {"lstrip", call_lstrip},
    {"rstrip", call_rstrip},
    {"removeprefix", call_removeprefix},
    {"removesuffix", call_removesuffix},
    {"center", call_center},
    {"ljust", call_ljust},
    {"rjust", call_rjust},
    {"zfill", call_zfill},
    {"expandtabs", call_expandtabs},
    {0},
};
