/* Blocks of tokens and their numbers.
 *
 * A block's identity is its parent's and its own tokens, so equal numbers mean
 * equal text from the beginning of the prompt on. Numbers go from 0 by first
 * appearance. (The same scheme as in Mooncake, FAST '25, and in vLLM's prefix
 * cache.)
 */
#ifndef TB_BLOCK_TABLE_H
#define TB_BLOCK_TABLE_H

#include "hash.h"
#include "status.h"

/* The parent of a prompt's first block. */
#define TB_BLOCK_ROOT ((struct tb_hash128){0, 0})

/* Identity of the block of `count` tokens behind `parent`: 128 bits of XXH3.
 * A block with fewer tokens is another one than its full version. */
struct tb_hash128 tb_block_hash(struct tb_hash128 parent,
                                const uint32_t *tokens, size_t count);

/* 16 bytes for each block, and 4 to 8 for finding it. One thread at a time;
 * zero-initialised is empty and ready. */
struct tb_block_table {
    struct tb_hash128 *blocks; /* by number */
    size_t blocks_capacity;
    uint64_t count;
    uint32_t *slots; /* number + 1, or 0; open addressing */
    uint64_t slot_count;
};

/* The number of `block`; `*is_new` when it was not there. TB_ERR_MEMORY, or
 * TB_ERR_LIMIT beyond 2^32 - 2 blocks. */
TB_NODISCARD tb_status tb_block_table_add(struct tb_block_table *table,
                                          struct tb_hash128 block,
                                          uint64_t *number, bool *is_new);

void tb_block_table_release(struct tb_block_table *table);

#endif
