#include <string.h>

#include "input.h"
#include "json_reader.h"
#include "meta.h"
#include "path.h"

#define META_MAX_LEN ((size_t)16 << 20)

enum { BLOCK_SIZE_MAX = 1 << 20 };

static tb_status read_rows(struct tb_json_reader *reader,
                           struct tb_arena *arena,
                           struct tb_meta_reading *reading)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key, text;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        if (!tb_span_equal(key, TB_SPAN("prompt"))) {
            TB_TRY(tb_json_skip(reader));
            continue;
        }
        TB_TRY(tb_json_read_string(reader, arena, &text));
        reading->is_delta = tb_span_equal(text, TB_SPAN("delta"));
        reading->has_prompt =
            reading->is_delta || tb_span_equal(text, TB_SPAN("whole"));
    }
}

static tb_status read_block_size(struct tb_json_reader *reader,
                                 struct tb_meta_reading *reading)
{
    struct tb_json_number number;
    TB_TRY(tb_json_read_number(reader, &number));
    if (number.is_integer && number.integer > 0 &&
        number.integer <= BLOCK_SIZE_MAX)
        reading->block_size = (uint32_t)number.integer;
    return TB_OK;
}

static tb_status read_object(struct tb_json_reader *reader,
                             struct tb_arena *arena,
                             struct tb_meta_reading *reading)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        if (tb_span_equal(key, TB_SPAN("rows")))
            TB_TRY(read_rows(reader, arena, reading));
        else if (tb_span_equal(key, TB_SPAN("block_size")))
            TB_TRY(read_block_size(reader, reading));
        else
            TB_TRY(tb_json_skip(reader));
    }
}

tb_status tb_meta_read(const char *path, struct tb_meta_reading *reading)
{
    char name[TB_PATH_SIZE];
    struct tb_buffer content = TB_BUFFER(META_MAX_LEN);
    struct tb_arena arena = {0};
    struct tb_json_reader reader;
    *reading = (struct tb_meta_reading){0};
    if (strcmp(path, "-") == 0 ||
        !tb_path_format(name, sizeof(name), "%s.meta.json", path) ||
        !tb_path_is_file(name))
        return TB_OK;
    tb_status status = tb_input_read_all(name, &content, NULL);
    if (status == TB_OK) {
        tb_json_reader_init_span(&reader, tb_buffer_span(&content), 0, 1);
        status = read_object(&reader, &arena, reading);
        reading->is_found = status == TB_OK;
    }
    if (status != TB_OK)
        *reading = (struct tb_meta_reading){0};
    tb_arena_release(&arena);
    tb_buffer_release(&content);
    return status == TB_ERR_MEMORY ? status : TB_OK;
}
