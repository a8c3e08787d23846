/* SentencePiece's models: text to ids as the library's own Encode gives them.
 *
 * Unlike the models of a tokenizer.json these see the whole text at once:
 * white space is part of the pieces, there are no words to begin with. The
 * text is normalised by rules in the file, then cut by one of four methods
 * (piece_bpe.c, piece_unigram.c). Control tokens such as <s> are never found
 * in a text; symbols that the trainer was told of always are.
 *
 *     Kudo, Richardson: SentencePiece, 2018.
 */
#ifndef TB_SENTENCE_PIECE_H
#define TB_SENTENCE_PIECE_H

#include "charsmap.h"
#include "space_border.h"
#include "trie.h"

typedef enum tb_piece_method {
    TB_PIECE_UNIGRAM = 1, /* numbers as in the file */
    TB_PIECE_BPE = 2,
    TB_PIECE_WORD = 3,
    TB_PIECE_CHAR = 4,
} tb_piece_method;

typedef enum tb_piece_type {
    TB_PIECE_NORMAL = 1, /* numbers as in the file */
    TB_PIECE_UNKNOWN = 2,
    TB_PIECE_CONTROL = 3,
    TB_PIECE_USER_DEFINED = 4,
    TB_PIECE_UNUSED = 5,
    TB_PIECE_BYTE = 6,
} tb_piece_type;

/* How texts are normalised. */
struct tb_piece_rules {
    struct tb_charsmap charsmap; /* no units: there is none */
    bool has_dummy_space;        /* a space before the text, or behind it */
    bool is_space_behind;        /* treat_whitespace_as_suffix */
    bool is_dropping_spaces;     /* at the ends, and all but one of several */
    bool is_escaping_spaces;     /* a space becomes U+2581 */
};

/* Read-only after loading, shared by threads. */
struct tb_sentence_piece {
    tb_piece_method method;
    struct tb_piece_rules rules;
    struct tb_vocab pieces;   /* normal, user-defined and unused ones */
    struct tb_vocab reserved; /* the others, which are in no text */
    struct tb_vocab symbols;  /* user-defined ones */
    uint8_t *types;           /* by id: tb_piece_type */
    float *scores;            /* by id */
    size_t count, types_capacity, scores_capacity;
    struct tb_trie piece_trie; /* Unigram */
    struct tb_trie symbol_trie;
    bool is_symbol_start[256]; /* does a symbol begin with this byte? */
    tb_token unknown; /* TB_NO_TOKEN: there is none, but byte fallback */
    struct tb_span unknown_text; /* as what it is decoded */
    bool has_byte_fallback;
    tb_token byte_tokens[256];
    float least_score; /* of normal pieces */
    bool has_unused;
    bool has_zero; /* a piece that is one zero byte, and not unused */
    struct tb_space_borders borders; /* BPE: where a text may be cut before a
                                        space */
    bool is_cut_behind_space; /* BPE: no piece has one before another character
                               */
};

void tb_sentence_piece_init(struct tb_sentence_piece *model);
void tb_sentence_piece_release(struct tb_sentence_piece *model);

/* To be called once all pieces and rules are in. TB_ERR_VALUE with a message
 * when they contradict each other. */
TB_NODISCARD tb_status tb_sentence_piece_index(struct tb_sentence_piece *model,
                                               struct tb_error *error);

/* Appends the normal form of `text`; of one that `is_rest`, which goes on where
 * a text was cut, nothing is put before it. */
TB_NODISCARD tb_status tb_sentence_piece_normalize(
    const struct tb_sentence_piece *model, struct tb_span text, bool is_rest,
    struct tb_buffer *out);

/* May a text be cut where tb_safe_cut_after (safe_cut.h) says, as far as that
 * does not depend on `borders`? */
bool tb_sentence_piece_can_cut(const struct tb_sentence_piece *model);

/* Cuts normalised text into parts that are encoded apart, none of them empty;
 * all of it is one part where the method asks for that. */
TB_NODISCARD tb_status tb_sentence_piece_split(
    const struct tb_sentence_piece *model, struct tb_span text,
    tb_status (*on_part)(void *context, struct tb_span part), void *context);

/* Room to work in, one per thread. Zero-initialised is empty and ready. */
struct tb_piece_work {
    struct tb_piece_symbol *symbols;
    struct tb_piece_pair *heap;
    struct tb_piece_step *steps;
    struct tb_piece_half *pending;
    uint32_t *left_lens; /* by id: see piece_bpe.c */
    size_t symbols_capacity, heap_capacity, steps_capacity, pending_capacity;
};

void tb_piece_work_release(struct tb_piece_work *work);

/* Appends the ids of a part (not empty). */
TB_NODISCARD tb_status tb_sentence_piece_encode(
    const struct tb_sentence_piece *model, struct tb_piece_work *work,
    struct tb_span part, struct tb_tokens *tokens);

/* Makes unknowns one that meet where the ids of a part begin, at `border`. */
void tb_sentence_piece_join(const struct tb_sentence_piece *model,
                            struct tb_tokens *tokens, size_t border);

/* What `ids` are written as, to the first of two buffers; the second is room to
 * work in. Bytes that are no UTF-8 become U+FFFD, unless it `is_raw`. An id
 * that no piece has gives nothing. */
TB_NODISCARD tb_status tb_sentence_piece_decode(
    const struct tb_sentence_piece *model, const tb_token *ids, size_t count,
    bool is_raw, struct tb_buffer scratch[2]);

/* ---- private to the methods ---- */

struct tb_span tb_piece_space(const struct tb_sentence_piece *model);

/* Bytes of the longest symbol that `text` begins with at `at`, or 0. */
size_t tb_piece_symbol_len(const struct tb_sentence_piece *model,
                           struct tb_span text, size_t at);

/* The id of a piece in a text; unknown when there is none. */
tb_token tb_piece_find(const struct tb_sentence_piece *model,
                       struct tb_span text);

/* Appends the id of a piece, or what stands for an unknown one; `start` is
 * where the ids of the part begin. */
TB_NODISCARD tb_status tb_piece_append(const struct tb_sentence_piece *model,
                                       struct tb_span text, tb_token id,
                                       struct tb_tokens *tokens, size_t start);

TB_NODISCARD tb_status tb_piece_encode_bpe(
    const struct tb_sentence_piece *model, struct tb_piece_work *work,
    struct tb_span part, struct tb_tokens *tokens);

TB_NODISCARD tb_status tb_piece_encode_unigram(
    const struct tb_sentence_piece *model, struct tb_piece_work *work,
    struct tb_span part, struct tb_tokens *tokens);

#endif
