/* Rows at a larger block size.
 *
 * A block of the new size is so many of the old ones: ids that follow each
 * other are one, the last of what is left, and ids count from 0 by first
 * appearance. So rows of a converter become what it writes with the larger
 * block size. Nothing else of a row changes; a row without hash_ids stays.
 *
 *     struct tb_row_reblock reblock = {.from = 128, .multiple = 4};
 *     TB_TRY(tb_row_reblock_add(&reblock, &input, &output.text, &error));
 */
#ifndef TB_ROW_REBLOCK_H
#define TB_ROW_REBLOCK_H

#include "block_table.h"
#include "row_input.h"

/* About 24 bytes for each block of the new size. One thread at a time. */
struct tb_row_reblock {
    uint32_t from;     /* tokens of a block of the rows: set before use */
    uint32_t multiple; /* blocks that become one: set before use */
    struct tb_block_table blocks;
    uint64_t *ids; /* of the current row */
    size_t id_capacity;
    uint64_t row_count, misfit_count; /* rows; those with more or fewer ids than
                                         their length has blocks of `from` */
};

/* Appends the current row of `input` to `text`. TB_ERR_VALUE, with its place,
 * for ids that are none or come twice; TB_ERR_LIMIT, TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_row_reblock_add(struct tb_row_reblock *reblock,
                                          const struct tb_row_input *input,
                                          struct tb_buffer *text,
                                          struct tb_error *error);

void tb_row_reblock_release(struct tb_row_reblock *reblock);

#endif
