/* The rows of a file as the figures see them, in their order, read by several
 * threads: the caller's reads the bytes and takes the rows, others make rows of
 * the bytes in between (trace_batch.h).
 *
 *     TB_TRY(tb_trace_reader_new(threads, &reader));
 *     TB_TRY(tb_trace_reader_open(reader, "rows.jsonl", is_stopping, NULL,
 *                                 &error));
 *     while (tb_trace_reader_next(reader, &line, &error) == TB_OK && line)
 *         ...
 *     tb_trace_reader_free(reader);
 *
 * What comes out does not depend on the number of threads: not the rows, nor
 * their order, nor what stands before a failure. Memory is that of the longest
 * line, and some 300 KB for each batch under way. One thread at a time.
 */
#ifndef TB_TRACE_READER_H
#define TB_TRACE_READER_H

#include "trace_batch.h"

struct tb_trace_reader;

/* `thread_count` is at least 1; with one, all is done by the caller's. More
 * than one thread can take from are not started. TB_ERR_MEMORY, TB_ERR_IO when
 * threads cannot start. */
TB_NODISCARD tb_status tb_trace_reader_new(unsigned thread_count,
                                           struct tb_trace_reader **reader);

/* Opens a file, at the beginning or behind the last row of the one before; "-"
 * is standard input. `is_stopping` is asked as tb_input_on_signal says. The
 * statuses of tb_input_open. */
TB_NODISCARD tb_status tb_trace_reader_open(struct tb_trace_reader *reader,
                                            const char *path,
                                            bool (*is_stopping)(void *context),
                                            void *context,
                                            struct tb_error *error);

/* The next line that is not white space alone; numbers count from the file's
 * first line. NULL after the last. Lives until the next call. The statuses of
 * tb_input_read, TB_ERR_LIMIT for a line above 4 GB: behind all lines that
 * were read before; TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_trace_reader_next(struct tb_trace_reader *reader,
                                            const struct tb_trace_line **line,
                                            struct tb_error *error);

/* NULL is accepted. */
void tb_trace_reader_free(struct tb_trace_reader *reader);

#endif
