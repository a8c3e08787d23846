/* tracebake.h over the layers below: tokenizers. */
#include <string.h>

#include "caller_options.h"
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

static tb_status load(const char *name, const struct tb_load_options *given,
                      struct tb_tokenizer **tokenizer, struct tb_error *error)
{
    char path[TB_PATH_SIZE];
    struct tb_load_options options = {0};
    if (given)
        TB_TRY(tb_caller_options_copy(
            &options, sizeof(options),
            offsetof(struct tb_load_options, context) + sizeof(void *), given,
            error));
    struct tb_fetch_watch watch = {options.on_progress, options.context};
    struct tb_hub_access access = tb_fetch_watch_access(&watch);
    TB_TRY(tb_tokenizer_locate(name, options.may_fetch ? &access : NULL, path,
                               sizeof(path), error));
    return tb_tokenizer_open(path, tokenizer, error);
}

tb_status tb_tokenizer_load(const char *name,
                            const struct tb_load_options *options,
                            struct tb_tokenizer **tokenizer,
                            struct tb_error *error)
{
    struct tb_error detail = {.status = TB_OK};
    *tokenizer = NULL;
    tb_status status = load(name, options, tokenizer, &detail);
    return tb_caller_fail(error, status, &detail);
}

tb_status tb_tokenizer_load_json(const char *json, size_t len,
                                 struct tb_tokenizer **tokenizer,
                                 struct tb_error *error)
{
    struct tb_error detail = {.status = TB_OK};
    *tokenizer = NULL;
    tb_status status = tb_tokenizer_from_json(
        (struct tb_span){(const uint8_t *)json, len}, tokenizer, &detail);
    return tb_caller_fail(error, status, &detail);
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
    return tb_fail(error, status, "%s", tb_encoder_fault(status));
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

tb_status tb_codec_encode_batch(struct tb_codec *codec,
                                const char *const *texts, const size_t *lens,
                                size_t text_count, tb_token *ids,
                                size_t capacity, size_t *offsets, size_t *done,
                                struct tb_error *error)
{
    size_t used = offsets[0] = 0;
    for (*done = 0; *done < text_count; ++*done) {
        size_t count;
        TB_TRY(tb_codec_encode(codec, texts[*done], lens[*done], ids + used,
                               capacity - used, &count, error));
        used += count;
        offsets[*done + 1] = used;
    }
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
