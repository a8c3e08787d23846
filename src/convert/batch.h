/* A batch: what the reader saw, a megabyte at a time, and what a worker made
 * of it. Filled by the reading thread, worked on by one worker, read by the
 * thread that makes rows; never by two at once.
 */
#ifndef TB_BATCH_H
#define TB_BATCH_H

#include "prompt_cache.h"
#include "prompt_maker.h"
#include "trace.h"

/* The ids of a prompt, as far as they are its own: it begins with the first
 * `shared_count` ids of prompt `base` of the same session. */
struct tb_prompt {
    const tb_token *own; /* in the arena of the batch, later the session's */
    size_t own_count;
    uint64_t base; /* TB_PROMPT_NO_TAG: none */
    size_t shared_count;
    uint32_t lone_surrogate_count;
    bool is_empty_text;
    bool has_unused_tools; /* its tools are not in the text */
    tb_prompt_kind kind;
    struct tb_span refusal;         /* why, when it was refused or could not
                                       be encoded; beside `own` */
    struct tb_span messages, tools; /* as an endpoint takes them, when rows
                                       want them; beside `own` */
};

/* One event of the trace and, for a record, what came out of it. */
struct tb_batch_event {
    tb_trace_event_kind kind;
    struct tb_span name;      /* session id, in the batch's arena */
    size_t json_at, json_len; /* of a record, in `bytes` */
    uint64_t offset, line;
    uint64_t number;         /* of a record in its session, from 0 */
    uint64_t session_number; /* of its session in the run */
    tb_loss loss;
    const char *path;       /* of the trace; lives as long as the run */
    struct tb_error *error; /* of a loss, or of a record that failed */
    /* made by the worker */
    tb_status status;
    struct tb_part part;
    struct tb_prompt prompt;
    uint64_t answer_count;    /* tokens of the answer, when usage has none */
    const char *answer_fault; /* constant: why it is not counted, or NULL */
};

struct tb_batch {
    struct tb_arena arena;
    struct tb_buffer bytes; /* of all records */
    struct tb_batch_event *events;
    size_t event_count, event_capacity;
    uint64_t token_count, reused_count; /* of all prompts */
    tb_status status; /* TB_OK, or why the worker had to stop */
};

void tb_batch_init(struct tb_batch *batch);

/* Empty again, memory kept. */
void tb_batch_reset(struct tb_batch *batch);
void tb_batch_release(struct tb_batch *batch);

/* Copies an event in; not `path`, the trace it comes from. The numbers are the
 * reader's to give. */
TB_NODISCARD tb_status tb_batch_add(struct tb_batch *batch,
                                    const struct tb_trace_event *event,
                                    const char *path, uint64_t session_number,
                                    uint64_t number);

/* What one worker works with. */
struct tb_batch_worker {
    tb_dialect_id dialect;
    bool is_compat;
    struct tb_prompt_maker maker;
    struct tb_encoder *encoder;
    struct tb_prompt_cache *cache;
    struct tb_memo *memo;             /* of messages, or NULL */
    struct tb_buffer text;            /* of the current prompt */
    struct tb_buffer messages, tools; /* ... and for rows of messages */
    struct tb_tokens answer;
};

/* Parses all records of the batch and encodes their prompts and answers. */
void tb_batch_work(struct tb_batch *batch, struct tb_batch_worker *worker);

#endif
