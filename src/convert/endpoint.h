/* What a chat endpoint adds to what it is sent: the model's template goes
 * around every message. A replay sends a conversation of user and assistant
 * messages whose contents are the rows and the live answers; the server counts
 * those and the template. So that its count is the recorded one, rows are
 * shorter by what the template adds.
 *
 * Found out by rendering such conversations. Zero-initialised adds nothing,
 * as a completions endpoint does. One thread.
 */
#ifndef TB_ENDPOINT_H
#define TB_ENDPOINT_H

#include "chat_template_set.h"
#include "tokenizer.h"

enum { TB_ENDPOINT_MAX_TURNS = 64 }; /* beyond, a turn adds what the last did */

struct tb_endpoint {
    uint64_t added[TB_ENDPOINT_MAX_TURNS + 1]; /* by number of turns, tokens */
    uint32_t turn_count; /* how many of these are known; 0: adds nothing */
    tb_status status;    /* TB_OK, or why nothing is known */
};

/* Renders conversations of 1 to TB_ENDPOINT_MAX_TURNS turns with the model's
 * template. A template that refuses them, or none, leaves `endpoint` adding
 * nothing. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_endpoint_init(
    struct tb_endpoint *endpoint, const struct tb_chat_template_set *templates,
    const struct tb_tokenizer *tokenizer);

/* Tokens that turn `turn` (from 0) of a conversation has on top of the one
 * before, beside the contents. */
uint64_t tb_endpoint_added(const struct tb_endpoint *endpoint, uint32_t turn);

#endif
