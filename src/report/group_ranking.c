#include "group_ranking.h"

/* The groups that were offered so far, largest first. */
struct ranking {
    uint32_t *numbers;
    size_t count, most;
};

// How large a group is.
typedef uint64_t size_of_group(const void *groups, uint32_t number);

static void offer(struct ranking *ranking, const void *groups,
                  size_of_group *size_of, uint32_t number)
{
    uint32_t *numbers = ranking->numbers;
    uint64_t size = size_of(groups, number);
    size_t at = ranking->count;
    while (at > 0 && size_of(groups, numbers[at - 1]) < size)
        at--;
    if (at == ranking->most)
        return;
    ranking->count += ranking->count < ranking->most;
    for (size_t k = ranking->count - 1; k > at; k--)
        numbers[k] = numbers[k - 1];
    numbers[at] = number;
}

static uint64_t rows_of(const void *groups, uint32_t number)
{
    return ((const struct tb_length_group *)groups)[number].row_count;
}

static uint64_t calls_of(const void *groups, uint32_t number)
{
    return ((const struct tb_call_group *)groups)[number].call_count;
}

size_t tb_group_ranking(const struct tb_length_group *groups, uint32_t count,
                        uint32_t *numbers, size_t most)
{
    struct ranking ranking = {.numbers = numbers, .most = most};
    for (uint32_t i = 0; i < count; i++)
        offer(&ranking, groups, rows_of, i);
    return ranking.count;
}

size_t tb_call_group_ranking(const struct tb_call_group *groups, uint32_t count,
                             uint32_t *numbers, size_t most)
{
    struct ranking ranking = {.numbers = numbers, .most = most};
    for (uint32_t i = 0; i < count; i++)
        offer(&ranking, groups, calls_of, i);
    return ranking.count;
}
