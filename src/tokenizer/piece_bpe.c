/* SentencePiece's byte pair encoding: of all neighbours that are a piece
 * together, the pair whose piece has the largest score becomes one, the
 * leftmost among equals, until there is none. There are no merges in the
 * file, and what is no piece may still become part of one.
 *
 * Pairs wait in a heap, so that it is O(n log n). One is stale when either
 * half has grown or is gone, which their lengths tell.
 *
 * Unused pieces are made like others, and taken apart again at the end, into
 * the halves of the pair that was last seen to make them anywhere in the text:
 * therefore a text is not cut where a model has such pieces.
 */
#include "memory.h"
#include "sentence_piece.h"
#include "utf8.h"

#include <string.h>

#define NO_SYMBOL UINT32_MAX

struct tb_piece_symbol {
    uint32_t at, len;    /* bytes; a length of 0: it is part of another */
    uint32_t prev, next; /* NO_SYMBOL at the ends */
    bool is_frozen;      /* user-defined: never part of another */
};

struct tb_piece_pair {
    uint64_t order; /* by score, then by place; the least first */
    uint32_t right;
    uint32_t len; /* bytes of both */
};

struct merger {
    const struct tb_sentence_piece *model;
    struct tb_piece_work *work;
    struct tb_span text;
    uint32_t count; /* symbols */
    size_t heap_count;
};

/* ---- heap -------------------------------------------------------------------
 */

static void push(struct merger *merger, struct tb_piece_pair pair)
{
    struct tb_piece_pair *items = merger->work->heap;
    size_t at = merger->heap_count++;
    for (size_t parent; at > 0; at = parent) {
        parent = (at - 1) / 2;
        if (items[parent].order <= pair.order)
            break;
        items[at] = items[parent];
    }
    items[at] = pair;
}

static struct tb_piece_pair pop(struct merger *merger)
{
    struct tb_piece_pair *items = merger->work->heap;
    struct tb_piece_pair first = items[0];
    size_t count = --merger->heap_count;
    struct tb_piece_pair last = items[count];
    size_t at = 0;
    for (;;) {
        size_t child = at * 2 + 1;
        if (child + 1 < count && items[child + 1].order < items[child].order)
            child++;
        if (child >= count || items[child].order >= last.order)
            break;
        items[at] = items[child];
        at = child;
    }
    items[at] = last;
    return first;
}

/* ---- pairs ------------------------------------------------------------------
 */

/* Larger scores first: the bits of a float in the order of its value, turned
 * round. Zero is more than minus zero. */
static uint32_t order_of(float score)
{
    uint32_t bits;
    memcpy(&bits, &score, sizeof(bits));
    return bits >> 31 ? bits : ~(bits | UINT32_C(1) << 31);
}

static void offer_pair(struct merger *merger, uint32_t left, uint32_t right)
{
    const struct tb_sentence_piece *model = merger->model;
    if (left == NO_SYMBOL || right == NO_SYMBOL)
        return;
    const struct tb_piece_symbol *first = &merger->work->symbols[left];
    const struct tb_piece_symbol *second = &merger->work->symbols[right];
    if (first->is_frozen || second->is_frozen)
        return;
    struct tb_span both = {merger->text.ptr + first->at,
                           first->len + second->len};
    tb_token id = tb_vocab_find(&model->pieces, both);
    if (id == TB_NO_TOKEN)
        return;
    if (model->types[id] == TB_PIECE_UNUSED)
        merger->work->left_lens[id] = first->len;
    push(merger, (struct tb_piece_pair){
                     (uint64_t)order_of(model->scores[id]) << 32 | left, right,
                     first->len + second->len});
}

static void merge(struct merger *merger)
{
    struct tb_piece_symbol *symbols = merger->work->symbols;
    for (uint32_t i = 1; i < merger->count; i++)
        offer_pair(merger, i - 1, i);
    while (merger->heap_count) {
        struct tb_piece_pair best = pop(merger);
        struct tb_piece_symbol *left = &symbols[(uint32_t)best.order];
        struct tb_piece_symbol *right = &symbols[best.right];
        if (left->len == 0 || right->len == 0 ||
            left->len + right->len != best.len)
            continue;
        left->len += right->len;
        left->next = right->next;
        right->len = 0;
        if (left->next != NO_SYMBOL)
            symbols[left->next].prev = (uint32_t)best.order;
        offer_pair(merger, left->prev, (uint32_t)best.order);
        offer_pair(merger, (uint32_t)best.order, left->next);
    }
}

