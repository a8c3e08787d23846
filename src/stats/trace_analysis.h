/* The figures of a trace of rows: lengths, sessions, times, and what a prefix
 * cache would serve. docs/METRICS.md defines each. Rows go in in their order,
 * one thread at a time; memory is that of prefix_tree.h for each block size,
 * and some for each session and for each distinct length.
 */
#ifndef TB_TRACE_ANALYSIS_H
#define TB_TRACE_ANALYSIS_H

#include "name_table.h"
#include "prefix_cache.h"
#include "reblock.h"
#include "tally.h"
#include "time_bins.h"

enum {
    TB_TRACE_LONG_SESSION = 256,  /* delta rows; see long_run.h */
    TB_ANALYSIS_MAX_SIZES = 16,   /* block sizes */
    TB_ANALYSIS_TURN_GROUPS = 33, /* turn 1, 2, 3-4, 5-8, ... */
    TB_TRACE_UNHELD_MAX = 1 << 24 /* blocks of a delta row */
};

#define TB_TRACE_LENGTH_MAX (UINT64_C(1) << 32) /* tokens */

/* A row, as the figures see it. Spans are borrowed for the call. */
struct tb_trace_row {
    struct tb_span session;         /* empty: a session of its own */
    struct tb_span agent, priority; /* empty: none */
    uint64_t input_length;
    bool has_output;
    uint64_t output_length;
    const uint64_t *ids;
    size_t id_count;
    bool has_time, has_delay;
    double time_ms, delay_ms;
};

/* Lengths of some of the rows. */
struct tb_length_group {
    uint64_t row_count;
    struct tb_tally prompt; /* tokens of whole prompts */
    struct tb_tally fresh;  /* ... that an infinite cache does not have */
    struct tb_tally output;
};

struct tb_trace_session {
    uint32_t turn_count;
    bool has_time;
    double time_ms;                     /* of its last row */
    double first_time_ms, last_time_ms; /* of the earliest and latest row */
    uint64_t prompt_tokens;             /* of its last prompt */
    uint64_t output_tokens;             /* of the answer to it */
};

struct tb_sized_cache {
    uint32_t multiple; /* of the rows' block size */
    struct tb_prefix_cache cache;
    uint32_t *ends; /* by session: where its last prompt ends; delta only */
    size_t end_capacity;
};

struct tb_trace_analysis {
    uint32_t block_len; /* tokens */
    bool is_delta;      /* rows hold what a turn adds */
    uint64_t row_count, session_count;
    uint64_t unfit_count;  /* rows with more or fewer ids than blocks */
    uint64_t idless_count; /* rows without ids */
    uint64_t last_prompt_tokens, last_fresh_tokens; /* of the row added last */
    struct tb_sized_cache caches[TB_ANALYSIS_MAX_SIZES]; /* the first: 1 */
    size_t cache_count;
    struct tb_row_owners owners; /* agents by number + 1; 0: none */
    struct tb_length_group all;  /* filled by tb_trace_analysis_finish */
    struct tb_length_group turns[TB_ANALYSIS_TURN_GROUPS];
    struct tb_name_table agents, priorities, sessions;
    struct tb_length_group *agent_groups, *priority_groups; /* by number */
    size_t agent_capacity, priority_capacity;
    uint64_t most_tokens; /* of a session's last prompt and the answer to it */
    struct tb_trace_session *session_items;
    size_t session_capacity;
    struct tb_tally session_turns; /* filled by tb_trace_analysis_finish */
    struct tb_tally delays;        /* ms, rounded */
    struct tb_tally intervals;     /* ms between starts of a session's rows */
    uint64_t time_count, negative_count; /* rows with a timestamp; delays and
                                            intervals below 0, left out */
    double first_time_ms, last_time_ms;
    struct tb_time_bins times; /* finished by tb_trace_analysis_finish */
    struct tb_reblock reblock;
    struct tb_reblock pieces; /* ids that stand for what rows do not hold */
};

/* `multiples` of the block size are figured too; each is above 1.
 * TB_ERR_MEMORY; release it in any case. */
TB_NODISCARD tb_status tb_trace_analysis_init(
    struct tb_trace_analysis *analysis, uint32_t block_len, bool is_delta,
    const uint32_t *multiples, size_t multiple_count);

/* Can the row be added next? TB_ERR_LIMIT: its prompt (the session's, for
 * delta rows) or output is above TB_TRACE_LENGTH_MAX, with which sums would
 * wrap, or a delta row has more than TB_TRACE_UNHELD_MAX blocks without ids,
 * which need memory that the file did not. `error` says which. */
TB_NODISCARD tb_status
tb_trace_analysis_check(const struct tb_trace_analysis *analysis,
                        const struct tb_trace_row *row, struct tb_error *error);

/* A row that tb_trace_analysis_check lets pass. TB_ERR_MEMORY, TB_ERR_LIMIT
 * beyond 2^32 - 2 blocks. */
TB_NODISCARD tb_status tb_trace_analysis_add(struct tb_trace_analysis *analysis,
                                             const struct tb_trace_row *row);

/* What only the whole trace tells. TB_ERR_MEMORY. */
TB_NODISCARD tb_status
tb_trace_analysis_finish(struct tb_trace_analysis *analysis);

/* The first and last turn, from 1, of a group of turns. */
void tb_turn_group_range(size_t group, uint64_t *first, uint64_t *last);

void tb_trace_analysis_release(struct tb_trace_analysis *analysis);

#endif
