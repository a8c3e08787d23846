#include "row_input.h"

#include <stdarg.h>
#include <stdio.h>

tb_status tb_row_input_open(struct tb_row_input *input, const char *path,
                            struct tb_row_stop stop, struct tb_error *error)
{
    *input = (struct tb_row_input){.path = path, .stop = stop};
    TB_TRY(tb_meta_read(path, &input->meta, error));
    TB_TRY(tb_mooncake_reader_open(path, &input->reader, error));
    tb_input_on_signal(tb_mooncake_reader_input(input->reader),
                       stop.is_stopping, stop.context);
    return TB_OK;
}

static void set_place(const struct tb_row_input *input, struct tb_error *error)
{
    if (!error)
        return;
    if (error->line == 0) {
        error->line = tb_mooncake_reader_line(input->reader);
        error->offset = tb_mooncake_reader_offset(input->reader);
    }
    tb_error_set_path(error,
                      tb_input_path(tb_mooncake_reader_input(input->reader)));
}

tb_status tb_row_input_next(struct tb_row_input *input, struct tb_error *error)
{
    const struct tb_row_stop *stop = &input->stop;
    if (stop->is_stopping && stop->is_stopping(stop->context))
        return tb_fail(error, TB_ERR_INTERRUPTED, "stopped");
    TB_TRY(tb_mooncake_reader_next(input->reader, &input->line, error));
    if (!input->line.ptr && input->row_count > 0)
        return TB_OK;
    if (!input->line.ptr) {
        tb_fail(error, TB_ERR_EMPTY, "no rows");
        tb_error_set_path(error, input->path);
        return TB_ERR_EMPTY;
    }
    input->row_count++;
    tb_arena_reset(&input->arena);
    tb_status status = tb_mooncake_record_read(
        &input->record, input->line, tb_mooncake_reader_offset(input->reader),
        tb_mooncake_reader_line(input->reader), &input->arena, error);
    if (status != TB_OK)
        set_place(input, error);
    return status;
}

tb_status tb_row_input_keep(struct tb_row_input *input, struct tb_error *error)
{
    return tb_input_keep(tb_mooncake_reader_input(input->reader), error);
}

void tb_row_input_rewind(struct tb_row_input *input)
{
    tb_mooncake_reader_rewind(input->reader);
    input->row_count = 0;
}

tb_status tb_row_input_fail(const struct tb_row_input *input, tb_status status,
                            struct tb_error *error, const char *format, ...)
{
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    tb_fail(error, status, "%s", message);
    set_place(input, error);
    return status;
}

tb_status tb_row_input_check_ids(const struct tb_row_input *input,
                                 struct tb_error *error)
{
    const struct tb_mooncake_record *record = &input->record;
    const struct tb_mooncake_value *list =
        &record->fields[TB_MOONCAKE_HASH_IDS];
    if (list->kind != TB_MOONCAKE_LIST)
        return tb_row_input_fail(input, TB_ERR_VALUE, error,
                                 "hash_ids: expected a list, found %s",
                                 tb_mooncake_kind_text(list->kind));
    if (list->key_count > 1)
        return tb_row_input_fail(input, TB_ERR_VALUE, error,
                                 "hash_ids stands in the row twice");
    if (record->bad_item != TB_MOONCAKE_NO_ITEM)
        return tb_row_input_fail(input, TB_ERR_VALUE, error,
                                 "hash_ids[%zu] is no whole number",
                                 record->bad_item);
    return TB_OK;
}

void tb_row_input_close(struct tb_row_input *input)
{
    tb_mooncake_reader_close(input->reader);
    tb_mooncake_record_release(&input->record);
    tb_arena_release(&input->arena);
    *input = (struct tb_row_input){0};
}
