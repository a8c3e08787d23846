#include "bpe.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "utf8.h"

enum {
    SHORT_WORD = 48,      /* symbols up to which plain scanning is faster */
    PAIR_SLOTS = 1 << 15, /* pairs that are remembered */
};

#define NO_SYMBOL UINT32_MAX
#define NO_RANK UINT32_MAX

/* One token of a word that is being merged. Symbols keep their place in the
 * array; `next` skips those that were merged away. */
struct tb_bpe_symbol {
    tb_token id;         /* TB_NO_TOKEN: merged into one before it */
    uint32_t at;         /* first byte in the word */
    uint32_t len;        /* bytes */
    uint32_t prev, next; /* NO_SYMBOL at the ends */
    uint32_t rank;       /* of the pair with the next symbol (long words) */
    tb_token merged;     /* what that pair becomes */
};

/* What two neighbours become, as it was found out last. Direct-mapped: words
 * have the same pairs again and again, and the table of all merges is larger
 * than a core's cache. */
struct tb_bpe_pair {
    uint64_t key;    /* left << 32 | right; NO_PAIR: empty */
    uint64_t result; /* rank << 32 | merged; NO_MERGE: nothing */
};

#define NO_PAIR UINT64_MAX
#define NO_MERGE UINT64_MAX

/* ---- pairs -------------------------------------------------------------- */

static uint32_t merge_slot(const struct tb_bpe *bpe, tb_token left,
                           tb_token right)
{
    uint64_t mixed = ((uint64_t)left << 32 | right) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(mixed >> 32) & (bpe->merge_slot_count - 1);
}

static struct tb_merge *find_slot(const struct tb_bpe *bpe, tb_token left,
                                  tb_token right)
{
    uint32_t mask = bpe->merge_slot_count - 1;
    uint32_t slot = merge_slot(bpe, left, right);
    for (;; slot = (slot + 1) & mask) {
        struct tb_merge *merge = &bpe->merges[slot];
        if (merge->left == TB_NO_TOKEN ||
            (merge->left == left && merge->right == right))
            return merge;
    }
}

tb_status tb_bpe_reserve_merges(struct tb_bpe *bpe, size_t count)
{
    if (count > (size_t)1 << 30)
        return TB_ERR_LIMIT;
    uint32_t slot_count = 64;
    while (slot_count - slot_count / 4 < count)
        slot_count *= 2;
    if (slot_count <= bpe->merge_slot_count)
        return TB_OK;
    struct tb_merge *old = bpe->merges;
    uint32_t old_count = bpe->merge_slot_count;
    size_t size = (size_t)slot_count * sizeof(struct tb_merge);
    struct tb_merge *merges = tb_memory_resize(NULL, size);
    if (!merges)
        return TB_ERR_MEMORY;
    memset(merges, 0xFF, size); // TB_NO_TOKEN everywhere
    bpe->merges = merges;
    bpe->merge_slot_count = slot_count;
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i].left != TB_NO_TOKEN)
            *find_slot(bpe, old[i].left, old[i].right) = old[i];
    tb_memory_free(old);
    return TB_OK;
}

tb_status tb_bpe_add_merges(struct tb_bpe *bpe, const struct tb_merge *merges,
                            size_t count)
{
    TB_TRY(tb_bpe_reserve_merges(bpe, bpe->merge_count + count));
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(
            &bpe->merges[merge_slot(bpe, merges[i].left, merges[i].right)], 1);
    for (size_t i = 0; i < count; i++) {
        struct tb_merge *slot = find_slot(bpe, merges[i].left, merges[i].right);
        bpe->merge_count += slot->left == TB_NO_TOKEN;
        *slot = merges[i];
    }
    return TB_OK;
}

/* What two neighbours become, whose bytes together are `both`, as
 * tb_bpe_pair has it. */
static uint64_t find_merge(const struct tb_bpe *bpe, struct tb_span both,
                           tb_token left, tb_token right)
{
    if (bpe->merges) {
        const struct tb_merge *merge = find_slot(bpe, left, right);
        return merge->left == TB_NO_TOKEN
                   ? NO_MERGE
                   : (uint64_t)merge->rank << 32 | merge->id;
    }
    tb_token id = tb_vocab_find(&bpe->vocab, both);
    return (uint64_t)id << 32 | id;
}

