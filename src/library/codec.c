/* tracebake.h over the layers below: tokenizers. */
#include "tracebake.h"

#include <string.h>

#include "hub.h"
#include "memory.h"
#include "path.h"
#include "tokenizer.h"
#include "utf8.h"

struct tb_codec {
    const struct tb_tokenizer *tokenizer;
    struct tb_encoder *encoder;
    struct tb_decode_work *decoding;
    struct tb_tokens tokens; /* of the last text */
    struct tb_span text;     /* of the last ids */
};

/* ---- loading ----------------------------------------------------------------
 */

static bool on_fetch(void *context, const struct tb_hub_progress *state)
{
    const struct tb_load_options *options = context;
    const struct tb_load_progress progress = {
        .repo = state->repo,
        .file = state->file,
        .bytes_done = state->bytes_done,
        .bytes_total = state->bytes_total,
        .is_waiting = state->is_waiting,
    };
    return !options->on_progress ||
           options->on_progress(options->context, &progress);
}

/* What a caller of an older version left out is zero. */
static tb_status copy_options(const struct tb_load_options *from,
                              struct tb_load_options *options,
                              struct tb_error *error)
{
    *options = (struct tb_load_options){.size = sizeof(*options)};
    if (!from)
        return TB_OK;
    if (from->size < offsetof(struct tb_load_options, context) ||
        from->size > sizeof(*options))
        return tb_fail(error, TB_ERR_USAGE,
                       "tb_load_options of %zu bytes are of no version up to "
                       "%s",
                       from->size, tb_version());
    memcpy(options, from, from->size);
    return TB_OK;
}

static tb_status load(const char *name, struct tb_load_options *options,
                      struct tb_tokenizer **tokenizer, struct tb_error *error)
{
    char path[TB_PATH_SIZE];
    struct tb_hub_access access = {.on_progress = on_fetch, .context = options};
    TB_TRY(tb_tokenizer_locate(name, options->may_fetch ? &access : NULL, path,
                               sizeof(path), error));
    return tb_tokenizer_open(path, tokenizer, error);
}

// A failure whose detail nobody has filled in has its status's name.
static tb_status complete(tb_status status, struct tb_error *error)
{
    if (status != TB_OK && error && error->status != status)
        tb_fail(error, status, "%s", tb_status_name(status));
    return status;
}

tb_status tb_tokenizer_load(const char *name,
                            const struct tb_load_options *options,
                            struct tb_tokenizer **tokenizer,
                            struct tb_error *error)
{
    struct tb_load_options all;
    struct tb_error detail = {.status = TB_OK};
    *tokenizer = NULL;
    tb_status status = copy_options(options, &all, &detail);
    if (status == TB_OK)
        status = load(name, &all, tokenizer, &detail);
    complete(status, &detail);
    if (status != TB_OK && error)
        *error = detail;
    return status;
}

tb_status tb_tokenizer_load_json(const char *json, size_t len,
                                 struct tb_tokenizer **tokenizer,
                                 struct tb_error *error)
{
    struct tb_error detail = {.status = TB_OK};
    *tokenizer = NULL;
    tb_status status = tb_tokenizer_from_json(
        (struct tb_span){(const uint8_t *)json, len}, tokenizer, &detail);
    complete(status, &detail);
    if (status != TB_OK && error)
        *error = detail;
    return status;
}

/* ---- texts to ids and back --------------------------------------------------
 */

tb_status tb_codec_new(const struct tb_tokenizer *tokenizer,
                       struct tb_codec **codec, struct tb_error *error)
{
    struct tb_codec *made = tb_memory_zeroed(1, sizeof(*made));
    tb_status status = made ? TB_OK : TB_ERR_MEMORY;
    *codec = NULL;
    if (status == TB_OK)
        status = tb_encoder_new(tokenizer, &made->encoder);
    if (status == TB_OK)
        status = tb_decode_work_new(&made->decoding);
    if (status != TB_OK) {
        tb_codec_free(made);
        return tb_fail(error, status, "out of memory");
    }
    made->tokenizer = tokenizer;
    *codec = made;
    return TB_OK;
}

void tb_codec_free(struct tb_codec *codec)
{
    if (!codec)
        return;
    tb_encoder_free(codec->encoder);
    tb_decode_work_free(codec->decoding);
    tb_tokens_release(&codec->tokens);
    tb_memory_free(codec);
}

tb_status tb_codec_count(struct tb_codec *codec, const char *text, size_t len,
                         size_t *count, struct tb_error *error)
{
    struct tb_span span = {(const uint8_t *)text, len};
    size_t valid_len = tb_utf8_valid_len(span);
    *count = codec->tokens.count = 0;
    if (valid_len < len) {
        tb_fail(error, TB_ERR_SYNTAX, "byte %zu of the text begins no UTF-8",
                valid_len);
        if (error)
            error->offset = valid_len;
        return TB_ERR_SYNTAX;
    }
    tb_status status = tb_encoder_encode(codec->encoder, span, &codec->tokens);
    if (status == TB_OK) {
        *count = codec->tokens.count;
        return TB_OK;
    }
    codec->tokens.count = 0;
    return tb_fail(error, status, "%s",
                   status == TB_ERR_VALUE
                       ? "a part of the text is unknown to the model, which "
                         "has no token for that"
                       : tb_status_name(status));
}

tb_status tb_codec_encode(struct tb_codec *codec, const char *text, size_t len,
                          tb_token *ids, size_t capacity, size_t *count,
                          struct tb_error *error)
{
    TB_TRY(tb_codec_count(codec, text, len, count, error));
    if (*count > capacity)
        return tb_fail(error, TB_ERR_LIMIT,
                       "the text has %zu ids, and there is room for %zu",
                       *count, capacity);
    if (*count)
        memcpy(ids, codec->tokens.ids, *count * sizeof(*ids));
    return TB_OK;
}

const tb_token *tb_codec_ids(const struct tb_codec *codec)
{
    return codec->tokens.ids;
}

tb_status tb_codec_decode(struct tb_codec *codec, const tb_token *ids,
                          size_t count, unsigned flags, char *text,
                          size_t capacity, size_t *len, struct tb_error *error)
{
    *len = 0;
    codec->text = (struct tb_span){0};
    TB_TRY(tb_tokenizer_decode(codec->tokenizer, codec->decoding, ids, count,
                               flags, &codec->text, error));
    *len = codec->text.len;
    if (*len > capacity)
        return tb_fail(error, TB_ERR_LIMIT,
                       "the text has %zu bytes, and there is room for %zu",
                       *len, capacity);
    if (*len)
        memcpy(text, codec->text.ptr, *len);
    return TB_OK;
}

const char *tb_codec_text(const struct tb_codec *codec)
{
    return (const char *)codec->text.ptr;
}
