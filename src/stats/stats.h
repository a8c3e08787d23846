/* What a conversion did, in figures: collected while rows are written, read
 * by the report. Filled by one thread. */
#ifndef TB_STATS_H
#define TB_STATS_H

#include "name_table.h"

/* Why a call has no row. Every call is a row or is counted here once. */
typedef enum tb_skip {
    TB_SKIP_NO_END,        /* started, never ended: failed or retried */
    TB_SKIP_NO_START,      /* ended, never started: its prompt is unknown */
    TB_SKIP_DUPLICATE_END, /* ended twice */
    TB_SKIP_EMPTY_PROMPT,  /* no text in its messages */
    TB_SKIP_NO_USAGE,      /* compat: the server counted no prompt tokens */
    TB_SKIP_UNREADABLE,    /* the record is not what the format says */
    TB_SKIP_SURROGATE,     /* compat: a lone surrogate, Python stops there */
    TB_SKIP_ABSURD,        /* a count of tokens that cannot be true */
    TB_SKIP_REFUSED,       /* the chat template refuses its messages */
    TB_SKIP_NOT_ENCODED,   /* the tokenizer has no ids for its prompt */
    TB_SKIP_COUNT,
} tb_skip;

/* A short constant text such as "started but never ended". */
const char *tb_skip_text(tb_skip skip);
/* A constant key for programs such as "no_end". */
const char *tb_skip_key(tb_skip skip);
/* The text of a key; a key that is none stands for itself. */
struct tb_span tb_skip_text_of(struct tb_span key);

/* Grows with the rows, so that percentiles are exact. */
struct tb_series {
    uint64_t *values;
    size_t count, capacity;
    uint64_t sum;
    bool is_sorted;
};

TB_NODISCARD tb_status tb_series_add(struct tb_series *series, uint64_t value);

/* Sorts on first use. `fraction` in 0..1, nearest rank; 0 when empty. */
uint64_t tb_series_percentile(struct tb_series *series, double fraction);
double tb_series_mean(const struct tb_series *series);
void tb_series_release(struct tb_series *series);

/* What a row holds. */
typedef enum tb_rows {
    TB_ROWS_WHOLE,    /* the whole prompt, by its length and ids */
    TB_ROWS_DELTA,    /* what the turn adds to the conversation */
    TB_ROWS_MESSAGES, /* the messages of the whole prompt */
} tb_rows;

/* Who reads the rows. */
typedef enum tb_consumer {
    TB_CONSUMER_ANY,
    TB_CONSUMER_AIPERF,
    TB_CONSUMER_DYNAMO,
} tb_consumer;

/* One row, as the figures see it. */
struct tb_stats_row {
    struct tb_span session_id;
    struct tb_span agent;    /* agent_type or function name; may be empty */
    struct tb_span priority; /* may be empty */
    uint64_t input_length, output_length;
    uint64_t block_count;
    uint64_t before_tokens;  /* of the conversation, that the row leaves out */
    uint64_t new_tokens;     /* tokens in blocks that were not seen before */
    bool has_usage;          /* the server's count is known: */
    uint64_t usage_tokens;   /* what it counted of the prompt */
    uint64_t counted_tokens; /* what we counted */
    bool has_cached;         /* the server said what its cache had: */
    uint64_t cached_tokens;
    bool is_output_unknown; /* output_length is a guess of 1 */
    bool is_output_counted; /* from the answer's text, not from usage */
};

struct tb_stats_group { /* by agent, by priority */
    uint64_t row_count;
    uint64_t input_tokens, output_tokens;
    uint64_t adjusted_count; /* rows where usage and our count differ */
    struct tb_series difference_permille; /* |usage - counted| / usage */
};

enum {
    TB_STATS_MAX_MESSAGES = 20,
    TB_STATS_CACHE_SIZES = 64 /* 1, 2, 4, ... blocks */
};

