#include "mooncake_reader.h"

#include <assert.h>
#include <string.h>

#include "line_reader.h"
#include "memory.h"
#include "unicode.h"
#include "utf8.h"

struct tb_mooncake_reader {
    struct tb_input *input; // NULL: lines are in memory
    struct tb_line_reader lines;
    bool is_plain;             // lines are JSONL's, not Python's
    struct tb_span left;       // of a line, behind a "\r" in it
    uint64_t line;             // lines that were given or passed over
    uint64_t offset;           // of the line that was given
    const uint8_t *line_begin; // where lines.offset is
};

tb_status tb_mooncake_reader_open(const char *path,
                                  struct tb_mooncake_reader **reader,
                                  struct tb_error *error)
{
    struct tb_mooncake_reader *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    tb_status status = tb_input_open(path, &made->input, error);
    if (status != TB_OK) {
        tb_memory_free(made);
        return status;
    }
    made->lines = tb_line_reader_on(made->input);
    *reader = made;
    return TB_OK;
}

tb_status tb_mooncake_reader_new(struct tb_mooncake_reader **reader)
{
    *reader = tb_memory_zeroed(1, sizeof(**reader));
    if (!*reader)
        return TB_ERR_MEMORY;
    tb_mooncake_reader_set_bytes(*reader, NULL, 0);
    return TB_OK;
}

void tb_mooncake_reader_set_bytes(struct tb_mooncake_reader *reader,
                                  uint8_t *bytes, size_t len)
{
    assert(!reader->input);
    reader->lines = tb_line_reader_of(bytes, len);
    reader->left = (struct tb_span){0};
    reader->line = 0;
}

void tb_mooncake_reader_set_plain(struct tb_mooncake_reader *reader)
{
    reader->is_plain = true;
}

// Python's str.isspace is White_Space and four separators more.
static bool is_space(const struct tb_mooncake_reader *reader,
                     uint32_t code_point)
{
    if (reader->is_plain)
        return code_point == ' ' || code_point == '\t' || code_point == '\n' ||
               code_point == '\r';
    return tb_unicode_is_white_space(code_point) ||
           (code_point >= 0x1C && code_point <= 0x1F);
}

static struct tb_span
without_space_before(const struct tb_mooncake_reader *reader,
                     struct tb_span text)
{
    while (text.len > 0) {
        uint32_t code_point;
        size_t len = tb_utf8_decode(text, 0, &code_point);
        if (!is_space(reader, code_point))
            break;
        text = tb_span_from(text, len);
    }
    return text;
}

static struct tb_span
without_space_behind(const struct tb_mooncake_reader *reader,
                     struct tb_span text)
{
    while (text.len > 0) {
        uint32_t code_point;
        size_t at = text.len - 1;
        while (at > 0 && text.len - at < 3 && (text.ptr[at] & 0xC0) == 0x80)
            at--;
        bool is_whole = tb_utf8_decode(text, at, &code_point) == text.len - at;
        if (!is_whole || !is_space(reader, code_point))
            break;
        text.len = at;
    }
    return text;
}

/* The next piece up to an end of line, "\r" alone included. */
static tb_status next_piece(struct tb_mooncake_reader *reader,
                            struct tb_span *piece, struct tb_error *error)
{
    if (!reader->left.ptr) {
        TB_TRY(tb_line_reader_next(&reader->lines, &reader->left, error));
        reader->line_begin = reader->left.ptr;
    }
    *piece = reader->left;
    reader->left = (struct tb_span){0};
    reader->line += piece->ptr != NULL;
    const uint8_t *end = piece->len && !reader->is_plain
                             ? memchr(piece->ptr, '\r', piece->len)
                             : NULL;
    if (!end)
        return TB_OK;
    size_t len = (size_t)(end - piece->ptr);
    reader->left = tb_span_from(*piece, len + 1);
    piece->len = len;
    return TB_OK;
}

tb_status tb_mooncake_reader_next(struct tb_mooncake_reader *reader,
                                  struct tb_span *line, struct tb_error *error)
{
    do {
        tb_status status = next_piece(reader, line, error);
        if (status != TB_OK) {
            tb_error_set_path(error, tb_input_path(reader->input));
            return status;
        }
        if (!line->ptr)
            return TB_OK;
        *line = without_space_before(reader, *line);
        *line = without_space_behind(reader, *line);
    } while (line->len == 0);
    reader->offset =
        reader->lines.offset + (uint64_t)(line->ptr - reader->line_begin);
    return TB_OK;
}

void tb_mooncake_reader_rewind(struct tb_mooncake_reader *reader)
{
    tb_input_rewind(reader->input);
    tb_line_reader_release(&reader->lines);
    reader->lines = tb_line_reader_on(reader->input);
    reader->left = (struct tb_span){0};
    reader->line = 0;
}

uint64_t tb_mooncake_reader_line(const struct tb_mooncake_reader *reader)
{
    return reader->line;
}

uint64_t tb_mooncake_reader_offset(const struct tb_mooncake_reader *reader)
{
    return reader->offset;
}

struct tb_input *tb_mooncake_reader_input(struct tb_mooncake_reader *reader)
{
    return reader->input;
}

void tb_mooncake_reader_close(struct tb_mooncake_reader *reader)
{
    if (!reader)
        return;
    if (reader->input)
        tb_line_reader_release(&reader->lines);
    tb_input_close(reader->input);
    tb_memory_free(reader);
}
