#include "json_string.h"

#include <string.h>

#include "utf8.h"

// The value of a hex digit, or 16.
static unsigned hex_value(uint8_t digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - (unsigned)'0';
    uint8_t lower = digit | 0x20;
    if (lower >= 'a' && lower <= 'f')
        return lower - (unsigned)'a' + 10;
    return 16;
}

// Four hex digits at `at`, or UINT32_MAX.
static uint32_t hex4(struct tb_span raw, size_t at)
{
    if (raw.len < 4 || at > raw.len - 4)
        return UINT32_MAX;
    uint32_t value = 0;
    for (size_t i = 0; i < 4; i++) {
        unsigned digit = hex_value(raw.ptr[at + i]);
        if (digit > 15)
            return UINT32_MAX;
        value = value << 4 | digit;
    }
    return value;
}

// The byte that a one-letter escape stands for, or 0.
static uint8_t simple_escape(uint8_t letter)
{
    switch (letter) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case '"':
    case '\\':
    case '/':
        return letter;
    default:
        return 0;
    }
}

/* Reads the code point of the \u escape at `at` (of the backslash); returns
 * the bytes used, 6 or 12, or 0 when it is none. */
static size_t unicode_escape(struct tb_span raw, size_t at, uint32_t *code,
                             uint64_t *lone_count)
{
    uint32_t first = hex4(raw, at + 2);
    if (first == UINT32_MAX)
        return 0;
    *code = first;
    if (first < 0xD800 || first > 0xDFFF)
        return 6;
    if (first < 0xDC00 && at + 8 <= raw.len && raw.ptr[at + 6] == '\\' &&
        raw.ptr[at + 7] == 'u') {
        uint32_t second = hex4(raw, at + 8);
        if (second >= 0xDC00 && second <= 0xDFFF) {
            *code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            return 12;
        }
    }
    *code = 0xFFFD;
    (*lone_count)++;
    return 6;
}

struct tb_json_decoded tb_json_decode(struct tb_span raw, uint8_t *out)
{
    struct tb_json_decoded done = {.bad_at = raw.len};
    size_t at = 0;
    while (at < raw.len) {
        const uint8_t *escape = memchr(raw.ptr + at, '\\', raw.len - at);
        size_t plain = escape ? (size_t)(escape - raw.ptr) - at : raw.len - at;
        memcpy(out + done.len, raw.ptr + at, plain);
        done.len += plain;
        at += plain;
        if (at == raw.len)
            break;
        uint8_t letter = at + 1 < raw.len ? raw.ptr[at + 1] : 0;
        uint8_t simple = simple_escape(letter);
        if (simple) {
            out[done.len++] = simple;
            at += 2;
            continue;
        }
        uint32_t code = 0;
        size_t used = letter == 'u' ? unicode_escape(raw, at, &code,
                                                     &done.lone_surrogate_count)
                                    : 0;
        if (used == 0) {
            done.bad_at = at;
            break;
        }
        done.len += tb_utf8_encode(code, out + done.len);
        at += used;
    }
    return done;
}
