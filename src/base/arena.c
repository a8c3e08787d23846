#include "arena.h"

#include <assert.h>
#include <stdalign.h>
#include <string.h>

#include "memory.h"

enum {
    CHUNK_MIN = 16 << 10,
    CHUNK_MAX = 1 << 20, /* beyond it a request gets a chunk of its own size */
    ALIGNMENT = 16,
};

struct tb_arena_chunk {
    alignas(ALIGNMENT) struct tb_arena_chunk *next;
    size_t size; /* bytes behind the header */
    size_t used;
};

static uint8_t *chunk_bytes(struct tb_arena_chunk *chunk)
{
    return (uint8_t *)(chunk + 1);
}

// Chunks double, so that a large arena has few and a small one wastes little.
static struct tb_arena_chunk *add_chunk(struct tb_arena *arena, size_t need)
{
    size_t size = arena->chunk ? arena->chunk->size * 2 : CHUNK_MIN;
    if (size > CHUNK_MAX)
        size = CHUNK_MAX;
    if (size < need)
        size = need;
    if (size > SIZE_MAX - sizeof(struct tb_arena_chunk))
        return NULL;
    struct tb_arena_chunk *chunk =
        tb_memory_resize(NULL, size + sizeof(struct tb_arena_chunk));
    if (!chunk)
        return NULL;
    *chunk = (struct tb_arena_chunk){arena->chunk, size, 0};
    arena->chunk = chunk;
    return chunk;
}

void *tb_arena_alloc(struct tb_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct tb_arena_chunk *chunk = arena->chunk;
    if (!chunk || chunk->size - chunk->used < size)
        chunk = add_chunk(arena, size);
    if (!chunk)
        return NULL;
    void *result = chunk_bytes(chunk) + chunk->used;
    chunk->used += size;
    arena->used_len += size;
    return result;
}

void tb_arena_trim(struct tb_arena *arena, void *last, size_t size)
{
    struct tb_arena_chunk *chunk = arena->chunk;
    size_t at = (size_t)((uint8_t *)last - chunk_bytes(chunk));
    size_t used = at + ((size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1));
    assert(used <= chunk->used);
    arena->used_len -= chunk->used - used;
    chunk->used = used;
}

void *tb_arena_zeroed(struct tb_arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    void *result = tb_arena_alloc(arena, count * size);
    if (result && count * size > 0)
        memset(result, 0, count * size);
    return result;
}

tb_status tb_arena_copy(struct tb_arena *arena, struct tb_span text,
                        struct tb_span *copy)
{
    uint8_t *bytes = tb_arena_alloc(arena, text.len);
    if (!bytes)
        return TB_ERR_MEMORY;
    if (text.len)
        memcpy(bytes, text.ptr, text.len);
    *copy = (struct tb_span){bytes, text.len};
    return TB_OK;
}

void tb_arena_reset(struct tb_arena *arena)
{
    struct tb_arena_chunk *kept = NULL;
    struct tb_arena_chunk *chunk = arena->chunk;
    while (chunk) {
        struct tb_arena_chunk *next = chunk->next;
        if (!kept || chunk->size > kept->size) {
            tb_memory_free(kept);
            kept = chunk;
        } else {
            tb_memory_free(chunk);
        }
        chunk = next;
    }
    if (kept) {
        kept->next = NULL;
        kept->used = 0;
    }
    arena->chunk = kept;
    arena->used_len = 0;
}

void tb_arena_release(struct tb_arena *arena)
{
    while (arena->chunk) {
        struct tb_arena_chunk *next = arena->chunk->next;
        tb_memory_free(arena->chunk);
        arena->chunk = next;
    }
    arena->used_len = 0;
}
