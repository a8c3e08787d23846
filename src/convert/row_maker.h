/* From the calls of a session to rows: which length leads, which call
 * continues which, when it is sent, and the figures.
 *
 * What tokens a row has is said in row_tokens.h, how blocks get their numbers
 * in row_blocks.h, what continues what in turn_chain.h.
 *
 * One thread, sessions in the order of the output.
 */
#ifndef TB_ROW_MAKER_H
#define TB_ROW_MAKER_H

#include "call_log.h"
#include "content_id.h"
#include "convert.h"
#include "endpoint.h"
#include "output.h"
#include "prompt_store.h"
#include "run_report.h"

struct tb_row_maker;

struct tb_row_options {
    tb_dialect_id dialect;
    uint32_t block_size;
    bool is_compat;
    bool does_usage_lead;
    bool keeps_failed;
    struct tb_row_form form;
    /* What ids are, in place of numbers by first appearance; borrowed, final
     * before the first session. NULL: numbers. */
    const struct tb_content_ids *content;
    const struct tb_endpoint *endpoint; /* borrowed; final before the first
                                           session */
    struct tb_output *calls; /* for a line per call; borrowed; NULL: none */
    struct tb_run_report *report; /* for the page; borrowed; NULL: none */
};

/* `output` may be NULL (nothing is written); it and `stats` are borrowed. */
TB_NODISCARD tb_status tb_row_maker_new(const struct tb_row_options *options,
                                        struct tb_output *output,
                                        struct tb_stats *stats,
                                        struct tb_row_maker **maker);

/* Says what timestamp 0 is, seconds since 1970, when it is known before the
 * first row; otherwise that is the start of the first row's call. */
void tb_row_maker_set_origin(struct tb_row_maker *maker, double origin_s);

/* Have rows timestamps? Then `*first_ms` is what timestamp 0 is, or would be if
 * they were not since 1970, in milliseconds. */
bool tb_row_maker_has_timestamps(const struct tb_row_maker *maker,
                                 uint64_t *first_ms);

/* Makes the rows of one finished session and counts what has none. `name` is
 * its session id, `path` its trace. */
TB_NODISCARD tb_status tb_row_maker_add(struct tb_row_maker *maker,
                                        struct tb_span name, const char *path,
                                        const struct tb_session *session,
                                        const struct tb_prompt_store *prompts,
                                        struct tb_error *error);

/* Writes what is still in the buffer. */
TB_NODISCARD tb_status tb_row_maker_flush(struct tb_row_maker *maker,
                                          struct tb_error *error);

void tb_row_maker_free(struct tb_row_maker *maker);

#endif
