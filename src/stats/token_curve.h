/* How many tokens lie within each distance: a curve that is known at all
 * distances, in memory for those at which it bends.
 *
 * Small distances, up to a million, come again and again and have a place each:
 * up to 8 MB. Larger ones are gathered in a list, which is sorted and put
 * together when it is full. One thread at a time; zero-initialised is empty and
 * ready.
 */
#ifndef TB_TOKEN_CURVE_H
#define TB_TOKEN_CURVE_H

#include "status.h"

struct tb_token_change {
    uint64_t distance;
    uint64_t tokens; /* of a block there less those of one before, wrapping */
};

struct tb_token_mark {
    uint64_t sum, rate; /* before a change: tokens up to there, of a block */
};

struct tb_token_curve {
    uint64_t *near;      /* changes at the first distances, */
    uint64_t near_count; /* ... which are there up to here */
    struct tb_token_change *far;
    size_t far_count, far_capacity;
    struct tb_token_mark *marks; /* of some of the changes, once finished */
};

/* `count` blocks of `tokens` each, at distances from `distance` (at least 1)
 * on. What was too much can be taken away again: 0 less so many tokens,
 * wrapping. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_token_curve_add(struct tb_token_curve *curve,
                                          uint64_t distance, uint64_t count,
                                          uint64_t tokens);

/* Behind the last, once. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_token_curve_finish(struct tb_token_curve *curve);

/* Then: tokens at distances up to `distance`. */
uint64_t tb_token_curve_at(const struct tb_token_curve *curve,
                           uint64_t distance);

void tb_token_curve_release(struct tb_token_curve *curve);

#endif
