/* Names and their numbers: gives every distinct byte string the next number,
 * from 0. Used for session ids, agents, call ids.
 *
 *     uint32_t number;
 *     TB_TRY(tb_name_table_add(&table, TB_SPAN("planner"), &number));
 *     tb_name_table_name(&table, number)  ->  "planner"
 *
 * One thread at a time. Zero-initialised is empty and ready.
 */
#ifndef TB_NAME_TABLE_H
#define TB_NAME_TABLE_H

#include "arena.h"

#define TB_NAME_NONE UINT32_MAX /* no number */

struct tb_name_table {
    struct tb_arena arena; /* holds the names' bytes */
    struct tb_span *names; /* by number */
    size_t names_capacity;
    uint32_t count;
    uint32_t *slots; /* number + 1, or 0; open addressing */
    uint32_t slot_count;
    uint64_t secret; /* of the hashes: names come from strangers */
};

/* The number of `name`, a new one (`count` before the call) if it has none.
 * The bytes are copied. TB_ERR_MEMORY leaves the table as it was. */
TB_NODISCARD tb_status tb_name_table_add(struct tb_name_table *table,
                                         struct tb_span name, uint32_t *number);

/* The number of `name`, or TB_NAME_NONE. */
uint32_t tb_name_table_find(const struct tb_name_table *table,
                            struct tb_span name);

/* Valid until reset or release. */
struct tb_span tb_name_table_name(const struct tb_name_table *table,
                                  uint32_t number);

/* Forgets all names, keeping memory. */
void tb_name_table_reset(struct tb_name_table *table);
void tb_name_table_release(struct tb_name_table *table);

#endif
