#include "name_table.h"

#include <string.h>

#include "buffer.h"
#include "hash.h"
#include "memory.h"

// The slot of `name`, or the empty slot where it would go.
static uint32_t find_slot(const struct tb_name_table *table,
                          struct tb_span name)
{
    uint32_t mask = table->slot_count - 1;
    uint32_t slot = (uint32_t)tb_hash64(name, table->secret) & mask;
    while (table->slots[slot] != 0 &&
           !tb_span_equal(table->names[table->slots[slot] - 1], name))
        slot = (slot + 1) & mask;
    return slot;
}

static tb_status grow(struct tb_name_table *table)
{
    uint32_t slot_count = table->slot_count ? table->slot_count * 2 : 64;
    uint32_t *slots = tb_memory_zeroed(slot_count, sizeof(*slots));
    if (!slots)
        return TB_ERR_MEMORY;
    if (table->slot_count == 0)
        table->secret = tb_hash_secret();
    tb_memory_free(table->slots);
    table->slots = slots;
    table->slot_count = slot_count;
    for (uint32_t i = 0; i < table->count; i++)
        table->slots[find_slot(table, table->names[i])] = i + 1;
    return TB_OK;
}

tb_status tb_name_table_add(struct tb_name_table *table, struct tb_span name,
                            uint32_t *number)
{
    if (table->count >= table->slot_count / 2)
        TB_TRY(grow(table));
    uint32_t slot = find_slot(table, name);
    if (table->slots[slot] != 0) {
        *number = table->slots[slot] - 1;
        return TB_OK;
    }
    struct tb_span *names =
        tb_array_grow(table->names, &table->names_capacity,
                      (size_t)table->count + 1, sizeof(*names));
    if (!names)
        return TB_ERR_MEMORY;
    table->names = names;
    TB_TRY(tb_arena_copy(&table->arena, name, &names[table->count]));
    *number = table->count++;
    table->slots[slot] = table->count;
    return TB_OK;
}

uint32_t tb_name_table_find(const struct tb_name_table *table,
                            struct tb_span name)
{
    if (table->slot_count == 0)
        return TB_NAME_NONE;
    uint32_t slot = find_slot(table, name);
    return table->slots[slot] ? table->slots[slot] - 1 : TB_NAME_NONE;
}

struct tb_span tb_name_table_name(const struct tb_name_table *table,
                                  uint32_t number)
{
    return table->names[number];
}

void tb_name_table_reset(struct tb_name_table *table)
{
    if (table->slot_count)
        memset(table->slots, 0, table->slot_count * sizeof(*table->slots));
    table->count = 0;
    tb_arena_reset(&table->arena);
}

void tb_name_table_release(struct tb_name_table *table)
{
    tb_memory_free(table->names);
    tb_memory_free(table->slots);
    tb_arena_release(&table->arena);
    *table = (struct tb_name_table){0};
}
