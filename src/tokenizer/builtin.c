/* o200k_base, from data that is part of the program (data/README.md): equal
 * to what tiktoken gives for it with all special tokens allowed. */
#include "tokenizer_model.h"

#include <stdio.h>
#include <zstd.h>

extern const unsigned char tb_o200k_data[];
extern const size_t tb_o200k_data_len;

/* Bytes that the data has when it is unpacked, at most. */
#define UNPACKED_MAX_LEN ((size_t)8 << 20)

static tb_status unpack(struct tb_buffer *data)
{
    unsigned long long size =
        ZSTD_getFrameContentSize(tb_o200k_data, tb_o200k_data_len);
    if (size > UNPACKED_MAX_LEN)
        return TB_ERR_SYNTAX;
    TB_TRY(tb_buffer_reserve(data, (size_t)size));
    data->len = ZSTD_decompress(data->ptr, data->capacity, tb_o200k_data,
                                tb_o200k_data_len);
    return ZSTD_isError(data->len) ? TB_ERR_SYNTAX : TB_OK;
}

static tb_status read_tokens(struct tb_bpe *bpe, struct tb_span data)
{
    tb_token id = 0;
    for (size_t at = 0; at < data.len; id++) {
        size_t len = data.ptr[at++];
        if (len > data.len - at)
            return TB_ERR_SYNTAX;
        TB_TRY(tb_vocab_set(&bpe->vocab, id,
                            (struct tb_span){data.ptr + at, len}));
        at += len;
    }
    return tb_vocab_index(&bpe->vocab, NULL, NULL);
}

static tb_status fill(struct tb_tokenizer *tokenizer)
{
    struct tb_buffer data = TB_BUFFER(UNPACKED_MAX_LEN);
    tb_status status = unpack(&data);
    if (status == TB_OK)
        status = read_tokens(&tokenizer->bpe, tb_buffer_span(&data));
    tb_buffer_release(&data);
    TB_TRY(status);
    const struct tb_added_token specials[] = {
        {.content = TB_SPAN("<|endoftext|>"), .id = 199999},
        {.content = TB_SPAN("<|endofprompt|>"), .id = 200018},
    };
    for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
        const struct tb_added_text text = {.text = specials[i].content,
                                           .id = specials[i].id,
                                           .is_special = true};
        TB_TRY(tb_added_tokens_add(&tokenizer->raw_tokens, &specials[i]));
        TB_TRY(tb_decoder_add_text(&tokenizer->decoder, &text));
    }
    tb_added_tokens_index(&tokenizer->raw_tokens);
    tb_tokenizer_set_ranks(tokenizer, tb_pattern_scan_o200k);
    tokenizer->vocab_size = 200019;
    return TB_OK;
}

uint64_t tb_tokenizer_builtin_version(void)
{
    return tb_hash64((struct tb_span){tb_o200k_data, tb_o200k_data_len}, 0);
}

tb_status tb_tokenizer_builtin(struct tb_tokenizer **tokenizer,
                               struct tb_error *error)
{
    struct tb_tokenizer *made;
    TB_TRY(tb_tokenizer_new(&made));
    tb_status status = fill(made);
    if (status != TB_OK)
        tb_fail(error, status, "cannot unpack the built-in tokenizer");
    struct tb_span data = {tb_o200k_data, tb_o200k_data_len};
    TB_TRY(tb_tokenizer_finish(made, data, status, tokenizer, error));
    (void)snprintf((*tokenizer)->origin, sizeof((*tokenizer)->origin),
                   "built in");
    return TB_OK;
}
