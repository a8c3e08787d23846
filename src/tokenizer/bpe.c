#include "bpe.h"

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
};

/* What two neighbours become, as it was found out last. Direct-mapped: words
 * have the same pairs again and again, and the table of all merges is larger
 * than a core's cache. */
struct tb_bpe_pair {
    tb_token left, right; /* TB_NO_TOKEN: empty */
    uint32_t rank;        /* NO_RANK: nothing */
    tb_token merged;
};

/* A pair that could merge, in a heap ordered by (rank, symbol). */
struct tb_bpe_candidate {
    uint64_t order; /* rank << 32 | left symbol */
    tb_token left, right, merged;
};

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

/* What may two neighbours become, whose bytes together are `both`? Returns the
 * rank, NO_RANK for nothing. */
static uint32_t find_merge(const struct tb_bpe *bpe, struct tb_span both,
                           tb_token left, tb_token right, tb_token *merged)
{
    if (bpe->merges) {
        const struct tb_merge *merge = find_slot(bpe, left, right);
        *merged = merge->id;
        return merge->left == TB_NO_TOKEN ? NO_RANK : merge->rank;
    }
    *merged = tb_vocab_find(&bpe->vocab, both);
    return *merged;
}

/* Neighbouring right halves are neighbours in memory too: those of the letters
 * behind a letter share a few cache lines. */
static struct tb_bpe_pair *pair_slot(const struct tb_bpe_work *work,
                                     tb_token left, tb_token right)
{
    uint32_t mixed = (left * UINT32_C(0x9E3779B1) >> 12) + right;
    return &work->pairs[mixed & (PAIR_SLOTS - 1)];
}

// As find_merge, from memory if the pair was there a moment ago.
static inline const struct tb_bpe_pair *
recall_merge(const struct tb_bpe *bpe, const struct tb_bpe_work *work,
             struct tb_span both, tb_token left, tb_token right)
{
    struct tb_bpe_pair *pair = pair_slot(work, left, right);
    if (pair->left != left || pair->right != right) {
        pair->rank = find_merge(bpe, both, left, right, &pair->merged);
        pair->left = left;
        pair->right = right;
    }
    return pair;
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
    if (word.len >= UINT32_MAX)
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

/* The symbols of a short word, and what each becomes with the next one. */
struct short_word {
    struct tb_span text;
    uint32_t count;
    tb_token ids[SHORT_WORD];
    uint32_t at[SHORT_WORD + 1]; /* first byte; the end */
    uint64_t pairs[SHORT_WORD];  /* rank << 32 | merged */
};

static void set_pair(const struct tb_bpe *bpe, const struct tb_bpe_work *work,
                     struct short_word *word, uint32_t i)
{
    if (i + 1 == word->count) {
        word->pairs[i] = UINT64_MAX;
        return;
    }
    struct tb_span both = {word->text.ptr + word->at[i],
                           word->at[i + 2] - word->at[i]};
    const struct tb_bpe_pair *pair =
        recall_merge(bpe, work, both, word->ids[i], word->ids[i + 1]);
    word->pairs[i] = pair->rank == NO_RANK
                         ? UINT64_MAX
                         : (uint64_t)pair->rank << 32 | pair->merged;
}

// Takes symbol `i` out, all behind it move up.
static void drop_symbol(struct short_word *word, uint32_t i)
{
    size_t behind = word->count - i - 1;
    memmove(word->ids + i, word->ids + i + 1, behind * sizeof(*word->ids));
    memmove(word->at + i, word->at + i + 1, (behind + 1) * sizeof(*word->at));
    memmove(word->pairs + i, word->pairs + i + 1,
            behind * sizeof(*word->pairs));
    word->count--;
}

// The pair of lowest rank, the first among equals.
static uint32_t best_pair(const struct short_word *word)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < word->count; i++)
        if (word->pairs[i] < word->pairs[best])
            best = i;
    return best;
}

// Hot loop: most words that are no token have few symbols.
static void merge_short(const struct tb_bpe *bpe,
                        const struct tb_bpe_work *work, struct short_word *word)
{
    for (uint32_t i = 0; i < word->count; i++)
        set_pair(bpe, work, word, i);
    for (;;) {
        uint32_t best = best_pair(word);
        if (word->pairs[best] == UINT64_MAX)
            return;
        word->ids[best] = (tb_token)word->pairs[best];
        drop_symbol(word, best + 1);
        set_pair(bpe, work, word, best);
        if (best > 0)
            set_pair(bpe, work, word, best - 1);
    }
}

static tb_status encode_short(const struct tb_bpe *bpe,
                              const struct tb_bpe_work *work,
                              struct tb_span text,
                              const struct symbol_list *list,
                              struct tb_tokens *tokens)
{
    struct short_word word = {.text = text, .count = list->count};
    for (uint32_t i = 0; i < list->count; i++) {
        word.ids[i] = list->symbols[i].id;
        word.at[i] = list->symbols[i].at;
    }
    const struct tb_bpe_symbol *last = &list->symbols[list->count - 1];
    word.at[list->count] = last->at + last->len;
    merge_short(bpe, work, &word);
    return tb_tokens_append(tokens, word.ids, word.count);
}

