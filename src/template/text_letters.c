/* Methods of strings about upper and lower case. */
#include "text_method.h"

#include "unicode.h"
#include "utf8.h"

static tb_status write_mapped(struct tb_render *run, uint32_t cp,
                              tb_text_case to)
{
    uint32_t mapped[3];
    size_t count = tb_text_map_case(cp, to, mapped);
    for (size_t i = 0; i < count; i++)
        TB_TRY(tb_render_write_cp(run, mapped[i]));
    return TB_OK;
}

bool tb_text_has_case(uint32_t cp)
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
        if (!tb_text_has_case(cp))
            return false;
        has_before = true;
    }
    while (after < text.len) {
        after += tb_utf8_decode(text, after, &cp);
        if (!is_case_ignorable(cp))
            return has_before && !tb_text_has_case(cp);
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
    TB_TRY(tb_text_bind(run, given, "", 0, NULL));
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
    TB_TRY(tb_text_bind(run, given, "", 0, NULL));
    TB_TRY(tb_text_write_capitalized(run, text));
    return tb_render_take_value(run, mark, value);
}

static tb_status call_title(struct tb_render *run, struct tb_span text,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    size_t mark = tb_render_mark(run);
    bool is_inside = false;
    TB_TRY(tb_text_bind(run, given, "", 0, NULL));
    for (size_t at = 0; at < text.len;) {
        uint32_t cp;
        tb_utf8_decode(text, at, &cp);
        TB_TRY(write_case_at(run, text, &at,
                             is_inside ? TB_CASE_LOWER : TB_CASE_TITLE));
        is_inside = tb_text_has_case(cp);
    }
    return tb_render_take_value(run, mark, value);
}

static tb_status call_swapcase(struct tb_render *run, struct tb_span text,
                               const struct tb_given *given,
                               struct tb_value *value)
{
    size_t mark = tb_render_mark(run);
    TB_TRY(tb_text_bind(run, given, "", 0, NULL));
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

const struct tb_text_method tb_text_letter_methods[] = {
    {"upper", call_upper},
    {"lower", call_lower},
    {"title", call_title},
    {"capitalize", call_capitalize},
    {"casefold", call_casefold},
    {"swapcase", call_swapcase},
    {0},
};