/* Neighbouring right halves are neighbours in memory too: those of the letters
 * behind a letter share a few cache lines. */
static inline struct tb_bpe_pair *pair_slot(const struct tb_bpe_work *work,
                                            tb_token left, tb_token right)
{
    uint32_t mixed = (left * UINT32_C(0x9E3779B1) >> 12) + right;
    return &work->pairs[mixed & (PAIR_SLOTS - 1)];
}

static inline uint64_t pair_key(tb_token left, tb_token right)
{
    return (uint64_t)left << 32 | right;
}

// As find_merge, from memory if the pair was there a moment ago.
static uint64_t recall_merge(const struct tb_bpe *bpe,
                             const struct tb_bpe_work *work,
                             struct tb_span both, tb_token left, tb_token right)
{
    struct tb_bpe_pair *pair = pair_slot(work, left, right);
    if (pair->key != pair_key(left, right)) {
        pair->result = find_merge(bpe, both, left, right);
        pair->key = pair_key(left, right);
    }
    return pair->result;
}

/* ---- symbols ------------------------------------------------------------ */

struct symbol_list {
    struct tb_bpe_symbol *symbols;
    uint32_t count;
};

static void add_symbol(struct symbol_list *list, tb_token id, size_t at,
                       size_t len)
{
    uint32_t number = list->count++;
    list->symbols[number] = (struct tb_bpe_symbol){
        .id = id,
        .at = (uint32_t)at,
        .len = (uint32_t)len,
        .prev = number == 0 ? NO_SYMBOL : number - 1,
        .next = number + 1,
    };
}

static void add_bytes(const struct tb_bpe *bpe, struct tb_span word,
                      struct symbol_list *list)
{
    for (size_t at = 0; at < word.len; at++) {
        tb_token id = bpe->byte_tokens[word.ptr[at]];
        if (id != TB_NO_TOKEN)
            add_symbol(list, id, at, 1);
    }
}

// An unknown code point as the tokens of its bytes, if all of them exist.
static bool add_fallback(const struct tb_bpe *bpe, struct tb_span bytes,
                         size_t at, struct symbol_list *list)
{
    if (!bpe->has_byte_fallback)
        return false;
    for (size_t i = 0; i < bytes.len; i++)
        if (bpe->byte_tokens[bytes.ptr[i]] == TB_NO_TOKEN)
            return false;
    for (size_t i = 0; i < bytes.len; i++)
        add_symbol(list, bpe->byte_tokens[bytes.ptr[i]], at + i, 1);
    return true;
}

/* A character as the vocabulary has it: with what marks that it is inside the
 * word, or at its end. `room` is where that is put together. */
static struct tb_span spell(const struct tb_bpe *bpe, struct tb_span word,
                            size_t at, size_t len, uint8_t *room)
{
    size_t prefix_len = at > 0 ? bpe->inner_prefix.len : 0;
    size_t suffix_len = at + len == word.len ? bpe->last_suffix.len : 0;
    if (prefix_len + suffix_len == 0)
        return (struct tb_span){word.ptr + at, len};
    if (prefix_len)
        memcpy(room, bpe->inner_prefix.ptr, prefix_len);
    memcpy(room + prefix_len, word.ptr + at, len);
    if (suffix_len)
        memcpy(room + prefix_len + len, bpe->last_suffix.ptr, suffix_len);
    return (struct tb_span){room, prefix_len + len + suffix_len};
}

/* The order in which a pending unknown is written is the reference's: known
 * symbols push it out first, fallback bytes do not. */
