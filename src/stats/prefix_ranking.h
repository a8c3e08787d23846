/* Which beginnings of prompts save most when they are cached. */
#ifndef TB_PREFIX_RANKING_H
#define TB_PREFIX_RANKING_H

#include "prefix_tree.h"

/* A beginning that prompts of two sessions at least have, as long as it can be
 * without fewer prompts having it. */
struct tb_shared_prefix {
    uint64_t saved_tokens; /* its tokens x (rows - 1) */
    uint64_t tokens, rows;
    uint32_t blocks;
    uint64_t last_id;   /* of its last block */
    uint32_t first_row; /* that has it, from 0 */
};

/* Fills `prefixes` with up to `most` of them, the largest saving first; of
 * equal ones the longer first, then the earlier. Returns how many there are.
 * `tree` is finished. */
size_t tb_prefix_ranking(const struct tb_prefix_tree *tree,
                         struct tb_shared_prefix *prefixes, size_t most);

/* Of all beginnings of all prompts, one for each block, the share that more
 * than one prompt has: what aiperf calls prefix reuse ratio. 0 without any.
 * `tree` is finished. */
double tb_prefix_reuse_ratio(const struct tb_prefix_tree *tree);

#endif
