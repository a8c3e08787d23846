/* Memory with one lifetime: given out piece by piece, taken back as a whole.
 *
 * Three lifetimes exist (docs/ARCHITECTURE.md): the run's, a session's, a
 * call's. An arena belongs to one thread at a time.
 *
 *     struct tb_arena arena = {0};
 *     struct call *calls = TB_ARENA_NEW(&arena, struct call, count);
 *     ...
 *     tb_arena_release(&arena);
 */
#ifndef TB_ARENA_H
#define TB_ARENA_H

#include "span.h"
#include "status.h"

struct tb_arena_chunk;

/* Zero-initialised is empty and ready. */
struct tb_arena {
    struct tb_arena_chunk *chunk; /* newest first */
    size_t used_len;              /* bytes given out since the last reset */
};

/* Returns `size` bytes aligned for any object, valid until reset or release;
 * not cleared. NULL when out of memory; the arena is unchanged then. */
void *tb_arena_alloc(struct tb_arena *arena, size_t size);

/* Gives back what is behind the first `size` bytes of `last`, which must be
 * what was given out last. */
void tb_arena_trim(struct tb_arena *arena, void *last, size_t size);

/* As tb_arena_alloc for `count` objects of `size` bytes, zeroed; NULL on
 * overflow. */
void *tb_arena_zeroed(struct tb_arena *arena, size_t count, size_t size);

#define TB_ARENA_NEW(arena, type, count)                                       \
    ((type *)tb_arena_zeroed((arena), (count), sizeof(type)))

/* Copies `text` into the arena; `copy` may point to it. */
TB_NODISCARD tb_status tb_arena_copy(struct tb_arena *arena,
                                     struct tb_span text, struct tb_span *copy);

/* Makes all memory of the arena available again, keeping its largest chunk.
 * What was given out is no longer valid. */
void tb_arena_reset(struct tb_arena *arena);

/* Gives everything back; the arena is empty and ready. */
void tb_arena_release(struct tb_arena *arena);

#endif