static void add_code_points(const struct tb_bpe *bpe, struct tb_span word,
                            struct symbol_list *list)
{
    uint8_t room[2 * TB_BPE_AFFIX_MAX_LEN + TB_UTF8_MAX_LEN];
    size_t unknown_at = 0, unknown_len = 0;
    for (size_t at = 0, len; at < word.len; at += len) {
        uint32_t code_point;
        len = tb_utf8_decode(word, at, &code_point);
        struct tb_span bytes = spell(bpe, word, at, len, room);
        tb_token id = tb_vocab_find(&bpe->vocab, bytes);
        if (id == TB_NO_TOKEN &&
            (add_fallback(bpe, bytes, at, list) || bpe->unknown == TB_NO_TOKEN))
            continue;
        bool is_fused = id == TB_NO_TOKEN && bpe->is_fusing_unknown;
        if (unknown_len && !is_fused) {
            add_symbol(list, bpe->unknown, unknown_at, unknown_len);
            unknown_len = 0;
        }
        if (id != TB_NO_TOKEN) {
            add_symbol(list, id, at, len);
            continue;
        }
        if (unknown_len == 0)
            unknown_at = at;
        unknown_len += len;
    }
    if (unknown_len)
        add_symbol(list, bpe->unknown, unknown_at, unknown_len);
}

static tb_status make_symbols(const struct tb_bpe *bpe,
                              struct tb_bpe_work *work, struct tb_span word,
                              struct symbol_list *list)
{
    // Places of pairs, of which there may be three to a symbol, are numbered.
    if (word.len >= UINT32_MAX / 4)
        return TB_ERR_LIMIT;
    // Falling back to bytes, a character may become all of its affixes'.
    size_t most = 1 + bpe->inner_prefix.len + bpe->last_suffix.len;
    struct tb_bpe_symbol *symbols =
        tb_array_grow(work->symbols, &work->symbols_capacity,
                      word.len * most + 1, sizeof(*symbols));
    if (!symbols)
        return TB_ERR_MEMORY;
    work->symbols = symbols;
    *list = (struct symbol_list){symbols, 0};
    if (bpe->is_byte_level)
        add_bytes(bpe, word, list);
    else
        add_code_points(bpe, word, list);
    if (list->count)
        symbols[list->count - 1].next = NO_SYMBOL;
    return TB_OK;
}

// `right` vanishes into `left`, which becomes `merged`.
static void join(struct symbol_list *list, uint32_t left, tb_token merged)
{
    struct tb_bpe_symbol *symbol = &list->symbols[left];
    struct tb_bpe_symbol *gone = &list->symbols[symbol->next];
    symbol->id = merged;
    symbol->len += gone->len;
    symbol->next = gone->next;
    gone->id = TB_NO_TOKEN;
    if (symbol->next != NO_SYMBOL)
        list->symbols[symbol->next].prev = left;
}

/* ---- short words: look at all pairs each time -----------------------------
 */

/* The symbols of a short word, and what each becomes with the next one. What
 * merged away keeps its place, so that nothing has to move. */
struct short_word {
    struct tb_span text;
    uint32_t count;
    uint64_t there; /* bit by bit: has not merged into one before it */
    tb_token ids[SHORT_WORD];
    uint32_t at[SHORT_WORD + 1]; /* first byte; the end */
    uint64_t orders[SHORT_WORD]; /* of the pair with the next symbol: rank <<
                                    32 | place, beyond NO_ORDER for none;
                                    looked at STRIDE at a time */
    tb_token merged[SHORT_WORD]; /* what it becomes */
};

enum { STRIDE = 8 };
#define NO_ORDER ((uint64_t)NO_RANK << 32)

// The first symbol behind `i` that is there, or `count`.
static inline uint32_t next_there(const struct short_word *word, uint32_t i)
{
    uint64_t behind = word->there & ~((UINT64_C(2) << i) - 1);
    return behind ? (uint32_t)__builtin_ctzll(behind) : word->count;
}

// Not inlined: that a pair is remembered is the rule.
__attribute__((noinline)) static uint64_t
learn_pair(const struct tb_bpe *bpe, const struct tb_bpe_work *work,
           const struct short_word *word, uint32_t i, uint32_t next)
{
    size_t end = word->at[next_there(word, next)];
    struct tb_span both = {word->text.ptr + word->at[i], end - word->at[i]};
    return recall_merge(bpe, work, both, word->ids[i], word->ids[next]);
}

