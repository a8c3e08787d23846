/* The whole flow: trace -> session -> prompt -> tokens -> blocks -> rows.
 *
 *     struct tb_convert_options options = {.dialect = TB_DIALECT_NAT, ...};
 *     struct tb_stats stats = {0};
 *     status = tb_convert(&options, &stats, &error);
 *     ... read the figures ...
 *     tb_stats_release(&stats);
 *
 * Order, threads and memory are decided here and nowhere else.
 */
#ifndef TB_CONVERT_H
#define TB_CONVERT_H

#include "chat_template_set.h"
#include "hub.h"
#include "stats.h"
#include "trace.h"

typedef enum tb_lengths {
    TB_LENGTHS_DEFAULT, /* nat: usage, telemetry: tokens */
    TB_LENGTHS_USAGE,   /* the server's count leads where there is one */
    TB_LENGTHS_TOKENS,  /* our count leads */
} tb_lengths;

typedef enum tb_prompt_text {
    TB_PROMPT_TEXT_AUTO,     /* the template where it can be applied */
    TB_PROMPT_TEXT_TEMPLATE, /* the template; without one, TB_ERR_NOT_FOUND */
    TB_PROMPT_TEXT_JOIN,     /* contents, one below the other */
} tb_prompt_text;

typedef enum tb_ids {
    TB_IDS_ORDER,   /* numbers by first appearance */
    TB_IDS_CONTENT, /* the same in every run (content_id.h) */
} tb_ids;

typedef enum tb_session_prefix {
    TB_SESSION_PREFIX_AUTO, /* with several inputs */
    TB_SESSION_PREFIX_ALWAYS,
    TB_SESSION_PREFIX_NEVER,
    TB_SESSION_PREFIX_PATH, /* the whole path, not only the file's name */
} tb_session_prefix;

typedef enum tb_delay {
    TB_DELAY_NONE,
    TB_DELAY_FIXED,    /* delay_ms */
    TB_DELAY_RECORDED, /* from the end of the turn before to the start */
} tb_delay;

typedef enum tb_timestamps {
    TB_TIMESTAMPS_NONE,
    TB_TIMESTAMPS_SESSION, /* on the first row of each session */
    TB_TIMESTAMPS_ALL,
} tb_timestamps;

typedef enum tb_endpoint_kind {
    TB_ENDPOINT_COMPLETIONS, /* gets what a row says */
    TB_ENDPOINT_CHAT,        /* puts the model's template around it */
} tb_endpoint_kind;

/* What a row is, and when it is sent. */
struct tb_row_form {
    tb_rows rows;
    tb_delay delay;            /* of each row of a session but its first */
    uint64_t delay_ms;         /* TB_DELAY_FIXED */
    uint64_t max_delay_ms;     /* caps a recorded one; UINT64_MAX: does not */
    double speedup;            /* divides recorded times; 0 or 1: as recorded */
    tb_timestamps timestamps;  /* with TB_IDS_CONTENT since 1970 */
    tb_endpoint_kind endpoint; /* rows are shorter by what it adds */
    bool has_exact_output;     /* ask the server for just the recorded length */
    bool has_labels; /* hand agent type and priority on to the server */
    bool has_priority_number; /* priorities are numbers */
};

struct tb_convert_progress {
    const char *path;     /* input being read */
    uint64_t bytes_done;  /* of all inputs, as stored */
    uint64_t bytes_total; /* 0: not known */
    uint64_t row_count;
    double seconds; /* since the start */
};

struct tb_convert_options {
    tb_dialect_id dialect;
    const char *const *inputs; /* paths, "-" for standard input */
    size_t input_count;
    const char *output;    /* NULL: tb_convert_output_path of the first input */
    const char *tokenizer; /* NULL: inferred (nat) or the default (telemetry) */
    uint32_t block_size;   /* tokens; 0: 128 for nat, 64 for telemetry */
    uint64_t skip_requests;
    uint64_t max_requests; /* UINT64_MAX: all */
    struct tb_row_form form;
    tb_lengths lengths;
    tb_prompt_text prompt;
    struct tb_chat_template_overrides templates; /* of those beside it */
    tb_session_prefix session_prefix;
    tb_ids ids;
    const char *salt_file; /* with a secret for TB_IDS_CONTENT, or NULL */
    bool is_compat;        /* byte for byte what the Python converters write */
    bool keeps_failed;     /* a call that never ended has a row too */
    bool is_strict;        /* anything lost: TB_ERR_VALUE and no output */
    bool is_dry_run;       /* no output, no meta file */
    unsigned threads;      /* 0: as many as there are cores */
    bool has_no_reuse;     /* every prompt is read and encoded anew */
    /* Called now and then on the calling thread, may be NULL. Returning false
     * stops the run with TB_ERR_INTERRUPTED and no output. */
    bool (*on_progress)(void *context,
                        const struct tb_convert_progress *progress);
    void *context;
    /* How to fetch a tokenizer that is not there; NULL: not at all. */
    const struct tb_hub_access *hub;
    tb_consumer consumer; /* the summary ends with the command for it */
    const char *list;     /* file that names of inputs came from, or NULL */
    const char *calls;    /* where a line per call goes (call_log.h), or NULL */
    const char *report;   /* where a page of figures goes (run_report.h), or
                             NULL; not with TB_ROWS_MESSAGES */
    const char *version;  /* of the program, for the meta file */
    const char *command;  /* how the run was asked for, for the meta file */
};

/* Converts. `stats` must be zero-initialised; it is filled as far as the run
 * came, also on failure, and belongs to the caller. On failure no output is
 * left behind. Statuses: TB_ERR_NOT_FOUND (input, tokenizer), TB_ERR_IO,
 * TB_ERR_USAGE (output onto an input, ...), TB_ERR_EMPTY (no rows; not with
 * is_compat or TB_IDS_CONTENT), TB_ERR_VALUE (is_strict), TB_ERR_INTERRUPTED,
 * TB_ERR_CLOSED, TB_ERR_UNSUPPORTED (tokenizer component), TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_convert(const struct tb_convert_options *options,
                                  struct tb_stats *stats,
                                  struct tb_error *error);

/* Where the rows of `input` go by default, in `path` (cut at `size`): the name
 * without .gz or .zst and without its last extension, then _mooncake.jsonl;
 * "-" for standard input. */
void tb_convert_output_path(const char *input, char *path, size_t size);

#endif
