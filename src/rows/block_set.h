/* Some of the blocks of a merge, each with a number by first appearance. A
 * block is known by its id and the one before it in its row: two blocks of one
 * id stand behind two others.
 */
#ifndef TB_BLOCK_SET_H
#define TB_BLOCK_SET_H

#include "status.h"

/* In place of the id before the first of a row. */
#define TB_NO_BLOCK UINT64_MAX

struct tb_block_entry {
    uint64_t id;
    uint64_t before;
    uint32_t number; /* in the set */
    uint32_t zero;   /* so that files get no byte that was never written */
};

/* What a block may take in a set, bytes: its entry and its slots. */
enum { TB_BLOCK_SET_COST = sizeof(struct tb_block_entry) + 4 * 8 / 3 + 1 };

/* One thread at a time; init before use. */
struct tb_block_set {
    struct tb_block_entry *entries; /* by number */
    uint32_t count, capacity;
    uint32_t max_count;
    uint64_t secret;
    uint32_t *slots; /* number + 1, or 0; open addressing */
    uint64_t slot_count;
};

/* An empty set that takes up to `max_count` blocks. */
void tb_block_set_init(struct tb_block_set *set, uint32_t max_count);

/* The number of the block; a new one is added. TB_ERR_MEMORY; TB_ERR_LIMIT
 * when it is full. */
TB_NODISCARD tb_status tb_block_set_add(struct tb_block_set *set,
                                        uint64_t before, uint64_t id,
                                        uint32_t *number);

/* Puts the entries in an order of their blocks, the same for all sets. Nothing
 * may be added before it is emptied. */
void tb_block_set_sort(struct tb_block_set *set);

/* Negative or positive in that order, 0 for the same block. */
int tb_block_entry_compare(const struct tb_block_entry *a,
                           const struct tb_block_entry *b);

/* Forgets all blocks, keeping memory; and gives it back. */
void tb_block_set_empty(struct tb_block_set *set);
void tb_block_set_release(struct tb_block_set *set);

#endif
