/* What two neighbours become, remembered for those that came last. Private to
 * byte pair encoding (bpe.h); the memory is one thread's. */
#ifndef TB_BPE_PAIR_H
#define TB_BPE_PAIR_H

#include "bpe.h"

enum { TB_BPE_PAIR_SLOTS = 1 << 15 };

/* What a pair becomes: its rank in the high half, the token in the low one;
 * nothing is beyond all ranks. */
#define TB_NO_RANK UINT32_MAX
#define TB_NO_ORDER ((uint64_t)TB_NO_RANK << 32)
#define TB_NO_MERGE UINT64_MAX

/* Direct-mapped: words have the same pairs again and again, and the table of
 * all merges is larger than a core's cache. */
struct tb_bpe_pair {
    uint64_t key;    /* left << 32 | right; all ones: empty */
    uint64_t result; /* TB_NO_MERGE: nothing */
};

/* Where the search for a pair in the table of merges begins. */
static inline uint32_t tb_bpe_merge_slot(const struct tb_bpe *bpe,
                                         tb_token left, tb_token right)
{
    uint64_t mixed = ((uint64_t)left << 32 | right) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(mixed >> 32) & (bpe->merge_slot_count - 1);
}

/* What two neighbours become, whose bytes together are `both`. */
uint64_t tb_bpe_find_merge(const struct tb_bpe *bpe, struct tb_span both,
                           tb_token left, tb_token right);

/* Neighbouring right halves are neighbours in memory too: those of the letters
 * behind a letter share a few cache lines. */
static inline struct tb_bpe_pair *
tb_bpe_pair_slot(const struct tb_bpe_work *work, tb_token left, tb_token right)
{
    uint32_t mixed = (left * UINT32_C(0x9E3779B1) >> 12) + right;
    return &work->pairs[mixed & (TB_BPE_PAIR_SLOTS - 1)];
}

static inline uint64_t tb_bpe_pair_key(tb_token left, tb_token right)
{
    return (uint64_t)left << 32 | right;
}

/* Tells the machine that a pair may be looked up in the table of merges. To see
 * first whether it is remembered costs more than it spares. */
static inline void tb_bpe_expect_merge(const struct tb_bpe *bpe, tb_token left,
                                       tb_token right)
{
    if (bpe->merges)
        __builtin_prefetch(&bpe->merges[tb_bpe_merge_slot(bpe, left, right)]);
}

/* As tb_bpe_find_merge, from memory if the pair was there a moment ago. */
static inline uint64_t tb_bpe_recall_merge(const struct tb_bpe *bpe,
                                           const struct tb_bpe_work *work,
                                           struct tb_span both, tb_token left,
                                           tb_token right)
{
    struct tb_bpe_pair *pair = tb_bpe_pair_slot(work, left, right);
    if (pair->key != tb_bpe_pair_key(left, right)) {
        pair->result = tb_bpe_find_merge(bpe, both, left, right);
        pair->key = tb_bpe_pair_key(left, right);
    }
    return pair->result;
}

#endif
