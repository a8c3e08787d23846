#include "vocab.h"

#include <string.h>

#include "memory.h"

void tb_vocab_init(struct tb_vocab *vocab)
{
    *vocab = (struct tb_vocab){.bytes = TB_BUFFER(UINT32_MAX - 1)};
}

static tb_status reserve_ids(struct tb_vocab *vocab, uint32_t count)
{
    uint32_t *at = tb_array_grow(vocab->at, &vocab->at_capacity, count,
                                 sizeof(*vocab->at));
    if (!at)
        return TB_ERR_MEMORY;
    vocab->at = at;
    uint32_t *len = tb_array_grow(vocab->len, &vocab->len_capacity, count,
                                  sizeof(*vocab->len));
    if (!len)
        return TB_ERR_MEMORY;
    vocab->len = len;
    return TB_OK;
}

tb_status tb_vocab_reserve(struct tb_vocab *vocab, uint32_t count,
                           size_t bytes_len)
{
    TB_TRY(reserve_ids(vocab, count));
    return tb_buffer_reserve(&vocab->bytes, bytes_len);
}

static tb_status grow_ids(struct tb_vocab *vocab, uint32_t count)
{
    TB_TRY(reserve_ids(vocab, count));
    while (vocab->id_count < count) {
        vocab->at[vocab->id_count] = UINT32_MAX;
        vocab->len[vocab->id_count++] = 0;
    }
    return TB_OK;
}

tb_status tb_vocab_set(struct tb_vocab *vocab, tb_token id,
                       struct tb_span bytes)
{
    if (id > TB_VOCAB_MAX_ID || bytes.len > TB_VOCAB_MAX_TOKEN_LEN)
        return TB_ERR_VALUE;
    if (id >= vocab->id_count)
        TB_TRY(grow_ids(vocab, id + 1));
    if (vocab->at[id] != UINT32_MAX)
        return TB_ERR_VALUE;
    size_t at = vocab->bytes.len;
    TB_TRY(tb_buffer_append(&vocab->bytes, bytes));
    vocab->at[id] = (uint32_t)at;
    vocab->len[id] = (uint32_t)bytes.len;
    return TB_OK;
}

struct tb_span tb_vocab_bytes(const struct tb_vocab *vocab, tb_token id)
{
    if (id >= vocab->id_count || vocab->at[id] == UINT32_MAX)
        return (struct tb_span){0};
    return (struct tb_span){vocab->bytes.ptr + vocab->at[id], vocab->len[id]};
}

uint64_t tb_vocab_hash(struct tb_span bytes)
{
    return tb_hash64(bytes, 0);
}

static struct tb_vocab_slot *slot_of(const struct tb_vocab *vocab,
                                     struct tb_span bytes, uint64_t hash)
{
    uint32_t mask = vocab->slot_count - 1;
    uint32_t tag = (uint32_t)(hash >> 32);
    uint32_t slot = (uint32_t)hash & mask;
    for (;; slot = (slot + 1) & mask) {
        struct tb_vocab_slot *found = &vocab->slots[slot];
        if (found->id == TB_NO_TOKEN)
            return found;
        if (found->tag == tag && vocab->len[found->id] == bytes.len &&
            tb_is_same(vocab->bytes.ptr + vocab->at[found->id], bytes.ptr,
                       bytes.len))
            return found;
    }
}

static void prefetch_slot(const struct tb_vocab *vocab, uint64_t hash)
{
    __builtin_prefetch(&vocab->slots[(uint32_t)hash & (vocab->slot_count - 1)]);
}

static void index_one(struct tb_vocab *vocab, tb_token id, uint64_t hash)
{
    struct tb_span bytes = tb_vocab_bytes(vocab, id);
    struct tb_vocab_slot *slot = slot_of(vocab, bytes, hash);
    vocab->has_twins = vocab->has_twins || slot->id != TB_NO_TOKEN;
    *slot = (struct tb_vocab_slot){(uint32_t)(hash >> 32), id};
    if (bytes.len > vocab->max_len)
        vocab->max_len = (uint32_t)bytes.len;
}

