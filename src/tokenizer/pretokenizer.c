#include "pretokenizer.h"

#include <string.h>

/* Where the cutting stands: which steps are still to come for a piece. */
struct cut {
    const struct tb_pretokenizer *pretokenizer;
    size_t step; /* the next one */
    struct tb_buffer *scratch;
    tb_word_fn on_word;
    void *context;
};

static tb_status cut_piece(struct cut cut, struct tb_span piece);

static struct tb_span part(struct tb_span text, size_t from, size_t to)
{
    return (struct tb_span){text.ptr + from, to - from};
}

/* The first match at or after `from`: [*start, *end), or false. */
static bool find_match(const struct tb_pretokenizer_step *step,
                       struct tb_span text, size_t from, size_t *start,
                       size_t *end)
{
    if (!step->scan) {
        struct tb_span rest = tb_span_from(text, from);
        const uint8_t *hit =
            memmem(rest.ptr, rest.len, step->literal.ptr, step->literal.len);
        if (!hit)
            return false;
        *start = (size_t)(hit - text.ptr);
        *end = *start + step->literal.len;
        return true;
    }
    for (size_t at = from; at < text.len; at++) {
        // A match begins on a code point only.
        if ((text.ptr[at] & 0xC0) == 0x80)
            continue;
        *end = step->scan(text, at);
        if (*end > at) {
            *start = at;
            return true;
        }
    }
    return false;
}

/* Gives what is between matches, and matches, to `emit` in the order of the
 * text, as the reference's splitting does. */
struct piece {
    size_t start, end;
    bool is_match;
};

struct piece_walk {
    const struct tb_pretokenizer_step *step;
    struct tb_span text;
    size_t at;
    struct piece match; /* found, not given yet */
    bool has_match;
};

static bool next_piece(struct piece_walk *walk, struct piece *piece)
{
    if (walk->at == walk->text.len)
        return false;
    if (!walk->has_match) {
        size_t start = 0, end = 0;
        bool found = find_match(walk->step, walk->text, walk->at, &start, &end);
        if (!found)
            start = end = walk->text.len;
        walk->match = (struct piece){start, end, true};
        walk->has_match = found;
        if (start > walk->at) {
            *piece = (struct piece){walk->at, start, false};
            walk->at = start;
            piece->is_match ^= walk->step->is_inverted;
            return true;
        }
    }
    *piece = walk->match;
    walk->has_match = false;
    walk->at = piece->end;
    piece->is_match ^= walk->step->is_inverted;
    return true;
}

static tb_status emit(struct cut cut, struct tb_span text, size_t from,
                      size_t to)
{
    return from == to ? TB_OK : cut_piece(cut, part(text, from, to));
}

static tb_status cut_isolated(struct cut cut, struct piece_walk *walk,
                              bool is_removing)
{
    struct piece piece;
    while (next_piece(walk, &piece))
        if (!is_removing || !piece.is_match)
            TB_TRY(emit(cut, walk->text, piece.start, piece.end));
    return TB_OK;
}

static tb_status cut_merged_with_previous(struct cut cut,
                                          struct piece_walk *walk)
{
    size_t start = 0, end = 0; // what is waiting for a match behind it
    bool was_match = false;
    struct piece piece;
    while (next_piece(walk, &piece)) {
        if (piece.is_match && !was_match) {
            end = piece.end;
        } else {
            TB_TRY(emit(cut, walk->text, start, end));
            start = piece.start;
            end = piece.end;
        }
        was_match = piece.is_match;
    }
    return emit(cut, walk->text, start, end);
}

static tb_status cut_merged_with_next(struct cut cut, struct piece_walk *walk)
{
    size_t start = 0; // of a match that waits for what comes behind it
    bool is_waiting = false;
    struct piece piece;
    while (next_piece(walk, &piece)) {
        if (is_waiting && piece.is_match)
            TB_TRY(emit(cut, walk->text, start, piece.start));
        if (piece.is_match) {
            start = piece.start;
            is_waiting = true;
            continue;
        }
        TB_TRY(
            emit(cut, walk->text, is_waiting ? start : piece.start, piece.end));
        is_waiting = false;
    }
    return is_waiting ? emit(cut, walk->text, start, walk->text.len) : TB_OK;
}

