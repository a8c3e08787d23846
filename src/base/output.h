/* Bytes out: whole or absent.
 *
 * A regular file is written beside its final name, synced, and renamed into
 * place by tb_output_commit; until then the old file stands. What a killed
 * process left there is taken away (temp_file.h). Anything else ("-", a pipe,
 * /dev/null) is written through. A name that ends in .gz or .zst is
 * compressed.
 */
#ifndef TB_OUTPUT_H
#define TB_OUTPUT_H

#include "status.h"

struct tb_output; /* one thread at a time */

/* `path` is copied; "-" is standard output. Waits for a pipe's reader;
 * TB_ERR_INTERRUPTED as wait_fd.h has it. */
TB_NODISCARD tb_status tb_output_open(const char *path,
                                      struct tb_output **output,
                                      struct tb_error *error);

/* The same, and `is_stopping` is asked as after tb_output_on_signal, also while
 * this waits. */
TB_NODISCARD tb_status tb_output_open_until(bool (*is_stopping)(void *context),
                                            void *context, const char *path,
                                            struct tb_output **output,
                                            struct tb_error *error);

/* TB_ERR_CLOSED when the reader of a pipe went away. */
TB_NODISCARD tb_status tb_output_write(struct tb_output *output,
                                       struct tb_span bytes,
                                       struct tb_error *error);

/* When a signal arrives while a pipe takes no more, asks `is_stopping` too, not
 * only the process (wait_fd.h); true ends the write with TB_ERR_INTERRUPTED.
 * NULL: asks no more. */
void tb_output_on_signal(struct tb_output *output,
                         bool (*is_stopping)(void *context), void *context);

/* For what can be made again, such as a cache whose content is checked: a
 * crash of the machine may lose it, so nothing is synced. */
void tb_output_set_disposable(struct tb_output *output);

/* Flushes and syncs: after it little is left that can fail, so that two files
 * that belong together can be put in place together. No write may follow. */
TB_NODISCARD tb_status tb_output_prepare(struct tb_output *output,
                                         struct tb_error *error);

/* Prepares, and renames. After success or failure only tb_output_close is
 * allowed. */
TB_NODISCARD tb_status tb_output_commit(struct tb_output *output,
                                        struct tb_error *error);

/* For files that belong together: all are prepared, then put in place in that
 * order. When one cannot follow, what was there before those before it comes
 * back. A NULL in the list is passed over. */
TB_NODISCARD tb_status tb_output_commit_all(struct tb_output *const *outputs,
                                            size_t count,
                                            struct tb_error *error);

/* After a commit, until the output is closed: gives what was there before its
 * name back, or takes the file away where nothing was. For files that belong
 * together, when a later one cannot follow. */
void tb_output_take_back(struct tb_output *output);

/* Is it written through (no regular file)? */
bool tb_output_is_stream(const struct tb_output *output);

/* Without a commit before, removes the temporary file. NULL is accepted. */
void tb_output_close(struct tb_output *output);

/* Do both paths lead to the same file, or to the same place where neither is
 * yet? */
bool tb_output_is_same_file(const char *a, const char *b);

#endif
