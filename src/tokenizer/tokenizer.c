#include "tokenizer_model.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "compiled.h"
#include "encoding.h"
#include "input.h"
#include "map_file.h"
#include "memory.h"
#include "path.h"
#include "tokenizer_kind.h"

/* Largest tokenizer file that is read, bytes. */
#define FILE_MAX_LEN ((size_t)1 << 30)

tb_status tb_tokens_reserve(struct tb_tokens *tokens, size_t count)
{
    if (tokens->capacity - tokens->count >= count)
        return TB_OK;
    tb_token *grown = tb_array_grow(tokens->ids, &tokens->capacity,
                                    tokens->count + count, sizeof(*grown));
    if (!grown)
        return TB_ERR_MEMORY;
    tokens->ids = grown;
    return TB_OK;
}

tb_status tb_tokens_append(struct tb_tokens *tokens, const tb_token *ids,
                           size_t count)
{
    TB_TRY(tb_tokens_reserve(tokens, count));
    for (size_t i = 0; i < count; i++)
        tokens->ids[tokens->count + i] = ids[i];
    tokens->count += count;
    return TB_OK;
}

void tb_tokens_release(struct tb_tokens *tokens)
{
    tb_memory_free(tokens->ids);
    *tokens = (struct tb_tokens){0};
}

tb_status tb_tokenizer_new(struct tb_tokenizer **tokenizer)
{
    *tokenizer = tb_memory_zeroed(1, sizeof(**tokenizer));
    if (!*tokenizer)
        return TB_ERR_MEMORY;
    tb_vocab_init(&(*tokenizer)->bpe.vocab);
    tb_vocab_init(&(*tokenizer)->strings);
    tb_vocab_init(&(*tokenizer)->unigram.vocab);
    tb_vocab_init(&(*tokenizer)->pieces.vocab);
    tb_sentence_piece_init(&(*tokenizer)->sentence_piece);
    (*tokenizer)->bpe.unknown = TB_NO_TOKEN;
    return TB_OK;
}

void tb_tokenizer_free(struct tb_tokenizer *tokenizer)
{
    if (!tokenizer)
        return;
    tb_added_tokens_release(&tokenizer->raw_tokens);
    tb_added_tokens_release(&tokenizer->normalized_tokens);
    if (tokenizer->mapped.len == 0) {
        tb_bpe_release(&tokenizer->bpe);
        tb_unigram_release(&tokenizer->unigram);
        tb_word_piece_release(&tokenizer->pieces);
        tb_sentence_piece_release(&tokenizer->sentence_piece);
    }
    tb_normalizer_release(&tokenizer->normalizer);
    tb_pretokenizer_release(&tokenizer->pretokenizer);
    tb_decoder_release(&tokenizer->decoder);
    tb_unmap_file(tokenizer->mapped);
    tb_vocab_release(&tokenizer->strings);
    tb_arena_release(&tokenizer->arena);
    tb_memory_free(tokenizer);
}

const char *tb_tokenizer_origin(const struct tb_tokenizer *tokenizer)
{
    return tokenizer->origin;
}

const char *tb_tokenizer_fingerprint(const struct tb_tokenizer *tokenizer)
{
    return tokenizer->fingerprint;
}

uint32_t tb_tokenizer_vocab_size(const struct tb_tokenizer *tokenizer)
{
    return tokenizer->vocab_size;
}

tb_status tb_tokenizer_finish(struct tb_tokenizer *made, struct tb_span content,
                              tb_status status, struct tb_tokenizer **tokenizer,
                              struct tb_error *error)
{
    if (status != TB_OK) {
        if (error && error->status == TB_OK)
            tb_fail(error, status, "%s", tb_status_name(status));
        tb_tokenizer_free(made);
        return status;
    }
    struct tb_hash128 hash = tb_hash128(content, 0);
    (void)snprintf(made->fingerprint, sizeof(made->fingerprint),
                   "%016llx%016llx", (unsigned long long)hash.high,
                   (unsigned long long)hash.low);
    *tokenizer = made;
    return TB_OK;
}

