#include "group_ranking.h"

size_t tb_group_ranking(const struct tb_length_group *groups, uint32_t count,
                        uint32_t *numbers, size_t most)
{
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t at = used;
        while (at > 0 &&
               groups[numbers[at - 1]].row_count < groups[i].row_count)
            at--;
        if (at == most)
            continue;
        used += used < most;
        for (size_t k = used - 1; k > at; k--)
            numbers[k] = numbers[k - 1];
        numbers[at] = i;
    }
    return used;
}
