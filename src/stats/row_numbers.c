#include "row_numbers.h"

#include "buffer.h"
#include "memory.h"

tb_status tb_row_numbers_set(struct tb_row_numbers *numbers, uint32_t row,
                             uint32_t number)
{
    if (number == numbers->none && row >= numbers->count)
        return TB_OK;
    uint32_t *items = tb_array_grow(numbers->items, &numbers->capacity,
                                    (size_t)row + 1, sizeof(*items));
    if (!items)
        return TB_ERR_MEMORY;
    numbers->items = items;
    while (numbers->count <= row)
        items[numbers->count++] = numbers->none;
    items[row] = number;
    return TB_OK;
}

uint32_t tb_row_numbers_get(const struct tb_row_numbers *numbers, uint32_t row)
{
    return row < numbers->count ? numbers->items[row] : numbers->none;
}

void tb_row_numbers_release(struct tb_row_numbers *numbers)
{
    tb_memory_free(numbers->items);
    *numbers = (struct tb_row_numbers){.none = numbers->none};
}
