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
 * The work is done by runs, not by blocks: what a prompt used last, and later
 * ones did not take over, is an end of its path. So the tree is in as many
 * pieces of paths as prompts have something left, which are the "preferred
 * paths" of Sleator and Tarjan's link-cut trees (1983, 1985): a prompt takes
 * the beginnings of those on its way, and they are few, O(log nodes) over all
 * prompts. The nodes of a run stand in a splay tree by their depth, whose root
 * knows the run's slot, by the time of its use; a Fenwick tree over slots
 * tells how many blocks were used since. What a prompt costs does not depend
 * on how long it is, but for what it adds.
 *
 * That holds for how runs change. Blocks of increments may each have another
 * length; runs of sessions with many turns are kept as they are, and what
 * caches have of them is counted when it is asked for (long_run.h).
 */
#ifndef TB_STACK_DISTANCE_H
#define TB_STACK_DISTANCE_H

#include "long_run.h"
#include "prefix_tree.h"
#include "token_curve.h"

struct tb_stack_distance {
    uint32_t *sums;  /* Fenwick tree over slots: blocks of runs */
    uint32_t *tops;  /* by slot: root of the run's splay tree */
    uint32_t *above; /* by slot: node in front of the run's first */
    uint32_t slot_count, slot_capacity;
    uint32_t used_count;   /* blocks in all runs */
    uint32_t block_len;    /* tokens; once finished */
    uint64_t max_distance; /* that was seen */
    struct tb_token_curve curve;
    struct tb_long_runs long_runs;
};

/* How the tokens of blocks are told. */
struct tb_block_tokens {
    bool is_by_length; /* blocks are full up to `length` tokens of the prompt,
                          whatever the tree says; else as the tree says */
    uint64_t length;
    uint32_t path; /* of a long session, TB_LONG_RUN_NONE of any other */
};

/* Takes the current prompt of `tree` into account: distances of what was there
 * before, then all of it is used. TB_ERR_MEMORY or TB_ERR_LIMIT leave figures
 * of no use. */
TB_NODISCARD tb_status tb_stack_distance_add(struct tb_stack_distance *stack,
                                             struct tb_prefix_tree *tree,
                                             struct tb_block_tokens tokens);

/* Behind the last prompt, once. `ends` says by path where it ends.
 * TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_stack_distance_finish(
    struct tb_stack_distance *stack, const struct tb_prefix_tree *tree,
    const uint32_t *ends);

/* Then: tokens that a cache of `block_count` blocks, at least 1, would have
 * served; and the smallest number of blocks that serves `tokens`. */
uint64_t tb_stack_distance_served(const struct tb_stack_distance *stack,
                                  uint64_t block_count);
uint64_t tb_stack_distance_needed(const struct tb_stack_distance *stack,
                                  uint64_t tokens);

void tb_stack_distance_release(struct tb_stack_distance *stack);

#endif
