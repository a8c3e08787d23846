/* The prompts of one session as ids, each told by what it adds to an earlier
 * one, so that a session of many turns costs its new text only.
 *
 * Zero-initialised is empty and ready; reset for the next session. */
#ifndef TB_PROMPT_STORE_H
#define TB_PROMPT_STORE_H

#include "batch.h"

struct tb_prompt_store {
    struct tb_arena arena;
    struct tb_prompt *prompts; /* by number; own == NULL: no such prompt */
    uint64_t *answer_counts;   /* by number: tokens of an answer */
    size_t prompts_capacity, answers_capacity;
    uint64_t count; /* largest number + 1 */
};

/* Takes over what a record yielded; the ids are copied. The prompt that it
 * begins like was added before. */
TB_NODISCARD tb_status tb_prompt_store_add(struct tb_prompt_store *store,
                                           uint64_t number,
                                           const struct tb_prompt *prompt,
                                           uint64_t answer_count);

/* Ids in all of prompt `number`, which is there. */
uint64_t tb_prompt_store_token_count(const struct tb_prompt_store *store,
                                     uint64_t number);

/* Copies the ids [from, to) of prompt `number` to `ids`. */
void tb_prompt_store_copy(const struct tb_prompt_store *store, uint64_t number,
                          uint64_t from, uint64_t to, tb_token *ids);

/* Are both prompts, which are there, the same ids? */
bool tb_prompt_store_is_equal(const struct tb_prompt_store *store, uint64_t a,
                              uint64_t b);

void tb_prompt_store_reset(struct tb_prompt_store *store);
void tb_prompt_store_release(struct tb_prompt_store *store);

#endif
