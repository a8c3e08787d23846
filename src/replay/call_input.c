#include "call_input.h"

tb_status tb_call_input_open(struct tb_call_input *calls, const char *path,
                             struct tb_error *error)
{
    *calls = (struct tb_call_input){0};
    TB_TRY(tb_input_open(path, &calls->input, error));
    calls->lines = tb_line_reader_on(calls->input);
    return tb_input_keep(calls->input, error);
}

static tb_status next_call(struct tb_call_input *calls, struct tb_error *error)
{
    struct tb_span line;
    do {
        TB_TRY(tb_line_reader_next(&calls->lines, &line, error));
        calls->has_call = line.ptr != NULL;
    } while (line.ptr && line.len == 0);
    if (!calls->has_call)
        return TB_OK;
    tb_arena_reset(&calls->arena);
    return tb_call_line_read(line, calls->lines.offset, calls->lines.line,
                             &calls->arena, &calls->call, error);
}

tb_status tb_call_input_next(struct tb_call_input *calls,
                             struct tb_error *error)
{
    tb_status status = next_call(calls, error);
    if (status != TB_OK)
        tb_error_set_path(error, tb_input_path(calls->input));
    return status;
}

void tb_call_input_rewind(struct tb_call_input *calls)
{
    tb_input_rewind(calls->input);
    tb_line_reader_release(&calls->lines);
    calls->lines = tb_line_reader_on(calls->input);
}

void tb_call_input_close(struct tb_call_input *calls)
{
    tb_line_reader_release(&calls->lines);
    tb_input_close(calls->input);
    tb_arena_release(&calls->arena);
    *calls = (struct tb_call_input){0};
}
