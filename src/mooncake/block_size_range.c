#include "block_size_range.h"

struct tb_block_size_range tb_block_size_range_all(void)
{
    return (struct tb_block_size_range){1, UINT64_MAX};
}

void tb_block_size_range_narrow(struct tb_block_size_range *range,
                                uint64_t input_length, uint64_t count)
{
    // count - 1 < input_length / B <= count
    uint64_t min = input_length / count + (input_length % count != 0);
    uint64_t max = count > 1 ? (input_length - 1) / (count - 1) : UINT64_MAX;
    if (range->min < min)
        range->min = min;
    if (range->max > max)
        range->max = max;
}

uint64_t tb_block_size_range_guess(const struct tb_block_size_range *range)
{
    if (range->min > range->max)
        return 0;
    uint64_t power = 1;
    while (power < range->min && power <= UINT64_MAX / 2)
        power *= 2;
    return power >= range->min && power <= range->max ? power : range->min;
}
