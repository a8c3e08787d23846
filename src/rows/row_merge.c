#include "row_merge.h"

#include "memory.h"
#include "mooncake_row.h"

#define META_MAX_LEN ((size_t)16 << 20)

/* ---- what the files are ------------------------------------------------ */

static tb_status read_metas(struct tb_row_merge *merge, struct tb_error *error)
{
    struct tb_buffer content = TB_BUFFER(META_MAX_LEN);
    tb_status status = TB_OK;
    for (size_t i = 0; i < merge->count && status == TB_OK; i++) {
        tb_buffer_clear(&content);
        status = tb_meta_content(merge->paths[i], &content, error);
        if (status == TB_OK)
            status = tb_meta_merge_add(&merge->metas, merge->paths[i],
                                       tb_buffer_span(&content), error);
    }
    tb_buffer_release(&content);
    return status;
}

tb_status tb_row_merge_open(struct tb_row_merge *merge, struct tb_error *error)
{
    TB_TRY(read_metas(merge, error));
    const struct tb_shard_queue_options options = {
        .paths = merge->paths,
        .count = merge->count,
        .order = merge->metas.is_telemetry ? TB_SESSIONS_BY_BYTES
                                           : TB_SESSIONS_BY_NUMBER,
        .stop = merge->stop,
    };
    TB_TRY(tb_shard_queue_new(&options, &merge->queue, error));
    merge->order = tb_memory_zeroed(merge->count, sizeof(*merge->order));
    tb_status status =
        merge->order ? tb_block_numbering_new(merge->memory, merge->folder,
                                              &merge->numbering)
                     : TB_ERR_MEMORY;
    if (status != TB_OK)
        return tb_fail(error, status, "out of memory");
    for (size_t i = 0; i < merge->count; i++)
        merge->order[i] = tb_shard_queue_file(merge->queue, i);
    merge->origin_ms = tb_meta_merge_origin(&merge->metas, merge->order);
    return TB_OK;
}

void tb_row_merge_close(struct tb_row_merge *merge)
{
    tb_shard_queue_free(merge->queue);
    tb_block_numbering_free(merge->numbering);
    tb_meta_merge_release(&merge->metas);
    tb_memory_free(merge->order);
    tb_memory_free(merge->numbers);
    *merge = (struct tb_row_merge){0};
}

/* ---- the first time ---------------------------------------------------- */

static tb_status check_ids(const struct tb_row_input *row,
                           struct tb_error *error)
{
    const struct tb_mooncake_record *record = &row->record;
    const struct tb_mooncake_value *list =
        &record->fields[TB_MOONCAKE_HASH_IDS];
    bool is_plain = list->kind == TB_MOONCAKE_LIST && list->key_count == 1 &&
                    record->odd_item == TB_MOONCAKE_NO_ITEM &&
                    record->bad_item == TB_MOONCAKE_NO_ITEM;
    for (size_t i = 0; is_plain && i < record->id_count; i++)
        is_plain = record->ids[i] <= INT64_MAX;
    return is_plain ? TB_OK
                    : tb_row_input_fail(row, TB_ERR_VALUE, error,
                                        "hash_ids are not those of a row with "
                                        "ids by content");
}

static tb_status see_rows(struct tb_row_merge *merge, struct tb_error *error)
{
    for (;;) {
        const struct tb_row_input *row;
        TB_TRY(tb_shard_queue_next(merge->queue, &row, error));
        if (!row)
            return tb_block_numbering_settle(merge->numbering, error);
        TB_TRY(check_ids(row, error));
        TB_TRY(tb_block_numbering_see(merge->numbering, row->record.ids,
                                      row->record.id_count, error));
    }
}

/* ---- the second time --------------------------------------------------- */

static tb_status number_blocks(struct tb_row_merge *merge,
                               const struct tb_row_input *row,
                               struct tb_error *error)
{
    size_t count = row->record.id_count;
    uint64_t *numbers = tb_array_grow(merge->numbers, &merge->number_capacity,
                                      count + 1, sizeof(*numbers));
    if (!numbers)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    merge->numbers = numbers;
    return tb_block_numbering_take(merge->numbering, row->record.ids, count,
                                   numbers, error);
}

/* A part of a row that is written anew. */
struct part {
    struct tb_span old;
    bool is_time;
};

static tb_status write_part(const struct tb_row_merge *merge,
                            const struct tb_mooncake_record *record,
                            bool is_time, struct tb_buffer *text)
{
    struct tb_mooncake_integer time;
    if (!is_time)
        return tb_mooncake_ids_write(merge->numbers, record->id_count, text);
    (void)tb_mooncake_value_integer(&record->fields[TB_MOONCAKE_TIMESTAMP],
                                    &time);
    return tb_buffer_append_u64(text, time.magnitude > merge->origin_ms
                                          ? time.magnitude - merge->origin_ms
                                          : 0);
}

static tb_status write_row(const struct tb_row_merge *merge,
                           const struct tb_row_input *row,
                           struct tb_buffer *text)
{
    const struct tb_mooncake_value *fields = row->record.fields;
    const struct tb_mooncake_value *time = &fields[TB_MOONCAKE_TIMESTAMP];
    struct part parts[] = {{fields[TB_MOONCAKE_HASH_IDS].text, false},
                           {time->text, true}};
    bool has_time =
        merge->metas.has_timestamps && time->kind == TB_MOONCAKE_NUMBER;
    size_t count = has_time ? 2 : 1;
    if (has_time && parts[1].old.ptr < parts[0].old.ptr) {
        struct part first = parts[1];
        parts[1] = parts[0];
        parts[0] = first;
    }
    const uint8_t *at = row->line.ptr;
    for (size_t i = 0; i < count; i++) {
        struct tb_span old = parts[i].old;
        TB_TRY(tb_buffer_append(text,
                                (struct tb_span){at, (size_t)(old.ptr - at)}));
        TB_TRY(write_part(merge, &row->record, parts[i].is_time, text));
        at = old.ptr + old.len;
    }
    size_t done = (size_t)(at - row->line.ptr);
    TB_TRY(tb_buffer_append(text, tb_span_from(row->line, done)));
    return tb_buffer_append_byte(text, '\n');
}

tb_status tb_row_merge_write(struct tb_row_merge *merge,
                             struct tb_row_output *output,
                             struct tb_error *error)
{
    TB_TRY(see_rows(merge, error));
    merge->block_count = tb_block_numbering_count(merge->numbering);
    merge->part_count = tb_block_numbering_parts(merge->numbering);
    tb_shard_queue_rewind(merge->queue);
    for (;;) {
        const struct tb_row_input *row;
        TB_TRY(tb_shard_queue_next(merge->queue, &row, error));
        if (!row)
            return TB_OK;
        TB_TRY(number_blocks(merge, row, error));
        if (write_row(merge, row, &output->text) != TB_OK)
            return tb_fail(error, TB_ERR_MEMORY, "out of memory");
        merge->row_count++;
        TB_TRY(tb_row_output_flush(output, false, error));
    }
}
