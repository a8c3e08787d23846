/* Batches through workers, and out again in order.
 *
 * The reading thread fills a batch and gives it in; workers parse and encode;
 * the reading thread takes the oldest batch back when it is done and hands it
 * to `on_batch`, in the order in which they were given in. So all that depends
 * on order happens on one thread, whatever the number of workers.
 *
 * Before a tokenizer is set, batches wait.
 */
#ifndef TB_PIPELINE_H
#define TB_PIPELINE_H

#include "batch.h"

struct tb_pipeline;

struct tb_pipeline_options {
    tb_dialect_id dialect;
    bool is_compat;
    const struct tb_prompt_rule *rule; /* borrowed; final at the start */
    bool is_reusing;       /* what a prompt shares with an earlier one */
    unsigned thread_count; /* at least 1 */
    tb_status (*on_batch)(void *context, struct tb_batch *batch,
                          struct tb_error *error);
    void *context;
};

TB_NODISCARD tb_status tb_pipeline_new(
    const struct tb_pipeline_options *options, struct tb_pipeline **pipeline);

/* Starts the workers with a borrowed tokenizer, and gives them what waits. */
TB_NODISCARD tb_status tb_pipeline_start(struct tb_pipeline *pipeline,
                                         const struct tb_tokenizer *tokenizer,
                                         struct tb_error *error);
bool tb_pipeline_is_started(const struct tb_pipeline *pipeline);

/* An empty batch to fill; it is given back by tb_pipeline_put. */
TB_NODISCARD tb_status tb_pipeline_get(struct tb_pipeline *pipeline,
                                       struct tb_batch **batch);

/* Gives a filled batch in. Takes finished ones out as room is needed. */
TB_NODISCARD tb_status tb_pipeline_put(struct tb_pipeline *pipeline,
                                       struct tb_batch *batch,
                                       struct tb_error *error);

/* Bytes of records in batches that wait for a tokenizer. */
size_t tb_pipeline_waiting_len(const struct tb_pipeline *pipeline);

/* Waits until everything has come out. */
TB_NODISCARD tb_status tb_pipeline_finish(struct tb_pipeline *pipeline,
                                          struct tb_error *error);

/* NULL is accepted. Batches under way are dropped. */
void tb_pipeline_free(struct tb_pipeline *pipeline);

#endif
