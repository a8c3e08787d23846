#include "chat_template_file.h"

#include <stdio.h>
#include <string.h>

#include "input.h"
#include "json_reader.h"

/* Largest file that is read, bytes. */
#define FILE_MAX_LEN ((size_t)64 << 20)

// All of a file of the folder; `*found` is false when it is not there.
static tb_status read_file(const char *tokenizer_path, const char *name,
                           struct tb_buffer *content, bool *found,
                           struct tb_error *error)
{
    char path[4096];
    const char *slash = strrchr(tokenizer_path, '/');
    int folder_len = slash ? (int)(slash - tokenizer_path) + 1 : 0;
    int len = snprintf(path, sizeof(path), "%.*s%s", folder_len, tokenizer_path,
                       name);
    *found = false;
    tb_buffer_clear(content);
    if (len < 0 || (size_t)len >= sizeof(path))
        return TB_OK;
    tb_status status = tb_input_read_all(path, content, error);
    if (status == TB_ERR_NOT_FOUND)
        return TB_OK;
    *found = status == TB_OK;
    return status;
}

static tb_status keep_string(struct tb_json_reader *reader,
                             struct tb_arena *arena, struct tb_span *text)
{
    TB_TRY(tb_json_read_string(reader, arena, text));
    return tb_arena_copy(arena, *text, text);
}

/* One of a list: {"name": .., "template": ..}. */
static tb_status read_named(struct tb_json_reader *reader,
                            struct tb_chat_template_file *file)
{
    struct tb_span name = {0}, source = {0};
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("name")))
            TB_TRY(keep_string(reader, &file->arena, &name));
        else if (tb_span_equal(key, TB_SPAN("template")))
            TB_TRY(keep_string(reader, &file->arena, &source));
        else
            TB_TRY(tb_json_skip(reader));
    }
    if (tb_span_equal(name, TB_SPAN("default")))
        file->source = source;
    else if (tb_span_equal(name, TB_SPAN("tool_use")))
        file->tool_source = source;
    return TB_OK;
}

static tb_status read_template(struct tb_json_reader *reader,
                               struct tb_chat_template_file *file)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_STRING)
        return keep_string(reader, &file->arena, &file->source);
    if (type != TB_JSON_ARRAY)
        return tb_json_skip(reader);
    TB_TRY(tb_json_enter_array(reader));
    for (;;) {
        bool found;
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            return TB_OK;
        TB_TRY(read_named(reader, file));
    }
}

// "bos_token": "<s>" or {"content": "<s>", ..}
static tb_status read_special(struct tb_json_reader *reader,
                              struct tb_span name,
                              struct tb_chat_template_file *file)
{
    struct tb_special_token token = {0};
    tb_json_type type;
    TB_TRY(tb_arena_copy(&file->arena, name, &token.name));
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_STRING) {
        TB_TRY(keep_string(reader, &file->arena, &token.text));
    } else if (type == TB_JSON_OBJECT) {
        TB_TRY(tb_json_enter_object(reader));
        for (;;) {
            struct tb_span key;
            TB_TRY(tb_json_next_key(reader, &key));
            if (!key.ptr)
                break;
            if (tb_span_equal(key, TB_SPAN("content")))
                TB_TRY(keep_string(reader, &file->arena, &token.text));
            else
                TB_TRY(tb_json_skip(reader));
        }
    } else {
        TB_TRY(tb_json_skip(reader));
    }
    if (token.text.ptr && file->special_count < TB_CHAT_TEMPLATE_MAX_SPECIAL)
        file->special[file->special_count++] = token;
    return TB_OK;
}

static bool is_special_name(struct tb_span key)
{
    static const char *const names[] = {"bos_token", "eos_token", "unk_token",
                                        "sep_token", "pad_token", "cls_token",
                                        "mask_token"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (tb_span_equal(key, tb_span_of(names[i])))
            return true;
    return false;
}

static tb_status read_config(const char *tokenizer_path, struct tb_span json,
                             struct tb_chat_template_file *file,
                             struct tb_error *error)
{
    struct tb_json_reader reader;
    tb_json_reader_init_span(&reader, json, 0, 1);
    tb_status status = tb_json_enter_object(&reader);
    while (status == TB_OK) {
        struct tb_span key;
        status = tb_json_next_key(&reader, &key);
        if (status != TB_OK || !key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("chat_template")))
            status = read_template(&reader, file);
        else if (is_special_name(key))
            status = read_special(&reader, key, file);
        else
            status = tb_json_skip(&reader);
    }
    if (status != TB_OK && error) {
        char place[256];
        (void)snprintf(place, sizeof(place), "configuration beside %.200s",
                       tokenizer_path);
        *error = reader.error;
        tb_error_set_path(error, place);
    }
    return status;
}

static tb_status read_all(const char *tokenizer_path,
                          struct tb_chat_template_file *file,
                          struct tb_buffer *content, struct tb_error *error)
{
    bool found;
    TB_TRY(read_file(tokenizer_path, "tokenizer_config.json", content, &found,
                     error));
    if (found)
        TB_TRY(
            read_config(tokenizer_path, tb_buffer_span(content), file, error));
    TB_TRY(read_file(tokenizer_path, "chat_template.jinja", content, &found,
                     error));
    if (found)
        return tb_arena_copy(&file->arena, tb_buffer_span(content),
                             &file->source);
    if (file->source.ptr)
        return TB_OK;
    TB_TRY(read_file(tokenizer_path, "chat_template.json", content, &found,
                     error));
    return found ? read_config(tokenizer_path, tb_buffer_span(content), file,
                               error)
                 : TB_OK;
}

tb_status tb_chat_template_file_read(const char *tokenizer_path,
                                     struct tb_chat_template_file *file,
                                     struct tb_error *error)
{
    struct tb_buffer content = TB_BUFFER(FILE_MAX_LEN);
    tb_status status = read_all(tokenizer_path, file, &content, error);
    tb_buffer_release(&content);
    return status;
}

void tb_chat_template_file_release(struct tb_chat_template_file *file)
{
    tb_arena_release(&file->arena);
    *file = (struct tb_chat_template_file){0};
}
