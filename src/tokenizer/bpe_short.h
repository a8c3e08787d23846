/* A short word that is being merged. Private to byte pair encoding (bpe.h). */
#ifndef TB_BPE_SHORT_H
#define TB_BPE_SHORT_H

#include "bpe.h"

enum { TB_BPE_SHORT = 48 }; /* symbols up to which plain scanning is faster */

/* The symbols of a short word, and what each becomes with the next one. What
 * merged away keeps its place, so that nothing has to move. */
struct tb_bpe_short {
    struct tb_span text;
    uint32_t count;
    uint64_t there; /* bit by bit: has not merged into one before it */
    tb_token ids[TB_BPE_SHORT];
    uint32_t at[TB_BPE_SHORT + 1]; /* first byte; the end */
    uint64_t orders[TB_BPE_SHORT]; /* of the pair with the next symbol: rank <<
                                      32 | place, beyond TB_NO_ORDER for none */
    tb_token merged[TB_BPE_SHORT]; /* what it becomes */
};

/* The word whose symbols are the bytes of `text`, which is not longer than
 * TB_BPE_SHORT; false: not every byte is a symbol. */
bool tb_bpe_short_take_bytes(const struct tb_bpe *bpe, struct tb_span text,
                             struct tb_bpe_short *word);

/* Merges what may merge; `there` says which symbols are left. */
void tb_bpe_short_merge(const struct tb_bpe *bpe,
                        const struct tb_bpe_work *work,
                        struct tb_bpe_short *word);

#endif
