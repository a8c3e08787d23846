/* Short words: all pairs are looked at each time. */
#include "bpe_short.h"

#include <assert.h>

#include "bpe_pair.h"

enum { STRIDE = 8 }; /* orders that are looked at together */

static_assert(TB_BPE_SHORT % STRIDE == 0, "no order is beyond the array");

// The first symbol behind `i` that is there, or `count`.
static inline uint32_t next_there(const struct tb_bpe_short *word, uint32_t i)
{
    uint64_t behind = word->there & ~((UINT64_C(2) << i) - 1);
    return behind ? (uint32_t)__builtin_ctzll(behind) : word->count;
}

// The last symbol before `i` that is there, or `i`.
static inline uint32_t last_there(const struct tb_bpe_short *word, uint32_t i)
{
    uint64_t before = word->there & ((UINT64_C(1) << i) - 1);
    return before ? 63 - (uint32_t)__builtin_clzll(before) : i;
}

// Not inlined: that a pair is remembered is the rule.
__attribute__((noinline)) static uint64_t
learn_pair(const struct tb_bpe *bpe, const struct tb_bpe_work *work,
           const struct tb_bpe_short *word, uint32_t i, uint32_t next)
{
    size_t end = word->at[next_there(word, next)];
    struct tb_span both = {word->text.ptr + word->at[i], end - word->at[i]};
    return tb_bpe_recall_merge(bpe, work, both, word->ids[i], word->ids[next]);
}

// Finds out what symbol `i` becomes with `next`, which stands behind it.
static inline void set_pair(const struct tb_bpe *bpe,
                            const struct tb_bpe_work *work,
                            struct tb_bpe_short *word, uint32_t i,
                            uint32_t next)
{
    tb_token left = word->ids[i], right = word->ids[next];
    const struct tb_bpe_pair *pair = tb_bpe_pair_slot(work, left, right);
    uint64_t result = pair->key == tb_bpe_pair_key(left, right)
                          ? pair->result
                          : learn_pair(bpe, work, word, i, next);
    word->orders[i] = (result & TB_NO_ORDER) | i;
    word->merged[i] = (tb_token)result;
}

static inline uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The pair of lowest rank, the first among equals. Where it is cannot be
 * guessed, nor how many symbols there are, so there are few branches. */
static inline uint64_t best_order(const struct tb_bpe_short *word)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < word->count; i += STRIDE) {
        const uint64_t *orders = word->orders + i;
        uint64_t a =
            lesser(lesser(orders[0], orders[1]), lesser(orders[2], orders[3]));
        uint64_t b =
            lesser(lesser(orders[4], orders[5]), lesser(orders[6], orders[7]));
        least = lesser(least, lesser(a, b));
    }
    return least;
}

// Hot loop: most words that are no token have few symbols.
void tb_bpe_short_merge(const struct tb_bpe *bpe,
                        const struct tb_bpe_work *work,
                        struct tb_bpe_short *word)
{
    word->there = (UINT64_C(1) << word->count) - 1;
    for (uint32_t i = 0; i < word->count; i += STRIDE)
        for (uint32_t j = i; j < i + STRIDE; j++)
            word->orders[j] = UINT64_MAX;
    for (uint32_t i = 0; i + 1 < word->count; i++)
        set_pair(bpe, work, word, i, i + 1);
    for (;;) {
        uint64_t order = best_order(word);
        if (order >= TB_NO_ORDER)
            return;
        uint32_t best = (uint32_t)order;
        uint32_t gone = next_there(word, best);
        word->ids[best] = word->merged[best];
        word->there &= ~(UINT64_C(1) << gone);
        word->orders[best] = word->orders[gone] = UINT64_MAX;
        uint32_t next = next_there(word, gone);
        uint32_t before = last_there(word, best);
        // Both, before either is waited for.
        if (next < word->count)
            tb_bpe_expect_merge(bpe, word->ids[best], word->ids[next]);
        if (before < best)
            tb_bpe_expect_merge(bpe, word->ids[before], word->ids[best]);
        if (next < word->count)
            set_pair(bpe, work, word, best, next);
        if (before < best)
            set_pair(bpe, work, word, before, best);
    }
}

bool tb_bpe_short_take_bytes(const struct tb_bpe *bpe, struct tb_span text,
                             struct tb_bpe_short *word)
{
    tb_token most = 0;
    word->text = text;
    word->count = (uint32_t)text.len;
    for (uint32_t i = 0; i < word->count; i++) {
        tb_token id = bpe->byte_tokens[text.ptr[i]];
        word->ids[i] = id;
        word->at[i] = i;
        most = id > most ? id : most; // TB_NO_TOKEN is the largest
    }
    word->at[word->count] = word->count;
    return most != TB_NO_TOKEN;
}
