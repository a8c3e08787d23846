/* The figures of recorded calls beside those of their rows: how long they took,
 * what lay between them, how many there were at once, what the server counted
 * and cached, and what was lost. docs/METRICS.md defines each.
 *
 *     tb_call_analysis_add(&analysis, &record);              // for each call
 *     tb_call_analysis_add_row(&analysis, line, &figures);   // for each row
 *     tb_call_analysis_finish(&analysis);
 *
 * Calls and rows may come in any order among each other. One thread at a time;
 * memory is some 80 bytes a call, and as much again while they are sorted.
 * Zero-initialised is empty and ready.
 */
#ifndef TB_CALL_ANALYSIS_H
#define TB_CALL_ANALYSIS_H

#include "in_flight.h"
#include "name_table.h"
#include "tally.h"

enum {
    TB_CALL_LANES = 24
}; /* sessions that are kept apart, those with most
      calls */

/* A call as the figures see it. Spans are borrowed for the call. */
struct tb_call_record {
    struct tb_span session;               /* as recorded */
    struct tb_span agent, model;          /* empty: not recorded */
    double start_s, first_token_s, end_s; /* since 1970; NAN: not recorded */
    bool has_row;                         /* its row: */
    uint64_t row;                         /* its line, from 1 */
    uint64_t input_length;                /* tokens */
    uint64_t counted_tokens;              /* our count of its prompt */
    struct tb_span skipped;               /* why there is no row */
    bool is_failed;                       /* it never ended */
    bool is_tried_again;                  /* ... and was sent again later */
    bool has_usage, has_cached;           /* what the server said: */
    uint64_t usage_tokens, cached_tokens; /* of the prompt */
};

/* What the figures of rows know of one. */
struct tb_call_row {
    uint64_t input_length;  /* tokens that it holds */
    uint64_t prompt_tokens; /* of its whole prompt */
    uint64_t served_tokens; /* of them a cache without limits serves */
};

/* Figures of some of the calls. */
struct tb_call_group {
    uint64_t call_count, row_count;
    uint64_t failed_count, retried_count; /* never ended; and sent again */
    struct tb_tally service_ms;           /* start to end */
    struct tb_tally first_token_ms;       /* start to first token */
    /* of calls with a row and a count of the server's */
    uint64_t usage_count, usage_tokens, counted_tokens;
    uint64_t differing_count;       /* calls of which the counts differ, */
    uint64_t difference_tokens;     /* by so many in all, */
    struct tb_tally difference_ppm; /* in millionths of the server's */
    /* of calls with a row whose cached tokens the server told */
    uint64_t cached_count, cached_usage_tokens, cached_tokens;
    uint64_t our_prompt_tokens, our_served_tokens; /* of their rows; filled by
                                                      tb_call_analysis_finish */
};

#define TB_NO_TIME INT64_MIN

struct tb_timed_call {
    int64_t start_us, end_us; /* since 1970; TB_NO_TIME: not known */
    uint64_t row;             /* 0: none */
    uint64_t input_length;
    uint32_t session, number; /* of the call, in the order they came */
    uint32_t agent, model;    /* TB_NAME_NONE: not recorded */
    bool is_failed, is_tried_again, has_cached;
};

/* One of the sessions with most calls. */
struct tb_call_lane {
    uint32_t session;
    uint32_t count; /* of calls with a start */
    size_t first;   /* of them in `calls`, where they stand by start */
};

struct tb_call_analysis {
    struct tb_call_group all;
    struct tb_name_table agents, models, sessions, reasons;
    struct tb_call_group *agent_groups, *model_groups; /* by number */
    uint64_t *reason_counts; /* calls without a row, by number of reason */
    size_t agent_capacity, model_capacity, reason_capacity;
    struct tb_timed_call *calls; /* by session and start once finished */
    size_t call_count, call_capacity;
    struct tb_call_row *rows; /* by line - 1; prompt_tokens 0: no row */
    size_t row_count, row_capacity;
    uint64_t timeless_count; /* calls without a start, or that ended before */
    /* filled by tb_call_analysis_finish */
    int64_t first_us;       /* the earliest start */
    uint64_t overlap_count; /* began before one of the session had ended */
    uint64_t unfit_count;   /* calls whose row is not there or is another */
    struct tb_tally gap_ms; /* end to start within a session */
    struct tb_in_flight flight;
    struct tb_call_lane lanes[TB_CALL_LANES];
    size_t lane_count;
};

/* TB_ERR_MEMORY; TB_ERR_LIMIT beyond 2^32 - 2 calls. */
TB_NODISCARD tb_status tb_call_analysis_add(
    struct tb_call_analysis *analysis, const struct tb_call_record *record);

/* `line` is from 1 and below 2^32. TB_ERR_MEMORY. */
TB_NODISCARD tb_status
tb_call_analysis_add_row(struct tb_call_analysis *analysis, uint64_t line,
                         const struct tb_call_row *row);

/* What only all calls tell. TB_ERR_MEMORY. */
TB_NODISCARD tb_status
tb_call_analysis_finish(struct tb_call_analysis *analysis);

void tb_call_analysis_release(struct tb_call_analysis *analysis);

#endif
