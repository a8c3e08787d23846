/* Runs of blocks in sessions of many turns, whose rows are increments.
 *
 * Each turn goes over all of its session again, and each piece of it may end
 * in a block of another length: to count their tokens by distance would cost
 * the square of the turns. So only where the run lay is kept; what caches of
 * some size have of it is one look into the session's list of pieces, made
 * once, when it is asked for. One thread at a time; zero-initialised is empty
 * and ready.
 */
#ifndef TB_LONG_RUN_H
#define TB_LONG_RUN_H

#include "prefix_tree.h"

#define TB_LONG_RUN_NONE UINT32_MAX

struct tb_long_run {
    uint32_t path;
    uint32_t from, to; /* depths: blocks from + 1 to `to`, ... */
    uint32_t since;    /* ... at distances from since + 1 on */
};

struct tb_long_path {
    size_t piece_at, piece_count;
    size_t run_at, run_count;
};

struct tb_long_runs {
    struct tb_long_run *runs; /* by path, once finished */
    size_t count, capacity;
    struct tb_long_path *paths;
    size_t path_count, path_capacity;
    struct tb_prefix_piece *pieces; /* of paths, by depth */
    size_t piece_count, piece_capacity;
};

/* TB_ERR_MEMORY */
TB_NODISCARD tb_status tb_long_runs_add(struct tb_long_runs *runs,
                                        struct tb_long_run run);

/* Behind the last, once. `ends` says by path where its last prompt ends, which
 * goes on from all others of it. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_long_runs_finish(struct tb_long_runs *runs,
                                           const struct tb_prefix_tree *tree,
                                           const uint32_t *ends);

/* Then: their tokens at distances up to `distance`. */
uint64_t tb_long_runs_at(const struct tb_long_runs *runs, uint32_t block_len,
                         uint64_t distance);

void tb_long_runs_release(struct tb_long_runs *runs);

#endif
