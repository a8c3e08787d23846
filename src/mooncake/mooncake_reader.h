/* Rows of a mooncake JSONL file, one after the other: a plain file, standard
 * input, or either of them compressed with gzip or zstd.
 *
 *     TB_TRY(tb_mooncake_reader_open("rows.jsonl", &reader, &error));
 *     while (tb_mooncake_reader_next(reader, &line, &error) == TB_OK &&
 *            line.ptr)
 *         status = tb_mooncake_record_read(&record, line, ...);
 *
 * Memory is that of the longest line. One thread at a time. Lines that are in
 * memory already are given in the same way (tb_mooncake_reader_set_bytes).
 */
#ifndef TB_MOONCAKE_READER_H
#define TB_MOONCAKE_READER_H

#include "input.h"
#include "mooncake_record.h"

struct tb_mooncake_reader;

/* The statuses of tb_input_open, TB_ERR_MEMORY. */
TB_NODISCARD tb_status
tb_mooncake_reader_open(const char *path, struct tb_mooncake_reader **reader,
                        struct tb_error *error);

/* One without an input, which has no lines yet. TB_ERR_MEMORY. */
TB_NODISCARD tb_status
tb_mooncake_reader_new(struct tb_mooncake_reader **reader);

/* For such a one: gives the lines of `len` bytes from now on, which are
 * borrowed; numbers and offsets begin anew with them. Nothing fails then. */
void tb_mooncake_reader_set_bytes(struct tb_mooncake_reader *reader,
                                  uint8_t *bytes, size_t len);

/* Lines are then as JSONL has them: they end in "\n", and white space is what
 * JSON takes for it. Else they may end in "\r" alone too, and white space is
 * what Python's strip() takes for it: so aiperf reads a file. */
void tb_mooncake_reader_set_plain(struct tb_mooncake_reader *reader);

/* The next line that is not white space alone, without it at both ends;
 * `line->ptr` is NULL after the last. Lives until the next call. The statuses
 * of tb_input_read, TB_ERR_LIMIT for a line above 4 GB, TB_ERR_MEMORY. */
TB_NODISCARD tb_status
tb_mooncake_reader_next(struct tb_mooncake_reader *reader, struct tb_span *line,
                        struct tb_error *error);

/* Of the line that was given last: its number, from 1, and where in the
 * uncompressed file it begins, bytes. */
uint64_t tb_mooncake_reader_line(const struct tb_mooncake_reader *reader);
uint64_t tb_mooncake_reader_offset(const struct tb_mooncake_reader *reader);

/* From the first row once more, when tb_input_keep was called before the first
 * and all were given. */
void tb_mooncake_reader_rewind(struct tb_mooncake_reader *reader);

/* What the bytes come from, or NULL; lives as long as the reader. */
struct tb_input *tb_mooncake_reader_input(struct tb_mooncake_reader *reader);

/* NULL is accepted. */
void tb_mooncake_reader_close(struct tb_mooncake_reader *reader);

#endif
