/* What a loaded tokenizer is made of. Private to this layer; others use
 * tokenizer.h. */
#ifndef TB_TOKENIZER_MODEL_H
#define TB_TOKENIZER_MODEL_H

#include "added_token.h"
#include "arena.h"
#include "bpe.h"
#include "normalizer.h"
#include "pretokenizer.h"

/* What is added here needs its place in compiled.c too. */
struct tb_tokenizer {
    struct tb_arena arena;                    /* texts of the parts below */
    struct tb_added_tokens raw_tokens;        /* found before normalising */
    struct tb_added_tokens normalized_tokens; /* found after it */
    struct tb_normalizer normalizer;
    struct tb_pretokenizer pretokenizer;
    struct tb_bpe bpe;
    struct tb_vocab strings; /* the model's as the file writes it; only while
                                loading */
    uint32_t vocab_size;     /* largest id + 1, added tokens included */
    uint32_t model_count;    /* entries of the model's vocabulary */
    struct tb_span mapped;   /* compiled form that the tables lie in, or
                                empty: they are on the heap */
    char origin[256];
    char fingerprint[33];
};

/* An empty one; TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_tokenizer_new(struct tb_tokenizer **tokenizer);

/* Reads the `model` of a tokenizer.json, which is a BPE. `is_byte_level`: its
 * strings are in GPT-2's alphabet for bytes. */
struct tb_json_reader;
TB_NODISCARD tb_status tb_bpe_from_json(struct tb_tokenizer *tokenizer,
                                        struct tb_json_reader *reader,
                                        bool is_byte_level);

/* o200k_base from the data that is part of the program. */
TB_NODISCARD tb_status tb_tokenizer_builtin(struct tb_tokenizer **tokenizer,
                                            struct tb_error *error);

/* Finds a tokenizer's file: `name` as a path, or in the Hugging Face cache.
 * `path` receives it. TB_ERR_NOT_FOUND says what was tried. */
TB_NODISCARD tb_status tb_tokenizer_locate(const char *name, char *path,
                                           size_t size, struct tb_error *error);

/* GPT-2's alphabet: the byte that a code point stands for, or -1. */
int tb_byte_of_code_point(uint32_t code_point);

/* Turns a string in that alphabet into bytes (at most as many as before).
 * False when a character is not in it. */
bool tb_byte_level_decode(struct tb_span text, uint8_t *bytes, size_t *len);

#endif
