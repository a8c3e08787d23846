/* The rows of many files as those of one: session by session, always the one
 * that comes first by its name among those that the files have next. So the
 * order does not depend on that of the files, one file alone keeps its own, and
 * files whose sessions are in order, such as the parts of one trace, become
 * what that would have been in one file.
 *
 *     TB_TRY(tb_shard_queue_new(&options, &queue, &error));
 *     while (tb_shard_queue_next(queue, &row, &error) == TB_OK && row)
 *         ... row->line, row->record ...
 *     TB_TRY(tb_shard_queue_rewind(queue, &error));   // all of it again
 *     tb_shard_queue_free(queue);
 *
 * A file is open from its first session's turn to its last row. A session that
 * comes twice, in one file or in two, is refused: it would be replayed twice,
 * or as one.
 */
#ifndef TB_SHARD_QUEUE_H
#define TB_SHARD_QUEUE_H

#include "row_input.h"
#include "session_name.h"

struct tb_shard_queue; /* one thread at a time */

struct tb_shard_queue_options {
    const char *const *paths; /* borrowed, as what they point to */
    size_t count;             /* of files: at least one */
    tb_session_order order;
    struct tb_row_stop stop;
};

/* Reads the first row of each file, but a file may have none. The statuses of
 * tb_row_input_open and tb_row_input_next; TB_ERR_USAGE for what cannot be read
 * twice, TB_ERR_EMPTY when there is no row at all. */
TB_NODISCARD tb_status
tb_shard_queue_new(const struct tb_shard_queue_options *options,
                   struct tb_shard_queue **queue, struct tb_error *error);

/* The next row, which lives until the next call; NULL after the last. The
 * statuses of tb_row_input_open and tb_row_input_next; TB_ERR_VALUE, with its
 * place, for a row of no session or of one that has been, and for a file that
 * has not as many rows as its meta file says. */
TB_NODISCARD tb_status tb_shard_queue_next(struct tb_shard_queue *queue,
                                           const struct tb_row_input **row,
                                           struct tb_error *error);

/* Goes back before the first row. */
void tb_shard_queue_rewind(struct tb_shard_queue *queue);

/* The file with place `rank` in the order of first sessions, as its number in
 * `paths`. */
size_t tb_shard_queue_file(const struct tb_shard_queue *queue, size_t rank);

/* NULL is accepted. */
void tb_shard_queue_free(struct tb_shard_queue *queue);

#endif
