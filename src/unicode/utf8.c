#include "utf8.h"

/* The row of table 3-7 that a first byte selects. */
struct lead {
    uint8_t len;       /* bytes of the sequence; 0: no such lead byte */
    uint8_t payload;   /* the bits of the lead byte that count */
    uint8_t low, high; /* bounds of the second byte; later: 80..BF */
};

static struct lead lead_of(uint8_t byte)
{
    struct lead lead = {0, 0, 0x80, 0xBF};

    if (byte >= 0xC2 && byte <= 0xDF) {
        lead.len = 2;
        lead.payload = byte & 0x1F;
    } else if (byte >= 0xE0 && byte <= 0xEF) {
        lead.len = 3;
        lead.payload = byte & 0x0F;
        if (byte == 0xE0)
            lead.low = 0xA0; // else overlong
        else if (byte == 0xED)
            lead.high = 0x9F; // else a surrogate
    } else if (byte >= 0xF0 && byte <= 0xF4) {
        lead.len = 4;
        lead.payload = byte & 0x07;
        if (byte == 0xF0)
            lead.low = 0x90; // else overlong
        else if (byte == 0xF4)
            lead.high = 0x8F; // else above U+10FFFF
    }
    return lead;
}

/* Reads the sequence at `ptr`, whose first byte is not ASCII. Returns its
 * length and its code point; or, for an ill-formed one, the length of its
 * maximal subpart and `*is_valid` false. */
static size_t read_sequence(const uint8_t *ptr, size_t len,
                            uint32_t *code_point, bool *is_valid)
{
    struct lead lead = lead_of(ptr[0]);
    uint8_t low = lead.low, high = lead.high;
    uint32_t value = lead.payload;

    *is_valid = false;
    if (lead.len == 0)
        return 1;
    for (size_t i = 1; i < lead.len; i++) {
        if (i == len || ptr[i] < low || ptr[i] > high)
            return i;
        value = value << 6 | (ptr[i] & 0x3F);
        low = 0x80;
        high = 0xBF;
    }
    *is_valid = true;
    *code_point = value;
    return lead.len;
}

size_t tb_utf8_decode_long(struct tb_span text, size_t at, uint32_t *code_point)
{
    bool is_valid;
    size_t len =
        read_sequence(text.ptr + at, text.len - at, code_point, &is_valid);

    if (is_valid)
        return len;
    *code_point = TB_UTF8_REPLACEMENT;
    return 1;
}

size_t tb_utf8_encode(uint32_t code_point, uint8_t out[TB_UTF8_MAX_LEN])
{
    if (code_point < 0x80) {
        out[0] = (uint8_t)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (uint8_t)(0xC0 | code_point >> 6);
        out[1] = (uint8_t)(0x80 | (code_point & 0x3F));
        return 2;
    }
    if ((code_point >= 0xD800 && code_point <= 0xDFFF) || code_point > 0x10FFFF)
        code_point = TB_UTF8_REPLACEMENT;
    if (code_point < 0x10000) {
        out[0] = (uint8_t)(0xE0 | code_point >> 12);
        out[1] = (uint8_t)(0x80 | (code_point >> 6 & 0x3F));
        out[2] = (uint8_t)(0x80 | (code_point & 0x3F));
        return 3;
    }
    out[0] = (uint8_t)(0xF0 | code_point >> 18);
    out[1] = (uint8_t)(0x80 | (code_point >> 12 & 0x3F));
    out[2] = (uint8_t)(0x80 | (code_point >> 6 & 0x3F));
    out[3] = (uint8_t)(0x80 | (code_point & 0x3F));
    return 4;
}

/* Bytes looked at together: two vector registers' worth. */
enum { ASCII_BLOCK = 32 };

size_t tb_utf8_ascii_len(struct tb_span text)
{
    size_t at = 0;

    // the inner loop has no exit, so that compilers make vector code of it
    for (; text.len - at >= ASCII_BLOCK; at += ASCII_BLOCK) {
        uint8_t all = 0;
        for (size_t i = 0; i < ASCII_BLOCK; i++)
            all |= text.ptr[at + i];
        if (all >= 0x80)
            break;
    }
    while (at < text.len && text.ptr[at] < 0x80)
        at++;
    return at;
}

size_t tb_utf8_valid_len(struct tb_span text)
{
    size_t at = 0;

    while (at < text.len) {
        if (text.ptr[at] < 0x80) {
            at += tb_utf8_ascii_len(tb_span_from(text, at));
            continue;
        }
        uint32_t code_point;
        bool is_valid;
        size_t len =
            read_sequence(text.ptr + at, text.len - at, &code_point, &is_valid);
        if (!is_valid)
            break;
        at += len;
    }
    return at;
}

tb_status tb_utf8_repair(struct tb_span text, struct tb_buffer *out,
                         uint64_t *replaced_count)
{
    tb_status status = TB_OK;
    size_t old_len = out->len;
    uint64_t count = 0;

    for (;;) {
        size_t valid_len = tb_utf8_valid_len(text);
        TB_TRY_DONE(
            tb_buffer_append(out, (struct tb_span){text.ptr, valid_len}));
        text = tb_span_from(text, valid_len);
        if (text.len == 0)
            break;

        uint32_t code_point;
        bool is_valid;
        size_t broken_len =
            read_sequence(text.ptr, text.len, &code_point, &is_valid);
        TB_TRY_DONE(tb_buffer_append(out, TB_SPAN("\xEF\xBF\xBD")));
        text = tb_span_from(text, broken_len);
        count++;
    }
    *replaced_count += count;
done:
    if (status != TB_OK)
        out->len = old_len;
    return status;
}
