#include <stdio.h>
#include <string.h>

#include "input.h"
#include "meta.h"
#include "path.h"
#include "record_fields.h"

#define META_MAX_LEN ((size_t)16 << 20)

enum { BLOCK_SIZE_MAX = 1 << 20 };

struct fields {
    struct tb_span prompt, compat, tokenizer, ids, format;
    uint64_t block_size, row_count;
};

static tb_status read_fields(struct tb_json_reader *reader,
                             struct tb_arena *arena, struct fields *found)
{
    bool is_said;
    const struct tb_field rows[] = {TB_FIELD_TEXT("prompt", &found->prompt),
                                    TB_FIELD_RAW("compat", &found->compat)};
    const struct tb_field tokenizer[] = {
        TB_FIELD_TEXT("name", &found->tokenizer)};
    const struct tb_field counts[] = {
        TB_FIELD_COUNT("rows", &found->row_count, &is_said)};
    const struct tb_field fields[] = {
        TB_FIELD_OBJECT("rows", rows),
        TB_FIELD_COUNT("block_size", &found->block_size, &is_said),
        TB_FIELD_TEXT("ids", &found->ids),
        TB_FIELD_TEXT("format", &found->format),
        TB_FIELD_OBJECT("tokenizer", tokenizer),
        TB_FIELD_OBJECT("counts", counts),
    };
    TB_TRY(tb_field_expect_object(reader));
    return TB_FIELDS_READ(reader, arena, fields);
}

static void take(const struct fields *found, struct tb_meta_reading *reading)
{
    reading->is_found = true;
    reading->is_delta = tb_span_equal(found->prompt, TB_SPAN("delta"));
    reading->is_messages = tb_span_equal(found->prompt, TB_SPAN("messages"));
    reading->has_prompt =
        reading->is_delta || tb_span_equal(found->prompt, TB_SPAN("whole"));
    if (found->block_size <= BLOCK_SIZE_MAX)
        reading->block_size = (uint32_t)found->block_size;
    reading->row_count = found->row_count;
    reading->is_telemetry = tb_span_equal(found->format, TB_SPAN("telemetry"));
    reading->has_format =
        reading->is_telemetry || tb_span_equal(found->format, TB_SPAN("nat"));
    reading->is_compat = tb_span_equal(found->compat, TB_SPAN("true"));
    reading->has_content_ids = tb_span_equal(found->ids, TB_SPAN("content"));
    if (found->tokenizer.len > 0 &&
        found->tokenizer.len < sizeof(reading->tokenizer))
        (void)snprintf(reading->tokenizer, sizeof(reading->tokenizer), "%.*s",
                       (int)found->tokenizer.len,
                       (const char *)found->tokenizer.ptr);
}

tb_status tb_meta_content(const char *path, struct tb_buffer *content,
                          struct tb_error *error)
{
    char name[TB_PATH_SIZE];
    if (strcmp(path, "-") == 0 ||
        !tb_path_format(name, sizeof(name), "%s.meta.json", path))
        return TB_OK;
    tb_status status = tb_input_read_all(name, content, error);
    return status == TB_ERR_NOT_FOUND ? TB_OK : status;
}

tb_status tb_meta_read(const char *path, struct tb_meta_reading *reading,
                       struct tb_error *error)
{
    struct tb_buffer content = TB_BUFFER(META_MAX_LEN);
    struct tb_arena arena = {0};
    struct tb_json_reader reader;
    struct fields found = {0};
    *reading = (struct tb_meta_reading){0};
    tb_status status = tb_meta_content(path, &content, error);
    if (status == TB_OK && content.len > 0) {
        tb_json_reader_init_span(&reader, tb_buffer_span(&content), 0, 1);
        status = read_fields(&reader, &arena, &found);
        if (status == TB_OK)
            take(&found, reading);
    }
    tb_arena_release(&arena);
    tb_buffer_release(&content);
    bool is_failure = status == TB_ERR_MEMORY || status == TB_ERR_IO;
    return is_failure ? status : TB_OK;
}
