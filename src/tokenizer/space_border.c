#include "space_border.h"

#include <string.h>

size_t tb_space_borders_next(const struct tb_space_borders *borders,
                             struct tb_span text, size_t from)
{
    const struct tb_span space = TB_ESCAPED_SPACE;
    const uint8_t *end = text.ptr + text.len;
    const uint8_t *at = text.ptr + from + 1;
    for (; (at = memchr(at, space.ptr[0], (size_t)(end - at))); at++) {
        if ((size_t)(end - at) < space.len)
            break;
        if (memcmp(at, space.ptr, space.len) != 0 || borders->is_joined[at[-1]])
            continue;
        bool is_in_run = (size_t)(at - text.ptr) - from >= space.len &&
                         memcmp(at - space.len, space.ptr, space.len) == 0;
        if (!is_in_run)
            return (size_t)(at - text.ptr);
    }
    return text.len;
}
