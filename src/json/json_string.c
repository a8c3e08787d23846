#include "json_string.h"

#include "byte_vector.h"
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

/* Hot loop: copies up to the next quote or backslash, or the end; returns how
 * many bytes that are. Writes up to 15 bytes more. */
static size_t copy_plain(struct tb_span raw, uint8_t *out, bool *has_high)
{
    size_t at = 0;
#if defined(TB_HAS_BYTES16)
    uint64_t high = 0;
    while (raw.len - at >= 16) {
        tb_bytes16 text = tb_bytes16_load(raw.ptr + at);
        tb_bytes16_store(out + at, text);
        uint64_t stop = tb_bytes16_bits(tb_bytes16_or(
            tb_bytes16_equal(text, '"'), tb_bytes16_equal(text, '\\')));
        uint64_t above = tb_bytes16_bits(tb_bytes16_high(text));
        if (stop) {
            *has_high |= (high | (above & tb_bytes16_before(stop))) != 0;
            return at + tb_bytes16_first(stop);
        }
        high |= above;
        at += 16;
    }
    *has_high |= high != 0;
#endif
    while (at < raw.len && raw.ptr[at] != '"' && raw.ptr[at] != '\\') {
        *has_high |= raw.ptr[at] > 127;
        out[at] = raw.ptr[at];
        at++;
    }
    return at;
}

// Resolves the escape that `raw` begins with; returns its bytes, 0: bad.
static size_t decode_escape(struct tb_span raw, uint8_t *out,
                            struct tb_json_decoded *done)
{
    uint8_t letter = raw.len > 1 ? raw.ptr[1] : 0;
    uint8_t simple = simple_escape(letter);
    if (simple) {
        out[done->len++] = simple;
        return 2;
    }
    uint32_t code = 0;
    size_t used = letter == 'u' ? unicode_escape(raw, 0, &code,
                                                 &done->lone_surrogate_count)
                                : 0;
    if (used)
        done->len += tb_utf8_encode(code, out + done->len);
    return used;
}

struct tb_json_decoded tb_json_decode(struct tb_span raw, uint8_t *out)
{
    struct tb_json_decoded done = {0};
    for (;;) {
        size_t plain = copy_plain(tb_span_from(raw, done.used), out + done.len,
                                  &done.has_high);
        done.len += plain;
        done.used += plain;
        done.is_closed = done.used < raw.len && raw.ptr[done.used] == '"';
        if (done.used == raw.len || done.is_closed)
            return done;
        size_t used = decode_escape(tb_span_from(raw, done.used), out, &done);
        done.is_bad = used == 0;
        if (done.is_bad)
            return done;
        done.used += used;
    }
}
