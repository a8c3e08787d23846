/* The model of a tokenizer: a word to ids, by one of five methods. */
#ifndef TB_MODEL_H
#define TB_MODEL_H

#include "bpe.h"
#include "sentence_piece.h"
#include "unigram.h"
#include "word_piece.h"

typedef enum tb_model_kind {
    TB_MODEL_BPE,
    TB_MODEL_UNIGRAM,
    TB_MODEL_WORD_PIECE,     /* and WordLevel */
    TB_MODEL_SENTENCE_PIECE, /* one that brings its own rules */
} tb_model_kind;

/* Room to work in, one per thread. */
struct tb_model_work {
    struct tb_bpe_work bpe;
    struct tb_unigram_work unigram;
    struct tb_piece_work pieces;
    struct tb_buffer text;
};

struct tb_tokenizer;

void tb_model_work_init(struct tb_model_work *work);
void tb_model_work_release(struct tb_model_work *work);

/* Appends the ids of `word` (not empty). TB_ERR_VALUE when it has an unknown
 * part and the model has no token for that. */
TB_NODISCARD tb_status tb_model_encode(const struct tb_tokenizer *tokenizer,
                                       struct tb_model_work *work,
                                       struct tb_span word,
                                       struct tb_tokens *tokens);

#endif
