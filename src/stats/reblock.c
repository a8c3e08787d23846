#include "reblock.h"

#include "buffer.h"
#include "memory.h"

struct tb_hash128 tb_reblock_hash(const uint64_t *ids, size_t count)
{
    struct tb_span bytes = {(const uint8_t *)ids, count * sizeof(*ids)};
    // The seed keeps a part apart from a whole that hashes alike.
    return tb_hash128(bytes, count);
}

tb_status tb_reblock_make(struct tb_reblock *reblock, const uint64_t *ids,
                          size_t count, uint32_t multiple)
{
    size_t need = count / multiple + 1;
    uint64_t *made =
        tb_array_grow(reblock->ids, &reblock->capacity, need, sizeof(*made));
    if (!made)
        return TB_ERR_MEMORY;
    reblock->ids = made;
    reblock->count = 0;
    for (size_t at = 0; at < count; at += multiple) {
        size_t left = count - at < multiple ? count - at : multiple;
        made[reblock->count++] = tb_reblock_hash(ids + at, left).low;
    }
    return TB_OK;
}

void tb_reblock_release(struct tb_reblock *reblock)
{
    tb_memory_free(reblock->ids);
    *reblock = (struct tb_reblock){0};
}
