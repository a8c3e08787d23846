/* Was the replay the recorded load? Joins the requests of a run with the calls
 * that their rows were made of, by session and turn, and compares them.
 *
 *     struct tb_replay_check check;
 *     TB_TRY(tb_replay_check_make(&calls, &requests, &options, &check));
 *     if (check.is_equal) ...
 *     tb_replay_check_release(&check);
 *
 * Prompts are compared by the server's count where it told one: with the whole
 * recorded prompt. Else by aiperf's own count of the texts it sent, which knows
 * no chat template: with the lengths in the rows, added up. */
#ifndef TB_REPLAY_CHECK_H
#define TB_REPLAY_CHECK_H

#include "call_table.h"
#include "request_table.h"
#include "stats.h"

enum {
    TB_REPLAY_WORST = 10, /* calls that are named */
    TB_REPLAY_NAMED = 10, /* requests and calls without a partner */
};

/* What a row holds, as far as it is known. */
typedef enum tb_replay_rows {
    TB_REPLAY_ROWS_UNKNOWN, /* found out from the lengths of the calls */
    TB_REPLAY_ROWS_DELTA,
    TB_REPLAY_ROWS_WHOLE,
    TB_REPLAY_ROWS_MESSAGES,
} tb_replay_rows;

struct tb_replay_options {
    bool has_tolerance; /* else: prompts exact on first turns, within a token
                           after; answers exact */
    uint64_t tolerance; /* tokens that a prompt or an answer may differ by */
    bool has_late;      /* else times are told, not judged */
    uint64_t late_ms;   /* that a turn, or a session, may be late or early */
    tb_replay_rows rows;
};

typedef enum tb_match {
    TB_MATCH_NONE, /* not compared: one of the two is not known */
    TB_MATCH_EXACT,
    TB_MATCH_WITHIN, /* the tolerance */
    TB_MATCH_OFF,
    TB_MATCH_COUNT,
} tb_match;

/* A call and its request. */
struct tb_replay_pair {
    const struct tb_replay_call *call;
    const struct tb_replay_request *request;   /* NULL: it was not sent */
    bool is_server_count;                      /* of the prompt */
    tb_match prompt, output, time;             /* NONE unless it was answered */
    uint64_t recorded_prompt, replayed_prompt; /* tokens, unless NONE */
    /* ms, unless NONE: of a first turn since the first session began, of
       others since the answer before */
    uint64_t recorded_ms;
    double replayed_ms;
};

/* Something that both have. Times in ms. */
struct tb_replay_figure {
    struct tb_series recorded, replayed;
    uint64_t matches[TB_MATCH_COUNT];
};

/* How far from recorded times: a series has the same count as its figure. */
struct tb_replay_lag {
    struct tb_series late_us; /* how much later than recorded, or 0 */
    double early_ms;          /* the most that one came early, or 0 */
};

/* Borrows the two tables. */
struct tb_replay_check {
    const struct tb_call_table *calls;
    const struct tb_request_table *requests;
    struct tb_replay_options options;
    bool is_whole; /* each row of a session holds the whole prompt, by its
                      lengths or because it was said */
    bool is_equal; /* all calls were made, once, each as recorded */
    struct tb_replay_pair *pairs; /* one a call, in the table's order */
    uint64_t answered_count, failed_count, missing_count; /* calls, in all */
    uint64_t extra_count;          /* requests of no call */
    uint64_t repeated_count;       /* requests of a call that has one */
    uint64_t server_counted_count; /* prompts */
    struct tb_replay_figure prompt, output, gap, start;
    struct tb_replay_lag gap_lag;
    /* Against the session that came the least late, since the two clocks have
       no beginning in common: none is early. */
    struct tb_replay_lag start_lag;
    uint64_t cached_count;                     /* calls of which both told: */
    uint64_t recorded_cached, recorded_prompt; /* tokens */
    uint64_t replayed_cached, replayed_prompt;
    size_t worst[TB_REPLAY_WORST]; /* of the pairs, the worst first */
    size_t worst_count;
    const struct tb_replay_request *extra[TB_REPLAY_NAMED];
};

/* Makes a check that must be released, also after a failure: TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_replay_check_make(
    const struct tb_call_table *calls, const struct tb_request_table *requests,
    const struct tb_replay_options *options, struct tb_replay_check *check);

/* Tokens by which the replayed prompt or answer is longer than recorded; only
 * where they were compared. */
int64_t tb_replay_prompt_off(const struct tb_replay_pair *pair);
int64_t tb_replay_output_off(const struct tb_replay_pair *pair);

void tb_replay_check_release(struct tb_replay_check *check);

#endif
