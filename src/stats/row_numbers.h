/* A number for each row: who it is of. Rows without one cost nothing as long
 * as no later row has one. One thread at a time; set `none`, the rest zero. */
#ifndef TB_ROW_NUMBERS_H
#define TB_ROW_NUMBERS_H

#include "status.h"

struct tb_row_numbers {
    uint32_t none; /* of rows without one */
    uint32_t *items;
    size_t count, capacity;
};

/* TB_ERR_MEMORY */
TB_NODISCARD tb_status tb_row_numbers_set(struct tb_row_numbers *numbers,
                                          uint32_t row, uint32_t number);

uint32_t tb_row_numbers_get(const struct tb_row_numbers *numbers, uint32_t row);

void tb_row_numbers_release(struct tb_row_numbers *numbers);

#endif
