#include "block_table.h"

#include "buffer.h"
#include "memory.h"

struct tb_hash128 tb_block_hash(struct tb_hash128 parent,
                                const uint32_t *tokens, size_t count)
{
    struct tb_span bytes = {(const uint8_t *)tokens, count * sizeof(*tokens)};
    struct tb_hash128 own = tb_hash128(bytes, count);
    const uint64_t chain[4] = {parent.low, parent.high, own.low, own.high};
    return tb_hash128((struct tb_span){(const uint8_t *)chain, sizeof(chain)},
                      0);
}

static bool is_equal(struct tb_hash128 a, struct tb_hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

static uint64_t find_slot(const struct tb_block_table *table,
                          struct tb_hash128 block)
{
    uint64_t mask = table->slot_count - 1;
    uint64_t slot = block.low & mask;
    while (table->slots[slot] != 0 &&
           !is_equal(table->blocks[table->slots[slot] - 1], block))
        slot = (slot + 1) & mask;
    return slot;
}

static tb_status grow(struct tb_block_table *table)
{
    uint64_t slot_count = table->slot_count ? table->slot_count * 2 : 1024;
    uint32_t *slots = tb_memory_zeroed(slot_count, sizeof(*slots));
    if (!slots)
        return TB_ERR_MEMORY;
    tb_memory_free(table->slots);
    table->slots = slots;
    table->slot_count = slot_count;
    for (uint64_t i = 0; i < table->count; i++)
        table->slots[find_slot(table, table->blocks[i])] = (uint32_t)i + 1;
    return TB_OK;
}

tb_status tb_block_table_add(struct tb_block_table *table,
                             struct tb_hash128 block, uint64_t *number,
                             bool *is_new)
{
    if (table->count >= UINT32_MAX - 1)
        return TB_ERR_LIMIT;
    if (table->count * 4 >= table->slot_count * 3)
        TB_TRY(grow(table));
    uint64_t slot = find_slot(table, block);
    *is_new = table->slots[slot] == 0;
    if (*is_new) {
        struct tb_hash128 *blocks =
            tb_array_grow(table->blocks, &table->blocks_capacity,
                          table->count + 1, sizeof(*blocks));
        if (!blocks)
            return TB_ERR_MEMORY;
        table->blocks = blocks;
        blocks[table->count++] = block;
        table->slots[slot] = (uint32_t)table->count;
    }
    *number = table->slots[slot] - 1;
    return TB_OK;
}

void tb_block_table_release(struct tb_block_table *table)
{
    tb_memory_free(table->blocks);
    tb_memory_free(table->slots);
    *table = (struct tb_block_table){0};
}
