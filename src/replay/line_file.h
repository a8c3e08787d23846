/* A file of another program with a record a line: read to the end whatever is
 * in it. A line that is no record costs that line; it is counted, and the
 * first one is kept for a message.
 *
 *     struct tb_line_losses losses = {0};
 *     TB_TRY(tb_line_file_read("calls.jsonl", read_line, &table, NULL, &losses,
 *                              error));
 */
#ifndef TB_LINE_FILE_H
#define TB_LINE_FILE_H

#include "arena.h"
#include "status.h"

struct tb_line_losses {
    uint64_t count;
    struct tb_error first; /* when count is not 0 */
};

/* Takes in one line, which is not empty. `arena` is reset after it. TB_ERR_CUT,
 * TB_ERR_SYNTAX, TB_ERR_TYPE and TB_ERR_VALUE say that the line is no record,
 * with its place in `error`; anything else ends the reading. */
typedef tb_status (*tb_line_file_fn)(void *context, struct tb_span line,
                                     uint64_t offset, uint64_t number,
                                     struct tb_arena *arena,
                                     struct tb_error *error);

/* Reads `path`; "-" is standard input, and what is compressed is read as it
 * is. `is_stopping` may be NULL; when it says true, TB_ERR_INTERRUPTED. The
 * statuses of tb_input_open and tb_input_read, TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_line_file_read(const char *path,
                                         tb_line_file_fn on_line, void *context,
                                         bool (*is_stopping)(void *),
                                         struct tb_line_losses *losses,
                                         struct tb_error *error);

#endif
