/* What a prefix cache would serve of a trace, at one block size: prompts go in
 * in the order of their rows, figures come out. One thread at a time.
 *
 *     tb_prefix_cache_begin(&cache, start);
 *     TB_TRY(tb_prefix_cache_extend(&cache, ids, count, tail_len));
 *     TB_TRY(tb_prefix_cache_end(&cache, &prompt, &served));
 */
#ifndef TB_PREFIX_CACHE_H
#define TB_PREFIX_CACHE_H

#include "prefix_tree.h"
#include "row_numbers.h"
#include "stack_distance.h"
#include "visitor_set.h"

/* Who rows are of. */
struct tb_row_owners {
    struct tb_row_numbers
        sessions; /* none: UINT32_MAX, of rows that are alone */
    struct tb_row_numbers agents;
};

struct tb_prefix_cache {
    const struct tb_row_owners *owners; /* of all rows so far; borrowed */
    struct tb_prefix_tree tree;
    struct tb_stack_distance stack;
    struct tb_visitor_set sessions, agents; /* of nodes, but for their first */
    uint64_t prompt_tokens;                 /* of all prompts */
    /* tokens that an infinite cache serves, by who had them before */
    uint64_t session_tokens, agent_tokens, other_tokens;
    uint64_t block_count;        /* of all prompts */
    uint64_t served_block_count; /* ... that an infinite cache serves */
    double share_sum;            /* of served blocks / blocks of a prompt */
    uint64_t id_prompt_count;    /* prompts with blocks */
    uint32_t row_count;
};

struct tb_cached_prompt {
    uint32_t session; /* UINT32_MAX: no other prompt is of its session */
    uint32_t agent;   /* below UINT32_MAX */
    uint64_t length;  /* tokens of the whole prompt */
    /* The prompt is one piece: its blocks are full up to `covered` tokens (no
     * more than `length`). Else each piece has a last block of its own. */
    bool is_one_piece;
    uint64_t covered;
    bool is_long; /* it goes on from many prompts of its session, all of them
                     beginnings of it */
};

/* `has_increments`: prompts may begin where earlier ones end. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_prefix_cache_init(struct tb_prefix_cache *cache,
                                            uint32_t block_len,
                                            bool has_increments,
                                            const struct tb_row_owners *owners);

/* A prompt begins with all that leads to the end of node `start` (of an earlier
 * prompt, or TB_PREFIX_ROOT). */
void tb_prefix_cache_begin(struct tb_prefix_cache *cache, uint32_t start);

/* ... goes on by `count` blocks, the last of `tail_len` tokens ... */
TB_NODISCARD tb_status tb_prefix_cache_extend(struct tb_prefix_cache *cache,
                                              const uint64_t *ids, size_t count,
                                              uint32_t tail_len);

/* ... or by an answer of `tokens` tokens, first of all ... */
TB_NODISCARD tb_status tb_prefix_cache_answer(struct tb_prefix_cache *cache,
                                              uint64_t tokens);

/* ... and is sent; owners know its row. `*served` is how many of its tokens an
 * infinite cache has. TB_ERR_MEMORY, TB_ERR_LIMIT. */
TB_NODISCARD tb_status
tb_prefix_cache_end(struct tb_prefix_cache *cache,
                    const struct tb_cached_prompt *prompt, uint64_t *served);

/* The node where the last prompt ends. */
uint32_t tb_prefix_cache_last(const struct tb_prefix_cache *cache);

/* Behind the last prompt, once: what tree and stack tell then. `ends` says by
 * session where its last prompt ends; NULL: none is long. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_prefix_cache_finish(struct tb_prefix_cache *cache,
                                              const uint32_t *ends);

uint64_t tb_prefix_cache_served(const struct tb_prefix_cache *cache);

void tb_prefix_cache_release(struct tb_prefix_cache *cache);

#endif
