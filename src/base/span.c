#include "span.h"

#include <string.h>

struct tb_span tb_span_of(const char *text)
{
    return (struct tb_span){(const uint8_t *)text, text ? strlen(text) : 0};
}

struct tb_span tb_span_from(struct tb_span text, size_t from)
{
    if (from == 0)
        return text;
    return (struct tb_span){text.ptr + from, text.len - from};
}

bool tb_span_equal(struct tb_span a, struct tb_span b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

int tb_span_compare(struct tb_span a, struct tb_span b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len ? memcmp(a.ptr, b.ptr, len) : 0;
    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

bool tb_span_starts_with(struct tb_span text, struct tb_span prefix)
{
    if (prefix.len > text.len)
        return false;
    return tb_span_equal((struct tb_span){text.ptr, prefix.len}, prefix);
}

bool tb_span_ends_with(struct tb_span text, struct tb_span suffix)
{
    if (suffix.len > text.len)
        return false;
    return tb_span_equal(tb_span_from(text, text.len - suffix.len), suffix);
}

bool tb_span_contains(struct tb_span text, struct tb_span part)
{
    if (part.len == 0)
        return true;
    while (text.len >= part.len) {
        const uint8_t *hit =
            memchr(text.ptr, part.ptr[0], text.len - part.len + 1);
        if (!hit)
            return false;
        if (memcmp(hit, part.ptr, part.len) == 0)
            return true;
        text = tb_span_from(text, (size_t)(hit - text.ptr) + 1);
    }
    return false;
}

size_t tb_span_common_prefix(struct tb_span a, struct tb_span b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    size_t at = 0;
    // Whole kilobytes at the speed of memcmp, then the rest byte by byte.
    while (at + 1024 <= len && memcmp(a.ptr + at, b.ptr + at, 1024) == 0)
        at += 1024;
    while (at + 8 <= len && memcmp(a.ptr + at, b.ptr + at, 8) == 0)
        at += 8;
    while (at < len && a.ptr[at] == b.ptr[at])
        at++;
    return at;
}

/* Hot loop: newlines of whole files are counted. Sixty-four counters of one
 * byte each, so that the compiler can use vectors; they are added up before
 * one of them can overflow. */
size_t tb_span_count(struct tb_span text, uint8_t byte)
{
    enum { LANES = 64, ROUNDS = 255 };
    size_t count = 0;
    size_t at = 0;
    while (text.len - at >= LANES) {
        uint8_t counters[LANES] = {0};
        for (int round = 0; round < ROUNDS && text.len - at >= LANES; round++) {
            for (int i = 0; i < LANES; i++)
                counters[i] =
                    (uint8_t)(counters[i] + (text.ptr[at + (size_t)i] == byte));
            at += LANES;
        }
        for (int i = 0; i < LANES; i++)
            count += counters[i];
    }
    for (; at < text.len; at++)
        count += text.ptr[at] == byte;
    return count;
}

int tb_span_shown(struct tb_span text, int most)
{
    if (text.len <= (size_t)most)
        return (int)text.len;
    int len = most;
    while (len > 0 && (text.ptr[len] & 0xC0) == 0x80) // within a character
        len--;
    return len;
}
