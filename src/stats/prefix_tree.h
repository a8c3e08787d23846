/* All prompts of a trace as one tree: a prompt is a path from the root, a node
 * a run of blocks that all prompts so far take together, or leave together.
 *
 * A block is thus known by its id and by all blocks before it, as a prefix
 * cache knows it. A path ends where a node ends: a node is cut in two when a
 * prompt leaves it on the way. The lower part keeps the number, so that
 * whoever holds the number of a path's end still has it.
 *
 * An answer that goes on from a prompt has no ids: it is known by its length
 * and by what stands before it. With the blocks behind it, it is one node as
 * long as nobody else has that answer.
 *
 * Memory: 32 bytes for each node (36 where there are answers), and 6 for
 * finding those that are not the first child. Ids that follow each other, as
 * they do where they are given by first appearance, need no more; others 8
 * bytes for each distinct block. One thread at a time; zero-initialised, then
 * tb_prefix_tree_init.
 */
#ifndef TB_PREFIX_TREE_H
#define TB_PREFIX_TREE_H

#include "status.h"

#define TB_PREFIX_ROOT 0u
#define TB_PREFIX_NODES_MAX ((1u << 30) - 1)
/* A node's number, or a slot's, as the members below have room for it. */
#define TB_PREFIX_NUMBER(number) ((number)&TB_PREFIX_NODES_MAX)

struct tb_prefix_node {
    uint32_t parent : 30;           /* the root's is the root */
    uint32_t has_more_sessions : 1; /* than the first one */
    uint32_t has_more_agents : 1;
    uint32_t child : 30;    /* the first that it had, or 0 */
    uint32_t is_cut : 1;    /* ... it was cut from, whose visitors were here */
    uint32_t has_more : 1;  /* children than that */
    uint32_t run : 30;      /* or slot: belongs to stack_distance.h; once
                               finished: has one child all its rows? */
    uint32_t is_listed : 1; /* its ids stand in the tree's list, ... */
    uint32_t is_run : 1;   /* ... or only the first of them: others follow it */
    uint32_t id;           /* its first; is_listed: the place of that */
    uint32_t depth;        /* blocks from the root to its end */
    uint32_t last_token;   /* tokens from the root to its end, less 1 */
    uint32_t first_row;    /* that has it */
    uint32_t prompt_count; /* prompts that end here; once finished, that have
                              it: rows */
};

struct tb_prefix_tree {
    uint32_t block_len; /* tokens of a full block */
    struct tb_prefix_node *nodes;
    size_t node_capacity;
    uint32_t node_count;
    uint32_t block_count; /* distinct blocks */
    uint32_t *answers;    /* by node: tokens of the answer it begins with, or 0;
                             NULL: there are none */
    size_t answer_capacity;
    uint64_t *ids;
    size_t id_capacity;
    uint32_t id_count;  /* that are listed */
    uint32_t *children; /* nodes that are not the first of their parent, by it
                           and their first id, or 0; with bits of the hash */
    size_t child_slots, child_count;
    uint64_t secret; /* of their hashes */
    /* Of the current prompt: where it ends, the last node on the way that was
     * there before, and the first of those that follow each other from there
     * on. */
    uint32_t end, old_end, first_new;
    uint32_t answer; /* tokens of a new one whose node is not made yet, or 0 */
};

/* Blocks behind each other of which only the last may not be full. */
struct tb_prefix_piece {
    uint32_t depth;  /* blocks, ... */
    uint64_t tokens; /* ... and tokens, from the root to its end */
};

/* TB_ERR_MEMORY */
TB_NODISCARD tb_status tb_prefix_tree_init(struct tb_prefix_tree *tree,
                                           uint32_t block_len);

/* Begins a prompt with the path to the end of node `start`. */
void tb_prefix_tree_begin(struct tb_prefix_tree *tree, uint32_t start);

/* Goes on by `count` blocks, the last of `tail_len` tokens (1 to block_len). A
 * prompt has up to 2^32 tokens. TB_ERR_MEMORY, or TB_ERR_LIMIT beyond
 * 2^32 - 2 blocks or TB_PREFIX_NODES_MAX nodes. */
TB_NODISCARD tb_status tb_prefix_tree_extend(struct tb_prefix_tree *tree,
                                             const uint64_t *ids, size_t count,
                                             uint32_t tail_len);

/* Goes on by an answer of `tokens` tokens, at least 1. TB_ERR_MEMORY,
 * TB_ERR_LIMIT as above. */
TB_NODISCARD tb_status tb_prefix_tree_answer(struct tb_prefix_tree *tree,
                                             uint64_t tokens);

/* Nothing comes behind that; `end` is where the prompt ends. TB_ERR_MEMORY,
 * TB_ERR_LIMIT. */
TB_NODISCARD tb_status tb_prefix_tree_complete(struct tb_prefix_tree *tree);

/* The complete prompt is of row `row`. */
void tb_prefix_tree_end(struct tb_prefix_tree *tree, uint32_t row);

/* Behind the last prompt, once: counts the rows of each node, in its
 * prompt_count; `run` is then whether one of its children has all of them. */
void tb_prefix_tree_finish(struct tb_prefix_tree *tree);

/* Tokens and blocks of a node, and its last id. */
uint64_t tb_prefix_node_tokens(const struct tb_prefix_tree *tree,
                               uint32_t node);
uint32_t tb_prefix_node_len(const struct tb_prefix_tree *tree, uint32_t node);
uint64_t tb_prefix_node_last_id(const struct tb_prefix_tree *tree,
                                uint32_t node);

/* The node's pieces, one or two; how many. */
size_t tb_prefix_node_pieces(const struct tb_prefix_tree *tree, uint32_t node,
                             struct tb_prefix_piece pieces[2]);

void tb_prefix_tree_release(struct tb_prefix_tree *tree);

#endif
