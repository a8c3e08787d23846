/* Lines of an input, one after the other, of any length up to a cap. */
#ifndef TB_LINE_READER_H
#define TB_LINE_READER_H

#include "buffer.h"
#include "input.h"

/* One thread at a time. */
struct tb_line_reader {
    struct tb_input *input; /* borrowed */
    struct tb_buffer window;
    size_t at;       /* of the next line in the window */
    size_t seen;     /* window bytes from `at` on that hold no line break */
    uint64_t line;   /* number of the line that was given last, from 1 */
    uint64_t offset; /* where it begins in the input, bytes */
    uint64_t window_offset;
    bool is_at_end;
    bool has_return; /* the line that was given last ended in "\r\n" */
};

struct tb_line_reader tb_line_reader_on(struct tb_input *input);

/* Of `len` bytes in memory, which are borrowed: nothing fails, and nothing is
 * to be released. */
struct tb_line_reader tb_line_reader_of(uint8_t *bytes, size_t len);

/* Gives the next line, without its end ("\n" or "\r\n"); `text->ptr` is NULL
 * after the last one. Lives until the next call. The statuses of
 * tb_input_read, TB_ERR_LIMIT for a line above 4 GB, TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_line_reader_next(struct tb_line_reader *reader,
                                           struct tb_span *text,
                                           struct tb_error *error);

/* Would the next call have to read? Then whoever waits for answers to the
 * lines so far should have them now. */
bool tb_line_reader_must_read(const struct tb_line_reader *reader);

void tb_line_reader_release(struct tb_line_reader *reader);

#endif
