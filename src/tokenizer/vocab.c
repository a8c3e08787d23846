#include "vocab.h"

#include <string.h>

#include "memory.h"

void tb_vocab_init(struct tb_vocab *vocab)
{
    *vocab = (struct tb_vocab){.bytes = TB_BUFFER(UINT32_MAX - 1)};
}

static tb_status grow_ids(struct tb_vocab *vocab, uint32_t count)
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
        if (found->tag == tag &&
            tb_span_equal(tb_vocab_bytes(vocab, found->id), bytes))
            return found;
    }
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
    for (tb_token id = 0; id < vocab->id_count; id++) {
        if (vocab->at[id] == UINT32_MAX ||
            (is_findable && !is_findable(context, id)))
            continue;
        struct tb_span bytes = tb_vocab_bytes(vocab, id);
        uint64_t hash = tb_vocab_hash(bytes);
        *slot_of(vocab, bytes, hash) =
            (struct tb_vocab_slot){(uint32_t)(hash >> 32), id};
        if (bytes.len > vocab->max_len)
            vocab->max_len = (uint32_t)bytes.len;
    }
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

void tb_vocab_release(struct tb_vocab *vocab)
{
    tb_buffer_release(&vocab->bytes);
    tb_memory_free(vocab->at);
    tb_memory_free(vocab->len);
    tb_memory_free(vocab->slots);
    tb_vocab_init(vocab);
}
