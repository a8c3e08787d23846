#include "visitor_set.h"

#include "hash.h"
#include "memory.h"

enum { FIRST_SLOTS = 16 };

static uint64_t pair_of(uint32_t place, uint32_t visitor)
{
    return ((uint64_t)place << 32 | visitor) + 1;
}

// The slot of `pair`, or the free one where it belongs.
static uint64_t *find(const struct tb_visitor_set *set, uint64_t pair)
{
    size_t mask = set->slot_count - 1;
    size_t at = (size_t)tb_hash64(
                    (struct tb_span){(const uint8_t *)&pair, sizeof(pair)},
                    set->secret) &
                mask;
    while (set->slots[at] && set->slots[at] != pair)
        at = (at + 1) & mask;
    return &set->slots[at];
}

static tb_status grow(struct tb_visitor_set *set)
{
    struct tb_visitor_set grown = {
        .slot_count = set->slot_count ? 2 * set->slot_count : FIRST_SLOTS,
        .count = set->count,
        .secret = set->slot_count ? set->secret : tb_hash_secret()};
    grown.slots = tb_memory_zeroed(grown.slot_count, sizeof(*grown.slots));
    if (!grown.slots)
        return TB_ERR_MEMORY;
    for (size_t i = 0; i < set->slot_count; i++)
        if (set->slots[i])
            *find(&grown, set->slots[i]) = set->slots[i];
    tb_memory_free(set->slots);
    *set = grown;
    return TB_OK;
}

bool tb_visitor_set_has(const struct tb_visitor_set *set, uint32_t place,
                        uint32_t visitor)
{
    return set->slot_count > 0 && *find(set, pair_of(place, visitor)) != 0;
}

tb_status tb_visitor_set_add(struct tb_visitor_set *set, uint32_t place,
                             uint32_t visitor)
{
    if (set->count >= set->slot_count / 2)
        TB_TRY(grow(set));
    uint64_t pair = pair_of(place, visitor);
    uint64_t *slot = find(set, pair);
    set->count += *slot == 0;
    *slot = pair;
    return TB_OK;
}

void tb_visitor_set_release(struct tb_visitor_set *set)
{
    tb_memory_free(set->slots);
    *set = (struct tb_visitor_set){0};
}
