/* Rows that were converted apart, as those of one run: in the order of their
 * sessions, blocks numbered by first appearance, timestamps from the first
 * call. What else is in a row stays as it is written.
 *
 *     struct tb_row_merge merge = {.paths = paths, ...};
 *     TB_TRY(tb_row_merge_open(&merge, &error));
 *     TB_TRY(tb_row_merge_write(&merge, &output, &error));
 *     ... merge.metas, merge.order for the meta file ...
 *     tb_row_merge_close(&merge);
 */
#ifndef TB_ROW_MERGE_H
#define TB_ROW_MERGE_H

#include "block_numbering.h"
#include "meta_merge.h"
#include "row_output.h"
#include "shard_queue.h"

/* One thread at a time; what is above the line is set before use. */
struct tb_row_merge {
    const char *const *paths; /* borrowed */
    size_t count;             /* at least one */
    size_t memory;            /* for numbering blocks, bytes */
    const char *folder;       /* for temporary files; NULL: $TMPDIR or /tmp */
    struct tb_row_stop stop;
    /* ---- */
    struct tb_meta_merge metas; /* in the order of `paths` */
    size_t *order;              /* of the files, as numbers in `paths` */
    uint64_t row_count, block_count, part_count;
    /* private */
    struct tb_shard_queue *queue;
    struct tb_block_numbering *numbering;
    uint64_t origin_ms;
    uint64_t *numbers; /* of the current row's blocks */
    size_t number_capacity;
};

/* Reads the meta files and the first rows. The statuses of tb_meta_merge_add
 * and tb_shard_queue_new. */
TB_NODISCARD tb_status tb_row_merge_open(struct tb_row_merge *merge,
                                         struct tb_error *error);

/* Reads all rows twice, and writes them the second time. The statuses of
 * tb_shard_queue_next, block_numbering.h and tb_row_output_flush; TB_ERR_VALUE,
 * with its place, for a row without ids. */
TB_NODISCARD tb_status tb_row_merge_write(struct tb_row_merge *merge,
                                          struct tb_row_output *output,
                                          struct tb_error *error);

/* Closed already is accepted. */
void tb_row_merge_close(struct tb_row_merge *merge);

#endif