static tb_status cut_contiguous(struct cut cut, struct piece_walk *walk)
{
    size_t start = 0, end = 0;
    bool was_match = false;
    struct piece piece;
    while (next_piece(walk, &piece)) {
        if (piece.is_match != was_match) {
            TB_TRY(emit(cut, walk->text, start, end));
            start = piece.start;
        }
        end = piece.end;
        was_match = piece.is_match;
    }
    return emit(cut, walk->text, start, end);
}

static tb_status cut_step(struct cut cut,
                          const struct tb_pretokenizer_step *step,
                          struct tb_span text)
{
    struct piece_walk walk = {.step = step, .text = text};
    switch (step->behavior) {
    case TB_SPLIT_REMOVED:
        return cut_isolated(cut, &walk, true);
    case TB_SPLIT_MERGED_WITH_PREVIOUS:
        return cut_merged_with_previous(cut, &walk);
    case TB_SPLIT_MERGED_WITH_NEXT:
        return cut_merged_with_next(cut, &walk);
    case TB_SPLIT_CONTIGUOUS:
        return cut_contiguous(cut, &walk);
    case TB_SPLIT_ISOLATED:
    default:
        return cut_isolated(cut, &walk, false);
    }
}

// Hot loop: the usual tokenizer has one step, whose matches leave no gaps.
static tb_status cut_gapless(struct cut cut, tb_pattern_scan scan,
                             struct tb_span text)
{
    for (size_t at = 0, end; at < text.len; at = end) {
        end = scan(text, at);
        TB_TRY(cut_piece(cut, part(text, at, end)));
    }
    return TB_OK;
}

static bool is_plain(const struct tb_pretokenizer_step *step)
{
    if (!step->scan || !tb_pattern_is_gapless(step->scan))
        return false;
    return step->is_inverted ? step->behavior == TB_SPLIT_REMOVED
                             : step->behavior == TB_SPLIT_ISOLATED;
}

// A copy of `piece` with a space before it, in scratch until the next one.
static tb_status add_prefix_space(struct cut cut, struct tb_span *piece)
{
    if (piece->len && piece->ptr[0] == ' ')
        return TB_OK;
    tb_buffer_clear(cut.scratch);
    TB_TRY(tb_buffer_append_byte(cut.scratch, ' '));
    TB_TRY(tb_buffer_append(cut.scratch, *piece));
    *piece = tb_buffer_span(cut.scratch);
    return TB_OK;
}

static tb_status cut_piece(struct cut cut, struct tb_span piece)
{
    if (cut.step == cut.pretokenizer->step_count)
        return cut.on_word(cut.context, piece);
    const struct tb_pretokenizer_step *step =
        &cut.pretokenizer->steps[cut.step++];
    if (step->has_prefix_space)
        TB_TRY(add_prefix_space(cut, &piece));
    if (!step->scan && step->literal.len == 0)
        return cut_piece(cut, piece);
    if (is_plain(step))
        return cut_gapless(cut, step->scan, piece);
    return cut_step(cut, step, piece);
}

tb_status tb_pretokenizer_split(const struct tb_pretokenizer *pretokenizer,
                                struct tb_span text, struct tb_buffer *scratch,
                                tb_word_fn on_word, void *context)
{
    struct cut cut = {pretokenizer, 0, scratch, on_word, context};
    return text.len ? cut_piece(cut, text) : TB_OK;
}

tb_pattern_scan
tb_pretokenizer_only_scan(const struct tb_pretokenizer *pretokenizer)
{
    const struct tb_pretokenizer_step *step = &pretokenizer->steps[0];
    bool is_only = pretokenizer->step_count == 1 && !step->has_prefix_space;
    return is_only && is_plain(step) ? step->scan : NULL;
}
