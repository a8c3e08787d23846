#include "id_sizes.h"

#include "hash.h"
#include "memory.h"

enum { FIRST_SLOTS = 1 << 10 };

// The finalizer of SplitMix64.
static uint64_t mix(uint64_t id)
{
    id = (id ^ id >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    id = (id ^ id >> 27) * UINT64_C(0x94D049BB133111EB);
    return id ^ id >> 31;
}

uint32_t tb_id_before(uint64_t id)
{
    return (uint32_t)(mix(id ^ UINT64_C(0x9E3779B97F4A7C15)) >> 32) | 1;
}

static struct tb_id_size *find(const struct tb_id_sizes *sizes, uint64_t id)
{
    size_t mask = sizes->slot_count - 1;
    size_t at =
        (size_t)tb_hash64((struct tb_span){(const uint8_t *)&id, sizeof(id)},
                          sizes->secret) &
        mask;
    while (sizes->slots[at].size && sizes->slots[at].id != id)
        at = (at + 1) & mask;
    return &sizes->slots[at];
}

static tb_status grow(struct tb_id_sizes *sizes)
{
    struct tb_id_sizes grown = {
        .slot_count = sizes->slot_count ? 2 * sizes->slot_count : FIRST_SLOTS,
        .count = sizes->count,
        .secret = sizes->slot_count ? sizes->secret : tb_hash_secret()};
    grown.slots = tb_memory_zeroed(grown.slot_count, sizeof(*grown.slots));
    if (!grown.slots)
        return TB_ERR_MEMORY;
    for (size_t i = 0; i < sizes->slot_count; i++)
        if (sizes->slots[i].size)
            *find(&grown, sizes->slots[i].id) = sizes->slots[i];
    tb_memory_free(sizes->slots);
    *sizes = grown;
    return TB_OK;
}

tb_status tb_id_sizes_add(struct tb_id_sizes *sizes, uint64_t id, uint32_t size,
                          uint32_t before, const struct tb_id_size **entry,
                          bool *is_new)
{
    if (sizes->count >= sizes->slot_count - sizes->slot_count / 4)
        TB_TRY(grow(sizes));
    struct tb_id_size *slot = find(sizes, id);
    *is_new = slot->size == 0;
    if (*is_new) {
        *slot = (struct tb_id_size){id, size, before};
        sizes->count++;
    }
    *entry = slot;
    return TB_OK;
}

void tb_id_sizes_release(struct tb_id_sizes *sizes)
{
    tb_memory_free(sizes->slots);
    *sizes = (struct tb_id_sizes){0};
}
