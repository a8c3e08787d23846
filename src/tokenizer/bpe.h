/* Byte pair encoding: a word to ids, by merging neighbours in order of rank.
 *
 * Of all neighbouring pairs that may merge, the one with the lowest rank goes
 * first, the leftmost among equals; until none is left. (Sennrich, Haddow,
 * Birch: Neural Machine Translation of Rare Words with Subword Units, 2016.)
 *
 * Two kinds of files tell what may merge. Hugging Face lists pairs. tiktoken
 * lists tokens only: two neighbours may merge when their bytes together are a
 * token, and its id is the rank.
 */
#ifndef TB_BPE_H
#define TB_BPE_H

#include "merge_border.h"
#include "vocab.h"

/* A pair that may merge; the table of them is keyed by (left, right). */
struct tb_merge {
    tb_token left, right; /* TB_NO_TOKEN in `left`: an empty slot */
    uint32_t rank;
    tb_token id; /* what they become */
};

/* Read-only after loading, shared by threads. */
struct tb_bpe {
    struct tb_vocab vocab;
    struct tb_merge *merges; /* open addressing, a power of two; NULL: the
                                pairs are those whose bytes are a token */
    uint32_t merge_slot_count;
    uint32_t merge_count;      /* while loading */
    bool is_byte_level;        /* a symbol is a byte; otherwise a code point */
    bool is_whole_word_first;  /* ignore_merges: a word that is a token is it */
    bool is_fusing_unknown;    /* neighbouring unknowns are one */
    bool has_byte_fallback;    /* an unknown becomes <0xNN> tokens */
    tb_token unknown;          /* TB_NO_TOKEN: unknowns vanish */
    tb_token byte_tokens[256]; /* by byte: byte level's symbols, or <0xNN> */
    struct tb_span inner_prefix;     /* before every character but the first */
    struct tb_span last_suffix;      /* behind the last one */
    struct tb_merge_borders borders; /* where a word may be cut */
};

enum { TB_BPE_AFFIX_MAX_LEN = 64 }; /* bytes */

/* Makes room in the table for `count` merges in all. */
TB_NODISCARD tb_status tb_bpe_reserve_merges(struct tb_bpe *bpe, size_t count);

/* Adds pairs; the last one counts when it comes twice. */
TB_NODISCARD tb_status tb_bpe_add_merges(struct tb_bpe *bpe,
                                         const struct tb_merge *merges,
                                         size_t count);

/* Finds out where words may be cut; to be called once all else is loaded. */
void tb_bpe_find_borders(struct tb_bpe *bpe);

/* Room to work in, one per thread. Zero-initialised is empty and ready. */
struct tb_bpe_work {
    struct tb_bpe_symbol *symbols;
    size_t symbols_capacity;
    struct tb_bpe_pair *pairs; /* of one tb_bpe alone */
    /* Pairs of a long word, in a list for each rank. */
    struct tb_bpe_bucket *buckets; /* by rank; empty between words */
    struct tb_bpe_place *places;   /* what lists are made of */
    uint32_t *ranks;               /* that have a list: a heap, lowest first */
    uint32_t *order;               /* of one list, from left to right */
    size_t bucket_capacity, place_capacity, rank_capacity, order_capacity;
    size_t place_count, rank_count;
};

/* Appends the ids of `word` (not empty, valid UTF-8 unless byte level).
 * O(n log n) in its length. */
TB_NODISCARD tb_status tb_bpe_encode(const struct tb_bpe *bpe,
                                     struct tb_bpe_work *work,
                                     struct tb_span word,
                                     struct tb_tokens *tokens);

void tb_bpe_work_release(struct tb_bpe_work *work);
void tb_bpe_release(struct tb_bpe *bpe);

#endif
