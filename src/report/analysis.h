/* The figures of a trace of rows, told to a person or to a program. Each is
 * defined in words in docs/METRICS.md.
 *
 * Both sort tallies of the analysis, which is finished; both append to
 * `buffer`, and leave a part of it there with TB_ERR_LIMIT or TB_ERR_MEMORY.
 */
#ifndef TB_ANALYSIS_H
#define TB_ANALYSIS_H

#include "buffer.h"
#include "call_analysis.h"
#include "prefix_ranking.h"
#include "trace_analysis.h"

enum {
    TB_ANALYSIS_PREFIXES = 10, /* that are listed */
    TB_ANALYSIS_MOST_GROUPS = 100,
    TB_ANALYSIS_MAX_CHOSEN = 64 /* cache sizes that are asked for */
};

/* The share that a prefix cache without limits serves, as others count it. */
typedef enum tb_hit_rate {
    TB_HIT_RATE_TOKENS,    /* ours: of tokens */
    TB_HIT_RATE_BLOCKS,    /* of blocks */
    TB_HIT_RATE_AIPERF,    /* mean over rows of the share of their blocks */
    TB_HIT_RATE_ANY_BLOCK, /* blocks that are not distinct / blocks */
    TB_HIT_RATE_REUSE,     /* aiperf's prefix reuse ratio */
    TB_HIT_RATE_COUNT,
} tb_hit_rate;

/* "tokens", "blocks", ... */
const char *tb_hit_rate_name(tb_hit_rate rate);
/* What it is, in words. */
const char *tb_hit_rate_text(tb_hit_rate rate);

struct tb_json_form;
struct tb_page;

/* What the figures are of, and what to tell. All borrowed. */
struct tb_analysis_report {
    struct tb_trace_analysis *analysis;
    const char *path; /* of the rows; of several the first */
    uint64_t path_count;
    const char *block_size_origin; /* "given", "meta", "guess", "default" */
    const char *rows_origin;       /* "given", "meta" or "default" */
    uint64_t lost_line_count;      /* lines that are no rows */
    uint64_t lengthless_count;     /* rows without an input_length */
    uint64_t block_size_guess;     /* that fits all rows, or 0 */
    const uint64_t *chosen_blocks; /* cache sizes that were asked for */
    size_t chosen_count;
    uint64_t kv_bytes_per_token; /* 0: not known */
    size_t most_groups; /* agents, priorities in JSON: those with most rows
                           first; 0: all, as they came. At most
                           TB_ANALYSIS_MOST_GROUPS */
    int hit_rate;       /* enum tb_hit_rate; COUNT: all; -1: none */
    unsigned width;     /* columns for pictures, 0: no pictures */
    const char *page;   /* where these figures are a page too, or NULL */
    struct tb_call_analysis *calls; /* the calls of the rows, or NULL */
    const char *calls_path;         /* where they were read; NULL: from the
                                       trace itself */
    uint64_t lost_call_count;       /* lines that are no calls */
    uint64_t lost_record_count;     /* of a conversion: unreadable records */
    uint64_t cut_session_count;     /* ... and sessions that were dropped */
};

/* Aligned text. Names stand as in the rows: whoever prints it takes care of
 * control characters. */
TB_NODISCARD tb_status tb_analysis_text(const struct tb_analysis_report *report,
                                        struct tb_buffer *buffer);

/* One JSON object on one line. All keys are always there, and stay:
 *
 * path, files           the first file; how many
 * rows, sessions        numbers
 * lost_lines            lines that are no rows
 * lengthless_rows       rows without an input_length, left out of all figures
 * idless_rows           rows without ids
 * unfit_rows            rows with more or fewer ids than blocks
 * block_size            tokens; block_size_origin: given, meta, guess, default
 * row_meaning           "whole" or "delta"; row_meaning_origin: given, meta,
 *                       default
 * prompt_tokens         of all prompts
 * prefix_cache          tokens, share: that an infinite cache serves; of them
 *                       same_session, same_agent, other_agents: tokens by who
 *                       had them before
 * hit_rates             object: name -> share
 * working_set           blocks, tokens: distinct; blocks_for_90, blocks_for_99,
 *                       blocks_for_all: the smallest cache that serves such a
 *                       part of what an infinite one serves
 * cache_sizes           list of {blocks, tokens, share, gib}: powers of two up
 *                       to the first that serves all; gib is null unless the
 *                       bytes per token are known
 * chosen_sizes          list of the same for the sizes that were asked for
 * block_sizes           list of {block_size, tokens, share, blocks,
 *                       cache_sizes}: multiples that were asked for
 * prompt_length, new_length, output_length
 *                       objects: count, min, mean, p50, p90, p99, max
 * agents, priorities    lists of {name, rows, share, prompt_length, new_length,
 *                       output_length}
 * turns                 list of the same with first and last (turn, from 1)
 *                       for a name
 * turns_per_session, delay_ms, interval_ms
 *                       objects as prompt_length
 * timestamps            rows, first_ms, last_ms
 * negative_times        delays and intervals below 0, left out
 * shared_prefixes       list of {saved_tokens, rows, tokens, blocks, last_id,
 *                       first_row, agent}
 * calls                 null without calls, else an object:
 *   path                null when they were not read from a file
 *   lost_lines          lines that are no calls
 *   lost_records, cut_sessions
 *                       of the trace that was converted, which only the page
 *                       of the converter knows: unreadable records, sessions
 *                       that were dropped since the trace ends in them
 *   calls, rows         how many; how many have a row
 *   never_ended, tried_again
 *                       calls without an end; those of them that were sent
 *                       again later
 *   service_ms, first_token_ms
 *                       objects as prompt_length: start to end, to first token
 *   counts              calls with a row of which the server counted the
 *                       prompt; recorded_tokens, own_tokens; differing: calls,
 *                       difference_tokens: sum of what they differ by;
 *                       difference: object as prompt_length, of differing ones
 *                       |own - recorded| / recorded, in millionths
 *   recorded_cache      calls of these of which the server told what its cache
 *                       had; prompt_tokens, cached_tokens, share; of their rows
 *                       own_prompt_tokens, own_tokens, own_share: what a prefix
 *                       cache without limits serves
 *   without_row         list of {reason, text, calls}: the reason as in the
 *                       calls, and in words
 *   overlaps            calls that began before one of their session had ended
 *   unfit               calls whose row is not there, or has another length
 *   timeless            calls whose start or end is not known, or that ended
 *                       before they began; but for those that never ended
 *   gap_ms              object as prompt_length: end to start in a session
 *   in_flight           most; mean; seconds from the first start to the last
 *                       end
 *   agents, models      lists of {name, calls, ..., recorded_cache}: the keys
 *                       from calls to recorded_cache
 */
TB_NODISCARD tb_status tb_analysis_json(const struct tb_analysis_report *report,
                                        struct tb_buffer *buffer);

/* The calls as text and as JSON, for the two above. */
void tb_call_figures_text(struct tb_page *page,
                          const struct tb_analysis_report *report);
void tb_call_figures_json(struct tb_json_form *form,
                          const struct tb_analysis_report *report);

/* For both: the rate, 0..1. */
double tb_hit_rate_value(const struct tb_trace_analysis *analysis,
                         tb_hit_rate rate);

/* GiB of a cache of so many blocks. */
double tb_cache_gib(const struct tb_analysis_report *report,
                    const struct tb_sized_cache *sized, uint64_t blocks);

#endif
