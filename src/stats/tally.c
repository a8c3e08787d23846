#include "tally.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum {
    FIRST_SLOTS = 16,
    NEAR_SLOTS = 1 << 10 // a table that caches hold in any case
};

static size_t first_slot(const struct tb_tally *tally, uint64_t value)
{
    return (size_t)(value * UINT64_C(0x9E3779B97F4A7C15) >> 32) &
           (tally->slot_count - 1);
}

static struct tb_tally_entry *find(const struct tb_tally *tally, uint64_t value)
{
    size_t mask = tally->slot_count - 1, at = first_slot(tally, value);
    while (tally->entries[at].count && tally->entries[at].value != value)
        at = (at + 1) & mask;
    return &tally->entries[at];
}

/* How long the list of near values becomes: so long that it takes no more than
 * the table does, if half of that moves there; else as it is. */
static size_t choose_near_len(const struct tb_tally *tally)
{
    size_t len = tally->slot_count *
                 (sizeof(*tally->entries) / sizeof(*tally->near_counts));
    size_t moved = 0;
    if (tally->slot_count < NEAR_SLOTS || len <= tally->near_len)
        return tally->near_len;
    for (size_t i = 0; i < tally->slot_count; i++)
        moved += tally->entries[i].count && tally->entries[i].value < len;
    return moved >= tally->entry_count / 2 ? len : tally->near_len;
}

static tb_status grow_near(struct tb_tally *tally, size_t len)
{
    uint64_t *counts =
        tb_memory_resize(tally->near_counts, len * sizeof(*counts));
    if (!counts)
        return TB_ERR_MEMORY;
    memset(counts + tally->near_len, 0,
           (len - tally->near_len) * sizeof(*counts));
    tally->near_counts = counts;
    tally->near_len = len;
    return TB_OK;
}

static tb_status grow(struct tb_tally *tally)
{
    struct tb_tally grown = *tally;
    size_t near_len = choose_near_len(tally);
    bool is_nearer = near_len > tally->near_len;
    grown.slot_count = tally->slot_count == 0 ? FIRST_SLOTS
                       : is_nearer            ? tally->slot_count
                                              : 2 * tally->slot_count;
    grown.entries = tb_memory_zeroed(grown.slot_count, sizeof(*grown.entries));
    if (!grown.entries)
        return TB_ERR_MEMORY;
    if (is_nearer && grow_near(&grown, near_len) != TB_OK) {
        tb_memory_free(grown.entries);
        return TB_ERR_MEMORY;
    }
    grown.entry_count = 0;
    for (size_t i = 0; i < tally->slot_count; i++) {
        struct tb_tally_entry entry = tally->entries[i];
        if (entry.count && entry.value < grown.near_len)
            grown.near_counts[entry.value] = entry.count;
        else if (entry.count)
            *find(&grown, entry.value) = entry;
        grown.entry_count += entry.count && entry.value >= grown.near_len;
    }
    tb_memory_free(tally->entries);
    *tally = grown;
    return TB_OK;
}

static tb_status count_value(struct tb_tally *tally, uint64_t value,
                             uint64_t count)
{
    if (value < tally->near_len) {
        tally->value_count += tally->near_counts[value] == 0;
        tally->near_counts[value] += count;
        return TB_OK;
    }
    if (tally->entry_count >= tally->slot_count / 2) {
        TB_TRY(grow(tally));
        return count_value(tally, value, count);
    }
    struct tb_tally_entry *entry = find(tally, value);
    tally->entry_count += entry->count == 0;
    tally->value_count += entry->count == 0;
    entry->value = value;
    entry->count += count;
    return TB_OK;
}

static tb_status add(struct tb_tally *tally, uint64_t value, uint64_t count)
{
    assert(!tally->is_sorted);
    TB_TRY(count_value(tally, value, count));
    tally->count += count;
    tally->sum += (double)value * (double)count;
    return TB_OK;
}

tb_status tb_tally_add(struct tb_tally *tally, uint64_t value)
{
    return add(tally, value, 1);
}

void tb_tally_expect(const struct tb_tally *tally, uint64_t value)
{
    if (value < tally->near_len)
        __builtin_prefetch(&tally->near_counts[value]);
    else if (tally->slot_count > 0)
        __builtin_prefetch(&tally->entries[first_slot(tally, value)]);
}

tb_status tb_tally_merge(struct tb_tally *tally, const struct tb_tally *other)
{
    size_t at = 0;
    for (struct tb_tally_entry entry = tb_tally_next(other, &at); entry.count;
         entry = tb_tally_next(other, &at))
        TB_TRY(add(tally, entry.value, entry.count));
    return TB_OK;
}

struct tb_tally_entry tb_tally_next(const struct tb_tally *tally, size_t *at)
{
    for (; *at < tally->near_len; ++*at)
        if (tally->near_counts[*at]) {
            uint64_t value = *at;
            return (struct tb_tally_entry){value, tally->near_counts[(*at)++]};
        }
    size_t end = tally->near_len +
                 (tally->is_sorted ? tally->entry_count : tally->slot_count);
    while (*at < end) {
        struct tb_tally_entry entry = tally->entries[(*at)++ - tally->near_len];
        if (entry.count)
            return entry;
    }
    return (struct tb_tally_entry){0};
}

static int compare(const void *a, const void *b)
{
    uint64_t first = ((const struct tb_tally_entry *)a)->value;
    uint64_t second = ((const struct tb_tally_entry *)b)->value;
    return (first > second) - (first < second);
}

static void sort(struct tb_tally *tally)
{
    size_t count = 0;
    for (size_t i = 0; i < tally->slot_count; i++)
        if (tally->entries[i].count)
            tally->entries[count++] = tally->entries[i];
    if (count > 0)
        qsort(tally->entries, count, sizeof(*tally->entries), compare);
    tally->is_sorted = true;
}

uint64_t tb_tally_percentile(struct tb_tally *tally, double fraction)
{
    if (tally->count == 0)
        return 0;
    if (!tally->is_sorted)
        sort(tally);
    // What a product misses a whole number by is no rank of its own.
    double rank = ceil(fraction * (double)tally->count - 1e-9);
    uint64_t passed = 0, left = tally->value_count;
    for (size_t at = 0;;) {
        struct tb_tally_entry entry = tb_tally_next(tally, &at);
        passed += entry.count;
        if (--left == 0 || (double)passed >= rank)
            return entry.value;
    }
}

double tb_tally_mean(const struct tb_tally *tally)
{
    return tally->count ? tally->sum / (double)tally->count : 0;
}

void tb_tally_release(struct tb_tally *tally)
{
    tb_memory_free(tally->near_counts);
    tb_memory_free(tally->entries);
    *tally = (struct tb_tally){0};
}