static void index_batch(struct tb_vocab *vocab, tb_token from,
                        bool (*is_findable)(const void *context, tb_token id),
                        const void *context)
{
    tb_token ids[TB_VOCAB_BATCH];
    uint64_t hashes[TB_VOCAB_BATCH];
    size_t count = 0;
    for (tb_token id = from; id < vocab->id_count && id - from < TB_VOCAB_BATCH;
         id++) {
        if (vocab->at[id] == UINT32_MAX ||
            (is_findable && !is_findable(context, id)))
            continue;
        ids[count] = id;
        hashes[count] = tb_vocab_hash(tb_vocab_bytes(vocab, id));
        prefetch_slot(vocab, hashes[count++]);
    }
    for (size_t i = 0; i < count; i++)
        index_one(vocab, ids[i], hashes[i]);
}

tb_status tb_vocab_index(struct tb_vocab *vocab,
                         bool (*is_findable)(const void *context, tb_token id),
                         const void *context)
{
    uint32_t slot_count = 64;
    while (slot_count / 2 < vocab->id_count)
        slot_count *= 2;
    tb_memory_free(vocab->slots);
    vocab->slots = tb_memory_resize(NULL, slot_count * sizeof(*vocab->slots));
    if (!vocab->slots)
        return TB_ERR_MEMORY;
    memset(vocab->slots, 0xFF, slot_count * sizeof(*vocab->slots));
    vocab->slot_count = slot_count;
    vocab->max_len = 0;
    vocab->has_twins = false;
    for (tb_token from = 0; from < vocab->id_count; from += TB_VOCAB_BATCH)
        index_batch(vocab, from, is_findable, context);
    return TB_OK;
}

tb_token tb_vocab_find_hashed(const struct tb_vocab *vocab,
                              struct tb_span bytes, uint64_t hash)
{
    return slot_of(vocab, bytes, hash)->id;
}

bool tb_vocab_find_twins(const struct tb_vocab *vocab, tb_token *id,
                         tb_token *twin)
{
    for (*id = 0; *id < vocab->id_count; (*id)++) {
        if (vocab->at[*id] == UINT32_MAX)
            continue;
        *twin = tb_vocab_find(vocab, tb_vocab_bytes(vocab, *id));
        if (*twin != *id)
            return true;
    }
    return false;
}

int tb_vocab_missing_byte(const struct tb_vocab *vocab)
{
    for (int byte = 0; byte < 256; byte++) {
        uint8_t symbol = (uint8_t)byte;
        if (tb_vocab_find(vocab, (struct tb_span){&symbol, 1}) == TB_NO_TOKEN)
            return byte;
    }
    return -1;
}

void tb_vocab_find_batch(const struct tb_vocab *vocab,
                         const struct tb_span *texts, tb_token *ids,
                         size_t count)
{
    uint64_t hashes[TB_VOCAB_BATCH];
    uint32_t mask = vocab->slot_count - 1;
    for (size_t i = 0; i < count; i++) {
        hashes[i] = tb_vocab_hash(texts[i]);
        prefetch_slot(vocab, hashes[i]);
    }
    // What the first slot names is mostly what is looked for.
    for (size_t i = 0; i < count; i++) {
        ids[i] = vocab->slots[(uint32_t)hashes[i] & mask].id;
        if (ids[i] == TB_NO_TOKEN)
            continue;
        __builtin_prefetch(&vocab->at[ids[i]]);
        __builtin_prefetch(&vocab->len[ids[i]]);
    }
    for (size_t i = 0; i < count; i++)
        if (ids[i] != TB_NO_TOKEN)
            __builtin_prefetch(vocab->bytes.ptr + vocab->at[ids[i]]);
    for (size_t i = 0; i < count; i++)
        ids[i] = texts[i].len > vocab->max_len
                     ? TB_NO_TOKEN
                     : tb_vocab_find_hashed(vocab, texts[i], hashes[i]);
}

void tb_vocab_release(struct tb_vocab *vocab)
{
    tb_buffer_release(&vocab->bytes);
    tb_memory_free(vocab->at);
    tb_memory_free(vocab->len);
    tb_memory_free(vocab->slots);
    tb_vocab_init(vocab);
}
