/* All prompts of a trace as one tree: a prompt is a path from the root, a node
 * a run of blocks that all prompts so far take together, or leave together.
 *
 * A block is thus known by its id and by all blocks before it, as a prefix
 * cache knows it. A path ends where a node ends: a node is cut in two when a
 * prompt leaves it on the way. The lower part keeps the number, so that
 * whoever holds the number of a path's end still has it.
 *
 * Memory: 8 bytes for each distinct block, and about 70 for each node. One
 * thread at a time; zero-initialised, then tb_prefix_tree_init.
 */
#ifndef TB_PREFIX_TREE_H
#define TB_PREFIX_TREE_H

#include "status.h"

#define TB_PREFIX_ROOT 0u

struct tb_prefix_node {
    uint64_t tokens;   /* from the root to its end */
    uint32_t parent;   /* the root's is the root */
    uint32_t depth;    /* blocks from the root to its end */
    uint32_t len;      /* its own blocks; 0: the root */
    uint32_t ids_at;   /* of its ids, in the tree's */
    uint32_t tail_len; /* tokens of its last block; the others are full */
    uint32_t lower; /* that it was cut from, whose visitors were here; or 0 */
    uint32_t row_count;
    uint32_t first_row, first_session, first_agent;
    uint32_t slot;                           /* belongs to stack_distance.h */
    bool has_more_sessions, has_more_agents; /* than the first */
};

struct tb_prefix_tree {
    uint32_t block_len; /* tokens of a full block */
    struct tb_prefix_node *nodes;
    size_t node_capacity;
    uint32_t node_count;
    uint64_t *ids;
    size_t id_capacity;
    uint32_t id_count;  /* distinct blocks */
    uint32_t *children; /* node numbers by parent and first id, or 0 */
    size_t child_slots;
    uint64_t secret; /* of their hashes */
    uint32_t *path;  /* of the current prompt: node numbers, from the root's
                        child on */
    size_t path_capacity;
    uint32_t path_count;
    uint32_t old_count; /* path nodes that were there before the prompt */
};

/* TB_ERR_MEMORY */
TB_NODISCARD tb_status tb_prefix_tree_init(struct tb_prefix_tree *tree,
                                           uint32_t block_len);

/* Begins a prompt with the path to the end of node `start`. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_prefix_tree_begin(struct tb_prefix_tree *tree,
                                            uint32_t start);

/* Goes on by `count` blocks, the last of `tail_len` tokens (1 to block_len).
 * TB_ERR_MEMORY, or TB_ERR_LIMIT beyond 2^32 - 2 blocks. */
TB_NODISCARD tb_status tb_prefix_tree_extend(struct tb_prefix_tree *tree,
                                             const uint64_t *ids, size_t count,
                                             uint32_t tail_len);

/* The node where the current prompt ends. */
uint32_t tb_prefix_tree_end(const struct tb_prefix_tree *tree);

void tb_prefix_tree_release(struct tb_prefix_tree *tree);

#endif