static tb_status read_content(const struct tb_rank_source *source,
                              struct tb_span content,
                              struct tb_tokenizer **tokenizer,
                              struct tb_error *error)
{
    switch (tb_tokenizer_kind_of(source->path, content)) {
    case TB_TOKENIZER_TEKKEN:
        return tb_tokenizer_from_tekken(content, tokenizer, error);
    case TB_TOKENIZER_RANKS:
        return tb_tokenizer_from_ranks(content, source, tokenizer, error);
    case TB_TOKENIZER_SENTENCE_PIECE:
        return tb_tokenizer_from_sentence_piece(content, tokenizer, error);
    case TB_TOKENIZER_JSON:
    default:
        return tb_tokenizer_from_json(content, tokenizer, error);
    }
}

// So that a file which is none is not read for seconds before that is said.
static tb_status check_size(const char *path, struct tb_error *error)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
        (uint64_t)info.st_size <= FILE_MAX_LEN)
        return TB_OK;
    return tb_fail(error, TB_ERR_LIMIT,
                   "the file has %lld bytes, a tokenizer at most %zu",
                   (long long)info.st_size, FILE_MAX_LEN);
}

static tb_status read_source(const struct tb_rank_source *source,
                             struct tb_tokenizer **tokenizer,
                             struct tb_error *error)
{
    if (!*source->path)
        return tb_tokenizer_builtin(tokenizer, error);
    struct tb_buffer content = TB_BUFFER(FILE_MAX_LEN);
    tb_status status = check_size(source->path, error);
    if (status == TB_OK)
        status = tb_input_read_all(source->path, &content, error);
    if (status == TB_OK)
        status =
            read_content(source, tb_buffer_span(&content), tokenizer, error);
    tb_buffer_release(&content);
    if (status != TB_OK)
        tb_error_set_path(error, source->path);
    return status;
}

// From its compiled form when there is one, else from its file.
static tb_status open_source(const struct tb_rank_source *source,
                             struct tb_tokenizer **tokenizer,
                             struct tb_error *error)
{
    char compiled[4096];
    bool has_place = tb_compiled_path(source, compiled, sizeof(compiled));
    if (!has_place || tb_compiled_load(compiled, tokenizer) != TB_OK) {
        TB_TRY(read_source(source, tokenizer, error));
        // Without it the next start is slower, and that is all.
        if (has_place && tb_compiled_save(*tokenizer, compiled) != TB_OK)
            has_place = false;
    }
    (void)snprintf((*tokenizer)->origin, sizeof((*tokenizer)->origin), "%.255s",
                   *source->path ? source->path : "built in");
    return TB_OK;
}

struct tb_rank_source tb_tokenizer_source(const char *located,
                                          char cached[TB_PATH_SIZE])
{
    if (tb_tokenizer_is_builtin(located))
        return (struct tb_rank_source){.path = ""};
    struct tb_rank_source source = {.path = located};
    const struct tb_encoding *encoding = tb_encoding_of_cached(located);
    if (!strchr(located, '/') && !tb_path_is_file(located)) {
        encoding = tb_encoding_of_name(located);
        if (encoding && tb_encoding_find_cached(encoding, cached, TB_PATH_SIZE))
            source.path = cached;
    }
    source.name = encoding ? encoding->name : NULL;
    return source;
}

tb_status tb_tokenizer_open(const char *name, struct tb_tokenizer **tokenizer,
                            struct tb_error *error)
{
    char path[TB_PATH_SIZE], cached[TB_PATH_SIZE];
    TB_TRY(tb_tokenizer_locate(name, NULL, path, sizeof(path), error));
    struct tb_rank_source source = tb_tokenizer_source(path, cached);
    return open_source(&source, tokenizer, error);
}
