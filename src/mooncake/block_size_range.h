/* Which block sizes fit all rows of a file: those B for which each row has
 * just ceil(input_length / B) ids. */
#ifndef TB_BLOCK_SIZE_RANGE_H
#define TB_BLOCK_SIZE_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct tb_block_size_range {
    uint64_t min, max; /* tokens; min > max: none */
};

/* Nothing is known yet. */
struct tb_block_size_range tb_block_size_range_all(void);

/* Takes a row of `input_length` tokens, at least 1, with `count` ids, at least
 * 1, into account. */
void tb_block_size_range_narrow(struct tb_block_size_range *range,
                                uint64_t input_length, uint64_t count);

/* The one to tell a person: a power of two when there is one; 0 when none
 * fits. */
uint64_t tb_block_size_range_guess(const struct tb_block_size_range *range);

#endif
