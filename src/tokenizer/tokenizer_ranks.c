/* A rank file to a tokenizer: byte pair encoding in which the id of a token is
 * its rank, and what the file does not say from encoding.h. */
#include <stdio.h>

#include "encoding.h"
#include "rank_file.h"
#include "tokenizer_config.h"
#include "tokenizer_model.h"

/* ---- which encoding ---------------------------------------------------------
 */

static bool has_same_tokens(const struct tb_encoding *a,
                            const struct tb_encoding *b)
{
    return a && b && a->tokens.low == b->tokens.low &&
           a->tokens.high == b->tokens.high;
}

static tb_status fail_unknown(struct tb_error *error)
{
    return tb_fail(error, TB_ERR_UNSUPPORTED,
                   "a rank file does not say how text is cut, and this one is "
                   "none of those known (docs/TOKENIZER.md): give the model's "
                   "tokenizer.json, or name the file after the encoding that "
                   "it is like, such as cl100k_base.tiktoken");
}

/* The tokens themselves say most, and a name only which of the encodings that
 * share them is meant. Where they are not known, the model's configuration
 * says what it is, or the file's name. */
static tb_status choose(const struct tb_vocab *vocab,
                        const struct tb_rank_source *source,
                        struct tb_span class_name,
                        const struct tb_encoding **encoding,
                        struct tb_error *error)
{
    const struct tb_encoding *by_tokens, *by_name = NULL;
    TB_TRY(tb_encoding_of_tokens(vocab, &by_tokens));
    if (source->name)
        by_name = tb_encoding_of_name(source->name);
    if (by_name && !has_same_tokens(by_name, by_tokens))
        return tb_fail(error, TB_ERR_VALUE,
                       "not the tokens of %s: the file is damaged, or another",
                       by_name->name);
    if (!by_name && source->path)
        by_name = tb_encoding_of_file(source->path);
    if (by_tokens)
        *encoding = has_same_tokens(by_name, by_tokens) ? by_name : by_tokens;
    else
        *encoding = tb_encoding_of_class(class_name);
    if (!*encoding)
        *encoding = by_name;
    return *encoding ? TB_OK : fail_unknown(error);
}

/* ---- special tokens ---------------------------------------------------------
 */

static tb_status add_special(struct tb_tokenizer *tokenizer,
                             const struct tb_added_token *token,
                             struct tb_error *error)
{
    struct tb_span ranked = tb_vocab_bytes(&tokenizer->bpe.vocab, token->id);
    if (ranked.ptr && !tb_span_equal(ranked, token->content))
        return tb_fail(error, TB_ERR_VALUE,
                       "%u is the id of the special token '%.*s', but also "
                       "the rank of another",
                       token->id, tb_span_shown(token->content, 60),
                       (const char *)token->content.ptr);
    if (token->id >= tokenizer->vocab_size)
        tokenizer->vocab_size = token->id + 1;
    const struct tb_added_text text = {
        .text = token->content, .id = token->id, .is_special = true};
    TB_TRY(tb_decoder_add_text(&tokenizer->decoder, &text));
    return tb_added_tokens_add(&tokenizer->raw_tokens, token);
}

static bool is_named(const struct tb_tokenizer_config *config, tb_token id)
{
    for (size_t i = 0; i < config->count; i++)
        if (config->tokens[i].id == id)
            return true;
    return false;
}

static tb_status add_run(struct tb_tokenizer *tokenizer,
                         const struct tb_special_run *run,
                         const struct tb_tokenizer_config *config,
                         struct tb_error *error)
{
    bool is_behind = run->id == TB_NO_TOKEN;
    tb_token first = is_behind ? tokenizer->bpe.vocab.id_count : run->id;
    for (unsigned i = 0; i < run->count; i++) {
        char text[64];
        unsigned number = (is_behind ? first : run->number) + i;
        int len = run->behind ? snprintf(text, sizeof(text), "%s%u%s",
                                         run->before, number, run->behind)
                              : snprintf(text, sizeof(text), "%s", run->before);
        struct tb_added_token token = {
            .content = {(const uint8_t *)text, (size_t)len}, .id = first + i};
        if (is_named(config, token.id))
            continue;
        TB_TRY(tb_arena_copy(&tokenizer->arena, token.content, &token.content));
        TB_TRY(add_special(tokenizer, &token, error));
    }
    return TB_OK;
}

/* Those that the model's configuration names; the encoding's own where it
 * names none, or leaves the rest to it. */
static tb_status add_specials(struct tb_tokenizer *tokenizer,
                              const struct tb_encoding *encoding,
                              const struct tb_tokenizer_config *config,
                              struct tb_error *error)
{
    for (size_t i = 0; i < config->count; i++)
        TB_TRY(add_special(tokenizer, &config->tokens[i], error));
    if (config->count == 0 || encoding->is_filling)
        for (const struct tb_special_run *run = encoding->specials; run->count;
             run++)
            TB_TRY(add_run(tokenizer, run, config, error));
    tb_added_tokens_index(&tokenizer->raw_tokens);
    tb_decoder_index(&tokenizer->decoder);
    return TB_OK;
}

/* ---- the tokenizer ----------------------------------------------------------
 */

static tb_status fill(struct tb_tokenizer *tokenizer, struct tb_span content,
                      const struct tb_rank_source *source,
                      struct tb_tokenizer_config *config,
                      struct tb_error *error)
{
    const struct tb_encoding *encoding;
    TB_TRY(tb_rank_file_read(content, &tokenizer->bpe.vocab, error));
    if (!source->name && source->path)
        TB_TRY(tb_tokenizer_config_read(config, &tokenizer->arena, source->path,
                                        error));
    TB_TRY(choose(&tokenizer->bpe.vocab, source, config->class_name, &encoding,
                  error));
    tb_tokenizer_set_ranks(tokenizer, encoding->scan);
    if (encoding->is_nfc)
        tokenizer->normalizer.steps[tokenizer->normalizer.step_count++] =
            (struct tb_normalizer_step){.kind = TB_NORMALIZER_FORM,
                                        .form = TB_NFC};
    return add_specials(tokenizer, encoding, config, error);
}

void tb_tokenizer_set_ranks(struct tb_tokenizer *tokenizer,
                            tb_pattern_scan scan)
{
    struct tb_bpe *bpe = &tokenizer->bpe;
    for (unsigned byte = 0; byte < 256; byte++) {
        uint8_t symbol = (uint8_t)byte;
        bpe->byte_tokens[byte] =
            tb_vocab_find(&bpe->vocab, (struct tb_span){&symbol, 1});
    }
    bpe->is_byte_level = true;
    bpe->is_whole_word_first = true;
    tokenizer->pretokenizer.steps[0] = (struct tb_pretokenizer_step){
        .scan = scan, .behavior = TB_SPLIT_ISOLATED};
    tokenizer->pretokenizer.step_count = 1;
    tokenizer->decoder.steps[0].kind = TB_DECODE_BYTES;
    tokenizer->decoder.step_count = 1;
    tokenizer->vocab_size = bpe->vocab.id_count;
}

tb_status tb_tokenizer_from_ranks(struct tb_span content,
                                  const struct tb_rank_source *source,
                                  struct tb_tokenizer **tokenizer,
                                  struct tb_error *error)
{
    struct tb_tokenizer *made;
    struct tb_tokenizer_config config = {0};
    if (tb_tokenizer_new(&made) != TB_OK)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    tb_status status = fill(made, content, source, &config, error);
    tb_tokenizer_config_release(&config);
    return tb_tokenizer_finish(made, content, status, tokenizer, error);
}
