/* The Unigram model: of all ways to cut a word into tokens, the one whose
 * scores have the largest sum. (Kudo: Subword Regularization, 2018.)
 *
 * Sums are made in the reference's order, so that ties fall alike.
 */
#ifndef TB_UNIGRAM_H
#define TB_UNIGRAM_H

#include "trie.h"

/* Read-only after loading, shared by threads. */
struct tb_unigram {
    struct tb_vocab vocab;
    double *scores; /* by id */
    size_t score_count, scores_capacity;
    struct tb_trie trie;
    double unknown_score; /* of a character that is no token */
    tb_token unknown;     /* TB_NO_TOKEN: text with unknowns is an error */
    bool has_byte_fallback;
    tb_token byte_tokens[256]; /* <0xNN>, or TB_NO_TOKEN */
};

/* The best way up to a byte: its last token, and where that begins. */
struct tb_unigram_step {
    double score;
    uint32_t start; /* UINT32_MAX: no way leads here */
    tb_token id;
};

/* Room to work in, one per thread. Zero-initialised is empty and ready. */
struct tb_unigram_work {
    struct tb_unigram_step *steps;
    size_t capacity;
    struct tb_tokens reversed;
};

/* To be called once vocab, scores, unknown and has_byte_fallback are set. */
TB_NODISCARD tb_status tb_unigram_index(struct tb_unigram *unigram);

/* Appends the ids of `word` (not empty, valid UTF-8). TB_ERR_VALUE when it
 * has an unknown and the model has no token for that. */
TB_NODISCARD tb_status tb_unigram_encode(const struct tb_unigram *unigram,
                                         struct tb_unigram_work *work,
                                         struct tb_span word,
                                         struct tb_tokens *tokens);

void tb_unigram_work_release(struct tb_unigram_work *work);
void tb_unigram_release(struct tb_unigram *unigram);

#endif
