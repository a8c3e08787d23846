#include "json_writer.h"

#include "utf8.h"

enum {
    PLAIN_BLOCK = 16, // bytes looked at together
    ESCAPE_MAX = 12   // bytes of one character: two escapes of a pair
};

static bool is_plain(uint8_t byte)
{
    return byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\';
}

// Bytes from `at` on that stand for themselves. The inner loop has no exit, so
// that compilers make vector code of it.
static size_t plain_len(struct tb_span text, size_t at)
{
    size_t end = at;
    for (; text.len - end >= PLAIN_BLOCK; end += PLAIN_BLOCK) {
        uint8_t is_special = 0;
        for (size_t i = 0; i < PLAIN_BLOCK; i++) {
            uint8_t byte = text.ptr[end + i];
            is_special |= (uint8_t)((uint8_t)(byte - ' ') > '~' - ' ') |
                          (byte == '"') | (byte == '\\');
        }
        if (is_special)
            break;
    }
    while (end < text.len && is_plain(text.ptr[end]))
        end++;
    return end - at;
}

static size_t put_hex(uint8_t *out, uint32_t unit)
{
    static const char digits[] = "0123456789abcdef";
    out[0] = '\\';
    out[1] = 'u';
    for (size_t i = 0; i < 4; i++)
        out[2 + i] = (uint8_t)digits[unit >> (12 - 4 * i) & 0xF];
    return 6;
}

// The letter that stands behind a backslash for `byte`, or 0.
static uint8_t short_escape(uint32_t code_point)
{
    switch (code_point) {
    case '"':
    case '\\':
        return (uint8_t)code_point;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

static size_t put_escape(uint8_t *out, uint32_t code_point)
{
    uint8_t letter = short_escape(code_point);
    if (letter) {
        out[0] = '\\';
        out[1] = letter;
        return 2;
    }
    if (code_point < 0x10000)
        return put_hex(out, code_point);
    uint32_t above = code_point - 0x10000;
    size_t len = put_hex(out, 0xD800 | above >> 10);
    return len + put_hex(out + len, 0xDC00 | (above & 0x3FF));
}

// Escapes as many characters in a row as need it.
static tb_status write_escapes(struct tb_buffer *buffer, struct tb_span text,
                               size_t *at)
{
    while (*at < text.len && !is_plain(text.ptr[*at])) {
        uint32_t code_point;
        TB_TRY(tb_buffer_reserve(buffer, ESCAPE_MAX));
        *at += tb_utf8_decode(text, *at, &code_point);
        buffer->len += put_escape(buffer->ptr + buffer->len, code_point);
    }
    return TB_OK;
}

static tb_status write_quoted(struct tb_buffer *buffer, struct tb_span text)
{
    TB_TRY(tb_buffer_append_byte(buffer, '"'));
    for (size_t at = 0; at < text.len;) {
        size_t len = plain_len(text, at);
        TB_TRY(tb_buffer_append(buffer, (struct tb_span){text.ptr + at, len}));
        at += len;
        TB_TRY(write_escapes(buffer, text, &at));
    }
    return tb_buffer_append_byte(buffer, '"');
}

tb_status tb_json_write_string(struct tb_buffer *buffer, struct tb_span text)
{
    size_t len = buffer->len;
    tb_status status = write_quoted(buffer, text);
    if (status != TB_OK)
        buffer->len = len;
    return status;
}

static bool is_plain_utf8(uint8_t byte)
{
    return byte >= ' ' && byte != '"' && byte != '\\';
}

static tb_status write_quoted_utf8(struct tb_buffer *buffer,
                                   struct tb_span text)
{
    TB_TRY(tb_buffer_append_byte(buffer, '"'));
    for (size_t at = 0; at < text.len;) {
        size_t end = at;
        while (end < text.len && is_plain_utf8(text.ptr[end]))
            end++;
        TB_TRY(tb_buffer_append(buffer,
                                (struct tb_span){text.ptr + at, end - at}));
        at = end;
        if (at == text.len)
            break;
        TB_TRY(tb_buffer_reserve(buffer, ESCAPE_MAX));
        buffer->len += put_escape(buffer->ptr + buffer->len, text.ptr[at++]);
    }
    return tb_buffer_append_byte(buffer, '"');
}

tb_status tb_json_write_utf8_string(struct tb_buffer *buffer,
                                    struct tb_span text)
{
    size_t len = buffer->len;
    tb_status status = write_quoted_utf8(buffer, text);
    if (status != TB_OK)
        buffer->len = len;
    return status;
}
