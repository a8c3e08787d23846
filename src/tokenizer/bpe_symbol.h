/* A word as a list of symbols. Private to byte pair encoding (bpe.h). */
#ifndef TB_BPE_SYMBOL_H
#define TB_BPE_SYMBOL_H

#include "bpe.h"

#define TB_BPE_NO_SYMBOL UINT32_MAX

/* One token of a word that is being merged. Symbols keep their place in the
 * array; `next` skips those that were merged away. */
struct tb_bpe_symbol {
    tb_token id;         /* TB_NO_TOKEN: merged into one before it */
    uint32_t at;         /* first byte in the word */
    uint32_t len;        /* bytes */
    uint32_t prev, next; /* TB_BPE_NO_SYMBOL at the ends */
    uint32_t rank;       /* of the pair with the next symbol (long words) */
    tb_token merged;     /* what that pair becomes */
};

struct tb_bpe_symbols {
    struct tb_bpe_symbol *symbols;
    uint32_t count;
};

/* Merges what may merge, in O(n log n). The first symbol stays the first. */
TB_NODISCARD tb_status tb_bpe_merge_long(const struct tb_bpe *bpe,
                                         struct tb_bpe_work *work,
                                         struct tb_span word,
                                         struct tb_bpe_symbols *list);

#endif
