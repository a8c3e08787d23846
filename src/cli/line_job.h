/* What `tokenize` and `render` have in common: a line in, a line out, until
 * the end or the first bad line. Output is written in large pieces, but before
 * the command waits for more input, so that a person at a pipe sees it. */
#ifndef TB_LINE_JOB_H
#define TB_LINE_JOB_H

#include "line_reader.h"
#include "output.h"

struct tb_line_job {
    struct tb_input *input;
    struct tb_output *output;
    struct tb_line_reader lines; /* `line` and `offset` of the current one */
    struct tb_buffer text;       /* output that is not written yet */
};

/* Appends what comes of `line` to `job->text`. */
typedef tb_status (*tb_line_fn)(void *context, struct tb_line_job *job,
                                struct tb_span line, struct tb_error *error);

/* Reads `path` ("-": standard input) and writes to standard output. What
 * stands before a bad line is written, so that one sees where it stopped. */
TB_NODISCARD tb_status tb_line_job_run(const char *path, tb_line_fn on_line,
                                       void *context, struct tb_error *error);

/* Prints "2 lines without WHAT" when `count`, of lines that are null, is not 0.
 */
void tb_line_job_tell_null(uint64_t count, const char *what);

#endif
