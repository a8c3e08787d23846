#include "tokenizer_config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "component.h"
#include "input.h"
#include "memory.h"

/* Largest file that is read, bytes. */
#define CONFIG_MAX_LEN ((size_t)64 << 20)

bool tb_tokenizer_config_path(const char *path, char *config_path, size_t size)
{
    const char *slash = strrchr(path, '/');
    int folder_len = slash ? (int)(slash - path) + 1 : 0;
    int len = snprintf(config_path, size, "%.*stokenizer_config.json",
                       folder_len, path);
    return len > 0 && (size_t)len < size;
}

/* "AutoTokenizer": ["module.Class", null], or one text; a repository may
 * stand before the module, "org/name--". */
static tb_status read_class(struct tb_json_reader *reader,
                            struct tb_arena *arena, struct tb_span *name)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    uint32_t depth = tb_json_depth(reader);
    if (type == TB_JSON_ARRAY) {
        bool found;
        TB_TRY(tb_json_enter_array(reader));
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            return TB_OK;
        TB_TRY(tb_json_peek(reader, &type));
    }
    if (type != TB_JSON_STRING) {
        TB_TRY(tb_json_skip(reader));
        return tb_json_leave_to(reader, depth);
    }
    TB_TRY(tb_component_keep_string(reader, arena, name));
    const uint8_t *mark =
        name->len ? memmem(name->ptr, name->len, "--", 2) : NULL;
    if (mark)
        *name = tb_span_from(*name, (size_t)(mark - name->ptr) + 2);
    return tb_json_leave_to(reader, depth);
}

static tb_status read_auto_map(struct tb_json_reader *reader,
                               struct tb_arena *arena, struct tb_span *name)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        if (tb_span_equal(key, TB_SPAN("AutoTokenizer")))
            TB_TRY(read_class(reader, arena, name));
        else
            TB_TRY(tb_json_skip(reader));
    }
}

static tb_status read_id(struct tb_json_reader *reader, struct tb_span key,
                         tb_token *id)
{
    *id = 0;
    bool is_id = key.len > 0 && key.len <= 8;
    for (size_t i = 0; i < key.len && is_id; i++) {
        is_id = key.ptr[i] >= '0' && key.ptr[i] <= '9';
        *id = *id * 10 + (key.ptr[i] - '0');
    }
    if (is_id && *id <= TB_VOCAB_MAX_ID)
        return TB_OK;
    return tb_json_fail(reader, TB_ERR_VALUE,
                        "the key of an added token is no id");
}

static tb_status read_token(struct tb_json_reader *reader,
                            struct tb_arena *arena, tb_token id,
                            struct tb_tokenizer_config *config)
{
    struct tb_added_token token;
    TB_TRY(tb_added_token_from_json(reader, arena, &token));
    if (token.content.len == 0)
        return TB_OK;
    token.id = id;
    token.is_normalized = false; // such tokens are found before all else
    struct tb_added_token *grown = tb_array_grow(
        config->tokens, &config->capacity, config->count + 1, sizeof(*grown));
    if (!grown)
        return TB_ERR_MEMORY;
    config->tokens = grown;
    config->tokens[config->count++] = token;
    return TB_OK;
}

static tb_status read_tokens(struct tb_json_reader *reader,
                             struct tb_arena *arena,
                             struct tb_tokenizer_config *config)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        tb_token id;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        TB_TRY(read_id(reader, key, &id));
        TB_TRY(read_token(reader, arena, id, config));
    }
}

static tb_status read_members(struct tb_json_reader *reader,
                              struct tb_arena *arena,
                              struct tb_tokenizer_config *config)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return tb_json_expect_end(reader);
        if (tb_span_equal(key, TB_SPAN("auto_map")))
            TB_TRY(read_auto_map(reader, arena, &config->class_name));
        else if (tb_span_equal(key, TB_SPAN("added_tokens_decoder")))
            TB_TRY(read_tokens(reader, arena, config));
        else
            TB_TRY(tb_json_skip(reader));
    }
}

tb_status tb_tokenizer_config_read(struct tb_tokenizer_config *config,
                                   struct tb_arena *arena, const char *path,
                                   struct tb_error *error)
{
    char file[4096];
    *config = (struct tb_tokenizer_config){0};
    if (!tb_tokenizer_config_path(path, file, sizeof(file)) ||
        access(file, F_OK) != 0)
        return TB_OK;
    struct tb_buffer content = TB_BUFFER(CONFIG_MAX_LEN);
    tb_status status = tb_input_read_all(file, &content, error);
    if (status == TB_OK) {
        struct tb_json_reader reader;
        tb_json_reader_init_span(&reader, tb_buffer_span(&content), 0, 1);
        status = read_members(&reader, arena, config);
        if (status != TB_OK && error)
            *error = reader.error;
    }
    tb_buffer_release(&content);
    if (status != TB_OK)
        tb_error_set_path(error, file);
    return status;
}

void tb_tokenizer_config_release(struct tb_tokenizer_config *config)
{
    tb_memory_free(config->tokens);
    *config = (struct tb_tokenizer_config){0};
}
