#include "call_table.h"

#include <stdlib.h>

#include "buffer.h"
#include "call_line.h"
#include "memory.h"

static tb_status add(struct tb_call_table *table,
                     const struct tb_call_line *line)
{
    uint32_t session;
    struct tb_replay_call *items = tb_array_grow(
        table->items, &table->capacity, table->count + 1, sizeof(*items));
    if (!items)
        return TB_ERR_MEMORY;
    table->items = items;
    TB_TRY(tb_name_table_add(&table->sessions, line->session_id, &session));
    items[table->count++] = (struct tb_replay_call){
        .session = session,
        .turn = (uint32_t)line->turn,
        .row = line->row,
        .input_length = line->input_length,
        .output_length = line->output_length,
        .prompt_tokens = line->prompt_tokens,
        .delay_ms = line->delay_ms,
        .timestamp_ms = line->timestamp_ms,
        .cached_tokens = line->cached_tokens,
        .usage_tokens = line->usage_tokens,
        .has_delay = line->has_delay,
        .has_timestamp = line->has_timestamp,
        .has_cached = line->has_cached,
        .has_usage = line->has_usage,
        .is_joined = line->is_joined,
    };
    return TB_OK;
}

static tb_status on_line(void *context, struct tb_span line, uint64_t offset,
                         uint64_t number, struct tb_arena *arena,
                         struct tb_error *error)
{
    struct tb_call_table *table = context;
    struct tb_call_line call;
    TB_TRY(tb_call_line_read(line, offset, number, arena, &call, error));
    if (call.has_row)
        return add(table, &call);
    table->skipped_count++;
    return TB_OK;
}

static int compare(const void *a, const void *b)
{
    const struct tb_replay_call *first = a, *second = b;
    if (first->session != second->session)
        return first->session < second->session ? -1 : 1;
    if (first->turn != second->turn)
        return first->turn < second->turn ? -1 : 1;
    return (first->row > second->row) - (first->row < second->row);
}

// Lengths are counts of below 10^18 each (record_fields.h); a sum that is
// beyond all sense wraps, and is told as it is.
static void add_up(struct tb_call_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        struct tb_replay_call *call = &table->items[i], *before = call - 1;
        call->text_tokens = call->input_length;
        if (i > 0 && before->session == call->session)
            call->text_tokens += before->text_tokens + before->output_length;
    }
}

tb_status tb_call_table_read(struct tb_call_table *table, const char *path,
                             bool (*is_stopping)(void *),
                             struct tb_error *error)
{
    TB_TRY(tb_line_file_read(path, on_line, table, is_stopping, &table->losses,
                             error));
    if (table->count == 0) {
        tb_fail(error, TB_ERR_EMPTY,
                "no call with a row in it; is it what --calls wrote?");
        tb_error_set_path(error, path);
        return TB_ERR_EMPTY;
    }
    qsort(table->items, table->count, sizeof(*table->items), compare);
    add_up(table);
    return TB_OK;
}

size_t tb_call_table_find(const struct tb_call_table *table,
                          struct tb_span session_id, uint32_t turn)
{
    uint32_t session = tb_name_table_find(&table->sessions, session_id);
    size_t low = 0, high = table->count;
    if (session == TB_NAME_NONE)
        return SIZE_MAX;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct tb_replay_call *call = &table->items[middle];
        bool is_before = call->session < session ||
                         (call->session == session && call->turn < turn);
        if (is_before)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_found = low < table->count &&
                    table->items[low].session == session &&
                    table->items[low].turn == turn;
    return is_found ? low : SIZE_MAX;
}

void tb_call_table_release(struct tb_call_table *table)
{
    tb_name_table_release(&table->sessions);
    tb_memory_free(table->items);
    *table = (struct tb_call_table){0};
}
