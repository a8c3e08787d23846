/* The rows of a file, one after the other, each as it is written and as it is
 * read, and what the meta file beside them says.
 *
 *     struct tb_row_input input = {0};
 *     TB_TRY(tb_row_input_open(&input, "rows.jsonl", stop, &error));
 *     while (tb_row_input_next(&input, &error) == TB_OK && input.line.ptr)
 *         ... input.line, input.record ...
 *     tb_row_input_close(&input);
 *
 * A line that is no row is a failure, unlike in what only looks at rows: rows
 * that are made of others are all of them, or are not made.
 */
#ifndef TB_ROW_INPUT_H
#define TB_ROW_INPUT_H

#include "meta.h"
#include "mooncake_reader.h"

/* Asked while an input or output makes the run wait; true ends it with
 * TB_ERR_INTERRUPTED. `is_stopping` may be NULL. */
struct tb_row_stop {
    bool (*is_stopping)(void *context);
    void *context;
};

/* Memory is that of the longest line. One thread at a time; zero-initialised
 * is closed. */
struct tb_row_input {
    const char *path; /* borrowed; "-": standard input */
    struct tb_meta_reading meta;
    struct tb_mooncake_reader *reader;
    struct tb_span line;              /* without its end; no ptr: no more */
    struct tb_mooncake_record record; /* of the line */
    struct tb_arena arena;            /* holds texts of the record */
    uint64_t row_count;               /* that were given */
    struct tb_row_stop stop;
};

/* The statuses of tb_mooncake_reader_open and tb_meta_read. */
TB_NODISCARD tb_status tb_row_input_open(struct tb_row_input *input,
                                         const char *path,
                                         struct tb_row_stop stop,
                                         struct tb_error *error);

/* The next row; line and record live until the next call. The statuses of
 * tb_mooncake_reader_next and tb_mooncake_record_read, TB_ERR_INTERRUPTED;
 * TB_ERR_EMPTY at the end of a file without rows. */
TB_NODISCARD tb_status tb_row_input_next(struct tb_row_input *input,
                                         struct tb_error *error);

/* For rows that are read twice: to be called before the first. What cannot be
 * read twice, a pipe or compressed data, is then copied to a temporary file
 * ($TMPDIR or /tmp). TB_ERR_IO, TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_row_input_keep(struct tb_row_input *input,
                                         struct tb_error *error);

/* From the first row once more, after the last. */
void tb_row_input_rewind(struct tb_row_input *input);

/* For a caller that does not like a row: fills `error` with the text and the
 * place of the row, and returns `status`. */
tb_status tb_row_input_fail(const struct tb_row_input *input, tb_status status,
                            struct tb_error *error, const char *format, ...)
    TB_PRINTF(4, 5);

/* TB_ERR_VALUE, with the place of the row, unless its hash_ids are a list of
 * whole numbers that stands in it once. */
TB_NODISCARD tb_status tb_row_input_check_ids(const struct tb_row_input *input,
                                              struct tb_error *error);

/* Closed already is accepted. */
void tb_row_input_close(struct tb_row_input *input);

#endif
