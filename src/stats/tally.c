#include "tally.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "memory.h"

enum { FIRST_SLOTS = 16 };

static struct tb_tally_entry *find(const struct tb_tally *tally, uint64_t value)
{
    size_t mask = tally->slot_count - 1;
    size_t at = (size_t)(value * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;
    while (tally->entries[at].count && tally->entries[at].value != value)
        at = (at + 1) & mask;
    return &tally->entries[at];
}

static tb_status grow(struct tb_tally *tally)
{
    struct tb_tally grown = *tally;
    grown.slot_count = tally->slot_count ? 2 * tally->slot_count : FIRST_SLOTS;
    grown.entries = tb_memory_zeroed(grown.slot_count, sizeof(*grown.entries));
    if (!grown.entries)
        return TB_ERR_MEMORY;
    for (size_t i = 0; i < tally->slot_count; i++)
        if (tally->entries[i].count)
            *find(&grown, tally->entries[i].value) = tally->entries[i];
    tb_memory_free(tally->entries);
    *tally = grown;
    return TB_OK;
}

static tb_status add(struct tb_tally *tally, uint64_t value, uint64_t count)
{
    assert(!tally->is_sorted);
    if (tally->entry_count >= tally->slot_count / 2)
        TB_TRY(grow(tally));
    struct tb_tally_entry *entry = find(tally, value);
    tally->entry_count += entry->count == 0;
    entry->value = value;
    entry->count += count;
    tally->count += count;
    tally->sum += (double)value * (double)count;
    return TB_OK;
}

tb_status tb_tally_add(struct tb_tally *tally, uint64_t value)
{
    return add(tally, value, 1);
}

tb_status tb_tally_merge(struct tb_tally *tally, const struct tb_tally *other)
{
    assert(!other->is_sorted);
    for (size_t i = 0; i < other->slot_count; i++)
        if (other->entries[i].count)
            TB_TRY(
                add(tally, other->entries[i].value, other->entries[i].count));
    return TB_OK;
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
    uint64_t passed = 0;
    size_t at = 0;
    for (; at + 1 < tally->entry_count; at++) {
        passed += tally->entries[at].count;
        if ((double)passed >= rank)
            break;
    }
    return tally->entries[at].value;
}

double tb_tally_mean(const struct tb_tally *tally)
{
    return tally->count ? tally->sum / (double)tally->count : 0;
}

void tb_tally_release(struct tb_tally *tally)
{
    tb_memory_free(tally->entries);
    *tally = (struct tb_tally){0};
}