// Finds out what symbol `i` becomes with `next`, which stands behind it.
static inline void set_pair(const struct tb_bpe *bpe,
                            const struct tb_bpe_work *work,
                            struct short_word *word, uint32_t i, uint32_t next)
{
    tb_token left = word->ids[i], right = word->ids[next];
    const struct tb_bpe_pair *pair = pair_slot(work, left, right);
    uint64_t result = pair->key == pair_key(left, right)
                          ? pair->result
                          : learn_pair(bpe, work, word, i, next);
    word->orders[i] = (result & NO_ORDER) | i;
    word->merged[i] = (tb_token)result;
}

static inline uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The pair of lowest rank, the first among equals. Where it is cannot be
 * guessed, nor how many symbols there are, so there are few branches. */
static inline uint64_t best_order(const struct short_word *word)
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
static void merge_short(const struct tb_bpe *bpe,
                        const struct tb_bpe_work *work, struct short_word *word)
{
    for (uint32_t i = 0; i < word->count; i += STRIDE)
        for (uint32_t j = i; j < i + STRIDE; j++)
            word->orders[j] = UINT64_MAX;
    for (uint32_t i = 0; i + 1 < word->count; i++)
        set_pair(bpe, work, word, i, i + 1);
    for (;;) {
        uint64_t order = best_order(word);
        if (order >= NO_ORDER)
            return;
        uint32_t best = (uint32_t)order;
        uint32_t gone = next_there(word, best);
        word->ids[best] = word->merged[best];
        word->there &= ~(UINT64_C(1) << gone);
        word->orders[best] = word->orders[gone] = UINT64_MAX;
        uint32_t next = next_there(word, gone);
        if (next < word->count)
            set_pair(bpe, work, word, best, next);
        uint64_t before = word->there & ((UINT64_C(1) << best) - 1);
        if (before)
            set_pair(bpe, work, word, 63 - (uint32_t)__builtin_clzll(before),
                     best);
    }
}

static tb_status encode_short(const struct tb_bpe *bpe,
                              const struct tb_bpe_work *work,
                              struct short_word *word, struct tb_tokens *tokens)
{
    word->there = (UINT64_C(1) << word->count) - 1;
    merge_short(bpe, work, word);
    TB_TRY(tb_tokens_reserve(tokens, word->count));
    for (uint64_t left = word->there; left; left &= left - 1)
        tokens->ids[tokens->count++] = word->ids[__builtin_ctzll(left)];
    return TB_OK;
}

static tb_status encode_short_list(const struct tb_bpe *bpe,
                                   const struct tb_bpe_work *work,
                                   struct tb_span text,
                                   const struct symbol_list *list,
                                   struct tb_tokens *tokens)
{
    struct short_word word;
    word.text = text;
    word.count = list->count;
    for (uint32_t i = 0; i < list->count; i++) {
        word.ids[i] = list->symbols[i].id;
        word.at[i] = list->symbols[i].at;
    }
    const struct tb_bpe_symbol *last = &list->symbols[list->count - 1];
    word.at[list->count] = last->at + last->len;
    return encode_short(bpe, work, &word, tokens);
}

// False: not every byte is a symbol.
static bool take_bytes(const struct tb_bpe *bpe, struct tb_span text,
                       struct short_word *word)
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

/* ---- long words: pairs by rank --------------------------------------------
 */

/* Where a pair begins that had a rank when it was put into that rank's list. */
struct tb_bpe_place {
    uint32_t symbol;
    uint32_t next; /* in the list, index + 1; 0: the last */
};

/* The places of a rank, index + 1; 0: none. */
struct tb_bpe_bucket {
    uint32_t first, last;
    bool is_unsorted; /* they do not stand from left to right */
};

