/* Prompts of an agent repeat the one before and add a little. This encodes a
 * prompt by taking over the ids of what it has in common with a recent one.
 *
 * Exact, since a text is cut only where no tokenizer of the supported kinds
 * can see across: see safe_cut.h and docs/TOKENIZER.md. One per
 * thread.
 */
#ifndef TB_PROMPT_CACHE_H
#define TB_PROMPT_CACHE_H

#include "tokenizer.h"

struct tb_prompt_cache;

#define TB_PROMPT_NO_TAG UINT64_MAX

struct tb_prompt_tokens {
    const tb_token *ids; /* all of the prompt; valid until the next call */
    size_t count;
    uint64_t base_tag;   /* of the prompt that it begins like, or none */
    size_t shared_count; /* ids that it has in common with that one */
};

/* Uses `encoder`, which stays the caller's and outlives the cache. */
TB_NODISCARD tb_status tb_prompt_cache_new(struct tb_encoder *encoder,
                                           bool is_reusing,
                                           struct tb_prompt_cache **cache);

/* Encodes `text` (valid UTF-8) and remembers it under `tag`, any number but
 * TB_PROMPT_NO_TAG. */
TB_NODISCARD tb_status tb_prompt_cache_encode(struct tb_prompt_cache *cache,
                                              struct tb_span text, uint64_t tag,
                                              struct tb_prompt_tokens *tokens);

void tb_prompt_cache_free(struct tb_prompt_cache *cache);

#endif
