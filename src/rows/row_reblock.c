#include "row_reblock.h"

#include "memory.h"
#include "mooncake_row.h"
#include "reblock.h"

static tb_status number_blocks(struct tb_row_reblock *reblock,
                               const struct tb_mooncake_record *record,
                               size_t *count)
{
    size_t need = record->id_count / reblock->multiple + 1;
    uint64_t *ids =
        tb_array_grow(reblock->ids, &reblock->id_capacity, need, sizeof(*ids));
    if (!ids)
        return TB_ERR_MEMORY;
    reblock->ids = ids;
    *count = 0;
    for (size_t at = 0; at < record->id_count; at += reblock->multiple) {
        bool is_new;
        size_t left = record->id_count - at;
        struct tb_hash128 block = tb_reblock_hash(
            record->ids + at,
            left < reblock->multiple ? left : reblock->multiple);
        TB_TRY(tb_block_table_add(&reblock->blocks, block, &ids[(*count)++],
                                  &is_new));
    }
    return TB_OK;
}

static bool is_fitting(const struct tb_row_reblock *reblock,
                       const struct tb_mooncake_record *record)
{
    uint64_t length;
    if (!tb_mooncake_record_length(record, TB_MOONCAKE_INPUT_LENGTH,
                                   TB_MOONCAKE_INPUT_TOKENS, &length))
        return true;
    return length / reblock->from + (length % reblock->from > 0) ==
           record->id_count;
}

static tb_status write(struct tb_row_reblock *reblock,
                       const struct tb_row_input *input, struct tb_buffer *text)
{
    size_t count;
    struct tb_span line = input->line;
    struct tb_span list = input->record.fields[TB_MOONCAKE_HASH_IDS].text;
    struct tb_span before = {line.ptr, (size_t)(list.ptr - line.ptr)};
    TB_TRY(number_blocks(reblock, &input->record, &count));
    TB_TRY(tb_buffer_append(text, before));
    TB_TRY(tb_mooncake_ids_write(reblock->ids, count, text));
    return tb_buffer_append(text, tb_span_from(line, before.len + list.len));
}

tb_status tb_row_reblock_add(struct tb_row_reblock *reblock,
                             const struct tb_row_input *input,
                             struct tb_buffer *text, struct tb_error *error)
{
    const struct tb_mooncake_record *record = &input->record;
    tb_status status;
    reblock->row_count++;
    if (tb_mooncake_value_is_set(&record->fields[TB_MOONCAKE_HASH_IDS])) {
        TB_TRY(tb_row_input_check_ids(input, error));
        reblock->misfit_count += !is_fitting(reblock, record);
        status = write(reblock, input, text);
    } else {
        status = tb_buffer_append(text, input->line);
    }
    if (status == TB_OK)
        status = tb_buffer_append_byte(text, '\n');
    if (status == TB_OK)
        return TB_OK;
    return tb_fail(error, status, "cannot write the row: %s",
                   status == TB_ERR_LIMIT ? "too many blocks"
                                          : tb_status_name(status));
}

void tb_row_reblock_release(struct tb_row_reblock *reblock)
{
    tb_block_table_release(&reblock->blocks);
    tb_memory_free(reblock->ids);
    *reblock = (struct tb_row_reblock){0};
}