static tb_status reserve_ranks(struct tb_bpe_work *work, uint32_t rank)
{
    size_t before = work->bucket_capacity;
    struct tb_bpe_bucket *grown =
        tb_array_grow(work->buckets, &work->bucket_capacity, (size_t)rank + 1,
                      sizeof(*grown));
    if (!grown)
        return TB_ERR_MEMORY;
    work->buckets = grown;
    memset(grown + before, 0,
           (work->bucket_capacity - before) * sizeof(*grown));
    return TB_OK;
}

static void push_rank(struct tb_bpe_work *work, uint32_t rank)
{
    size_t at = work->rank_count++;
    for (; at > 0 && work->ranks[(at - 1) / 2] > rank; at = (at - 1) / 2)
        work->ranks[at] = work->ranks[(at - 1) / 2];
    work->ranks[at] = rank;
}

static void pop_rank(struct tb_bpe_work *work)
{
    uint32_t moved = work->ranks[--work->rank_count];
    size_t at = 0;
    for (;;) {
        size_t child = at * 2 + 1;
        if (child >= work->rank_count)
            break;
        child += child + 1 < work->rank_count &&
                 work->ranks[child + 1] < work->ranks[child];
        if (work->ranks[child] >= moved)
            break;
        work->ranks[at] = work->ranks[child];
        at = child;
    }
    work->ranks[at] = moved;
}

// Room for so many places, each of which may be of another rank.
static tb_status reserve_places(struct tb_bpe_work *work, size_t count)
{
    struct tb_bpe_place *places = tb_array_grow(
        work->places, &work->place_capacity, count, sizeof(*places));
    if (!places)
        return TB_ERR_MEMORY;
    work->places = places;
    uint32_t *ranks =
        tb_array_grow(work->ranks, &work->rank_capacity, count, sizeof(*ranks));
    if (!ranks)
        return TB_ERR_MEMORY;
    work->ranks = ranks;
    return TB_OK;
}

/* Finds out what symbol `at` and the next become, and puts it into the list of
 * that rank. */
static tb_status add_place(const struct tb_bpe *bpe, struct tb_bpe_work *work,
                           struct tb_span word, uint32_t at)
{
    struct tb_bpe_symbol *symbol = &work->symbols[at];
    symbol->rank = NO_RANK;
    if (symbol->next == NO_SYMBOL)
        return TB_OK;
    const struct tb_bpe_symbol *right = &work->symbols[symbol->next];
    struct tb_span both = {word.ptr + symbol->at, symbol->len + right->len};
    uint64_t result = recall_merge(bpe, work, both, symbol->id, right->id);
    uint32_t rank = (uint32_t)(result >> 32);
    if (rank == NO_RANK)
        return TB_OK;
    symbol->rank = rank;
    symbol->merged = (tb_token)result;
    if (rank >= work->bucket_capacity)
        TB_TRY(reserve_ranks(work, rank));
    TB_TRY(reserve_places(work, work->place_count + 1));
    uint32_t place = (uint32_t)++work->place_count;
    work->places[place - 1] = (struct tb_bpe_place){at, 0};
    struct tb_bpe_bucket *bucket = &work->buckets[rank];
    if (bucket->first == 0) {
        *bucket = (struct tb_bpe_bucket){.first = place};
        push_rank(work, rank);
    } else {
        struct tb_bpe_place *last = &work->places[bucket->last - 1];
        bucket->is_unsorted |= last->symbol > at;
        last->next = place;
    }
    bucket->last = place;
    return TB_OK;
}

