#include "block_set.h"

#include <assert.h>
#include <string.h>

#include "hash.h"
#include "memory.h"

enum {
    FIRST_CAPACITY = 1024,
    KEY_BITS = 128,   // of a block: its id, and the one before it
    FEW_ENTRIES = 16, // that are sorted by insertion
};

void tb_block_set_init(struct tb_block_set *set, uint32_t max_count)
{
    *set = (struct tb_block_set){.max_count = max_count,
                                 .secret = tb_hash_secret()};
}

static uint64_t find_slot(const struct tb_block_set *set, uint64_t before,
                          uint64_t id)
{
    const uint64_t key[] = {id, before};
    const struct tb_span bytes = {(const uint8_t *)key, sizeof(key)};
    uint64_t mask = set->slot_count - 1;
    uint64_t slot = tb_hash64(bytes, set->secret) & mask;
    for (;; slot = (slot + 1) & mask) {
        if (set->slots[slot] == 0)
            return slot;
        const struct tb_block_entry *entry =
            &set->entries[set->slots[slot] - 1];
        if (entry->id == id && entry->before == before)
            return slot;
    }
}

static void fill_slots(struct tb_block_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        set->slots[find_slot(set, set->entries[i].before, set->entries[i].id)] =
            i + 1;
}

/* Twice as much, but not more than the set may have. */
static tb_status grow(struct tb_block_set *set)
{
    uint64_t capacity =
        set->capacity ? set->capacity * UINT64_C(2) : (uint64_t)FIRST_CAPACITY;
    if (capacity > set->max_count)
        capacity = set->max_count;
    struct tb_block_entry *entries = tb_memory_resize(
        set->entries, (size_t)capacity * sizeof(*set->entries));
    if (!entries)
        return TB_ERR_MEMORY;
    set->entries = entries;
    uint64_t slot_count = 1;
    while (slot_count * 3 < capacity * 4)
        slot_count *= 2;
    // The old ones say nothing that the entries do not say.
    tb_memory_free(set->slots);
    set->slots = tb_memory_zeroed((size_t)slot_count, sizeof(*set->slots));
    set->slot_count = set->slots ? slot_count : 0;
    if (!set->slots) {
        set->capacity = 0;
        set->count = 0;
        return TB_ERR_MEMORY;
    }
    set->capacity = (uint32_t)capacity;
    fill_slots(set);
    return TB_OK;
}

tb_status tb_block_set_add(struct tb_block_set *set, uint64_t before,
                           uint64_t id, uint32_t *number)
{
    if (set->count == set->capacity && set->count < set->max_count)
        TB_TRY(grow(set));
    uint64_t slot = find_slot(set, before, id);
    if (set->slots[slot] == 0) {
        if (set->count == set->max_count)
            return TB_ERR_LIMIT;
        set->entries[set->count] = (struct tb_block_entry){
            .id = id, .before = before, .number = set->count};
        set->slots[slot] = ++set->count;
    }
    *number = set->slots[slot] - 1;
    return TB_OK;
}

/* ---- order ------------------------------------------------------------ */

int tb_block_entry_compare(const struct tb_block_entry *a,
                           const struct tb_block_entry *b)
{
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->before > b->before) - (a->before < b->before);
}

static void sort_few(struct tb_block_entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct tb_block_entry entry = entries[i];
        size_t at = i;
        for (; at > 0 && tb_block_entry_compare(&entries[at - 1], &entry) > 0;
             at--)
            entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}

static bool has_bit(const struct tb_block_entry *entry, unsigned bit)
{
    uint64_t word = bit >= 64 ? entry->id : entry->before;
    return word >> (bit % 64) & 1;
}

/* Those without the bit first; how many they are. */
static size_t divide(struct tb_block_entry *entries, size_t count, unsigned bit)
{
    size_t low = 0;
    while (low < count) {
        if (!has_bit(&entries[low], bit)) {
            low++;
            continue;
        }
        struct tb_block_entry entry = entries[low];
        entries[low] = entries[--count];
        entries[count] = entry;
    }
    return low;
}

/* In place, since memory is what a set is bounded by, and bit by bit from the
 * highest (radix exchange, Knuth 5.2.2), since ids are evenly spread: then each
 * bit halves what is left. Whatever they are, it goes no deeper than their
 * bits. */
static void sort(struct tb_block_entry *entries, size_t count, unsigned bits)
{
    while (count > FEW_ENTRIES && bits > 0) {
        size_t low = divide(entries, count, --bits);
        sort(entries, low, bits);
        entries += low;
        count -= low;
    }
    sort_few(entries, count);
}

void tb_block_set_sort(struct tb_block_set *set)
{
    sort(set->entries, set->count, KEY_BITS);
}

/* ---- the end ---------------------------------------------------------- */

void tb_block_set_empty(struct tb_block_set *set)
{
    set->count = 0;
    if (set->slots)
        memset(set->slots, 0, (size_t)set->slot_count * sizeof(*set->slots));
}

void tb_block_set_release(struct tb_block_set *set)
{
    tb_memory_free(set->entries);
    tb_memory_free(set->slots);
    *set = (struct tb_block_set){.max_count = set->max_count,
                                 .secret = set->secret};
}
