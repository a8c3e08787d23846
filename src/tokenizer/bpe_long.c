/* Long words: pairs in a list for each rank, so that no merge looks at them
 * all. */
#include <stdlib.h>
#include <string.h>

#include "bpe_pair.h"
#include "bpe_symbol.h"
#include "memory.h"

// `right` vanishes into `left`, which becomes `merged`.
static void join(struct tb_bpe_symbols *list, uint32_t left, tb_token merged)
{
    struct tb_bpe_symbol *symbol = &list->symbols[left];
    struct tb_bpe_symbol *gone = &list->symbols[symbol->next];
    symbol->id = merged;
    symbol->len += gone->len;
    symbol->next = gone->next;
    gone->id = TB_NO_TOKEN;
    if (symbol->next != TB_BPE_NO_SYMBOL)
        list->symbols[symbol->next].prev = left;
}

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
    symbol->rank = TB_NO_RANK;
    if (symbol->next == TB_BPE_NO_SYMBOL)
        return TB_OK;
    const struct tb_bpe_symbol *right = &work->symbols[symbol->next];
    struct tb_span both = {word.ptr + symbol->at, symbol->len + right->len};
    uint64_t result =
        tb_bpe_recall_merge(bpe, work, both, symbol->id, right->id);
    uint32_t rank = (uint32_t)(result >> 32);
    if (rank == TB_NO_RANK)
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
                             struct tb_span word, struct tb_bpe_symbols *list,
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
    if (symbol->prev != TB_BPE_NO_SYMBOL)
        TB_TRY(add_place(bpe, work, word, symbol->prev));
    return add_place(bpe, work, word, place.symbol);
}

tb_status tb_bpe_merge_long(const struct tb_bpe *bpe, struct tb_bpe_work *work,
                            struct tb_span word, struct tb_bpe_symbols *list)
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