/* ---- long words: a heap of pairs ------------------------------------------
 */

struct heap {
    struct tb_bpe_candidate *items;
    size_t count;
};

static void sift_down(struct heap *heap, size_t at)
{
    struct tb_bpe_candidate moved = heap->items[at];
    for (;;) {
        size_t child = at * 2 + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count &&
            heap->items[child + 1].order < heap->items[child].order)
            child++;
        if (heap->items[child].order >= moved.order)
            break;
        heap->items[at] = heap->items[child];
        at = child;
    }
    heap->items[at] = moved;
}

static void sift_up(struct heap *heap, size_t at)
{
    struct tb_bpe_candidate moved = heap->items[at];
    while (at > 0) {
        size_t parent = (at - 1) / 2;
        if (heap->items[parent].order <= moved.order)
            break;
        heap->items[at] = heap->items[parent];
        at = parent;
    }
    heap->items[at] = moved;
}

// Puts the pair that begins at symbol `left` behind the heap's items.
static bool push_pair(const struct tb_bpe *bpe, struct tb_span word,
                      const struct symbol_list *list, uint32_t left,
                      struct heap *heap)
{
    const struct tb_bpe_symbol *symbol = &list->symbols[left];
    if (symbol->next == NO_SYMBOL)
        return false;
    const struct tb_bpe_symbol *right = &list->symbols[symbol->next];
    struct tb_span both = {word.ptr + symbol->at, symbol->len + right->len};
    tb_token merged;
    uint32_t rank = find_merge(bpe, both, symbol->id, right->id, &merged);
    if (rank == NO_RANK)
        return false;
    heap->items[heap->count++] = (struct tb_bpe_candidate){
        (uint64_t)rank << 32 | left, symbol->id, right->id, merged};
    return true;
}

static void merge_long(const struct tb_bpe *bpe, struct tb_span word,
                       struct symbol_list *list, struct heap *heap)
{
    for (uint32_t i = 0; i < list->count; i++)
        push_pair(bpe, word, list, i, heap);
    for (size_t i = heap->count / 2; i-- > 0;)
        sift_down(heap, i);
    while (heap->count > 0) {
        struct tb_bpe_candidate best = heap->items[0];
        heap->items[0] = heap->items[--heap->count];
        if (heap->count)
            sift_down(heap, 0);
        uint32_t left = (uint32_t)best.order;
        struct tb_bpe_symbol *symbol = &list->symbols[left];
        // What the pair was made of may have merged otherwise meanwhile.
        if (symbol->id != best.left || symbol->next == NO_SYMBOL ||
            list->symbols[symbol->next].id != best.right)
            continue;
        join(list, left, best.merged);
        if (symbol->prev != NO_SYMBOL &&
            push_pair(bpe, word, list, symbol->prev, heap))
            sift_up(heap, heap->count - 1);
        if (push_pair(bpe, word, list, left, heap))
            sift_up(heap, heap->count - 1);
    }
}

static tb_status merge_by_heap(const struct tb_bpe *bpe,
                               struct tb_bpe_work *work, struct tb_span word,
                               struct symbol_list *list)
{
    // One pop makes room for at most two pushes, and there are fewer than
    // `count` merges: never more than three times the symbols.
    size_t most = (size_t)list->count * 3;
    struct tb_bpe_candidate *items =
        tb_array_grow(work->heap, &work->heap_capacity, most, sizeof(*items));
    if (!items)
        return TB_ERR_MEMORY;
    work->heap = items;
    struct heap heap = {items, 0};
    merge_long(bpe, word, list, &heap);
    return TB_OK;
}

static tb_status encode_long(const struct tb_bpe *bpe, struct tb_bpe_work *work,
                             struct tb_span word, struct symbol_list *list,
                             struct tb_tokens *tokens)
{
    TB_TRY(merge_by_heap(bpe, work, word, list));
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
    struct symbol_list list;
    TB_TRY(make_symbols(bpe, work, word, &list));
    if (list.count == 0)
        return TB_OK;
    return list.count <= SHORT_WORD
               ? encode_short(bpe, work, word, &list, tokens)
               : encode_long(bpe, work, word, &list, tokens);
}

void tb_bpe_work_release(struct tb_bpe_work *work)
{
    tb_memory_free(work->symbols);
    tb_memory_free(work->heap);
    tb_memory_free(work->pairs);
    *work = (struct tb_bpe_work){0};
}

void tb_bpe_release(struct tb_bpe *bpe)
{
    tb_vocab_release(&bpe->vocab);
    tb_memory_free(bpe->merges);
    bpe->merges = NULL;
}
