/* GPT-2's alphabet for bytes: printable Latin-1 bytes stand for themselves,
 * the other 68 are the code points from U+0100 on, in order. (Radford et al.,
 * Language Models are Unsupervised Multitask Learners, 2019, section 2.2.) */
#include "byte_level.h"

static bool is_printable(uint32_t byte)
{
    return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) ||
           (byte >= 174 && byte <= 255);
}

int tb_byte_of_code_point(uint32_t code_point)
{
    if (code_point < 256)
        return is_printable(code_point) ? (int)code_point : -1;
    if (code_point >= 256 + 33 && code_point <= 256 + 66)
        return (int)(code_point - 256 - 33) + 127; // 127-160
    if (code_point < 256 + 33)
        return (int)code_point - 256; // 0-32
    return code_point == 256 + 67 ? 173 : -1;
}

uint32_t tb_code_point_of_byte(uint8_t byte)
{
    if (is_printable(byte))
        return byte;
    if (byte <= 32)
        return 256u + byte;
    return byte == 173 ? 256 + 67 : 256u + 33 + (byte - 127u);
}

/* The alphabet has no characters of three bytes and more, and of those of two
 * none above U+0143; what is no UTF-8 is none of them either. */
bool tb_byte_level_decode(struct tb_span text, uint8_t *bytes, size_t *len)
{
    size_t at = 0, count = 0;
    *len = 0;
    while (at < text.len) {
        uint32_t code_point = text.ptr[at++];
        if (code_point >= 0x80) {
            if (code_point < 0xC2 || code_point > 0xC5 || at == text.len ||
                (text.ptr[at] & 0xC0) != 0x80)
                return false;
            code_point = (code_point & 0x1F) << 6 | (text.ptr[at++] & 0x3F);
        }
        int byte = tb_byte_of_code_point(code_point);
        if (byte < 0)
            return false;
        bytes[count++] = (uint8_t)byte;
    }
    *len = count;
    return true;
}
