/* What a row's tokens are: those of its text, and placeholders for tokens
 * that the server counted and we do not have.
 *
 *     [front placeholders][tokens of the text][end placeholders]
 *
 * cut or filled to the row's length. The server counted more than the text has
 * because of tool schemas and the chat template, which stand in front and are
 * shared by all calls of an agent. So the surplus of the first call of a
 * model, agent and tool list (a group) goes in front of all calls of it, as
 * placeholders that depend on the group and the position alone; what a later
 * call has beyond that goes to its end and is shared with nobody.
 *
 * Where rows must not depend on which other sessions a run has, the first call
 * is that of the session, and its surplus goes in front in steps of
 * TB_FRONT_STEP tokens: so most sessions of a group have the same one although
 * their texts are counted a little differently. What is left goes to the end.
 */
#ifndef TB_ROW_TOKENS_H
#define TB_ROW_TOKENS_H

#include "prompt_store.h"

enum { TB_FRONT_STEP = 8 };

struct tb_row_group;

/* The groups of a run. Zero-initialised is empty and ready. */
struct tb_row_groups {
    struct tb_name_table keys;
    struct tb_row_group *items; /* by number */
    size_t capacity;
    uint64_t tail_seed;      /* differs for each row */
    bool is_by_session;      /* no session depends on others; set before use */
    uint64_t session_number; /* of the current one, from 1 */
};

void tb_row_groups_release(struct tb_row_groups *groups);

/* Rows of the session called `name` follow. */
void tb_row_groups_begin_session(struct tb_row_groups *groups,
                                 struct tb_span name);

/* The tokens of one row. */
struct tb_row_tokens {
    const struct tb_prompt_store *prompts;
    uint64_t prompt;     /* number */
    uint64_t text_count; /* its tokens */
    uint32_t group;
    uint64_t front; /* placeholders before the text */
    uint64_t total; /* tokens of the row */
    uint64_t front_seed, tail_seed;
};

/* Finds the call's group and decides on the row's length: with
 * `does_usage_lead` the server's count where there is one, else ours.
 * TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_row_tokens_init(struct tb_row_tokens *tokens,
                                          struct tb_row_groups *groups,
                                          const struct tb_call *call,
                                          const struct tb_prompt_store *prompts,
                                          bool does_usage_lead);

/* Copies the tokens [from, to); `to` <= `total`. */
void tb_row_tokens_copy(const struct tb_row_tokens *tokens, uint64_t from,
                        uint64_t to, tb_token *ids);

#endif
