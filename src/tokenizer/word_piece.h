/* WordPiece: the longest token that a word begins with, then the longest that
 * the rest begins with, and so on; and WordLevel: the word itself. A word that
 * cannot be made is the unknown token. */
#ifndef TB_WORD_PIECE_H
#define TB_WORD_PIECE_H

#include "vocab.h"

/* Read-only after loading, shared by threads. */
struct tb_word_piece {
    struct tb_vocab vocab;
    tb_token unknown;      /* TB_NO_TOKEN: unknown words are an error */
    bool is_whole_words;   /* WordLevel */
    struct tb_span prefix; /* of tokens inside a word, such as "##" */
    size_t max_word_len;   /* characters; longer words are unknown */
};

/* Appends the ids of `word` (not empty). `text` is room to work in.
 * TB_ERR_VALUE when it is unknown and the model has no token for that. */
TB_NODISCARD tb_status tb_word_piece_encode(const struct tb_word_piece *model,
                                            struct tb_buffer *text,
                                            struct tb_span word,
                                            struct tb_tokens *tokens);

void tb_word_piece_release(struct tb_word_piece *model);

#endif
