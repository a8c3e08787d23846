/* How everything here fails: a status to decide by, and an error that tells a
 * person what and where.
 *
 * A function that can fail returns tb_status and gives its results through
 * out-parameters. Detail goes to a last parameter `struct tb_error *`, which
 * may be NULL. Whoever knows more (the file, the line) adds it on the way up;
 * nobody below the command line prints.
 *
 *     TB_TRY(tb_buffer_append(&buffer, text));
 */
#ifndef TB_STATUS_H
#define TB_STATUS_H

#include <stdint.h>

#include "span.h"

typedef enum tb_status {
    TB_OK = 0,
    TB_ERR_MEMORY,      /* an allocation failed */
    TB_ERR_LIMIT,       /* a stated limit was passed */
    TB_ERR_IO,          /* the system refused to open, read or write */
    TB_ERR_CLOSED,      /* whoever read our output closed the pipe */
    TB_ERR_SYNTAX,      /* the bytes are not what their format says */
    TB_ERR_CUT,         /* the bytes end in the middle of a value */
    TB_ERR_TYPE,        /* well formed, but of the wrong kind */
    TB_ERR_VALUE,       /* of the right kind, but out of range */
    TB_ERR_UNSUPPORTED, /* known and named, but not built */
    TB_ERR_NOT_FOUND,   /* no such file or tokenizer */
    TB_ERR_USAGE,       /* options that contradict each other */
    TB_ERR_EMPTY,       /* nothing came out; the summary says why */
    TB_ERR_INTERRUPTED, /* the caller asked to stop */
} tb_status;

/* A short constant name such as "syntax"; never NULL. */
const char *tb_status_name(tb_status status);

/* Plain data, no ownership: copy it as you like. */
struct tb_error {
    tb_status status;
    char path[256];      /* file concerned, or "" */
    uint64_t line;       /* 1 is the first; 0: not known */
    uint64_t offset;     /* bytes from the file's start; with line only */
    char json_path[128]; /* for example $[3].payload.UUID, or "" */
    char message[512];   /* fault first, lower case, no full stop */
};

#define TB_NODISCARD __attribute__((warn_unused_result))
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

/* Writes "path:line:offset: $json.path: message" with the parts that are
 * known; always zero-terminated, cut at `size`. */
void tb_error_format(const struct tb_error *error, char *text, size_t size);

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
