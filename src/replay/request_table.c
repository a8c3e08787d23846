#include "request_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "buffer.h"
#include "memory.h"
#include "request_line.h"

static tb_status add(struct tb_request_table *table,
                     const struct tb_request_line *line)
{
    struct tb_replay_request *items = tb_array_grow(
        table->items, &table->capacity, table->count + 1, sizeof(*items));
    struct tb_span conversation =
        line->conversation.len > 0 ? line->conversation : line->session_id;
    uint32_t session, play;
    if (!items)
        return TB_ERR_MEMORY;
    table->items = items;
    TB_TRY(tb_name_table_add(&table->sessions, line->session_id, &session));
    TB_TRY(tb_name_table_add(&table->conversations, conversation, &play));
    items[table->count++] = (struct tb_replay_request){
        .session = session,
        .play = play,
        .turn = (uint32_t)line->turn,
        .is_failed = line->is_failed,
        .has_prompt = line->has_prompt,
        .has_text = line->has_text,
        .has_output = line->has_output,
        .has_cached = line->has_cached,
        .prompt_tokens = line->prompt_tokens,
        .text_tokens = line->text_tokens,
        .output_tokens = line->output_tokens,
        .cached_tokens = line->cached_tokens,
        .start_ms = line->start_ms,
        .end_ms = line->end_ms,
    };
    return TB_OK;
}

static tb_status on_line(void *context, struct tb_span line, uint64_t offset,
                         uint64_t number, struct tb_arena *arena,
                         struct tb_error *error)
{
    struct tb_request_table *table = context;
    struct tb_request_line request;
    TB_TRY(tb_request_line_read(line, offset, number, arena, &request, error));
    if (request.is_warmup) {
        table->warmup_count++;
        return TB_OK;
    }
    table->failed_count += request.is_failed;
    if (request.is_failed && request.fault.len > 0 && !table->fault[0])
        (void)snprintf(table->fault, sizeof(table->fault), "%.*s",
                       tb_span_shown(request.fault, 255),
                       (const char *)request.fault.ptr);
    return add(table, &request);
}

static int compare_numbers(uint32_t first, uint32_t second)
{
    return (first > second) - (first < second);
}

// What has no time comes first, so that all have an order.
static int compare_times(double first, double second)
{
    first = isnan(first) ? -1 : first;
    second = isnan(second) ? -1 : second;
    return (first > second) - (first < second);
}

static int compare(const void *a, const void *b)
{
    const struct tb_replay_request *first = a, *second = b;
    int order = compare_numbers(first->session, second->session);
    if (order == 0)
        order = compare_numbers(first->play, second->play);
    if (order == 0)
        order = compare_numbers(first->turn, second->turn);
    if (order == 0)
        order = compare_times(first->start_ms, second->start_ms);
    return order;
}

tb_status tb_request_table_read(struct tb_request_table *table,
                                const char *path, bool (*is_stopping)(void *),
                                struct tb_error *error)
{
    TB_TRY(tb_line_file_read(path, on_line, table, is_stopping, &table->losses,
                             error));
    if (table->count > 0)
        qsort(table->items, table->count, sizeof(*table->items), compare);
    return TB_OK;
}

void tb_request_table_release(struct tb_request_table *table)
{
    tb_name_table_release(&table->sessions);
    tb_name_table_release(&table->conversations);
    tb_memory_free(table->items);
    *table = (struct tb_request_table){0};
}
