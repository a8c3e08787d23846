/* Which call of a session continues which.
 *
 * A load tester that is given increments sends a conversation on: the prompt
 * before, its answer, and what is new. A call may be sent so when its prompt
 * begins with that of an earlier one of the same run of the same agent, which
 * had been answered by then, and has more than that one's prompt and answer
 * together. Everything else (another agent, a history that was compacted, a
 * retry, calls at the same time) begins a conversation of its own.
 *
 * Of one session at a time; zero-initialised is empty and ready.
 */
#ifndef TB_TURN_CHAIN_H
#define TB_TURN_CHAIN_H

#include "block_table.h"
#include "endpoint.h"
#include "row_tokens.h"

/* The last turn of a conversation so far. */
struct tb_turn_chain {
    uint32_t number; /* of the conversation in its session, from 0 */
    uint32_t turn_count;
    uint64_t row_number;         /* of the last turn */
    struct tb_row_tokens tokens; /* of the last turn */
    uint64_t output_length;
    double end_s;        /* NAN: not known */
    uint64_t invocation; /* of its calls; 0: not known */
    bool is_closed;      /* nothing continues it */
    struct tb_hash128 last_block;
};

struct tb_turn_chains {
    bool is_verbatim; /* turns are sent as they are, not as what they add: set
                         before use */
    struct tb_turn_chain *items;
    size_t count, capacity;
    struct tb_tokens scratch[2];
};

/* The conversation that a call with these tokens continues, or NULL.
 * `tokens->total` is what the server counted; `endpoint` says what of it is no
 * content. */
struct tb_turn_chain *tb_turn_chains_find(struct tb_turn_chains *chains,
                                          const struct tb_row_tokens *tokens,
                                          const struct tb_call *call,
                                          const struct tb_endpoint *endpoint);

/* Begins a new conversation, without a turn yet. NULL when out of memory. */
struct tb_turn_chain *tb_turn_chains_add(struct tb_turn_chains *chains);

void tb_turn_chains_reset(struct tb_turn_chains *chains);
void tb_turn_chains_release(struct tb_turn_chains *chains);

#endif
