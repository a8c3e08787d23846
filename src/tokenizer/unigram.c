#include "unigram.h"

#include <math.h>
#include <stdio.h>

#include "memory.h"
#include "utf8.h"

#define NO_START UINT32_MAX
#define UNKNOWN_PENALTY 10.0

tb_status tb_unigram_index(struct tb_unigram *unigram)
{
    double least = INFINITY;
    for (size_t id = 0; id < unigram->score_count; id++)
        if (unigram->scores[id] < least)
            least = unigram->scores[id];
    unigram->unknown_score = least - UNKNOWN_PENALTY;
    TB_TRY(tb_vocab_index(&unigram->vocab, NULL, NULL));
    for (unsigned byte = 0; byte < 256; byte++) {
        char name[8];
        int len = snprintf(name, sizeof(name), "<0x%02X>", byte);
        unigram->byte_tokens[byte] =
            tb_vocab_find(&unigram->vocab,
                          (struct tb_span){(const uint8_t *)name, (size_t)len});
    }
    return tb_trie_build(&unigram->trie, &unigram->vocab);
}

static void offer(struct tb_unigram_step *step, double score, size_t start,
                  tb_token id)
{
    if (step->start == NO_START || score > step->score)
        *step = (struct tb_unigram_step){score, (uint32_t)start, id};
}

/* Offers every token that begins at `at`; says whether one of them is the
 * character there, `len` bytes long. */
static bool offer_tokens(const struct tb_unigram *unigram,
                         struct tb_unigram_step *steps, struct tb_span word,
                         size_t at, size_t len)
{
    const struct tb_trie *trie = &unigram->trie;
    double before = steps[at].score;
    bool has_character = false;
    uint32_t node = 0;
    for (size_t end = at; end < word.len;) {
        node = tb_trie_step(trie, node, word.ptr[end++]);
        if (node == 0)
            break;
        tb_token id = trie->nodes[node].id;
        if (id == TB_NO_TOKEN)
            continue;
        offer(&steps[end], unigram->scores[id] + before, at, id);
        has_character |= end - at == len;
    }
    return has_character;
}

static tb_status find_best(const struct tb_unigram *unigram,
                           struct tb_unigram_step *steps, struct tb_span word)
{
    for (size_t i = 0; i <= word.len; i++)
        steps[i] = (struct tb_unigram_step){0.0, NO_START, TB_NO_TOKEN};
    for (size_t at = 0, len; at < word.len; at += len) {
        uint32_t code_point;
        len = tb_utf8_decode(word, at, &code_point);
        if (offer_tokens(unigram, steps, word, at, len))
            continue;
        struct tb_unigram_step *next = &steps[at + len];
        double score = unigram->unknown_score + steps[at].score;
        if (next->start != NO_START && !(score > next->score))
            continue;
        if (unigram->unknown == TB_NO_TOKEN)
            return TB_ERR_VALUE;
        offer(next, score, at, unigram->unknown);
    }
    return TB_OK;
}

/* The ids of a stretch of the word, the last one first: a token, else the
 * tokens of its bytes, else the unknown one. */
static tb_status add_stretch(const struct tb_unigram *unigram,
                             struct tb_span bytes, struct tb_tokens *reversed)
{
    tb_token id = tb_vocab_find(&unigram->vocab, bytes);
    bool has_bytes = id == TB_NO_TOKEN && unigram->has_byte_fallback;
    for (size_t i = 0; i < bytes.len && has_bytes; i++)
        has_bytes = unigram->byte_tokens[bytes.ptr[i]] != TB_NO_TOKEN;
    for (size_t i = bytes.len; i > 0 && has_bytes; i--)
        TB_TRY(tb_tokens_append(reversed,
                                &unigram->byte_tokens[bytes.ptr[i - 1]], 1));
    if (has_bytes)
        return TB_OK;
    if (id == TB_NO_TOKEN)
        id = unigram->unknown;
    return id == TB_NO_TOKEN ? TB_ERR_VALUE
                             : tb_tokens_append(reversed, &id, 1);
}

/* From the word's end to its beginning; neighbouring unknowns are one. */
static tb_status walk_back(const struct tb_unigram *unigram,
                           const struct tb_unigram_step *steps,
                           struct tb_span word, struct tb_tokens *reversed)
{
    size_t unknown_end = 0; // of unknowns that are not written yet
    for (size_t end = word.len; end > 0;) {
        const struct tb_unigram_step *step = &steps[end];
        size_t start = step->start;
        bool is_unknown = step->id == unigram->unknown;
        if (is_unknown && !unknown_end)
            unknown_end = end;
        if (!is_unknown && unknown_end) {
            TB_TRY(add_stretch(
                unigram, (struct tb_span){word.ptr + end, unknown_end - end},
                reversed));
            unknown_end = 0;
        }
        if (!is_unknown)
            TB_TRY(add_stretch(unigram,
                               (struct tb_span){word.ptr + start, end - start},
                               reversed));
        end = start;
    }
    if (!unknown_end)
        return TB_OK;
    return add_stretch(unigram, (struct tb_span){word.ptr, unknown_end},
                       reversed);
}

tb_status tb_unigram_encode(const struct tb_unigram *unigram,
                            struct tb_unigram_work *work, struct tb_span word,
                            struct tb_tokens *tokens)
{
    if (word.len >= UINT32_MAX)
        return TB_ERR_LIMIT;
    struct tb_unigram_step *steps = tb_array_grow(work->steps, &work->capacity,
                                                  word.len + 1, sizeof(*steps));
    if (!steps)
        return TB_ERR_MEMORY;
    work->steps = steps;
    work->reversed.count = 0;
    TB_TRY(find_best(unigram, steps, word));
    TB_TRY(walk_back(unigram, steps, word, &work->reversed));
    for (size_t i = work->reversed.count; i > 0; i--)
        TB_TRY(tb_tokens_append(tokens, &work->reversed.ids[i - 1], 1));
    return TB_OK;
}

void tb_unigram_work_release(struct tb_unigram_work *work)
{
    tb_memory_free(work->steps);
    tb_tokens_release(&work->reversed);
    *work = (struct tb_unigram_work){0};
}

void tb_unigram_release(struct tb_unigram *unigram)
{
    tb_vocab_release(&unigram->vocab);
    tb_trie_release(&unigram->trie);
    tb_memory_free(unigram->scores);
    unigram->scores = NULL;
}
