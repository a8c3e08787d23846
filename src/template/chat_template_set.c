#include "chat_template_set.h"

#include <stdio.h>

#include "chat_request.h"
#include "hash.h"
#include "input.h"
#include "json_reader.h"

#define TEMPLATE_MAX_LEN ((size_t)64 << 20)

enum {
    SPECIAL_MAX = sizeof(((struct tb_chat_template_set *)0)->special) /
                  sizeof(struct tb_special_token)
};

/* ---- templates -------------------------------------------------------- */

static tb_status compile(const struct tb_chat_template_set *set,
                         struct tb_span source,
                         struct tb_chat_template_entry *entry,
                         struct tb_error *error)
{
    if (!source.ptr)
        return TB_OK;
    tb_status status =
        tb_chat_template_compile(source, &entry->compiled, error);
    entry->takes_parts = tb_chat_template_takes_parts(source);
    if (status != TB_OK)
        tb_error_set_path(error, set->path);
    return status;
}

// The template that a person gave, in place of those beside the tokenizer.
static tb_status read_template(struct tb_chat_template_set *set,
                               const char *path, struct tb_error *error)
{
    struct tb_buffer source = TB_BUFFER(TEMPLATE_MAX_LEN);
    tb_status status = tb_input_read_all(path, &source, error);
    if (status == TB_OK)
        status = tb_arena_copy(&set->file.arena, tb_buffer_span(&source),
                               &set->file.source);
    tb_buffer_release(&source);
    set->file.tool_source = (struct tb_span){0};
    set->path = path;
    return status;
}

/* ---- variables -------------------------------------------------------- */

static tb_status read_special(struct tb_chat_template_set *set,
                              struct tb_json_reader *reader)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return tb_json_expect_end(reader);
        if (set->special_count == SPECIAL_MAX)
            return tb_json_fail(reader, TB_ERR_LIMIT,
                                "too many special tokens");
        struct tb_special_token *token = &set->special[set->special_count++];
        TB_TRY(tb_arena_copy(&set->file.arena, key, &token->name));
        TB_TRY(tb_json_read_string(reader, &set->file.arena, &token->text));
    }
}

static tb_status check_kwargs(struct tb_json_reader *reader)
{
    TB_TRY(tb_json_enter_object(reader));
    TB_TRY(tb_json_leave_to(reader, 0));
    return tb_json_expect_end(reader);
}

// A failure in an option's JSON is told with the option's name.
static tb_status blame(const struct tb_json_reader *reader, tb_status status,
                       const char *option, struct tb_error *error)
{
    if (status == TB_OK || !error)
        return status;
    *error = reader->error;
    tb_error_set_path(error, option);
    return status;
}

// Those of the option stand behind those of the file, and so win.
static tb_status set_special(struct tb_chat_template_set *set, const char *json,
                             struct tb_error *error)
{
    struct tb_json_reader reader;
    for (size_t i = 0; i < set->file.special_count; i++)
        set->special[set->special_count++] = set->file.special[i];
    if (!json)
        return TB_OK;
    tb_json_reader_init_span(&reader, tb_span_of(json), 0, 1);
    return blame(&reader, read_special(set, &reader), "--special-tokens",
                 error);
}

static tb_status set_kwargs(struct tb_chat_template_set *set, const char *json,
                            struct tb_error *error)
{
    struct tb_json_reader reader;
    set->kwargs = tb_span_of(json);
    if (!json)
        return TB_OK;
    tb_json_reader_init_span(&reader, set->kwargs, 0, 1);
    return blame(&reader, check_kwargs(&reader), "--chat-template-kwargs",
                 error);
}

/* ---- the set ---------------------------------------------------------- */

tb_status tb_chat_template_set_read(
    struct tb_chat_template_set *set, const char *tokenizer_path,
    const struct tb_chat_template_overrides *overrides, struct tb_error *error)
{
    static const struct tb_chat_template_overrides none = {0};
    if (!overrides)
        overrides = &none;
    TB_TRY(set_kwargs(set, overrides->kwargs, error));
    if (tokenizer_path)
        TB_TRY(tb_chat_template_file_read(tokenizer_path, &set->file, error));
    TB_TRY(set_special(set, overrides->special, error));
    set->path = tokenizer_path;
    return overrides->path ? read_template(set, overrides->path, error) : TB_OK;
}

tb_status tb_chat_template_set_compile(struct tb_chat_template_set *set,
                                       struct tb_error *error)
{
    TB_TRY(compile(set, set->file.source, &set->plain, error));
    return compile(set, set->file.tool_source, &set->with_tools, error);
}

const struct tb_chat_template_entry *
tb_chat_template_set_find(const struct tb_chat_template_set *set,
                          bool has_tools)
{
    if (set->with_tools.compiled && (has_tools || !set->plain.compiled))
        return &set->with_tools;
    return set->plain.compiled ? &set->plain : NULL;
}

struct tb_chat_input
tb_chat_template_set_input(const struct tb_chat_template_set *set)
{
    return (struct tb_chat_input){.special = set->special,
                                  .special_count = set->special_count,
                                  .kwargs = set->kwargs};
}

// Chained, so that no text can end where another begins.
static struct tb_hash128 add_text(struct tb_hash128 before, struct tb_span text)
{
    struct tb_hash128 own = tb_hash128(text, 0);
    const uint64_t words[] = {before.low, before.high, own.low, own.high};
    return tb_hash128((struct tb_span){(const uint8_t *)words, sizeof(words)},
                      0);
}

bool tb_chat_template_set_fingerprint(const struct tb_chat_template_set *set,
                                      char text[33])
{
    struct tb_hash128 hash = {0};
    if (!set->plain.compiled && !set->with_tools.compiled)
        return false;
    hash = add_text(hash, set->file.source);
    hash = add_text(hash, set->file.tool_source);
    hash = add_text(hash, set->kwargs);
    for (size_t i = 0; i < set->special_count; i++) {
        hash = add_text(hash, set->special[i].name);
        hash = add_text(hash, set->special[i].text);
    }
    (void)snprintf(text, 33, "%016llx%016llx", (unsigned long long)hash.high,
                   (unsigned long long)hash.low);
    return true;
}

void tb_chat_template_set_release(struct tb_chat_template_set *set)
{
    tb_chat_template_free(set->plain.compiled);
    tb_chat_template_free(set->with_tools.compiled);
    tb_chat_template_file_release(&set->file);
    *set = (struct tb_chat_template_set){0};
}
