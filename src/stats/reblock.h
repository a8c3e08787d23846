/* The ids of a prompt's blocks at a multiple of their size. */
#ifndef TB_REBLOCK_H
#define TB_REBLOCK_H

#include "hash.h"
#include "status.h"

/* Zero-initialised is empty and ready. */
struct tb_reblock {
    uint64_t *ids;
    size_t count, capacity;
};

/* What `count` blocks in a row are as one: like their ids, it says nothing of
 * what stands before them. */
struct tb_hash128 tb_reblock_hash(const uint64_t *ids, size_t count);

/* Makes `multiple` blocks at a time one, the last of what is left. An id is a
 * hash of those it is made of: like theirs, it says nothing of what stands
 * before it. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_reblock_make(struct tb_reblock *reblock,
                                       const uint64_t *ids, size_t count,
                                       uint32_t multiple);

void tb_reblock_release(struct tb_reblock *reblock);

#endif
