#include "memo.h"

#include <string.h>

#include "hash.h"
#include "memory.h"

enum {
    SET_COUNT = 512,
    WAY_COUNT = 4,            /* places for keys that begin alike */
    GENERATION_LEN = 2 << 20, /* bytes added until the older half goes */
};

struct entry {
    uint64_t hash; /* of kind and the key's beginning */
    tb_memo_kind kind;
    struct tb_span key;
    const void *value;
    uint64_t generation; /* 0: none */
};

struct tb_memo {
    struct entry sets[SET_COUNT][WAY_COUNT];
    unsigned next[SET_COUNT]; /* the way that is given away next */
    /* What was added lives in the arena of its generation; there are two. */
    struct tb_arena arenas[2];
    uint64_t generation;
};

tb_status tb_memo_new(struct tb_memo **memo)
{
    *memo = tb_memory_zeroed(1, sizeof(**memo));
    if (!*memo)
        return TB_ERR_MEMORY;
    (*memo)->generation = 1;
    return TB_OK;
}

struct tb_arena *tb_memo_arena(struct tb_memo *memo)
{
    return &memo->arenas[memo->generation % 2];
}

void tb_memo_begin(struct tb_memo *memo)
{
    if (tb_memo_arena(memo)->used_len < GENERATION_LEN)
        return;
    memo->generation++;
    tb_arena_reset(tb_memo_arena(memo));
}

static uint64_t hash_of(tb_memo_kind kind, struct tb_span bytes)
{
    bytes.len = TB_MEMO_MIN_LEN;
    return tb_hash64(bytes, (uintptr_t)kind);
}

const void *tb_memo_find(const struct tb_memo *memo, tb_memo_kind kind,
                         struct tb_span bytes, size_t *key_len)
{
    if (bytes.len < TB_MEMO_MIN_LEN)
        return NULL;
    uint64_t hash = hash_of(kind, bytes);
    const struct entry *set = memo->sets[hash % SET_COUNT];
    for (size_t i = 0; i < WAY_COUNT; i++) {
        const struct entry *entry = &set[i];
        if (entry->hash != hash || entry->kind != kind ||
            entry->generation + 1 < memo->generation ||
            !tb_span_starts_with(bytes, entry->key))
            continue;
        *key_len = entry->key.len;
        return entry->value;
    }
    return NULL;
}

tb_status tb_memo_copy(struct tb_memo *memo, struct tb_span bytes,
                       struct tb_span *copy)
{
    return tb_arena_copy(tb_memo_arena(memo), bytes, copy);
}

void tb_memo_add(struct tb_memo *memo, tb_memo_kind kind, struct tb_span key,
                 const void *value)
{
    if (!tb_memo_takes(key))
        return;
    uint64_t hash = hash_of(kind, key);
    size_t set = hash % SET_COUNT;
    memo->sets[set][memo->next[set]++ % WAY_COUNT] =
        (struct entry){hash, kind, key, value, memo->generation};
}

void tb_memo_free(struct tb_memo *memo)
{
    if (!memo)
        return;
    tb_arena_release(&memo->arenas[0]);
    tb_arena_release(&memo->arenas[1]);
    tb_memory_free(memo);
}
