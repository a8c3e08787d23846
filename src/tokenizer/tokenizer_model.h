/* What a loaded tokenizer is made of. Private to this layer; others use
 * tokenizer.h. */
#ifndef TB_TOKENIZER_MODEL_H
#define TB_TOKENIZER_MODEL_H

#include "added_token.h"
#include "arena.h"
#include "byte_level.h"
#include "decoder.h"
#include "model.h"
#include "normalizer.h"
#include "path.h"
#include "pretokenizer.h"

/* What is added here, or to a part, needs its place in compiled_parts.c too. */
struct tb_tokenizer {
    struct tb_arena arena;                    /* texts of the parts below */
    struct tb_added_tokens raw_tokens;        /* found before normalising */
    struct tb_added_tokens normalized_tokens; /* found after it */
    struct tb_normalizer normalizer;
    struct tb_pretokenizer pretokenizer;
    tb_model_kind model; /* which of the following it is */
    struct tb_bpe bpe;
    struct tb_unigram unigram;
    struct tb_word_piece pieces;
    struct tb_sentence_piece sentence_piece;
    struct tb_decoder decoder; /* the way back */
    struct tb_vocab strings;   /* the model's as the file writes it; only while
                                  loading */
    uint32_t vocab_size;       /* largest id + 1, added tokens included */
    uint32_t model_count;      /* entries of the model's vocabulary */
    struct tb_span mapped;     /* compiled form that the tables lie in, or
                                  empty: they are on the heap */
    char origin[256];
    char fingerprint[33];
};

/* An empty one; TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_tokenizer_new(struct tb_tokenizer **tokenizer);

/* The file that `located`, as tb_tokenizer_locate gives it, means; its path may
 * lie in `cached`. */
struct tb_rank_source tb_tokenizer_source(const char *located,
                                          char cached[TB_PATH_SIZE]);

/* The end of every loader: hands `made` out with the fingerprint of `content`,
 * or frees it when `status` is a failure, which `error` tells of then. */
TB_NODISCARD tb_status tb_tokenizer_finish(struct tb_tokenizer *made,
                                           struct tb_span content,
                                           tb_status status,
                                           struct tb_tokenizer **tokenizer,
                                           struct tb_error *error);

/* Makes it one whose tokens are bytes, of which those may merge that are a
 * token together, the one with the lowest id first; texts are cut by `scan`.
 * The vocabulary is there and indexed. */
void tb_tokenizer_set_ranks(struct tb_tokenizer *tokenizer,
                            tb_pattern_scan scan);

/* Reads the `model` of a tokenizer.json, which is a BPE. `is_byte_level`: its
 * strings are in GPT-2's alphabet for bytes. TB_ERR_UNSUPPORTED when words
 * cannot be taken as bytes, which they need not be. */
struct tb_json_reader;
TB_NODISCARD tb_status tb_bpe_from_json(struct tb_tokenizer *tokenizer,
                                        struct tb_json_reader *reader,
                                        bool is_byte_level);

/* The same for a model that is a Unigram, a WordPiece or a WordLevel. */
TB_NODISCARD tb_status tb_unigram_from_json(struct tb_tokenizer *tokenizer,
                                            struct tb_json_reader *reader);
TB_NODISCARD tb_status tb_word_piece_from_json(struct tb_tokenizer *tokenizer,
                                               struct tb_json_reader *reader,
                                               bool is_whole_words);

/* Reads an object of strings and ids into `vocab`. */
TB_NODISCARD tb_status tb_vocab_from_json(struct tb_vocab *vocab,
                                          struct tb_json_reader *reader);

/* Changes with the data that is built in. */
uint64_t tb_tokenizer_builtin_version(void);

/* o200k_base from the data that is part of the program. */
TB_NODISCARD tb_status tb_tokenizer_builtin(struct tb_tokenizer **tokenizer,
                                            struct tb_error *error);

#endif
