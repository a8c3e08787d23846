#include "line_reader.h"

#include <string.h>

#define LINE_MAX_LEN ((size_t)1 << 32) /* bytes */

enum { READ_SIZE = 1 << 18 };

struct tb_line_reader tb_line_reader_on(struct tb_input *input)
{
    return (struct tb_line_reader){.input = input,
                                   .window = TB_BUFFER(LINE_MAX_LEN)};
}

struct tb_line_reader tb_line_reader_of(uint8_t *bytes, size_t len)
{
    return (struct tb_line_reader){.window = {.ptr = bytes, .len = len},
                                   .is_at_end = true};
}

// Drops the lines that were given, and reads more behind what is left.
static tb_status fill(struct tb_line_reader *reader, struct tb_error *error)
{
    struct tb_buffer *window = &reader->window;
    if (reader->at > 0)
        memmove(window->ptr, window->ptr + reader->at,
                window->len - reader->at);
    window->len -= reader->at;
    reader->window_offset += reader->at;
    reader->at = 0;
    tb_status status = tb_buffer_reserve(window, READ_SIZE);
    if (status != TB_OK)
        return tb_fail(error, status,
                       status == TB_ERR_LIMIT ? "the line is too long"
                                              : "out of memory");
    size_t len;
    TB_TRY(tb_input_read(reader->input, window->ptr + window->len,
                         window->capacity - window->len, &len, error));
    window->len += len;
    reader->is_at_end = len == 0;
    return TB_OK;
}

static const uint8_t *find_end(const struct tb_line_reader *reader)
{
    size_t from = reader->at + reader->seen;
    if (from >= reader->window.len)
        return NULL;
    return memchr(reader->window.ptr + from, '\n', reader->window.len - from);
}

static void give(struct tb_line_reader *reader, size_t len, size_t end_len,
                 struct tb_span *text)
{
    const uint8_t *ptr = reader->window.ptr + reader->at;
    reader->line++;
    reader->offset = reader->window_offset + reader->at;
    reader->at += len + end_len;
    reader->seen = 0;
    bool ends_in_return = len > 0 && ptr[len - 1] == '\r';
    reader->has_return = ends_in_return && end_len > 0;
    len -= ends_in_return;
    *text = (struct tb_span){ptr, len};
}

tb_status tb_line_reader_next(struct tb_line_reader *reader,
                              struct tb_span *text, struct tb_error *error)
{
    for (;;) {
        const uint8_t *end = find_end(reader);
        size_t left = reader->window.len - reader->at;
        if (end) {
            give(reader, (size_t)(end - reader->window.ptr) - reader->at, 1,
                 text);
            return TB_OK;
        }
        reader->seen = left;
        if (reader->is_at_end) {
            *text = (struct tb_span){0};
            if (left > 0)
                give(reader, left, 0, text);
            return TB_OK;
        }
        TB_TRY(fill(reader, error));
    }
}

bool tb_line_reader_must_read(const struct tb_line_reader *reader)
{
    return !reader->is_at_end && !find_end(reader);
}

void tb_line_reader_release(struct tb_line_reader *reader)
{
    tb_buffer_release(&reader->window);
}
