/* The calls of a run beside its rows: one line of JSON per call, also for
 * those without a row, with times, usage and what was adjusted, but no text.
 * Keys are in docs/FORMATS.md.
 *
 *     struct tb_call_log log = tb_call_log_on(output);
 *     TB_TRY(tb_call_log_add(&log, &entry, error));   // for each call
 *     TB_TRY(tb_call_log_flush(&log, error));
 *     tb_call_log_release(&log);
 */
#ifndef TB_CALL_LOG_H
#define TB_CALL_LOG_H

#include "mooncake_row.h"
#include "output.h"
#include "prompt_maker.h"
#include "session.h"
#include "stats.h"

/* One thread at a time. */
struct tb_call_log {
    struct tb_output *output; /* borrowed; NULL: nothing is written */
    struct tb_buffer lines;   /* to be written */
};

/* All borrowed. */
struct tb_call_entry {
    const struct tb_call *call;
    const char *path;       /* of its trace */
    struct tb_span session; /* as recorded */
    bool is_failed;         /* started, never ended */
    bool is_tried_again;    /* ... and made again later */
    bool has_overlap;       /* began before a call before it had ended */
    tb_skip skip;           /* TB_SKIP_COUNT: it has a row: */
    uint64_t row_number;    /* its line in the rows, from 1 */
    struct tb_mooncake_row row;
    uint32_t turn;      /* in the row's session, from 0 */
    bool has_continued; /* whole rows: it is known which one it goes on: */
    uint64_t continued_row_number; /* ... this; 0: none */
    uint64_t prompt_tokens;        /* of the whole prompt, as replayed */
    uint64_t counted_tokens;       /* of its text, by the tokenizer */
    tb_prompt_kind prompt_kind;
};

struct tb_call_log tb_call_log_on(struct tb_output *output);

/* Writes a line, sooner or later. Statuses of tb_output_write; TB_ERR_MEMORY.
 */
TB_NODISCARD tb_status tb_call_log_add(struct tb_call_log *log,
                                       const struct tb_call_entry *entry,
                                       struct tb_error *error);

/* Writes what is still in the buffer. */
TB_NODISCARD tb_status tb_call_log_flush(struct tb_call_log *log,
                                         struct tb_error *error);

void tb_call_log_release(struct tb_call_log *log);

#endif
