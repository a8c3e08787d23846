#include "merge_list.h"

#include <string.h>

#include "json_plain.h"
#include "memory.h"
#include "pool.h"

enum {
    BATCH = TB_VOCAB_BATCH / 2, /* merges looked up together */
    PART_COUNT = 16,            /* of a long list */
    PART_MIN_LEN = 64 << 10,    /* bytes; shorter ones are not worth a thread */
    PART_SLOTS = 8,             /* parts at work, as many as a pool holds */
    BESIDE_AT = 2 /* parts in front of what is done beside: it takes as long as
                     three or four of them, which others do meanwhile */
};

/* A stretch of the list, and what it becomes. One thread's at a time. */
struct part {
    const struct tb_merge_list *list;
    struct tb_json_reader start; /* in front of it */
    struct tb_json_reader reader;
    const uint8_t *end; /* the comma behind it, or what ends the list */
    struct tb_arena scratch;
    struct tb_merge *merges; /* without their ranks */
    size_t count, capacity;
    tb_token joined; /* what came of the merge before */
    tb_status status;
};

struct batch {
    struct tb_span texts[2 * BATCH]; /* left, right, left, right, ... */
    tb_token ids[2 * BATCH];
    size_t count;
};

/* ---- one merge --------------------------------------------------------------
 */

static tb_status split(struct tb_json_reader *reader, struct tb_span text,
                       struct tb_span *left, struct tb_span *right)
{
    const uint8_t *space = text.len ? memchr(text.ptr, ' ', text.len) : NULL;
    if (!space)
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "a merge needs two tokens with a space between");
    *left = (struct tb_span){text.ptr, (size_t)(space - text.ptr)};
    *right = tb_span_from(text, left->len + 1);
    if (right->len && memchr(right->ptr, ' ', right->len))
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "a merge has more than two tokens");
    return TB_OK;
}

static tb_status read_two(struct tb_json_reader *reader,
                          struct tb_arena *scratch, struct tb_span *left,
                          struct tb_span *right)
{
    bool found;
    TB_TRY(tb_json_enter_array(reader));
    TB_TRY(tb_json_next_item(reader, &found));
    if (found)
        TB_TRY(tb_json_read_string(reader, scratch, left));
    if (found)
        TB_TRY(tb_json_next_item(reader, &found));
    if (!found)
        return tb_json_fail(reader, TB_ERR_VALUE, "a merge needs two tokens");
    TB_TRY(tb_json_read_string(reader, scratch, right));
    TB_TRY(tb_json_next_item(reader, &found));
    if (found)
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "a merge has more than two tokens");
    return TB_OK;
}

// One merge in either form: "a b" or ["a", "b"].
static tb_status read_pair(struct tb_json_reader *reader,
                           struct tb_arena *scratch, struct tb_span texts[2])
{
    tb_json_type type;
    struct tb_span text;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_ARRAY)
        return read_two(reader, scratch, &texts[0], &texts[1]);
    TB_TRY(tb_json_read_string(reader, scratch, &text));
    return split(reader, text, &texts[0], &texts[1]);
}

/* As read_pair for what needs no decoding, behind an earlier merge; gives where
 * it ends, or NULL. Bytes that are no UTF-8 are in no vocabulary, so nobody
 * needs to look for them here: what is not found is read again by read_pair. */
static const uint8_t *read_plain(const uint8_t *at, const uint8_t *end,
                                 struct tb_span texts[2])
{
    struct tb_span text;
    at = tb_json_plain_byte(at, end, ',');
    const uint8_t *behind = tb_json_plain_string(at, end, &text);
    if (behind) {
        const uint8_t *space = memchr(text.ptr, ' ', text.len);
        if (!space)
            return NULL;
        texts[0] = (struct tb_span){text.ptr, (size_t)(space - text.ptr)};
        texts[1] = tb_span_from(text, texts[0].len + 1);
        return memchr(space + 1, ' ', texts[1].len) ? NULL : behind;
    }
    at = tb_json_plain_byte(at, end, '[');
    at = tb_json_plain_string(at, end, &texts[0]);
    at = tb_json_plain_byte(at, end, ',');
    at = tb_json_plain_string(at, end, &texts[1]);
    return tb_json_plain_byte(at, end, ']');
}

static tb_status find_token(struct part *part, struct tb_span text,
                            tb_token *id)
{
    *id = tb_vocab_find(part->list->strings, text);
    if (*id != TB_NO_TOKEN)
        return TB_OK;
    int len = tb_span_shown(text, 60);
    return tb_json_fail(&part->reader, TB_ERR_VALUE,
                        "a merge names '%.*s', which is not in the vocabulary",
                        len, (const char *)text.ptr);
}

static bool is_joined(struct tb_span both, struct tb_span left,
                      struct tb_span right)
{
    return both.ptr && both.len == left.len + right.len &&
           tb_is_same(both.ptr, left.ptr, left.len) &&
           tb_is_same(both.ptr + left.len, right.ptr, right.len);
}

/* What two become. Files list merges in order of what comes of them, so it is
 * nearly always what came of the merge before, or the token behind that. */