static int compare_symbols(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

// Puts the places of a list from left to right.
static tb_status sort_places(struct tb_bpe_work *work,
                             struct tb_bpe_bucket *bucket)
{
    uint32_t *order = tb_array_grow(work->order, &work->order_capacity,
                                    work->place_count, sizeof(*order));
    if (!order)
        return TB_ERR_MEMORY;
    work->order = order;
    size_t count = 0;
    for (uint32_t at = bucket->first; at; at = work->places[at - 1].next)
        order[count++] = work->places[at - 1].symbol;
    qsort(order, count, sizeof(*order), compare_symbols);
    count = 0;
    for (uint32_t at = bucket->first; at; at = work->places[at - 1].next)
        work->places[at - 1].symbol = order[count++];
    bucket->is_unsorted = false;
    return TB_OK;
}

// The leftmost pair of a rank becomes one, unless it is no longer there.
static tb_status merge_first(const struct tb_bpe *bpe, struct tb_bpe_work *work,
                             struct tb_span word, struct symbol_list *list,
                             uint32_t rank)
{
    struct tb_bpe_bucket *bucket = &work->buckets[rank];
    if (bucket->is_unsorted)
        TB_TRY(sort_places(work, bucket));
    struct tb_bpe_place place = work->places[bucket->first - 1];
    bucket->first = place.next;
    if (bucket->first == 0)
        pop_rank(work);
    struct tb_bpe_symbol *symbol = &list->symbols[place.symbol];
    if (symbol->id == TB_NO_TOKEN || symbol->rank != rank)
        return TB_OK;
    join(list, place.symbol, symbol->merged);
    if (symbol->prev != NO_SYMBOL)
        TB_TRY(add_place(bpe, work, word, symbol->prev));
    return add_place(bpe, work, word, place.symbol);
}

static tb_status merge_long(const struct tb_bpe *bpe, struct tb_bpe_work *work,
                            struct tb_span word, struct symbol_list *list)
{
    work->place_count = work->rank_count = 0;
    tb_status status = TB_OK;
    for (uint32_t i = 0; i < list->count && status == TB_OK; i++)
        status = add_place(bpe, work, word, i);
    while (work->rank_count > 0 && status == TB_OK)
        status = merge_first(bpe, work, word, list, work->ranks[0]);
    for (size_t i = 0; i < work->rank_count; i++) // after a failure
        work->buckets[work->ranks[i]].first = 0;
    return status;
}

static tb_status encode_long(const struct tb_bpe *bpe, struct tb_bpe_work *work,
                             struct tb_span word, struct symbol_list *list,
                             struct tb_tokens *tokens)
{
    TB_TRY(merge_long(bpe, work, word, list));
    for (uint32_t i = 0; i != NO_SYMBOL; i = list->symbols[i].next)
        TB_TRY(tb_tokens_append(tokens, &list->symbols[i].id, 1));
    return TB_OK;
}

static tb_status make_pairs(struct tb_bpe_work *work)
{
    work->pairs = tb_memory_resize(NULL, PAIR_SLOTS * sizeof(*work->pairs));
    if (!work->pairs)
        return TB_ERR_MEMORY;
    memset(work->pairs, 0xFF, PAIR_SLOTS * sizeof(*work->pairs));
    return TB_OK;
}

tb_status tb_bpe_encode(const struct tb_bpe *bpe, struct tb_bpe_work *work,
                        struct tb_span word, struct tb_tokens *tokens)
{
    if (bpe->is_whole_word_first) {
        tb_token whole = tb_vocab_find(&bpe->vocab, word);
        if (whole != TB_NO_TOKEN)
            return tb_tokens_append(tokens, &whole, 1);
    }
    if (!work->pairs)
        TB_TRY(make_pairs(work));
    struct short_word symbols;
    if (bpe->is_byte_level && word.len <= SHORT_WORD &&
        take_bytes(bpe, word, &symbols))
        return encode_short(bpe, work, &symbols, tokens);
    struct symbol_list list;
    TB_TRY(make_symbols(bpe, work, word, &list));
    if (list.count == 0)
        return TB_OK;
    return list.count <= SHORT_WORD
               ? encode_short_list(bpe, work, word, &list, tokens)
               : encode_long(bpe, work, word, &list, tokens);
}

void tb_bpe_work_release(struct tb_bpe_work *work)
{
    tb_memory_free(work->symbols);
    tb_memory_free(work->places);
    tb_memory_free(work->order);
    tb_memory_free(work->ranks);
    tb_memory_free(work->buckets);
    tb_memory_free(work->pairs);
    *work = (struct tb_bpe_work){0};
}

void tb_bpe_release(struct tb_bpe *bpe)
{
    tb_vocab_release(&bpe->vocab);
    tb_memory_free(bpe->merges);
    bpe->merges = NULL;
}
