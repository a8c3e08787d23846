/* How large a cache would have to be: LRU stack distances of blocks, exact, in
 * one pass (Mattson et al., 1970), for a cache of prefixes.
 *
 * A prompt looks its blocks up from the first on, and finds none behind the
 * first that is missing; then all its blocks are used, the last one first, so
 * that the beginning of a prompt outlives its end (as in vLLM). The distance
 * of a block is its place in the order of last use, from 1: a cache of at
 * least so many blocks has it. Behind a block no block has a smaller distance,
 * since whoever used the later one used the earlier one after it; so what a
 * cache of any size has of a prompt is a beginning of it, and nothing more is
 * to be done for that.
 *
 * The work is done by runs, not by blocks: of a prompt that was used last by
 * an earlier one, what is left (what later prompts did not take over) is an
 * end of it, so that two numbers for each prompt tell the place of each of its
 * blocks, and a Fenwick tree over prompts how many blocks were used since.
 * O(runs x log prompts) for a prompt. Numbers of prompts are packed when most
 * have nothing left: memory is that of the tree's nodes.
 */
#ifndef TB_STACK_DISTANCE_H
#define TB_STACK_DISTANCE_H

#include "prefix_tree.h"

struct tb_stack_distance {
    uint32_t *depths; /* of prompts, by slot: blocks of their path */
    uint32_t *left;   /* ... of them used last by this one */
    uint32_t *sums;   /* Fenwick tree over `left` */
    uint32_t slot_count, slot_capacity;
    uint64_t *changes; /* by distance: tokens there less tokens one before,
                          wrapping; once finished, tokens up to there */
    size_t change_capacity;
    uint32_t max_distance; /* that was seen */
};

/* How the tokens of blocks are told. */
struct tb_block_tokens {
    bool is_by_length; /* blocks are full up to `length` tokens of the prompt,
                          whatever the tree says; else as the tree says */
    uint64_t length;
};

/* Takes the current path of `tree` into account: distances of what was there
 * before, then all of it is used. TB_ERR_MEMORY leaves figures of no use. */
TB_NODISCARD tb_status tb_stack_distance_add(struct tb_stack_distance *stack,
                                             struct tb_prefix_tree *tree,
                                             struct tb_block_tokens tokens);

/* Behind the last prompt, once. */
void tb_stack_distance_finish(struct tb_stack_distance *stack);

/* Then: tokens that a cache of `block_count` blocks, at least 1, would have
 * served; and the smallest number of blocks that serves `tokens`. */
uint64_t tb_stack_distance_served(const struct tb_stack_distance *stack,
                                  uint64_t block_count);
uint64_t tb_stack_distance_needed(const struct tb_stack_distance *stack,
                                  uint64_t tokens);

void tb_stack_distance_release(struct tb_stack_distance *stack);

#endif