struct tb_stats {
    /* rows */
    uint64_t row_count;
    struct tb_name_table sessions; /* of rows */
    struct tb_series turns;        /* by session number: rows; unsorted */
    struct tb_series input, output, blocks;
    uint64_t new_tokens;
    uint64_t block_tokens; /* tokens of all prompts: the input lengths and what
                              stood before them, but with is_compat what we
                              counted */
    struct tb_name_table agents, priorities;
    struct tb_stats_group *agent_groups, *priority_groups; /* by number */
    size_t agent_capacity, priority_capacity;
    /* the server's count against ours */
    uint64_t usage_row_count, adjusted_count;
    uint64_t usage_led_count; /* adjusted rows whose length is the server's */
    struct tb_series difference_permille; /* of adjusted rows */
    uint64_t cached_row_count, cached_tokens, cached_prompt_tokens;
    uint64_t output_counted_count, output_unknown_count;
    /* calls that are no row */
    uint64_t call_count; /* the caller counts: rows + skipped at the end */
    uint64_t skipped[TB_SKIP_COUNT];
    uint64_t unknown_gap_count; /* recorded delays that are not known: 0 */
    uint64_t
        early_count; /* rows that began before timestamp 0: 0 all the same */
    uint64_t rendered_count;     /* rows whose text is the chat template's */
    uint64_t refused_count;      /* rows joined: the template refused them */
    uint64_t unused_tools_count; /* rows whose tools are not in their text */
    uint64_t failed_row_count;   /* rows of calls that never ended */
    uint64_t retried_count; /* calls that never ended and were made again */
    uint64_t branch_count;  /* calls that began a conversation of their own */
    uint64_t overlap_count; /* calls that began before one before had ended */
    /* records that were lost before they were calls */
    uint64_t lost_record_count; /* unreadable pieces of a file */
    uint64_t cut_session_count; /* sessions dropped: the file ends in them */
    uint64_t uncounted_answer_count; /* the tokenizer has no ids for them */
    uint64_t empty_session_count;
    uint64_t lone_surrogate_count, bad_utf8_count, image_count;
    /* the run */
    uint64_t input_count, bytes_read, record_count, session_count;
    uint64_t token_count, reused_token_count; /* encoded; taken over */
    double seconds;
    uint32_t block_size;
    bool is_compat, is_telemetry; /* set before the first row */
    tb_rows rows;
    tb_consumer consumer;
    bool is_for_chat;           /* the replay calls a chat endpoint */
    bool is_endpoint_unknown;   /* a chat endpoint adds to rows, and nothing
                                   tells how much */
    char tokenizer[256];        /* as asked for, or as inferred */
    char tokenizer_origin[256]; /* the file it came from, or "built in" */
    char tokenizer_reason[256]; /* why, when nobody asked for it; or "" */
    char tokenizer_fingerprint[33];
    char output_path[256]; /* where the rows went */
    /* prompt tokens that an LRU cache of 2^i blocks serves, up to the first
     * that serves all; where the page was made, which counts them */
    uint64_t cache_served[TB_STATS_CACHE_SIZES], cache_prompt_tokens;
    size_t cache_size_count;
    /* the first things that went wrong, in words */
    struct tb_error messages[TB_STATS_MAX_MESSAGES];
    uint64_t message_count; /* all of them; the first are kept */
};

/* Takes a row into all figures. */
TB_NODISCARD tb_status tb_stats_add_row(struct tb_stats *stats,
                                        const struct tb_stats_row *row);

/* Counts a call without a row; `error` (may be NULL) goes to the messages. */
void tb_stats_add_skip(struct tb_stats *stats, tb_skip skip,
                       const struct tb_error *error);

/* Keeps a message if there is room, and counts it. */
void tb_stats_add_message(struct tb_stats *stats, const struct tb_error *error);

/* Share of all prompt tokens that stand in blocks seen before, 0..1: what an
 * infinite prefix cache would serve. 0 without rows. */
double tb_stats_cached_share(const struct tb_stats *stats);

uint64_t tb_stats_skipped(const struct tb_stats *stats);

/* Has anything been lost that --strict refuses: a call without a row, a
 * record, a session, the length of an answer, a character? */
bool tb_stats_has_loss(const struct tb_stats *stats);

void tb_stats_release(struct tb_stats *stats);

#endif
