#include "base64.h"

static int value_of(uint8_t byte)
{
    if (byte >= 'A' && byte <= 'Z')
        return byte - 'A';
    if (byte >= 'a' && byte <= 'z')
        return byte - 'a' + 26;
    if (byte >= '0' && byte <= '9')
        return byte - '0' + 52;
    if (byte == '+')
        return 62;
    return byte == '/' ? 63 : -1;
}

bool tb_base64_decode(struct tb_span text, uint8_t *bytes, size_t *len)
{
    *len = 0;
    if (text.len % 4 != 0)
        return false;
    for (int i = 0; i < 2 && text.len && text.ptr[text.len - 1] == '='; i++)
        text.len--;
    uint32_t bits = 0;
    for (size_t i = 0; i < text.len; i++) {
        int value = value_of(text.ptr[i]);
        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t)value;
        if (i % 4 != 0)
            bytes[(*len)++] = (uint8_t)(bits >> (6 - i % 4 * 2));
    }
    return true;
}
