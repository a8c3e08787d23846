#include "pipeline.h"

#include "memory.h"
#include "pool.h"

struct batch_list {
    struct tb_batch **items;
    size_t count, capacity;
};

struct tb_pipeline {
    struct tb_pipeline_options options;
    struct tb_pool *pool; /* NULL until started */
    struct tb_batch_worker *workers;
    struct batch_list all;     /* every batch there is */
    struct batch_list free;    /* those that nobody has */
    struct batch_list waiting; /* filled, before the start */
    size_t waiting_len;
};

static tb_status push(struct batch_list *list, struct tb_batch *batch)
{
    struct tb_batch **items = tb_array_grow(list->items, &list->capacity,
                                            list->count + 1, sizeof(*items));
    if (!items)
        return TB_ERR_MEMORY;
    list->items = items;
    items[list->count++] = batch;
    return TB_OK;
}

tb_status tb_pipeline_new(const struct tb_pipeline_options *options,
                          struct tb_pipeline **pipeline)
{
    *pipeline = tb_memory_zeroed(1, sizeof(**pipeline));
    if (!*pipeline)
        return TB_ERR_MEMORY;
    (*pipeline)->options = *options;
    return TB_OK;
}

static void work(void *context, unsigned worker, void *job)
{
    struct tb_pipeline *pipeline = context;
    tb_batch_work(job, &pipeline->workers[worker]);
}

static tb_status make_worker(const struct tb_pipeline *pipeline,
                             const struct tb_tokenizer *tokenizer,
                             struct tb_batch_worker *worker)
{
    *worker = (struct tb_batch_worker){
        .dialect = pipeline->options.dialect,
        .is_compat = pipeline->options.is_compat,
        .maker = tb_prompt_maker_make(pipeline->options.rule),
        .text = TB_BUFFER(UINT32_MAX),
        .messages = TB_BUFFER(UINT32_MAX),
        .tools = TB_BUFFER(UINT32_MAX),
    };
    if (pipeline->options.is_reusing)
        TB_TRY(tb_memo_new(&worker->memo));
    worker->maker.memo = worker->memo;
    TB_TRY(tb_encoder_new(tokenizer, &worker->encoder));
    return tb_prompt_cache_new(worker->encoder, pipeline->options.is_reusing,
                               &worker->cache);
}

static tb_status start_workers(struct tb_pipeline *pipeline,
                               const struct tb_tokenizer *tokenizer)
{
    unsigned count = pipeline->options.thread_count;
    pipeline->workers = tb_memory_zeroed(count, sizeof(*pipeline->workers));
    if (!pipeline->workers)
        return TB_ERR_MEMORY;
    for (unsigned i = 0; i < count; i++)
        TB_TRY(make_worker(pipeline, tokenizer, &pipeline->workers[i]));
    return tb_pool_new(count, work, pipeline, &pipeline->pool);
}

// Takes the oldest batch out of the pool.
static tb_status collect(struct tb_pipeline *pipeline, struct tb_error *error)
{
    struct tb_batch *batch = tb_pool_take(pipeline->pool);
    tb_status status = batch->status;
    if (status != TB_OK)
        tb_fail(error, status, "cannot encode a prompt: %s",
                tb_status_name(status));
    else
        status =
            pipeline->options.on_batch(pipeline->options.context, batch, error);
    tb_batch_reset(batch);
    tb_status pushed = push(&pipeline->free, batch);
    return status != TB_OK ? status : pushed;
}

static tb_status submit(struct tb_pipeline *pipeline, struct tb_batch *batch,
                        struct tb_error *error)
{
    while (tb_pool_count(pipeline->pool) == tb_pool_capacity(pipeline->pool))
        TB_TRY(collect(pipeline, error));
    tb_pool_submit(pipeline->pool, batch);
    return TB_OK;
}

tb_status tb_pipeline_start(struct tb_pipeline *pipeline,
                            const struct tb_tokenizer *tokenizer,
                            struct tb_error *error)
{
    tb_status status = start_workers(pipeline, tokenizer);
    if (status != TB_OK)
        return tb_fail(error, status, "cannot start workers: %s",
                       tb_status_name(status));
    for (size_t i = 0; i < pipeline->waiting.count; i++)
        TB_TRY(submit(pipeline, pipeline->waiting.items[i], error));
    pipeline->waiting.count = 0;
    pipeline->waiting_len = 0;
    return TB_OK;
}

bool tb_pipeline_is_started(const struct tb_pipeline *pipeline)
{
    return pipeline->pool != NULL;
}

static tb_status make_batch(struct tb_pipeline *pipeline,
                            struct tb_batch **batch)
{
    struct tb_batch *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return TB_ERR_MEMORY;
    tb_batch_init(made);
    tb_status status = push(&pipeline->all, made);
    if (status != TB_OK)
        tb_memory_free(made);
    *batch = made;
    return status;
}

tb_status tb_pipeline_get(struct tb_pipeline *pipeline, struct tb_batch **batch)
{
    if (pipeline->free.count == 0)
        return make_batch(pipeline, batch);
    *batch = pipeline->free.items[--pipeline->free.count];
    return TB_OK;
}

tb_status tb_pipeline_put(struct tb_pipeline *pipeline, struct tb_batch *batch,
                          struct tb_error *error)
{
    if (pipeline->pool)
        return submit(pipeline, batch, error);
    pipeline->waiting_len += batch->bytes.len;
    tb_status status = push(&pipeline->waiting, batch);
    return status == TB_OK ? TB_OK : tb_fail(error, status, "out of memory");
}

size_t tb_pipeline_waiting_len(const struct tb_pipeline *pipeline)
{
    return pipeline->waiting_len;
}

tb_status tb_pipeline_finish(struct tb_pipeline *pipeline,
                             struct tb_error *error)
{
    while (tb_pool_count(pipeline->pool) > 0)
        TB_TRY(collect(pipeline, error));
    return TB_OK;
}

static void free_worker(struct tb_batch_worker *worker)
{
    tb_prompt_maker_release(&worker->maker);
    tb_memo_free(worker->memo);
    tb_prompt_cache_free(worker->cache);
    tb_encoder_free(worker->encoder);
    tb_buffer_release(&worker->text);
    tb_buffer_release(&worker->messages);
    tb_buffer_release(&worker->tools);
    tb_tokens_release(&worker->answer);
}

void tb_pipeline_free(struct tb_pipeline *pipeline)
{
    if (!pipeline)
        return;
    tb_pool_free(pipeline->pool); // first: it may still use the rest
    for (unsigned i = 0;
         pipeline->workers && i < pipeline->options.thread_count; i++)
        free_worker(&pipeline->workers[i]);
    tb_memory_free(pipeline->workers);
    for (size_t i = 0; i < pipeline->all.count; i++) {
        tb_batch_release(pipeline->all.items[i]);
        tb_memory_free(pipeline->all.items[i]);
    }
    tb_memory_free(pipeline->all.items);
    tb_memory_free(pipeline->free.items);
    tb_memory_free(pipeline->waiting.items);
    tb_memory_free(pipeline);
}
