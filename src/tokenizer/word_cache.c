#include "word_cache.h"

#include <assert.h>

#include "buffer.h"
#include "memory.h"

enum {
    LINE_LEN = sizeof(struct tb_short_set), /* bytes of a cache line */
    GROW_BITS = 2, /* at once: to move words costs more than their room */
    LONG_FIRST_BITS = 10,
    LONG_MOST_BITS = 18,
    STORE_MOST = 1 << 21, /* entries, of four bytes each */
};

static_assert((TB_SHORT_MOST_BITS - TB_SHORT_FIRST_BITS) % GROW_BITS == 0,
              "the table of short words grows to its limit");

/* ---- short words ----------------------------------------------------------
 */

/* Sets are looked up at random, which large pages spare the walk through the
 * page table and, at first, 512 faults each: 6 % of the whole and more. */
static tb_status make_sets(struct tb_word_cache *cache, unsigned bits)
{
    size_t count = (size_t)1 << bits;
    size_t len = count * LINE_LEN;
    size_t aligned = len < TB_LARGE_PAGE ? LINE_LEN : TB_LARGE_PAGE;
    uint8_t *memory = tb_memory_zeroed(count + aligned / LINE_LEN, LINE_LEN);
    if (!memory)
        return TB_ERR_MEMORY;
    size_t gap = (aligned - (uintptr_t)memory % aligned) % aligned;
    if (aligned == TB_LARGE_PAGE)
        tb_memory_prefer_large_pages(memory + gap, len);
    cache->memory = memory;
    cache->short_sets = (struct tb_short_set *)(void *)(memory + gap);
    cache->short_bits = bits;
    cache->short_count = 0;
    return TB_OK;
}

// Where a word goes: its own place if it has one, else the first.
static struct tb_short_word *place_of(struct tb_word_cache *cache,
                                      struct tb_short_set *set,
                                      const uint64_t key[2])
{
    if (!tb_short_find(set, key)) {
        cache->short_count++;
        set->words[1] = set->words[0];
        return &set->words[0];
    }
    bool is_second =
        set->words[0].key[0] != key[0] || set->words[0].key[1] != key[1];
    return &set->words[is_second];
}

static void copy_word(struct tb_word_cache *cache,
                      const struct tb_short_word *word)
{
    if (word->key[1] != 0)
        *place_of(cache, tb_short_set(cache, word->key), word->key) = *word;
}

void tb_word_cache_grow(struct tb_word_cache *cache)
{
    size_t count = (size_t)1 << cache->short_bits;
    if (cache->short_count < count || cache->short_bits == TB_SHORT_MOST_BITS)
        return;
    struct tb_word_cache old = *cache;
    if (make_sets(cache, old.short_bits + GROW_BITS) != TB_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        copy_word(cache, &old.short_sets[i].words[1]);
        copy_word(cache, &old.short_sets[i].words[0]);
    }
    tb_memory_free(old.memory);
}

/* ---- the store ------------------------------------------------------------
 */

static void forget_stored(struct tb_word_cache *cache)
{
    memset(cache->long_slots, 0,
           sizeof(*cache->long_slots) << cache->long_bits);
    cache->long_count = 0;
    cache->store_count = 0;
    cache->filling++;
}

// Room for so many entries; NULL when there is no memory.
static uint32_t *store_room(struct tb_word_cache *cache, size_t count)
{
    if (cache->store_count + count > STORE_MOST)
        forget_stored(cache);
    uint32_t *grown =
        tb_array_grow(cache->store, &cache->store_capacity,
                      cache->store_count + count, sizeof(*cache->store));
    if (!grown)
        return NULL;
    cache->store = grown;
    uint32_t *room = grown + cache->store_count;
    cache->store_count += count;
    return room;
}

struct tb_word_ids tb_short_stored(const struct tb_word_cache *cache,
                                   const struct tb_short_ids *value)
{
    if (value->ids[1] != cache->filling)
        return (struct tb_word_ids){0};
    const uint32_t *stored = cache->store + value->ids[0];
    return (struct tb_word_ids){stored + 1, stored[0]};
}

