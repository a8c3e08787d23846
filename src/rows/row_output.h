/* Rows that were made of other rows, and the meta file beside them: both are
 * put in place, or none.
 *
 *     struct tb_row_output output = {0};
 *     TB_TRY(tb_row_output_open(&output, "out.jsonl", stop, &error));
 *     TB_TRY(tb_row_output_spare(&output, "rows.jsonl", &error));
 *     TB_TRY(tb_buffer_append(&output.text, line));
 *     TB_TRY(tb_row_output_flush(&output, false, &error));   // now and then
 *     TB_TRY(tb_row_output_commit(&output, meta, &error));
 *     tb_row_output_close(&output);
 */
#ifndef TB_ROW_OUTPUT_H
#define TB_ROW_OUTPUT_H

#include "output.h"
#include "path.h"
#include "row_input.h"

/* One thread at a time; zero-initialised is closed. */
struct tb_row_output {
    struct tb_output *rows;
    struct tb_buffer text; /* rows that are not written yet */
    char meta_path[TB_PATH_SIZE];
    const char *path; /* borrowed; "-": standard output */
};

/* The statuses of tb_output_open. */
TB_NODISCARD tb_status tb_row_output_open(struct tb_row_output *output,
                                          const char *path,
                                          struct tb_row_stop stop,
                                          struct tb_error *error);

/* TB_ERR_USAGE when the rows or their meta file would replace the file `input`,
 * which is read, or its meta file. */
TB_NODISCARD tb_status tb_row_output_spare(const struct tb_row_output *output,
                                           const char *input,
                                           struct tb_error *error);

/* Writes `text` when it has grown, or in any case. The statuses of
 * tb_output_write. */
TB_NODISCARD tb_status tb_row_output_flush(struct tb_row_output *output,
                                           bool in_any_case,
                                           struct tb_error *error);

/* Writes what is left, and puts rows and meta file in place together. Rows that
 * are written through have no meta file. The statuses of tb_output_commit. */
TB_NODISCARD tb_status tb_row_output_commit(struct tb_row_output *output,
                                            struct tb_span meta,
                                            struct tb_error *error);

/* Without a commit before, nothing is left. Closed already is accepted. */
void tb_row_output_close(struct tb_row_output *output);

#endif