/* ---- symbols ----------------------------------------------------------------
 */

static void add_symbols(struct merger *merger)
{
    for (size_t at = 0, len; at < merger->text.len; at += len) {
        uint32_t code_point, number = merger->count++;
        len = tb_piece_symbol_len(merger->model, merger->text, at);
        bool is_frozen = len > 0;
        if (!is_frozen)
            len = tb_utf8_decode(merger->text, at, &code_point);
        merger->work->symbols[number] = (struct tb_piece_symbol){
            .at = (uint32_t)at,
            .len = (uint32_t)len,
            .prev = number ? number - 1 : NO_SYMBOL,
            .next = number + 1,
            .is_frozen = is_frozen,
        };
    }
    merger->work->symbols[merger->count - 1].next = NO_SYMBOL;
}

static tb_status reserve(struct merger *merger)
{
    struct tb_piece_work *work = merger->work;
    size_t len = merger->text.len;
    struct tb_piece_symbol *symbols = tb_array_grow(
        work->symbols, &work->symbols_capacity, len, sizeof(*symbols));
    if (!symbols)
        return TB_ERR_MEMORY;
    work->symbols = symbols;
    // One for each border at first. Each merge takes one out and puts at most
    // two in, and there are fewer merges than symbols.
    struct tb_piece_pair *heap =
        tb_array_grow(work->heap, &work->heap_capacity, len * 2, sizeof(*heap));
    if (!heap)
        return TB_ERR_MEMORY;
    work->heap = heap;
    if (!merger->model->has_unused || work->left_lens)
        return TB_OK;
    work->left_lens =
        tb_memory_zeroed(merger->model->count, sizeof(*work->left_lens));
    return work->left_lens ? TB_OK : TB_ERR_MEMORY;
}

/* ---- ids --------------------------------------------------------------------
 */

/* Unused pieces are taken apart so often; what is left then is given as it is,
 * as the library does to spare its stack. */
enum { MAX_DEPTH = 100 };

/* A part of a piece that waits for those before it. */
struct tb_piece_half {
    struct tb_span text;
    unsigned depth;
};

static tb_status hold(struct tb_piece_work *work, size_t count,
                      struct tb_piece_half half)
{
    struct tb_piece_half *pending = tb_array_grow(
        work->pending, &work->pending_capacity, count + 1, sizeof(*pending));
    if (!pending)
        return TB_ERR_MEMORY;
    work->pending = pending;
    pending[count] = half;
    return TB_OK;
}

/* Splits at what `left_lens` says of the piece. That may be left from an
 * earlier text, but no piece is asked for that this text did not make: save
 * those of one character, which have no halves. */
static tb_status append_symbol(struct merger *merger, struct tb_span text,
                               struct tb_tokens *tokens, size_t start)
{
    const struct tb_sentence_piece *model = merger->model;
    struct tb_piece_half now = {text, 0};
    size_t pending_count = 0;
    for (;;) {
        tb_token id = tb_piece_find(model, now.text);
        bool is_unused =
            id != model->unknown && model->types[id] == TB_PIECE_UNUSED;
        size_t left_len = is_unused ? merger->work->left_lens[id] : 0;
        if (left_len && now.depth <= MAX_DEPTH) {
            now.depth++;
            TB_TRY(hold(merger->work, pending_count++,
                        (struct tb_piece_half){tb_span_from(now.text, left_len),
                                               now.depth}));
            now.text.len = left_len;
            continue;
        }
        if (is_unused && now.depth <= MAX_DEPTH)
            id = model->unknown;
        TB_TRY(tb_piece_append(model, now.text, id, tokens, start));
        if (pending_count == 0)
            return TB_OK;
        now = merger->work->pending[--pending_count];
    }
}

tb_status tb_piece_encode_bpe(const struct tb_sentence_piece *model,
                              struct tb_piece_work *work, struct tb_span part,
                              struct tb_tokens *tokens)
{
    struct merger merger = {.model = model, .work = work, .text = part};
    size_t start = tokens->count;
    if (part.len >= UINT32_MAX)
        return TB_ERR_LIMIT;
    TB_TRY(reserve(&merger));
    add_symbols(&merger);
    merge(&merger);
    for (uint32_t i = 0; i != NO_SYMBOL; i = work->symbols[i].next) {
        const struct tb_piece_symbol *symbol = &work->symbols[i];
        TB_TRY(append_symbol(
            &merger, (struct tb_span){part.ptr + symbol->at, symbol->len},
            tokens, start));
    }
    return TB_OK;
}