void tb_short_add(struct tb_word_cache *cache, struct tb_short_set *set,
                  const uint64_t key[2], const tb_token *ids, size_t count)
{
    struct tb_short_ids value = {.count = (uint32_t)count};
    if (count > TB_SHORT_IDS) {
        uint32_t *room = store_room(cache, count + 1);
        if (!room)
            return;
        room[0] = (uint32_t)count;
        memcpy(room + 1, ids, count * sizeof(*ids));
        value.count = TB_SHORT_IS_STORED;
        value.ids[0] = (uint32_t)(room - cache->store);
        value.ids[1] = cache->filling;
    } else if (count > 0) {
        memcpy(value.ids, ids, count * sizeof(*ids));
    }
    struct tb_short_word *place = place_of(cache, set, key);
    *place = (struct tb_short_word){{key[0], key[1]}, value};
}

/* ---- long words -----------------------------------------------------------
 */

static struct tb_span bytes_of(const uint32_t *stored)
{
    return (struct tb_span){(const uint8_t *)(stored + 2 + stored[0]),
                            stored[1]};
}

static uint64_t hash_of(const struct tb_word_cache *cache, struct tb_span word)
{
    return tb_hash64(word, cache->secret);
}

// The slot of the word, or the empty one where it would be.
static struct tb_long_slot *slot_of(const struct tb_word_cache *cache,
                                    struct tb_span word, uint64_t hash)
{
    size_t mask = ((size_t)1 << cache->long_bits) - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct tb_long_slot *slot = &cache->long_slots[i];
        if (slot->at == 0 ||
            (slot->tag == (uint32_t)(hash >> 32) &&
             tb_span_equal(bytes_of(cache->store + slot->at - 1), word)))
            return slot;
    }
}

struct tb_word_ids tb_long_find(const struct tb_word_cache *cache,
                                struct tb_span word)
{
    if (word.len > TB_LONG_LEN)
        return (struct tb_word_ids){0};
    const struct tb_long_slot *slot =
        slot_of(cache, word, hash_of(cache, word));
    if (slot->at == 0)
        return (struct tb_word_ids){0};
    const uint32_t *stored = cache->store + slot->at - 1;
    return (struct tb_word_ids){stored + 2, stored[0]};
}

static tb_status make_slots(struct tb_word_cache *cache, unsigned bits)
{
    struct tb_long_slot *slots =
        tb_memory_zeroed((size_t)1 << bits, sizeof(*slots));
    if (!slots)
        return TB_ERR_MEMORY;
    cache->long_slots = slots;
    cache->long_bits = bits;
    return TB_OK;
}

// Twice as many slots, if that is due; false: no room for another word.
static bool grow_slots(struct tb_word_cache *cache)
{
    size_t count = (size_t)1 << cache->long_bits;
    if (cache->long_count < count / 2)
        return true;
    if (cache->long_bits == LONG_MOST_BITS) {
        forget_stored(cache);
        return true;
    }
    struct tb_long_slot *old = cache->long_slots;
    if (make_slots(cache, cache->long_bits + 1) != TB_OK)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (old[i].at == 0)
            continue;
        struct tb_span word = bytes_of(cache->store + old[i].at - 1);
        *slot_of(cache, word, hash_of(cache, word)) = old[i];
    }
    tb_memory_free(old);
    return true;
}

void tb_long_add(struct tb_word_cache *cache, struct tb_span word,
                 const tb_token *ids, size_t count)
{
    if (word.len > TB_LONG_LEN || count > TB_LONG_LEN || !grow_slots(cache))
        return;
    size_t word_count = (word.len + sizeof(uint32_t) - 1) / sizeof(uint32_t);
    uint32_t *room = store_room(cache, 2 + count + word_count);
    if (!room)
        return;
    room[0] = (uint32_t)count;
    room[1] = (uint32_t)word.len;
    if (count > 0)
        memcpy(room + 2, ids, count * sizeof(*ids));
    memcpy(room + 2 + count, word.ptr, word.len);
    uint64_t hash = hash_of(cache, word);
    *slot_of(cache, word, hash) = (struct tb_long_slot){
        (uint32_t)(hash >> 32), (uint32_t)(room - cache->store) + 1};
    cache->long_count++;
}

/* ---- both -----------------------------------------------------------------
 */

tb_status tb_word_cache_init(struct tb_word_cache *cache)
{
    cache->secret = tb_hash_secret();
    TB_TRY(make_sets(cache, TB_SHORT_FIRST_BITS));
    return make_slots(cache, LONG_FIRST_BITS);
}

void tb_word_cache_release(struct tb_word_cache *cache)
{
    tb_memory_free(cache->memory);
    tb_memory_free(cache->long_slots);
    tb_memory_free(cache->store);
    *cache = (struct tb_word_cache){0};
}
