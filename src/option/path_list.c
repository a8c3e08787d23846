#include "path_list.h"

#include <string.h>

#include "line_reader.h"

static tb_status add(struct tb_span line, struct tb_arena *arena,
                     struct tb_text_list *list, struct tb_error *error)
{
    if (memchr(line.ptr, 0, line.len))
        return tb_fail(error, TB_ERR_USAGE,
                       "the list holds a zero byte: it is no list of names");
    char *text = tb_arena_alloc(arena, line.len + 1);
    if (!text)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    memcpy(text, line.ptr, line.len);
    text[line.len] = '\0';
    if (tb_text_list_add(list, text) != TB_OK)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    return TB_OK;
}

tb_status tb_path_list_read(const char *path, struct tb_arena *arena,
                            struct tb_text_list *list, struct tb_error *error)
{
    struct tb_input *input;
    TB_TRY(tb_input_open(path, &input, error));
    struct tb_line_reader reader = tb_line_reader_on(input);
    size_t old_count = list->count;
    struct tb_span line;
    tb_status status = tb_line_reader_next(&reader, &line, error);
    while (status == TB_OK && line.ptr) {
        if (line.len > 0)
            TB_TRY_DONE(add(line, arena, list, error));
        status = tb_line_reader_next(&reader, &line, error);
    }
    if (status == TB_OK && list->count == old_count)
        status = tb_fail(error, TB_ERR_USAGE, "the list names no files");
done:
    if (status != TB_OK)
        tb_error_set_path(error, path);
    tb_line_reader_release(&reader);
    tb_input_close(input);
    return status;
}
