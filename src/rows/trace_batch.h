/* Some lines of a file of rows, and what each of them is: whoever has them can
 * read them on any thread, without knowing what stands before them.
 *
 *     struct tb_trace_batch batch;
 *     TB_TRY(tb_trace_batch_init(&batch));
 *     ... whole lines into batch.bytes, and where they begin into offset ...
 *     tb_trace_batch_read(&batch);
 *     ... batch.status, batch.lines ...
 *     tb_trace_batch_reset(&batch);
 *     tb_trace_batch_release(&batch);
 */
#ifndef TB_TRACE_BATCH_H
#define TB_TRACE_BATCH_H

#include "buffer.h"
#include "mooncake_reader.h"
#include "trace_row.h"

#define TB_TRACE_BATCH_LINE_MAX ((size_t)1 << 32) /* bytes */

/* Of so many lost lines of a batch the reasons are kept: a file that is
 * something else altogether has nothing but such lines. */
enum { TB_TRACE_BATCH_REASONS = 8 };

typedef enum tb_trace_line_kind {
    TB_TRACE_LINE_ROW,
    TB_TRACE_LINE_LENGTHLESS, /* a row without a length: there are no figures */
    TB_TRACE_LINE_LOST,       /* no row */
} tb_trace_line_kind;

/* A line that is not white space alone. All of it lives as long as the batch's
 * content. */
struct tb_trace_line {
    tb_trace_line_kind kind;
    uint64_t number;         /* from 1; in the batch, as the error has it too */
    uint64_t offset;         /* of the line in the file, bytes */
    struct tb_trace_row row; /* TB_TRACE_LINE_ROW */
    struct tb_error *error;  /* TB_TRACE_LINE_LOST: why, and where; or NULL */
};

/* One thread at a time. */
struct tb_trace_batch {
    struct tb_buffer bytes; /* lines, in the order of the file; the last one may
                               have no end if it is the file's last */
    uint64_t offset;        /* where they begin in the file */
    tb_status status;       /* TB_OK, or TB_ERR_MEMORY: lines are missing */
    struct tb_trace_line *lines;
    size_t line_count, line_capacity;
    unsigned reason_count; /* of lost lines, that are kept */
    uint64_t number_count; /* lines, those of white space alone included */
    uint64_t *ids;         /* of all rows */
    size_t id_count, id_capacity;
    struct tb_mooncake_reader *reader;
    struct tb_mooncake_record record;
    struct tb_arena arena; /* holds texts and errors of lines */
};

/* TB_ERR_MEMORY; release it in any case. */
TB_NODISCARD tb_status tb_trace_batch_init(struct tb_trace_batch *batch);

/* Reads the lines of `bytes`; `status` says how it went. */
void tb_trace_batch_read(struct tb_trace_batch *batch);

/* Makes it empty, and keeps no more memory than most batches need. */
void tb_trace_batch_reset(struct tb_trace_batch *batch);

void tb_trace_batch_release(struct tb_trace_batch *batch);

#endif
