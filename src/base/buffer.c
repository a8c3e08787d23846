#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"

enum { CAPACITY_MIN = 256 };

struct tb_span tb_buffer_span(const struct tb_buffer *buffer)
{
    return (struct tb_span){buffer->ptr, buffer->len};
}

tb_status tb_buffer_reserve(struct tb_buffer *buffer, size_t extra)
{
    if (buffer->capacity - buffer->len >= extra && buffer->ptr)
        return TB_OK;
    if (extra > buffer->max_len || buffer->len > buffer->max_len - extra)
        return TB_ERR_LIMIT;
    size_t need = buffer->len + extra;
    size_t capacity = buffer->capacity + buffer->capacity / 2;
    if (capacity < need)
        capacity = need;
    if (capacity < CAPACITY_MIN)
        capacity = CAPACITY_MIN;
    // Content must not pass the cap by what was rounded up.
    if (capacity > buffer->max_len)
        capacity = buffer->max_len;
    uint8_t *ptr = tb_memory_resize(buffer->ptr, capacity);
    if (!ptr)
        return TB_ERR_MEMORY;
    buffer->ptr = ptr;
    buffer->capacity = capacity;
    return TB_OK;
}

tb_status tb_buffer_append(struct tb_buffer *buffer, struct tb_span text)
{
    TB_TRY(tb_buffer_reserve(buffer, text.len));
    if (text.len)
        memcpy(buffer->ptr + buffer->len, text.ptr, text.len);
    buffer->len += text.len;
    return TB_OK;
}

tb_status tb_buffer_append_byte(struct tb_buffer *buffer, uint8_t byte)
{
    TB_TRY(tb_buffer_reserve(buffer, 1));
    buffer->ptr[buffer->len++] = byte;
    return TB_OK;
}

/* Hot loop: a space in whole texts becomes U+2581. As much as may be needed is
 * written for each byte, since spaces cannot be guessed; the next writes over
 * what is too much. */
tb_status tb_buffer_append_replacing(struct tb_buffer *buffer,
                                     struct tb_span text, uint8_t byte,
                                     struct tb_span by)
{
    const size_t more = by.len - 1;
    uint8_t content[TB_REPLACEMENT_MAX + 1] = {0};
    memcpy(content, by.ptr, by.len);
    TB_TRY(tb_buffer_reserve(buffer, text.len +
                                         more * tb_span_count(text, byte) +
                                         sizeof(content)));
    uint8_t *to = buffer->ptr + buffer->len;
    for (size_t i = 0; i < text.len; i++) {
        bool is_hit = text.ptr[i] == byte;
        to[0] = is_hit ? content[0] : text.ptr[i];
        memcpy(to + 1, content + 1, TB_REPLACEMENT_MAX);
        to += is_hit ? more + 1 : 1;
    }
    buffer->len = (size_t)(to - buffer->ptr);
    return TB_OK;
}

tb_status tb_buffer_append_u64(struct tb_buffer *buffer, uint64_t value)
{
    uint8_t digits[20];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (uint8_t)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    return tb_buffer_append(buffer,
                            (struct tb_span){digits + at, sizeof(digits) - at});
}

tb_status tb_buffer_printf(struct tb_buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (len < 0)
        return TB_ERR_VALUE;
    // One more for the terminating zero, which does not count as content.
    TB_TRY(tb_buffer_reserve(buffer, (size_t)len + 1));
    va_start(arguments, format);
    (void)vsnprintf((char *)buffer->ptr + buffer->len, (size_t)len + 1, format,
                    arguments);
    va_end(arguments);
    buffer->len += (size_t)len;
    return TB_OK;
}

void tb_buffer_clear(struct tb_buffer *buffer)
{
    buffer->len = 0;
}

void tb_buffer_release(struct tb_buffer *buffer)
{
    tb_memory_free(buffer->ptr);
    *buffer = TB_BUFFER(buffer->max_len);
}

void *tb_array_grow(void *items, size_t *capacity, size_t need,
                    size_t item_size)
{
    if (items && need <= *capacity)
        return items;
    size_t grown = *capacity < 8 ? 16 : *capacity + *capacity / 2;
    if (grown < need)
        grown = need;
    if (grown > SIZE_MAX / item_size)
        return NULL;
    void *moved = tb_memory_resize(items, grown * item_size);
    if (moved)
        *capacity = grown;
    return moved;
}