static tb_status find_joined(struct part *part, struct tb_span left,
                             struct tb_span right, tb_token *id)
{
    const struct tb_vocab *strings = part->list->strings;
    for (tb_token guess = part->joined;
         guess - part->joined < 2 && !strings->has_twins; guess++)
        if (is_joined(tb_vocab_bytes(strings, guess), left, right)) {
            *id = part->joined = guess;
            return TB_OK;
        }
    uint8_t *both = tb_arena_alloc(&part->scratch, left.len + right.len);
    if (!both)
        return TB_ERR_MEMORY;
    if (left.len)
        memcpy(both, left.ptr, left.len);
    if (right.len)
        memcpy(both + left.len, right.ptr, right.len);
    TB_TRY(find_token(part, (struct tb_span){both, left.len + right.len}, id));
    part->joined = *id;
    return TB_OK;
}

// Fills in the ids of the `i`-th of the batch.
static tb_status resolve(struct part *part, const struct batch *batch, size_t i,
                         struct tb_merge *merge)
{
    struct tb_span left = batch->texts[2 * i], right = batch->texts[2 * i + 1];
    *merge = (struct tb_merge){.left = batch->ids[2 * i],
                               .right = batch->ids[2 * i + 1]};
    if (merge->left == TB_NO_TOKEN)
        TB_TRY(find_token(part, left, &merge->left));
    if (merge->right == TB_NO_TOKEN)
        TB_TRY(find_token(part, right, &merge->right));
    // What joins loses the mark of being inside a word.
    if (right.len < part->list->mark_len)
        return tb_json_fail(&part->reader, TB_ERR_VALUE,
                            "a merge's second token is shorter than the "
                            "continuing_subword_prefix");
    return find_joined(part, left, tb_span_from(right, part->list->mark_len),
                       &merge->id);
}

/* ---- a part -----------------------------------------------------------------
 */

// Legacy files may carry a first line "#version: 0.2", which is no merge.
static bool is_version(struct tb_span rest)
{
    return tb_span_starts_with(rest, TB_SPAN("\"#version"));
}

// Reads the next item, if there is one; `*found`: it is a merge.
static tb_status read_item(struct part *part, struct tb_span texts[2],
                           bool *found)
{
    struct tb_span rest;
    TB_TRY(tb_json_next_item(&part->reader, found));
    if (!*found)
        return TB_OK;
    TB_TRY(tb_json_rest(&part->reader, &rest));
    *found = !is_version(rest);
    return *found ? read_pair(&part->reader, &part->scratch, texts)
                  : tb_json_skip(&part->reader);
}

// Reads merges until the batch is full or the part at its end.
static tb_status read_batch(struct part *part, struct batch *batch)
{
    struct tb_span rest;
    tb_arena_reset(&part->scratch);
    batch->count = 0;
    TB_TRY(tb_json_rest(&part->reader, &rest));
    while (batch->count < BATCH && rest.ptr < part->end) {
        struct tb_span *texts = &batch->texts[2 * batch->count];
        const uint8_t *next = read_plain(rest.ptr, part->end, texts);
        bool found = next != NULL;
        if (next)
            tb_json_skip_known(&part->reader, (size_t)(next - rest.ptr));
        else
            TB_TRY(read_item(part, texts, &found));
        batch->count += found;
        TB_TRY(tb_json_rest(&part->reader, &rest));
    }
    return TB_OK;
}

static tb_status take_batch(struct part *part, struct batch *batch)
{
    TB_TRY(read_batch(part, batch));
    tb_vocab_find_batch(part->list->strings, batch->texts, batch->ids,
                        2 * batch->count);
    struct tb_merge *merges =
        tb_array_grow(part->merges, &part->capacity, part->count + batch->count,
                      sizeof(*merges));
    if (!merges)
        return TB_ERR_MEMORY;
    part->merges = merges;
    for (size_t i = 0; i < batch->count; i++)
        TB_TRY(resolve(part, batch, i, &merges[part->count + i]));
    part->count += batch->count;
    return TB_OK;
}

static void read_part(struct part *part)
{
    struct batch batch;
    do
        part->status = take_batch(part, &batch);
    while (part->status == TB_OK && batch.count == BATCH);
}

/* ---- the list ---------------------------------------------------------------
 */

/* The whole, on the thread that reads the file. */
struct whole {
    const struct tb_merge_list *list;
    struct tb_bpe *bpe;
    struct tb_pool *pool;
    struct part parts[PART_SLOTS];
    unsigned part_count; /* begun so far */
    size_t part_len;     /* bytes */
    bool is_more;        /* items behind the last of them */
    bool is_beside_begun;
    uint32_t rank; /* of the next merge that is added */
};

static void work(void *context, unsigned worker, void *job)
{
    const struct whole *whole = context;
    (void)worker;
    if (job)
        read_part(job);
    else
        whole->list->beside(whole->list->context);
}

static tb_status add(struct whole *whole, struct tb_merge *merges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        merges[i].rank = whole->rank++;
    return tb_bpe_add_merges(whole->bpe, merges, count);
}

/* Reads all from the part's reader on, one by one: the way to the first fault,
 * and to what must be replaced to be UTF-8. */
