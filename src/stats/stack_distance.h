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
 * pieces of paths as prompts have something left, and a prompt takes the
 * beginnings of those on its way. Each run has a slot, by the time of its use;
 * a Fenwick tree over slots tells how many blocks were used since.
 *
 * A whole prompt is read block by block in any case, so that each node on its
 * way is told its new slot. A prompt that goes on from an earlier one is as
 * many nodes as all turns before it: there nodes know the number of their run,
 * and what is taken up to its end only gets another slot. A run is cut where a
 * prompt leaves it or ends in it, once: to get there, one had to be sent turn
 * by turn, so that over all prompts a row costs a few nodes. (At worst, when
 * sessions are made for it that follow another one up to all its turns, it is
 * the square root of the rows.)
 *
 * Blocks of increments may each have another length; runs of sessions with many
 * turns are kept as they are, and what caches have of them is counted when it
 * is asked for (long_run.h).
 */
#ifndef TB_STACK_DISTANCE_H
#define TB_STACK_DISTANCE_H

#include "long_run.h"
#include "prefix_tree.h"
#include "token_curve.h"

struct tb_stack_run {
    uint32_t slot;
    uint32_t above, end; /* nodes: in front of its first, and its last */
};

struct tb_stack_distance {
    bool has_runs;  /* prompts may go on from earlier ones: nodes know their
                       run; else their slot. Set it before the first */
    uint32_t *sums; /* Fenwick tree over slots: blocks of runs */
    size_t slot_capacity;
    uint32_t slot_count, slots_packed_at;
    struct tb_stack_run *runs; /* has_runs: by number */
    size_t run_capacity;
    uint32_t run_count;
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
