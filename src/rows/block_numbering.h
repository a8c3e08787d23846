/* Numbers from 0 by first appearance for the blocks of rows whose ids are made
 * of their content, however many blocks there are.
 *
 * The rows are gone through twice, in one order:
 *
 *     TB_TRY(tb_block_numbering_new(memory, folder, &numbering));
 *     TB_TRY(tb_block_numbering_see(numbering, ids, count, &error));  // rows
 *     TB_TRY(tb_block_numbering_settle(numbering, &error));
 *     TB_TRY(tb_block_numbering_take(numbering, ids, count, numbers,
 *                                    &error));                  // rows again
 *     tb_block_numbering_free(numbering);
 *
 * Blocks that fit into `memory` are numbered there. Else rows are cut into
 * parts whose blocks do. The blocks of each part go sorted to a temporary file;
 * merging these tells of each block of a part in which part it comes first,
 * and as which of that; so its number is how many come first before it, counted
 * in a map of bits. Each part is read once more, its blocks in its set again
 * and their numbers beside them. This moves 40 bytes for each block of a part
 * to files and back; but for the map, which has an eighth of a byte and a
 * little for each, memory is bounded.
 */
#ifndef TB_BLOCK_NUMBERING_H
#define TB_BLOCK_NUMBERING_H

#include "status.h"

struct tb_block_numbering; /* one thread at a time */

/* Takes about `memory` bytes. Temporary files go to `folder` (borrowed; NULL:
 * $TMPDIR or /tmp), once one is needed. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_block_numbering_new(
    size_t memory, const char *folder, struct tb_block_numbering **numbering);

/* The blocks of the next row. TB_ERR_MEMORY, TB_ERR_IO; TB_ERR_LIMIT when one
 * row has more blocks than fit into memory. */
TB_NODISCARD tb_status tb_block_numbering_see(
    struct tb_block_numbering *numbering, const uint64_t *ids, size_t count,
    struct tb_error *error);

/* After the last row. TB_ERR_MEMORY, TB_ERR_IO. */
TB_NODISCARD tb_status tb_block_numbering_settle(
    struct tb_block_numbering *numbering, struct tb_error *error);

/* Blocks that there are, and parts of rows whose blocks fit into memory. */
uint64_t tb_block_numbering_count(const struct tb_block_numbering *numbering);
uint64_t tb_block_numbering_parts(const struct tb_block_numbering *numbering);

/* The numbers of the blocks of the next row, the same rows as before. Others
 * are TB_ERR_VALUE as far as it is seen; TB_ERR_MEMORY, TB_ERR_IO. */
TB_NODISCARD tb_status tb_block_numbering_take(
    struct tb_block_numbering *numbering, const uint64_t *ids, size_t count,
    uint64_t *numbers, struct tb_error *error);

/* NULL is accepted. */
void tb_block_numbering_free(struct tb_block_numbering *numbering);

#endif
