#include "batch.h"

#include <string.h>

#include "memory.h"

/* Largest batch of one record, and longest prompt, bytes. */
#define BYTES_MAX_LEN ((size_t)1 << 32)

void tb_batch_init(struct tb_batch *batch)
{
    *batch = (struct tb_batch){.bytes = TB_BUFFER(BYTES_MAX_LEN)};
}

void tb_batch_reset(struct tb_batch *batch)
{
    tb_arena_reset(&batch->arena);
    tb_buffer_clear(&batch->bytes);
    batch->event_count = 0;
    batch->token_count = batch->reused_count = 0;
    batch->status = TB_OK;
}

void tb_batch_release(struct tb_batch *batch)
{
    tb_arena_release(&batch->arena);
    tb_buffer_release(&batch->bytes);
    tb_memory_free(batch->events);
    tb_batch_init(batch);
}

static tb_status copy_error(struct tb_batch *batch,
                            struct tb_batch_event *event,
                            const struct tb_error *error)
{
    event->error = TB_ARENA_NEW(&batch->arena, struct tb_error, 1);
    if (!event->error)
        return TB_ERR_MEMORY;
    *event->error = *error;
    tb_error_set_path(event->error, event->path);
    return TB_OK;
}

tb_status tb_batch_add(struct tb_batch *batch,
                       const struct tb_trace_event *event, const char *path,
                       uint64_t session_number, uint64_t number)
{
    struct tb_batch_event *events =
        tb_array_grow(batch->events, &batch->event_capacity,
                      batch->event_count + 1, sizeof(*events));
    if (!events)
        return TB_ERR_MEMORY;
    batch->events = events;
    struct tb_batch_event *added = &events[batch->event_count];
    *added = (struct tb_batch_event){
        .kind = event->kind,
        .json_at = batch->bytes.len,
        .json_len = event->json.len,
        .offset = event->offset,
        .line = event->line,
        .number = number,
        .session_number = session_number,
        .loss = event->loss,
        .path = path,
        .prompt = {.base = TB_PROMPT_NO_TAG},
    };
    if (event->name.ptr)
        TB_TRY(tb_arena_copy(&batch->arena, event->name, &added->name));
    if (event->kind == TB_TRACE_RECORD)
        TB_TRY(tb_buffer_append(&batch->bytes, event->json));
    if (event->error.status != TB_OK)
        TB_TRY(copy_error(batch, added, &event->error));
    batch->event_count++;
    return TB_OK;
}

/* ---- the worker's part ------------------------------------------------------
 */

/* The cache knows prompts of earlier sessions too; what is shared with one of
 * those is copied, since its ids are gone when its rows are written. */
static tb_status take_tokens(struct tb_batch *batch,
                             const struct tb_batch_event *event,
                             const struct tb_prompt_tokens *tokens,
                             struct tb_prompt *prompt)
{
    uint64_t first_tag = event->session_number << 32;
    bool is_same_session = tokens->base_tag != TB_PROMPT_NO_TAG &&
                           tokens->base_tag >> 32 == event->session_number;
    prompt->base = TB_PROMPT_NO_TAG;
    prompt->shared_count = 0;
    if (is_same_session) {
        prompt->base = tokens->base_tag - first_tag;
        prompt->shared_count = tokens->shared_count;
    }
    prompt->own_count = tokens->count - prompt->shared_count;
    struct tb_span own = {(const uint8_t *)(tokens->ids + prompt->shared_count),
                          prompt->own_count * sizeof(tb_token)};
    struct tb_span copy;
    TB_TRY(tb_arena_copy(&batch->arena, own, &copy));
    prompt->own = (const tb_token *)(const void *)copy.ptr;
    batch->token_count += tokens->count;
    batch->reused_count += tokens->shared_count;
    return TB_OK;
}

// Does the text of this call speak of its tools?
static bool is_using_tools(const struct tb_batch_worker *worker,
                           const struct tb_call *call, tb_prompt_kind kind)
{
    return kind == TB_PROMPT_RENDERED &&
           tb_chat_template_mentions(
               tb_prompt_rule_template(worker->maker.rule, call)->compiled,
               TB_SPAN("tools"));
}

static tb_status keep_messages(struct tb_batch *batch,
                               struct tb_batch_worker *worker,
                               struct tb_batch_event *event,
                               struct tb_error *error)
{
    struct tb_prompt *prompt = &event->prompt;
    tb_buffer_clear(&worker->messages);
    tb_buffer_clear(&worker->tools);
    TB_TRY(tb_prompt_maker_add_messages(
        &worker->maker, &event->part.call, tb_buffer_span(&worker->text),
        &worker->messages, &worker->tools, error));
    TB_TRY(tb_arena_copy(&batch->arena, tb_buffer_span(&worker->messages),
                         &prompt->messages));
    return tb_arena_copy(&batch->arena, tb_buffer_span(&worker->tools),
                         &prompt->tools);
}