static tb_status read_singly(struct whole *whole, struct part *part)
{
    struct batch one = {.ids = {TB_NO_TOKEN, TB_NO_TOKEN}};
    do {
        struct tb_merge merge;
        bool found;
        tb_arena_reset(&part->scratch);
        TB_TRY(read_item(part, one.texts, &found));
        if (!found)
            continue;
        TB_TRY(resolve(part, &one, 0, &merge));
        TB_TRY(add(whole, &merge, 1));
    } while (tb_json_depth(&part->reader) > 0);
    return TB_OK;
}

static tb_status begin_part(struct whole *whole)
{
    struct tb_json_reader *reader = whole->list->reader;
    struct part *part = &whole->parts[whole->part_count % PART_SLOTS];
    struct tb_span rest;
    part->start = part->reader = *reader;
    part->count = 0;
    TB_TRY(tb_json_skip_items(reader, whole->part_len));
    TB_TRY(tb_json_rest(reader, &rest));
    part->end = rest.ptr;
    whole->is_more = rest.len > 0 && rest.ptr[0] == ',';
    whole->part_count++;
    tb_pool_submit(whole->pool, part);
    return TB_OK;
}

// Gives the threads as much as they take.
static tb_status begin_parts(struct whole *whole)
{
    while (tb_pool_count(whole->pool) < tb_pool_capacity(whole->pool)) {
        bool is_time = whole->part_count == BESIDE_AT || !whole->is_more;
        if (!whole->is_beside_begun && is_time) {
            whole->is_beside_begun = true;
            tb_pool_submit(whole->pool, NULL);
        } else if (whole->is_more) {
            TB_TRY(begin_part(whole));
        } else {
            break;
        }
    }
    return TB_OK;
}

// Nothing is at work any more, and what is done beside was done.
static void finish(struct whole *whole)
{
    while (tb_pool_count(whole->pool) > 0)
        (void)tb_pool_take(whole->pool);
    if (!whole->is_beside_begun)
        whole->list->beside(whole->list->context);
}

/* Adds the parts in their order; `*rest` is where it is to be gone on one by
 * one: at the end of the list, or in front of the part that failed. */
static tb_status read_parts(struct whole *whole, struct part **rest)
{
    *rest = NULL;
    for (;;) {
        TB_TRY(begin_parts(whole));
        if (tb_pool_count(whole->pool) == 0)
            break;
        struct part *part = tb_pool_take(whole->pool);
        if (!part)
            continue;
        if (part->status != TB_OK && part->status != TB_ERR_MEMORY) {
            *rest = part;
            return TB_OK;
        }
        TB_TRY(part->status);
        TB_TRY(add(whole, part->merges, part->count));
    }
    whole->parts[0].start = *whole->list->reader;
    *rest = &whole->parts[0];
    return TB_OK;
}

// In the form ["a", "b"] each has four quotes, in "a b" two.
static size_t likely_count(struct tb_span list)
{
    size_t at = 1;
    while (at < list.len && list.ptr[at] <= ' ')
        at++;
    bool is_pairs = at < list.len && list.ptr[at] == '[';
    return tb_span_count(list, '"') / (is_pairs ? 4 : 2);
}

static tb_status read_all(struct whole *whole)
{
    struct part *rest;
    TB_TRY(tb_json_enter_array(whole->list->reader));
    TB_TRY(begin_parts(whole));
    TB_TRY(tb_bpe_reserve_merges(whole->bpe, likely_count(whole->list->json)));
    TB_TRY(read_parts(whole, &rest));
    finish(whole);
    rest->reader = rest->start;
    tb_status status = read_singly(whole, rest);
    *whole->list->reader = rest->reader;
    return status;
}

static tb_status open_pool(struct whole *whole)
{
    bool is_long = whole->list->json.len / PART_MIN_LEN >= 4;
    unsigned count = is_long && tb_pool_core_count() > 1 ? 2 : 1;
    tb_status status = tb_pool_new(count, work, whole, &whole->pool);
    if (status == TB_ERR_IO) // no thread to be had
        status = tb_pool_new(1, work, whole, &whole->pool);
    return status;
}

tb_status tb_merge_list_read(const struct tb_merge_list *list,
                             struct tb_bpe *bpe)
{
    struct whole *whole = tb_memory_zeroed(1, sizeof(*whole));
    if (!whole)
        return TB_ERR_MEMORY;
    whole->list = list;
    whole->bpe = bpe;
    whole->is_more = true;
    whole->part_len = list->json.len / PART_COUNT;
    if (whole->part_len < PART_MIN_LEN)
        whole->part_len = PART_MIN_LEN;
    for (size_t i = 0; i < PART_SLOTS; i++)
        whole->parts[i].list = list;
    tb_status status = open_pool(whole);
    if (status == TB_OK)
        status = read_all(whole);
    tb_pool_free(whole->pool);
    for (size_t i = 0; i < PART_SLOTS; i++) {
        tb_memory_free(whole->parts[i].merges);
        tb_arena_release(&whole->parts[i].scratch);
    }
    tb_memory_free(whole);
    return status;
}
