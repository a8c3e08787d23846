#include "trace_batch.h"

#include <string.h>

#include "memory.h"

#define KEPT_LEN ((size_t)1 << 20) /* bytes */

tb_status tb_trace_batch_init(struct tb_trace_batch *batch)
{
    *batch =
        (struct tb_trace_batch){.bytes = TB_BUFFER(TB_TRACE_BATCH_LINE_MAX)};
    return tb_mooncake_reader_new(&batch->reader);
}

void tb_trace_batch_release(struct tb_trace_batch *batch)
{
    tb_buffer_release(&batch->bytes);
    tb_memory_free(batch->lines);
    tb_memory_free(batch->ids);
    tb_mooncake_reader_close(batch->reader);
    tb_mooncake_record_release(&batch->record);
    tb_arena_release(&batch->arena);
    *batch = (struct tb_trace_batch){0};
}

void tb_trace_batch_reset(struct tb_trace_batch *batch)
{
    batch->line_count = batch->id_count = 0;
    batch->number_count = 0;
    batch->reason_count = 0;
    batch->status = TB_OK;
    tb_buffer_clear(&batch->bytes);
    tb_arena_reset(&batch->arena);
    if (batch->bytes.capacity <= KEPT_LEN)
        return;
    // What a line of a gigabyte needed is not kept for the next one.
    tb_buffer_release(&batch->bytes);
    tb_mooncake_record_release(&batch->record);
    tb_arena_release(&batch->arena);
    tb_memory_free(batch->ids);
    batch->ids = NULL;
    batch->id_capacity = 0;
}

/* The record is for one row, the batch holds many. `row.ids` is set when all
 * are there, since the list moves as it grows. */
static tb_status keep_ids(struct tb_trace_batch *batch)
{
    const struct tb_mooncake_record *record = &batch->record;
    uint64_t *ids =
        tb_array_grow(batch->ids, &batch->id_capacity,
                      batch->id_count + record->id_count, sizeof(*ids));
    if (!ids)
        return TB_ERR_MEMORY;
    batch->ids = ids;
    if (record->id_count > 0)
        memcpy(ids + batch->id_count, record->ids,
               record->id_count * sizeof(*ids));
    batch->id_count += record->id_count;
    return TB_OK;
}

static tb_status lose(struct tb_trace_batch *batch, struct tb_trace_line *line,
                      const struct tb_error *error)
{
    line->kind = TB_TRACE_LINE_LOST;
    line->error = NULL;
    if (batch->reason_count == TB_TRACE_BATCH_REASONS)
        return TB_OK;
    batch->reason_count++;
    line->error = TB_ARENA_NEW(&batch->arena, struct tb_error, 1);
    if (!line->error)
        return TB_ERR_MEMORY;
    *line->error = *error;
    if (error->line == 0) {
        line->error->line = line->number;
        line->error->offset = line->offset;
    }
    return TB_OK;
}

static tb_status read_line(struct tb_trace_batch *batch, struct tb_span text,
                           struct tb_trace_line *line)
{
    struct tb_error error;
    tb_status status =
        tb_mooncake_record_read(&batch->record, text, line->offset,
                                line->number, &batch->arena, &error);
    if (status == TB_ERR_MEMORY)
        return status;
    if (status != TB_OK)
        return lose(batch, line, &error);
    if (!tb_trace_row_read(&batch->record, &line->row)) {
        line->kind = TB_TRACE_LINE_LENGTHLESS;
        return TB_OK;
    }
    line->kind = TB_TRACE_LINE_ROW;
    return keep_ids(batch);
}

static tb_status add_line(struct tb_trace_batch *batch, struct tb_span text)
{
    struct tb_trace_line *lines =
        tb_array_grow(batch->lines, &batch->line_capacity,
                      batch->line_count + 1, sizeof(*lines));
    if (!lines)
        return TB_ERR_MEMORY;
    batch->lines = lines;
    struct tb_trace_line *line = &lines[batch->line_count];
    line->number = tb_mooncake_reader_line(batch->reader);
    line->offset = batch->offset + tb_mooncake_reader_offset(batch->reader);
    TB_TRY(read_line(batch, text, line));
    batch->line_count++;
    return TB_OK;
}

static tb_status read_lines(struct tb_trace_batch *batch)
{
    for (;;) {
        struct tb_span text;
        TB_TRY(tb_mooncake_reader_next(batch->reader, &text, NULL));
        if (!text.ptr)
            return TB_OK;
        TB_TRY(add_line(batch, text));
    }
}

void tb_trace_batch_read(struct tb_trace_batch *batch)
{
    tb_mooncake_reader_set_bytes(batch->reader, batch->bytes.ptr,
                                 batch->bytes.len);
    batch->status = read_lines(batch);
    batch->number_count = tb_mooncake_reader_line(batch->reader);
    const uint64_t *ids = batch->ids;
    for (size_t i = 0; i < batch->line_count; i++) {
        struct tb_trace_line *line = &batch->lines[i];
        if (line->kind != TB_TRACE_LINE_ROW)
            continue;
        line->row.ids = ids;
        ids += line->row.id_count;
    }
}