static tb_status encode_prompt(struct tb_batch *batch,
                               struct tb_batch_worker *worker,
                               struct tb_batch_event *event,
                               struct tb_error *error)
{
    struct tb_prompt *prompt = &event->prompt;
    const struct tb_call *call = &event->part.call;
    tb_buffer_clear(&worker->text);
    struct tb_error refusal = {0};
    TB_TRY(tb_prompt_maker_add(&worker->maker, call, &worker->text,
                               &prompt->kind, &refusal, error));
    TB_TRY(tb_arena_copy(&batch->arena, tb_span_of(refusal.message),
                         &prompt->refusal));
    if (prompt->kind == TB_PROMPT_REFUSED)
        return TB_OK;
    prompt->has_unused_tools =
        call->tools.len > 0 && !is_using_tools(worker, call, prompt->kind);
    if (worker->maker.rule->has_messages)
        TB_TRY(keep_messages(batch, worker, event, error));
    prompt->is_empty_text = worker->text.len == 0;
    prompt->lone_surrogate_count = event->part.call.lone_surrogate_count;
    uint64_t tag = event->session_number << 32 | (event->number & UINT32_MAX);
    struct tb_prompt_tokens tokens;
    tb_status status = tb_prompt_cache_encode(
        worker->cache, tb_buffer_span(&worker->text), tag, &tokens);
    if (tb_encoder_is_text_fault(status)) {
        prompt->kind = TB_PROMPT_NOT_ENCODED;
        prompt->refusal = tb_span_of(tb_encoder_fault(status));
        return TB_OK;
    }
    TB_TRY(status);
    return take_tokens(batch, event, &tokens, prompt);
}

/* Without a server's count the answer's own tokens are its length. One that
 * cannot be encoded costs no more than that: the record may hold a prompt too,
 * which later ones begin like. */
static tb_status count_answer(struct tb_batch_worker *worker,
                              struct tb_batch_event *event)
{
    const struct tb_call *call = &event->part.call;
    bool is_counted = call->usage.has_completion && call->usage.completion > 0;
    if (worker->is_compat || is_counted || call->answer.len == 0)
        return TB_OK;
    worker->answer.count = 0;
    tb_status status =
        tb_encoder_encode(worker->encoder, call->answer, &worker->answer);
    if (tb_encoder_is_text_fault(status)) {
        event->answer_fault = tb_encoder_fault(status);
        return TB_OK;
    }
    event->answer_count = worker->answer.count;
    return status;
}

static tb_status work_on(struct tb_batch *batch, struct tb_batch_worker *worker,
                         struct tb_batch_event *event, struct tb_error *error)
{
    struct tb_span json = {batch->bytes.ptr + event->json_at, event->json_len};
    const struct tb_trace_parser parser = {worker->dialect, worker->is_compat,
                                           worker->memo};
    if (worker->memo)
        tb_memo_begin(worker->memo);
    TB_TRY(tb_trace_parse(&parser, json, event->offset, event->line,
                          &batch->arena, &event->part, error));
    struct tb_call *call = &event->part.call;
    call->offset = event->offset;
    call->line = event->line;
    call->prompt_number = event->number;
    call->answer_number = event->number;
    tb_part_kind kind = event->part.kind;
    if (kind == TB_PART_START || kind == TB_PART_WHOLE)
        TB_TRY(encode_prompt(batch, worker, event, error));
    if (kind == TB_PART_END || kind == TB_PART_WHOLE)
        TB_TRY(count_answer(worker, event));
    return TB_OK;
}

/* What goes wrong beyond the record's own JSON has no place in the file, and a
 * buffer that is full not even words: then the record is the place. */
static void complete(struct tb_error *error, const struct tb_batch_event *event)
{
    if (error->status == TB_OK)
        tb_fail(error, event->status, "cannot make a prompt of the record: %s",
                tb_status_name(event->status));
    if (error->line == 0) {
        error->line = event->line;
        error->offset = event->offset;
    }
}

void tb_batch_work(struct tb_batch *batch, struct tb_batch_worker *worker)
{
    for (size_t i = 0; i < batch->event_count; i++) {
        struct tb_batch_event *event = &batch->events[i];
        if (event->kind != TB_TRACE_RECORD)
            continue;
        struct tb_error error = {0};
        event->status = work_on(batch, worker, event, &error);
        if (event->status == TB_OK)
            continue;
        // A record that is not what it should be costs itself; the rest of
        // what can go wrong ends the run.
        batch->status = event->status;
        complete(&error, event);
        if (event->status == TB_ERR_SYNTAX || event->status == TB_ERR_CUT ||
            event->status == TB_ERR_TYPE || event->status == TB_ERR_LIMIT ||
            event->status == TB_ERR_VALUE)
            batch->status = copy_error(batch, event, &error);
        if (batch->status != TB_OK)
            return;
    }
}
