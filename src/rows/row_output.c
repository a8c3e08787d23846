#include "row_output.h"

#include <string.h>

enum { FLUSH_LEN = 256 << 10 }; // bytes of rows that are written at once

tb_status tb_row_output_open(struct tb_row_output *output, const char *path,
                             struct tb_row_stop stop, struct tb_error *error)
{
    *output =
        (struct tb_row_output){.path = path, .text = TB_BUFFER(SIZE_MAX / 2)};
    if (!tb_path_format(output->meta_path, sizeof(output->meta_path),
                        "%s.meta.json", path))
        return tb_fail(error, TB_ERR_USAGE, "the output's path is too long");
    return tb_output_open_until(stop.is_stopping, stop.context, path,
                                &output->rows, error);
}

tb_status tb_row_output_spare(const struct tb_row_output *output,
                              const char *input, struct tb_error *error)
{
    char meta[TB_PATH_SIZE];
    // What stands beside a pipe is nobody's.
    bool has_meta = strcmp(input, "-") != 0 && strcmp(output->path, "-") != 0 &&
                    tb_path_format(meta, sizeof(meta), "%s.meta.json", input);
    const char *read[] = {input, meta};
    const char *made[] = {output->path, output->meta_path};
    for (size_t i = 0; i < (has_meta ? 2 : 1); i++)
        for (size_t j = 0; j < 2; j++)
            if (tb_output_is_same_file(read[i], made[j])) {
                tb_fail(error, TB_ERR_USAGE, "output would replace this input");
                tb_error_set_path(error, read[i]);
                return TB_ERR_USAGE;
            }
    return TB_OK;
}

tb_status tb_row_output_flush(struct tb_row_output *output, bool in_any_case,
                              struct tb_error *error)
{
    if (output->text.len < FLUSH_LEN && !in_any_case)
        return TB_OK;
    TB_TRY(tb_output_write(output->rows, tb_buffer_span(&output->text), error));
    tb_buffer_clear(&output->text);
    return TB_OK;
}

tb_status tb_row_output_commit(struct tb_row_output *output,
                               struct tb_span meta, struct tb_error *error)
{
    struct tb_output *file = NULL;
    TB_TRY(tb_row_output_flush(output, true, error));
    tb_status status = tb_output_prepare(output->rows, error);
    if (status == TB_OK && !tb_output_is_stream(output->rows)) {
        status = tb_output_open(output->meta_path, &file, error);
        if (status == TB_OK)
            status = tb_output_write(file, meta, error);
    }
    struct tb_output *files[] = {file, output->rows};
    if (status == TB_OK)
        status = tb_output_commit_all(files, 2, error);
    tb_output_close(file);
    return status;
}

void tb_row_output_close(struct tb_row_output *output)
{
    tb_output_close(output->rows);
    tb_buffer_release(&output->text);
    *output = (struct tb_row_output){0};
}
