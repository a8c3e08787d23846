#include "prompt_store.h"

#include <assert.h>
#include <string.h>

#include "memory.h"

static tb_status reserve(struct tb_prompt_store *store, uint64_t count)
{
    struct tb_prompt *prompts = tb_array_grow(
        store->prompts, &store->prompts_capacity, count, sizeof(*prompts));
    if (!prompts)
        return TB_ERR_MEMORY;
    store->prompts = prompts;
    uint64_t *answers =
        tb_array_grow(store->answer_counts, &store->answers_capacity, count,
                      sizeof(*answers));
    if (!answers)
        return TB_ERR_MEMORY;
    store->answer_counts = answers;
    for (; store->count < count; store->count++) {
        prompts[store->count] = (struct tb_prompt){0};
        answers[store->count] = 0;
    }
    return TB_OK;
}

tb_status tb_prompt_store_add(struct tb_prompt_store *store, uint64_t number,
                              const struct tb_prompt *prompt,
                              uint64_t answer_count)
{
    if (number >= store->count)
        TB_TRY(reserve(store, number + 1));
    assert(prompt->base == TB_PROMPT_NO_TAG ||
           (prompt->base < number &&
            prompt->shared_count <=
                tb_prompt_store_token_count(store, prompt->base)));
    struct tb_span own = {(const uint8_t *)prompt->own,
                          prompt->own_count * sizeof(tb_token)};
    struct tb_span copy;
    TB_TRY(tb_arena_copy(&store->arena, own, &copy));
    struct tb_prompt *added = &store->prompts[number];
    *added = *prompt;
    added->own = (const tb_token *)(const void *)copy.ptr;
    TB_TRY(tb_arena_copy(&store->arena, prompt->refusal, &added->refusal));
    TB_TRY(tb_arena_copy(&store->arena, prompt->messages, &added->messages));
    TB_TRY(tb_arena_copy(&store->arena, prompt->tools, &added->tools));
    store->answer_counts[number] = answer_count;
    return TB_OK;
}

uint64_t tb_prompt_store_token_count(const struct tb_prompt_store *store,
                                     uint64_t number)
{
    const struct tb_prompt *prompt = &store->prompts[number];
    return prompt->shared_count + prompt->own_count;
}

void tb_prompt_store_copy(const struct tb_prompt_store *store, uint64_t number,
                          uint64_t from, uint64_t to, tb_token *ids)
{
    // From the end to the beginning: what is not a prompt's own, and only
    // that, is its base's.
    while (from < to) {
        const struct tb_prompt *prompt = &store->prompts[number];
        uint64_t own_from =
            from > prompt->shared_count ? from : prompt->shared_count;
        if (own_from < to) {
            memcpy(ids + (own_from - from),
                   prompt->own + (own_from - prompt->shared_count),
                   (size_t)(to - own_from) * sizeof(*ids));
            to = own_from;
        }
        assert(from == to || prompt->base != TB_PROMPT_NO_TAG);
        number = prompt->base;
    }
}

bool tb_prompt_store_is_equal(const struct tb_prompt_store *store, uint64_t a,
                              uint64_t b)
{
    enum { PIECE = 512 }; // tokens compared at a time
    tb_token ids[2][PIECE];
    uint64_t count = tb_prompt_store_token_count(store, a);
    if (count != tb_prompt_store_token_count(store, b))
        return false;
    for (uint64_t from = 0; from < count; from += PIECE) {
        uint64_t to = from + PIECE < count ? from + PIECE : count;
        tb_prompt_store_copy(store, a, from, to, ids[0]);
        tb_prompt_store_copy(store, b, from, to, ids[1]);
        if (memcmp(ids[0], ids[1], (size_t)(to - from) * sizeof(**ids)) != 0)
            return false;
    }
    return true;
}

void tb_prompt_store_reset(struct tb_prompt_store *store)
{
    tb_arena_reset(&store->arena);
    store->count = 0;
}

void tb_prompt_store_release(struct tb_prompt_store *store)
{
    tb_arena_release(&store->arena);
    tb_memory_free(store->prompts);
    tb_memory_free(store->answer_counts);
    *store = (struct tb_prompt_store){0};
}
