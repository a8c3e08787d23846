#include "added_token.h"

#include <stdlib.h>
#include <string.h>

#include "character.h"
#include "memory.h"
#include "unicode.h"
#include "utf8.h"

tb_status tb_added_tokens_add(struct tb_added_tokens *set,
                              const struct tb_added_token *token)
{
    struct tb_added_token *tokens = tb_array_grow(
        set->tokens, &set->capacity, set->count + 1, sizeof(*tokens));
    if (!tokens)
        return TB_ERR_MEMORY;
    set->tokens = tokens;
    tokens[set->count] = *token;
    tokens[set->count].order = (uint32_t)set->count;
    set->count++;
    return TB_OK;
}

static int compare_content(const void *a, const void *b)
{
    const struct tb_added_token *left = a;
    const struct tb_added_token *right = b;
    int by_content = tb_span_compare(left->content, right->content);
    if (by_content != 0)
        return by_content;
    return (left->order > right->order) - (left->order < right->order);
}

// Of those with equal content only the last stays.
static void drop_doubles(struct tb_added_tokens *set)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++) {
        bool is_last =
            i + 1 == set->count ||
            !tb_span_equal(set->tokens[i].content, set->tokens[i + 1].content);
        if (is_last)
            set->tokens[kept++] = set->tokens[i];
    }
    set->count = kept;
}

static size_t shared_len(struct tb_span a, struct tb_span b)
{
    size_t len = 0;
    while (len < a.len && len < b.len && a.ptr[len] == b.ptr[len])
        len++;
    return len;
}

// In the order of the list, in which neighbours share most.
static void add_to_range(struct tb_added_tokens *set, uint32_t number)
{
    struct tb_span content = set->tokens[number].content;
    struct tb_added_range *range = &set->ranges[content.ptr[0]];
    if (range->high == 0)
        *range =
            (struct tb_added_range){number, number + 1, (uint32_t)content.len};
    range->high = number + 1;
    size_t shared = shared_len(set->tokens[range->low].content, content);
    if (shared < range->shared_len)
        range->shared_len = (uint32_t)shared;
    set->is_first_byte[content.ptr[0]] = true;
}

void tb_added_tokens_index(struct tb_added_tokens *set)
{
    if (set->count == 0)
        return;
    qsort(set->tokens, set->count, sizeof(*set->tokens), compare_content);
    drop_doubles(set);
    for (uint32_t i = 0; i < set->count; i++)
        add_to_range(set, i);
    uint8_t first = set->tokens[0].content.ptr[0];
    uint8_t last = set->tokens[set->count - 1].content.ptr[0];
    set->only_first = first == last ? first : 0;
}

/* The longest token that `text`, whose first byte one has, begins with, or
 * NULL. All candidates stand next to each other in the sorted list; each byte
 * narrows them down. */
static const struct tb_added_token *
longest_at(const struct tb_added_tokens *set, struct tb_span text)
{
    const struct tb_added_token *best = NULL;
    const struct tb_added_range *range = &set->ranges[text.ptr[0]];
    size_t low = range->low, high = range->high;
    struct tb_span shared = {set->tokens[low].content.ptr, range->shared_len};
    if (!tb_span_starts_with(text, shared))
        return NULL;
    for (size_t depth = shared.len; low < high; depth++) {
        if (set->tokens[low].content.len == depth) {
            best = &set->tokens[low++];
            if (low == high)
                break;
        }
        if (depth == text.len)
            break;
        uint8_t byte = text.ptr[depth];
        size_t first = low, end = high; // first with a byte >= `byte`
        while (first < end) {
            size_t middle = first + (end - first) / 2;
            if (set->tokens[middle].content.ptr[depth] < byte)
                first = middle + 1;
            else
                end = middle;
        }
        size_t last = first;
        end = high; // first with a byte > `byte`
        while (last < end) {
            size_t middle = last + (end - last) / 2;
            if (set->tokens[middle].content.ptr[depth] <= byte)
                last = middle + 1;
            else
                end = middle;
        }
        low = first;
        high = last;
    }
    return best;
}

// The next place where a token may begin.
static size_t next_candidate(const struct tb_added_tokens *set,
                             struct tb_span text, size_t at)
{
    if (set->only_first) {
        const uint8_t *hit =
            memchr(text.ptr + at, set->only_first, text.len - at);
        return hit ? (size_t)(hit - text.ptr) : text.len;
    }
    while (at < text.len && !set->is_first_byte[text.ptr[at]])
        at++;
    return at;
}

static bool is_word_character(uint32_t code)
{
    return tb_character_in(code, TB_CHARACTERS_WORD);
}

static bool is_space(uint32_t code)
{
    return (tb_unicode_properties(code) & TB_UNICODE_WHITE_SPACE) != 0;
}

// Where the code point before `at` begins; `at` > 0.
static size_t step_back(struct tb_span text, size_t at)
{
    do
        at--;
    while (at > 0 && (text.ptr[at] & 0xC0) == 0x80);
    return at;
}

static bool stands_alone(struct tb_span text, size_t start, size_t end)
{
    uint32_t code;
    if (start > 0) {
        tb_utf8_decode(text, step_back(text, start), &code);
        if (is_word_character(code))
            return false;
    }
    if (end < text.len) {
        tb_utf8_decode(text, end, &code);
        if (is_word_character(code))
            return false;
    }
    return true;
}

/* Never before `free_from`, even where the token itself begins there. */
static size_t strip_left(struct tb_span text, size_t start, size_t free_from)
{
    if (start < free_from)
        return free_from;
    while (start > free_from) {
        uint32_t code;
        size_t before = step_back(text, start);
        tb_utf8_decode(text, before, &code);
        if (!is_space(code))
            break;
        start = before;
    }
    return start;
}

static size_t strip_right(struct tb_span text, size_t end)
{
    while (end < text.len) {
        uint32_t code;
        size_t len = tb_utf8_decode(text, end, &code);
        if (!is_space(code))
            break;
        end += len;
    }
    return end;
}

bool tb_added_tokens_find(const struct tb_added_tokens *set,
                          struct tb_span text, size_t from, size_t free_from,
                          struct tb_added_match *match)
{
    if (set->count == 0 || text.len == 0)
        return false;
    size_t at = from;
    while ((at = next_candidate(set, text, at)) < text.len) {
        const struct tb_added_token *token =
            longest_at(set, tb_span_from(text, at));
        if (!token) {
            at++;
            continue;
        }
        size_t end = at + token->content.len;
        // One that does not stand alone hides what overlaps it all the same.
        if (token->is_single_word && !stands_alone(text, at, end)) {
            at = end;
            continue;
        }
        *match = (struct tb_added_match){at, end, end, token->id};
        if (token->is_left_strip)
            match->start = strip_left(text, at, free_from);
        if (token->is_right_strip)
            match->end = strip_right(text, end);
        // White space that the token before took along leaves nothing of it.
        if (match->start < match->end)
            return true;
        at = end;
    }
    return false;
}

void tb_added_tokens_release(struct tb_added_tokens *set)
{
    tb_memory_free(set->tokens);
    *set = (struct tb_added_tokens){0};
}
