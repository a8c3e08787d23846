#include "turn_chain.h"

#include <math.h>
#include <string.h>

#include "memory.h"

enum {
    LOOK_BACK = 32, /* conversations that are looked at, newest first */
    /* Tokens at the end of a prompt that may read otherwise once an answer
     * stands behind them: a word that goes on, the template's opening of the
     * answer. */
    SEAM_LEN = 8,
    COMPARE_LEN = 4096, /* tokens compared at a time */
};

// Are the tokens [from, to) of both the same?
static bool is_equal(struct tb_turn_chains *chains,
                     const struct tb_row_tokens *a,
                     const struct tb_row_tokens *b, uint64_t to)
{
    for (size_t i = 0; i < 2; i++) {
        struct tb_tokens *scratch = &chains->scratch[i];
        tb_token *ids = tb_array_grow(scratch->ids, &scratch->capacity,
                                      COMPARE_LEN, sizeof(*ids));
        if (!ids)
            return false; // then it is a conversation of its own
        scratch->ids = ids;
    }
    for (uint64_t from = 0; from < to; from += COMPARE_LEN) {
        uint64_t end = from + COMPARE_LEN < to ? from + COMPARE_LEN : to;
        tb_row_tokens_copy(a, from, end, chains->scratch[0].ids);
        tb_row_tokens_copy(b, from, end, chains->scratch[1].ids);
        if (memcmp(chains->scratch[0].ids, chains->scratch[1].ids,
                   (size_t)(end - from) * sizeof(tb_token)) != 0)
            return false;
    }
    return true;
}

// Is it a later call of the same agent, and of the same run of it?
static bool is_of_same_agent(const struct tb_turn_chain *chain,
                             const struct tb_row_tokens *tokens,
                             const struct tb_call *call)
{
    bool is_other_run = chain->invocation && call->invocation &&
                        chain->invocation != call->invocation;
    return !chain->is_closed && !is_other_run &&
           tokens->group == chain->tokens.group &&
           !(chain->end_s > call->start_s);
}

// Tokens of which a prompt must have more to be sent behind this turn.
static uint64_t least_len(const struct tb_turn_chains *chains,
                          const struct tb_turn_chain *chain,
                          const struct tb_endpoint *endpoint)
{
    if (chains->is_verbatim)
        return chain->tokens.total;
    return chain->tokens.total + chain->output_length +
           tb_endpoint_added(endpoint, chain->turn_count);
}

static bool does_continue(struct tb_turn_chains *chains,
                          const struct tb_turn_chain *chain,
                          const struct tb_row_tokens *tokens,
                          const struct tb_call *call,
                          const struct tb_endpoint *endpoint)
{
    const struct tb_row_tokens *before = &chain->tokens;
    if (!is_of_same_agent(chain, tokens, call) ||
        tokens->total <= least_len(chains, chain, endpoint))
        return false;
    // What the server counted beyond the text is not compared: only the
    // front and the text are known.
    uint64_t known = before->front + before->text_count;
    if (known > before->total)
        known = before->total;
    if (tokens->front + tokens->text_count < known)
        return false;
    uint64_t compared = known > SEAM_LEN ? known - SEAM_LEN : known;
    return is_equal(chains, before, tokens, compared);
}

struct tb_turn_chain *tb_turn_chains_find(struct tb_turn_chains *chains,
                                          const struct tb_row_tokens *tokens,
                                          const struct tb_call *call,
                                          const struct tb_endpoint *endpoint)
{
    struct tb_turn_chain *best = NULL;
    size_t last = chains->count > LOOK_BACK ? chains->count - LOOK_BACK : 0;
    for (size_t i = chains->count; i-- > last;) {
        struct tb_turn_chain *chain = &chains->items[i];
        // The longest history that fits is the one that was sent on.
        if (best && chain->tokens.total <= best->tokens.total)
            continue;
        if (does_continue(chains, chain, tokens, call, endpoint))
            best = chain;
    }
    return best;
}

struct tb_turn_chain *tb_turn_chains_add(struct tb_turn_chains *chains)
{
    struct tb_turn_chain *items = tb_array_grow(
        chains->items, &chains->capacity, chains->count + 1, sizeof(*items));
    if (!items)
        return NULL;
    chains->items = items;
    struct tb_turn_chain *added = &items[chains->count];
    *added =
        (struct tb_turn_chain){.number = (uint32_t)chains->count, .end_s = NAN};
    chains->count++;
    return added;
}

void tb_turn_chains_reset(struct tb_turn_chains *chains)
{
    chains->count = 0;
}

void tb_turn_chains_release(struct tb_turn_chains *chains)
{
    tb_memory_free(chains->items);
    tb_tokens_release(&chains->scratch[0]);
    tb_tokens_release(&chains->scratch[1]);
    *chains = (struct tb_turn_chains){0};
}
