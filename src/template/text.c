#include "text.h"

#include <string.h>
#include <utf8proc.h>

#include "text_case.h"
#include "unicode.h"
#include "utf8.h"

static bool is_ascii(struct tb_span text)
{
    return tb_utf8_ascii_len(text) == text.len;
}

static bool is_first_byte(uint8_t byte)
{
    return (byte & 0xC0) != 0x80;
}

size_t tb_text_count(struct tb_span text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += is_first_byte(text.ptr[i]);
    return count;
}

size_t tb_text_offset(struct tb_span text, size_t index)
{
    if (index >= text.len)
        return text.len;
    if (is_ascii((struct tb_span){text.ptr, index}) &&
        is_first_byte(text.ptr[index]))
        return index;
    size_t at = 0;
    while (at < text.len && index > 0) {
        at++;
        while (at < text.len && !is_first_byte(text.ptr[at]))
            at++;
        index--;
    }
    return at;
}

size_t tb_text_decode(struct tb_span text, size_t at, uint32_t *cp)
{
    return tb_utf8_decode(text, at, cp);
}

size_t tb_text_before(struct tb_span text, size_t at)
{
    at--;
    while (at > 0 && !is_first_byte(text.ptr[at]))
        at--;
    return at;
}

bool tb_text_is_space(uint32_t cp)
{
    if (cp < 0x80)
        return cp == ' ' || (cp >= 9 && cp <= 13) || (cp >= 0x1C && cp <= 0x1F);
    return tb_unicode_is_white_space(cp);
}

bool tb_text_is_word(uint32_t cp)
{
    return cp == '_' ||
           tb_unicode_in(cp, TB_UNICODE_MASK_L | TB_UNICODE_MASK_N);
}

static bool is_stripped(struct tb_span chars, uint32_t cp)
{
    if (!chars.ptr)
        return tb_text_is_space(cp);
    for (size_t at = 0; at < chars.len;) {
        uint32_t other;
        at += tb_utf8_decode(chars, at, &other);
        if (other == cp)
            return true;
    }
    return false;
}

struct tb_span tb_text_strip(struct tb_span text, struct tb_span chars,
                             bool is_left, bool is_right)
{
    uint32_t cp;
    while (is_left && text.len > 0) {
        size_t len = tb_utf8_decode(text, 0, &cp);
        if (!is_stripped(chars, cp))
            break;
        text = tb_span_from(text, len);
    }
    while (is_right && text.len > 0) {
        size_t at = tb_text_before(text, text.len);
        tb_utf8_decode(text, at, &cp);
        if (!is_stripped(chars, cp))
            break;
        text.len = at;
    }
    return text;
}

size_t tb_text_find(struct tb_span text, struct tb_span part, size_t from)
{
    if (part.len == 0)
        return from <= text.len ? from : SIZE_MAX;
    if (from > text.len || text.len - from < part.len)
        return SIZE_MAX;
    // Linear even for what is nearly periodic, unlike a plain search.
    const uint8_t *hit =
        memmem(text.ptr + from, text.len - from, part.ptr, part.len);
    return hit ? (size_t)(hit - text.ptr) : SIZE_MAX;
}

size_t tb_text_find_last(struct tb_span text, struct tb_span part)
{
    if (part.len > text.len)
        return SIZE_MAX;
    for (size_t at = text.len - part.len + 1; at-- > 0;) {
        if (part.len == 0 || (text.ptr[at] == part.ptr[0] &&
                              memcmp(text.ptr + at, part.ptr, part.len) == 0))
            return at;
    }
    return SIZE_MAX;
}

static bool is_line_end(uint32_t cp)
{
    return (cp >= '\n' && cp <= '\r') || (cp >= 0x1C && cp <= 0x1E) ||
           cp == 0x85 || cp == 0x2028 || cp == 0x2029;
}

bool tb_text_next_line(struct tb_span text, size_t *at, struct tb_span *line,
                       size_t *end_len)
{
    if (*at >= text.len)
        return false;
    size_t start = *at;
    *end_len = 0;
    while (*at < text.len) {
        uint32_t cp;
        size_t len = tb_utf8_decode(text, *at, &cp);
        if (is_line_end(cp)) {
            *line = (struct tb_span){text.ptr + start, *at - start};
            if (cp == '\r' && *at + 1 < text.len && text.ptr[*at + 1] == '\n')
                len = 2;
            *at += len;
            *end_len = len;
            return true;
        }
        *at += len;
    }
    *line = (struct tb_span){text.ptr + start, *at - start};
    return true;
}

// Mappings to several code points, which utf8proc does not give.
static size_t map_special(uint32_t cp, tb_text_case to, uint32_t out[3])
{
    size_t low = 0, high = TB_SPECIAL_CASE_COUNT;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (tb_special_case[middle].cp < cp)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == TB_SPECIAL_CASE_COUNT || tb_special_case[low].cp != cp)
        return 0;
    const uint16_t *mapped = tb_special_case[low].to[to];
    size_t count = 0;
    while (count < 3 && mapped[count] != 0) {
        out[count] = mapped[count];
        count++;
    }
    return count;
}

size_t tb_text_map_case(uint32_t cp, tb_text_case to, uint32_t out[3])
{
    size_t count = cp < 0x80 ? 0 : map_special(cp, to, out);
    if (count > 0)
        return count;
    utf8proc_int32_t code = (utf8proc_int32_t)cp;
    switch (to) {
    case TB_CASE_UPPER:
        code = utf8proc_toupper(code);
        break;
    case TB_CASE_TITLE:
        code = utf8proc_totitle(code);
        break;
    default:
        code = utf8proc_tolower(code);
        break;
    }
    out[0] = (uint32_t)code;
    return 1;
}
