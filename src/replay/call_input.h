/* The calls of a file that a converter wrote with --calls, one after the other.
 *
 *     struct tb_call_input calls = {0};
 *     TB_TRY(tb_call_input_open(&calls, "calls.jsonl", &error));
 *     while (tb_call_input_next(&calls, &error) == TB_OK && calls.has_call)
 *         ... calls.call ...
 *     tb_call_input_close(&calls);
 *
 * A line that is no call is a failure. Memory is that of the longest line. One
 * thread at a time; zero-initialised is closed.
 */
#ifndef TB_CALL_INPUT_H
#define TB_CALL_INPUT_H

#include "call_line.h"
#include "line_reader.h"

struct tb_call_input {
    struct tb_input *input;
    struct tb_line_reader lines;
    struct tb_arena arena;    /* holds texts of the call */
    struct tb_call_line call; /* when has_call; until the next one */
    bool has_call;            /* false: there are no more */
};

/* May be read twice: what cannot, a pipe or compressed data, is copied to a
 * temporary file ($TMPDIR or /tmp). The statuses of tb_input_open and
 * tb_input_keep. */
TB_NODISCARD tb_status tb_call_input_open(struct tb_call_input *calls,
                                          const char *path,
                                          struct tb_error *error);

/* The statuses of tb_line_reader_next and tb_call_line_read. */
TB_NODISCARD tb_status tb_call_input_next(struct tb_call_input *calls,
                                          struct tb_error *error);

/* From the first call once more, after the last. */
void tb_call_input_rewind(struct tb_call_input *calls);

void tb_call_input_close(struct tb_call_input *calls);

#endif
