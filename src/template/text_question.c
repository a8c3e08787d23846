/* Methods of strings that answer yes or no: isalpha() and its like. */
#include "text_method.h"

#include "unicode.h"
#include "utf8.h"

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
        if (!tb_text_has_case(cp))
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
        bool cased = tb_text_has_case(cp);
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

bool tb_text_answer(struct tb_span name, struct tb_span text, bool *result)
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
