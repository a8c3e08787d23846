#include "unicode.h"

/* In the order of the enum. */
static const char category_names[TB_UNICODE_CATEGORY_COUNT][3] = {
    "LU", "LL", "LT", "LM", "LO", "MN", "MC", "ME", "ND", "NL",
    "NO", "PC", "PD", "PS", "PE", "PI", "PF", "PO", "SM", "SC",
    "SK", "SO", "ZS", "ZL", "ZP", "CC", "CF", "CS", "CO", "CN",
};

static char upper_ascii(uint8_t byte)
{
    return (char)(byte >= 'a' && byte <= 'z' ? byte - 'a' + 'A' : byte);
}

uint32_t tb_unicode_mask_of_name(struct tb_span name)
{
    if (name.len == 0 || name.len > 2)
        return 0;

    // a group's name is the first letter of its members' names
    bool is_group = name.len == 1;
    char first = upper_ascii(name.ptr[0]);
    char second = is_group ? 0 : upper_ascii(name.ptr[1]);
    if (first == 'L' && second == 'C')
        return TB_UNICODE_MASK_LC;

    uint32_t mask = 0;
    for (unsigned i = 0; i < TB_UNICODE_CATEGORY_COUNT; i++) {
        if (category_names[i][0] == first &&
            (is_group || category_names[i][1] == second))
            mask |= TB_UNICODE_MASK(i);
    }
    return mask;
}

bool tb_unicode_next_range(uint32_t mask, uint32_t *first, uint32_t *last)
{
    uint32_t start = *first;

    while (start <= TB_UNICODE_LAST && !tb_unicode_in(start, mask))
        start++;
    if (start > TB_UNICODE_LAST)
        return false;

    uint32_t end = start;
    while (end < TB_UNICODE_LAST && tb_unicode_in(end + 1, mask))
        end++;
    *first = start;
    *last = end;
    return true;
}
