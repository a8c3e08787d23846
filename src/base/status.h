/* How everything here fails: a status to decide by, and an error that tells a
 * person what and where.
 *
 * A function that can fail returns tb_status and gives its results through
 * out-parameters. Detail goes to a last parameter `struct tb_error *`, which
 * may be NULL. Whoever knows more (the file, the line) adds it on the way up;
 * nobody below the command line prints.
 *
 *     TB_TRY(tb_buffer_append(&buffer, text));
 *
 * tb_status, struct tb_error and how they are shown are in tracebake.h, since
 * who uses the library sees them too.
 */
#ifndef TB_STATUS_H
#define TB_STATUS_H

#include "span.h"
#include "tracebake.h"

#define TB_PRINTF(format_at, first_at)                                         \
    __attribute__((format(printf, format_at, first_at)))

/* Fills `error` (may be NULL), dropping any earlier place, and returns
 * `status`, so that a failing function ends with
 * `return tb_fail(error, TB_ERR_TYPE, "...")`. */
tb_status tb_fail(struct tb_error *error, tb_status status, const char *format,
                  ...) TB_PRINTF(3, 4);

/* As tb_fail with errno's text behind the message: "cannot open: No such..." */
tb_status tb_fail_errno(struct tb_error *error, tb_status status,
                        const char *format, ...) TB_PRINTF(3, 4);

/* Adds the file to an error that has none yet. Both may be NULL. */
void tb_error_set_path(struct tb_error *error, const char *path);

/* Hands a failure on to the caller. */
#define TB_TRY(call)                                                           \
    do {                                                                       \
        tb_status tb_try_status_ = (call);                                     \
        if (tb_try_status_ != TB_OK)                                           \
            return tb_try_status_;                                             \
    } while (0)

/* The same inside a function that cleans up at its label `done`; `status` is
 * that function's variable. */
#define TB_TRY_DONE(call)                                                      \
    do {                                                                       \
        status = (call);                                                       \
        if (status != TB_OK)                                                   \
            goto done;                                                         \
    } while (0)

#endif
