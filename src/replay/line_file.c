#include "line_file.h"

#include "line_reader.h"

struct reading {
    struct tb_input *input;
    struct tb_line_reader lines;
    struct tb_arena arena;
    bool (*is_stopping)(void *);
    struct tb_line_losses *losses;
};

static bool is_loss(tb_status status)
{
    return status == TB_ERR_CUT || status == TB_ERR_SYNTAX ||
           status == TB_ERR_TYPE || status == TB_ERR_VALUE;
}

static void count_loss(struct reading *reading, const struct tb_error *error)
{
    struct tb_line_losses *losses = reading->losses;
    if (losses->count++ > 0)
        return;
    losses->first = *error;
    tb_error_set_path(&losses->first, tb_input_path(reading->input));
}

static bool is_blank(struct tb_span line)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] != ' ' && line.ptr[i] != '\t' && line.ptr[i] != '\r')
            return false;
    return true;
}

static tb_status read_lines(struct reading *reading, tb_line_file_fn on_line,
                            void *context, struct tb_error *error)
{
    for (;;) {
        struct tb_span line;
        struct tb_error loss = {0};
        if (reading->is_stopping && reading->is_stopping(NULL))
            return tb_fail(error, TB_ERR_INTERRUPTED, "stopped");
        TB_TRY(tb_line_reader_next(&reading->lines, &line, error));
        if (!line.ptr)
            return TB_OK;
        if (is_blank(line))
            continue;
        tb_status status = on_line(context, line, reading->lines.offset,
                                   reading->lines.line, &reading->arena, &loss);
        tb_arena_reset(&reading->arena);
        if (is_loss(status)) {
            count_loss(reading, &loss);
        } else if (status != TB_OK) {
            return tb_fail(error, status, "cannot read a line: %s",
                           tb_status_name(status));
        }
    }
}

tb_status tb_line_file_read(const char *path, tb_line_file_fn on_line,
                            void *context, bool (*is_stopping)(void *),
                            struct tb_line_losses *losses,
                            struct tb_error *error)
{
    struct reading reading = {.is_stopping = is_stopping, .losses = losses};
    TB_TRY(tb_input_open_until(is_stopping, NULL, path, &reading.input, error));
    reading.lines = tb_line_reader_on(reading.input);
    tb_status status = read_lines(&reading, on_line, context, error);
    if (status != TB_OK)
        tb_error_set_path(error, path);
    tb_line_reader_release(&reading.lines);
    tb_arena_release(&reading.arena);
    tb_input_close(reading.input);
    return status;
}
