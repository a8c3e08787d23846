/* Traces in: from a file's bytes to records, and from a record to a part of a
 * call. Two steps, because the first is one pass at memory speed and the
 * second can run on any thread.
 *
 *     tb_trace_open(TB_DIALECT_NAT, &options, input, &reader, error);
 *     while (tb_trace_next(reader, &event, error) == TB_OK &&
 *            event.kind != TB_TRACE_END) ...
 *     tb_trace_close(reader);
 *
 * Each dialect is one file that fills a `struct tb_dialect`; see nat.c and
 * telemetry.c.
 */
#ifndef TB_TRACE_H
#define TB_TRACE_H

#include "input.h"
#include "memo.h"
#include "session.h"

typedef enum tb_dialect_id {
    TB_DIALECT_NAT,       /* NeMo Agent Toolkit profiler trace */
    TB_DIALECT_TELEMETRY, /* telemetry JSONL */
} tb_dialect_id;

struct tb_trace_options {
    uint64_t skip_sessions; /* drop so many from the front (NAT requests) */
    uint64_t max_sessions;  /* then take so many; UINT64_MAX: all */
    bool is_compat;         /* order and text as the Python converters */
    bool has_tokens;        /* pieces of answers are records too, where the
                               trace has them: for the time of the first */
};

typedef enum tb_trace_event_kind {
    TB_TRACE_SESSION,      /* a session begins: `name` */
    TB_TRACE_RECORD,       /* `json`, `offset`, `line` */
    TB_TRACE_SESSION_END,  /* it is complete: `record_count` records read */
    TB_TRACE_SESSION_DROP, /* it is not whole (the file is cut): forget it */
    TB_TRACE_LOSS, /* a record that cannot be read, see `loss` and `error` */
    TB_TRACE_END,
} tb_trace_event_kind;

typedef enum tb_loss {
    TB_LOSS_CUT,    /* the file ends in the middle of a session or record */
    TB_LOSS_SYNTAX, /* not JSON: this record, or the rest of the file */
    TB_LOSS_TYPE,   /* JSON of another shape than the dialect's */
} tb_loss;

struct tb_trace_event {
    tb_trace_event_kind kind;
    struct tb_span name; /* session id; lives until the next call */
    struct tb_span json; /* one record; lives until the next call */
    uint64_t offset;     /* of the record in the file, bytes */
    uint64_t line;
    tb_loss loss;
    struct tb_error error; /* what was wrong, for TB_TRACE_LOSS and _DROP */
};

/* What a reader has seen so far. */
struct tb_trace_counts {
    uint64_t bytes_read;
    uint64_t record_count;        /* records of any kind, skipped ones too */
    uint64_t session_count;       /* sessions that began, after skip_sessions */
    uint64_t empty_session_count; /* sessions without any record */
    double first_s; /* start of the earliest call, seconds since 1970; NAN when
                       it is not known before all is read */
};

struct tb_trace_reader; /* one thread at a time */

/* Takes a borrowed `input`, which must stay open. */
TB_NODISCARD tb_status tb_trace_open(tb_dialect_id dialect,
                                     const struct tb_trace_options *options,
                                     struct tb_input *input,
                                     struct tb_trace_reader **reader,
                                     struct tb_error *error);

/* The next event. Anything wrong with the trace's content is an event
 * (TB_TRACE_LOSS), not a failure; a status other than TB_OK means that the
 * run cannot go on (memory, input/output). */
TB_NODISCARD tb_status tb_trace_next(struct tb_trace_reader *reader,
                                     struct tb_trace_event *event,
                                     struct tb_error *error);

struct tb_trace_counts tb_trace_counts(const struct tb_trace_reader *reader);

/* NULL is accepted. */
void tb_trace_close(struct tb_trace_reader *reader);

/* How records are parsed; one per thread. */
struct tb_trace_parser {
    tb_dialect_id dialect;
    bool is_compat;
    struct tb_memo *memo; /* of messages that came before, or NULL; the caller
                             begins it for each record */
};

/* Parses one record, in any order. What `part` points to lives in `json`,
 * `arena` and the parser's memo. A record of an unexpected shape costs itself
 * alone: TB_ERR_SYNTAX, TB_ERR_CUT or TB_ERR_TYPE with the place in `error`. */
TB_NODISCARD tb_status tb_trace_parse(const struct tb_trace_parser *parser,
                                      struct tb_span json, uint64_t offset,
                                      uint64_t line, struct tb_arena *arena,
                                      struct tb_part *part,
                                      struct tb_error *error);

/* The model's name in a record, without parsing the rest; empty if it has
 * none. For choosing a tokenizer before anything is converted. */
TB_NODISCARD tb_status tb_trace_peek_model(tb_dialect_id dialect,
                                           struct tb_span json,
                                           struct tb_arena *arena,
                                           struct tb_span *model);

#endif
