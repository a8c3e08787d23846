#include "pretokenizer.h"

#include <string.h>

#include "byte_level.h"
#include "character.h"
#include "utf8.h"

/* A part of the text; `origin_len` of its first bytes stand for the first
 * character of the whole text. */
struct piece {
    struct tb_span text;
    size_t origin_len;
};

/* Where the cutting stands: which steps are still to come for a piece. */
struct cut {
    const struct tb_pretokenizer *pretokenizer;
    size_t step; /* the next one */
    struct tb_pretokenizer_work *work;
    tb_word_fn on_word;
    void *context;
};

static tb_status cut_piece(struct cut cut, struct piece piece);

// Hands a part on to the next step; an empty one is none.
static tb_status emit(struct cut cut, struct piece piece, size_t from,
                      size_t to)
{
    if (from == to)
        return TB_OK;
    struct tb_span part = {piece.text.ptr + from, to - from};
    size_t origin_len = 0;
    if (piece.origin_len > from)
        origin_len = piece.origin_len - from;
    if (origin_len > part.len)
        origin_len = part.len;
    return cut_piece(cut, (struct piece){part, origin_len});
}

/* ---- matches
 * -----------------------------------------------------------------
 */

/* What lies between matches, and matches, in the order of the text, as the
 * reference's splitting has them. A match of a regex may be empty. */
struct span_of_text {
    size_t start, end;
    bool is_match;
};

struct match_walk {
    const struct tb_pretokenizer_step *step;
    struct tb_regex_region *region;
    struct tb_span text;
    size_t at;
    struct tb_regex_walk match; /* found, perhaps not given yet */
    bool is_waiting;            /* the match is not given yet */
    bool is_at_end;             /* there is no further match */
};

static void scan_next(struct match_walk *walk)
{
    struct tb_span text = walk->text;
    walk->match.found = false;
    for (size_t at = walk->at; at < text.len; at++) {
        // A match begins on a code point only.
        if ((text.ptr[at] & 0xC0) == 0x80)
            continue;
        size_t end = walk->step->scan(text, at);
        if (end > at) {
            walk->match.start = at;
            walk->match.end = end;
            walk->match.found = true;
            return;
        }
    }
}

static void find_literal(struct match_walk *walk)
{
    struct tb_span literal = walk->step->literal;
    struct tb_span rest = tb_span_from(walk->text, walk->at);
    const uint8_t *hit =
        rest.len ? memmem(rest.ptr, rest.len, literal.ptr, literal.len) : NULL;
    walk->match.found = hit != NULL;
    if (hit) {
        walk->match.start = (size_t)(hit - walk->text.ptr);
        walk->match.end = walk->match.start + literal.len;
    }
}

static tb_status find_next(struct match_walk *walk)
{
    if (walk->step->regex)
        return tb_regex_next(walk->step->regex, walk->region, walk->text,
                             &walk->match);
    if (walk->step->scan)
        scan_next(walk);
    else
        find_literal(walk);
    return TB_OK;
}

/* `*found` false: the text is used up. */
static tb_status next_span(struct match_walk *walk, struct span_of_text *span,
                           bool *found)
{
    if (!walk->is_waiting && !walk->is_at_end) {
        TB_TRY(find_next(walk));
        walk->is_waiting = walk->match.found;
        walk->is_at_end = !walk->match.found;
    }
    size_t start = walk->is_waiting ? walk->match.start : walk->text.len;
    bool is_match = walk->at == start && walk->is_waiting;
    *found = is_match || walk->at < start;
    if (is_match) {
        *span = (struct span_of_text){start, walk->match.end, true};
        walk->is_waiting = false;
    } else {
        *span = (struct span_of_text){walk->at, start, false};
    }
    walk->at = span->end;
    span->is_match ^= walk->step->is_inverted;
    return TB_OK;
}

/* ---- behaviours
 * --------------------------------------------------------------
 */

static tb_status cut_isolated(struct cut cut, struct piece piece,
                              struct match_walk *walk, bool is_removing)
{
    for (;;) {
        struct span_of_text span;
        bool found;
        TB_TRY(next_span(walk, &span, &found));
        if (!found)
            return TB_OK;
        if (!is_removing || !span.is_match)
            TB_TRY(emit(cut, piece, span.start, span.end));
    }
}

static tb_status cut_merged_with_previous(struct cut cut, struct piece piece,
                                          struct match_walk *walk)
{
    size_t start = 0, end = 0; // what is waiting for a match behind it
    bool was_match = false;
    for (;;) {
        struct span_of_text span;
        bool found;
        TB_TRY(next_span(walk, &span, &found));
        if (!found)
            return emit(cut, piece, start, end);
        if (!span.is_match || was_match) {
            TB_TRY(emit(cut, piece, start, end));
            start = span.start;
        }
        end = span.end;
        was_match = span.is_match;
    }
}

static tb_status cut_merged_with_next(struct cut cut, struct piece piece,
                                      struct match_walk *walk)
{
    size_t start = 0; // of a match that waits for what comes behind it
    bool is_waiting = false;
    for (;;) {
        struct span_of_text span;
        bool found;
        TB_TRY(next_span(walk, &span, &found));
        if (!found)
            break;
        if (is_waiting && span.is_match)
            TB_TRY(emit(cut, piece, start, span.start));
        if (span.is_match || !is_waiting)
            start = span.start;
        is_waiting = span.is_match;
        if (!span.is_match)
            TB_TRY(emit(cut, piece, start, span.end));
    }
    return is_waiting ? emit(cut, piece, start, piece.text.len) : TB_OK;
}

static tb_status cut_contiguous(struct cut cut, struct piece piece,
                                struct match_walk *walk)
{
    size_t start = 0, end = 0;
    bool was_match = false;
    for (;;) {
        struct span_of_text span;
        bool found;
        TB_TRY(next_span(walk, &span, &found));
        if (!found)
            return emit(cut, piece, start, end);
        if (span.is_match != was_match) {
            TB_TRY(emit(cut, piece, start, end));
            start = span.start;
        }
        end = span.end;
        was_match = span.is_match;
    }
}

static tb_status cut_by_pattern(struct cut cut,
                                const struct tb_pretokenizer_step *step,
                                struct piece piece, tb_split_behavior behavior)
{
    struct match_walk walk = {
        .step = step, .text = piece.text, .region = cut.work->region};
    switch (behavior) {
    case TB_SPLIT_REMOVED:
        return cut_isolated(cut, piece, &walk, true);
    case TB_SPLIT_MERGED_WITH_PREVIOUS:
        return cut_merged_with_previous(cut, piece, &walk);
    case TB_SPLIT_MERGED_WITH_NEXT:
        return cut_merged_with_next(cut, piece, &walk);
    case TB_SPLIT_CONTIGUOUS:
        return cut_contiguous(cut, piece, &walk);
    case TB_SPLIT_ISOLATED:
    default:
        return cut_isolated(cut, piece, &walk, false);
    }
}

// Hot loop: the usual tokenizer has one step, whose matches leave no gaps.
static tb_status cut_gapless(struct cut cut, tb_pattern_scan scan,
                             struct piece piece)
{
    for (size_t at = 0, end; at < piece.text.len; at = end) {
        end = scan(piece.text, at);
        TB_TRY(emit(cut, piece, at, end));
    }
    return TB_OK;
}

static bool is_whole(const struct tb_pretokenizer_step *step)
{
    return step->is_inverted ? step->behavior == TB_SPLIT_REMOVED
                             : step->behavior == TB_SPLIT_ISOLATED;
}

static bool is_plain(const struct tb_pretokenizer_step *step)
{
    return step->kind == TB_CUT_PATTERN && step->scan && !step->has_gaps &&
           tb_pattern_is_gapless(step->scan) && is_whole(step);
}

/* ---- steps that change the text
 * ----------------------------------------------
 */

// The buffer of the step that `cut` has just taken.
static struct tb_buffer *fresh_text(struct cut cut)
{
    struct tb_buffer *text = &cut.work->texts[cut.step - 1];
    tb_buffer_clear(text);
    return text;
}

static tb_status add_prefix_space(struct cut cut, struct piece *piece)
{
    if (piece->text.len && piece->text.ptr[0] == ' ')
        return TB_OK;
    struct tb_buffer *text = fresh_text(cut);
    TB_TRY(tb_buffer_append_byte(text, ' '));
    TB_TRY(tb_buffer_append(text, piece->text));
    piece->text = tb_buffer_span(text);
    piece->origin_len += piece->origin_len != 0;
    return TB_OK;
}

static tb_status spell_bytes(struct cut cut, struct piece *piece)
{
    struct tb_buffer *text = fresh_text(cut);
    size_t origin_len = 0;
    for (size_t i = 0; i < piece->text.len; i++) {
        uint8_t bytes[TB_UTF8_MAX_LEN];
        size_t len =
            tb_utf8_encode(tb_code_point_of_byte(piece->text.ptr[i]), bytes);
        TB_TRY(tb_buffer_append(text, (struct tb_span){bytes, len}));
        if (i < piece->origin_len)
            origin_len = text->len;
    }
    *piece = (struct piece){tb_buffer_span(text), origin_len};
    return TB_OK;
}

static tb_status replace_spaces(struct cut cut,
                                const struct tb_pretokenizer_step *step,
                                struct piece *piece)
{
    struct tb_span mark = step->literal;
    struct tb_span first = {(const uint8_t *)" ", 1};
    bool has_mark = tb_span_starts_with(piece->text, mark) ||
                    tb_span_starts_with(piece->text, first);
    bool is_prepending =
        step->scheme == TB_PREPEND_ALWAYS ||
        (step->scheme == TB_PREPEND_FIRST && piece->origin_len > 0);
    struct tb_span origin = {piece->text.ptr, piece->origin_len};
    struct tb_buffer *text = fresh_text(cut);
    if (is_prepending && !has_mark)
        TB_TRY(tb_buffer_append(text, mark));
    // What is put in front belongs to the first character, if that is here.
    size_t origin_len = 0;
    if (origin.len)
        origin_len = text->len + origin.len +
                     (mark.len - 1) * tb_span_count(origin, ' ');
    TB_TRY(tb_buffer_append_replacing(text, piece->text, ' ', mark));
    *piece = (struct piece){tb_buffer_span(text), origin_len};
    return TB_OK;
}

/* ---- other cuts
 * ---------------------------------------------------------------
 */

static tb_status cut_at_lengths(struct cut cut, struct piece piece,
                                size_t length)
{
    size_t start = 0, count = 0;
    for (size_t at = 0; at < piece.text.len; at++) {
        if ((piece.text.ptr[at] & 0xC0) == 0x80)
            continue;
        if (count == length) {
            TB_TRY(emit(cut, piece, start, at));
            start = at;
            count = 0;
        }
        count++;
    }
    return emit(cut, piece, start, piece.text.len);
}

/* What goes with any script is cut off from none. The first cut is where the
 * first character stands that does not; what is before it is lost, as in the
 * reference, when there is any other. */
static tb_status cut_at_scripts(struct cut cut, struct piece piece)
{
    bool has_start = false, has_last = false;
    size_t start = 0;
    uint8_t last = 0;
    for (size_t at = 0, len; at < piece.text.len; at += len) {
        uint32_t code_point;
        len = tb_utf8_decode(piece.text, at, &code_point);
        uint8_t script = tb_split_script_of(code_point);
        if (script == 0)
            continue;
        if (!has_last || script != last) {
            if (has_start)
                TB_TRY(emit(cut, piece, start, at));
            start = at;
            has_start = true;
        }
        last = script;
        has_last = true;
    }
    return has_start ? emit(cut, piece, start, piece.text.len) : TB_OK;
}

static tb_status cut_metaspace(struct cut cut,
                               const struct tb_pretokenizer_step *step,
                               struct piece piece)
{
    TB_TRY(replace_spaces(cut, step, &piece));
    if (!step->is_splitting)
        return cut_piece(cut, piece);
    return cut_by_pattern(cut, step, piece, TB_SPLIT_MERGED_WITH_NEXT);
}

static tb_status cut_piece(struct cut cut, struct piece piece)
{
    if (cut.step == cut.pretokenizer->step_count)
        return cut.on_word(cut.context, piece.text);
    const struct tb_pretokenizer_step *step =
        &cut.pretokenizer->steps[cut.step++];
    if (step->has_prefix_space)
        TB_TRY(add_prefix_space(cut, &piece));
    switch (step->kind) {
    case TB_CUT_BYTE_LEVEL:
        TB_TRY(spell_bytes(cut, &piece));
        return cut_piece(cut, piece);
    case TB_CUT_METASPACE:
        return cut_metaspace(cut, step, piece);
    case TB_CUT_SCRIPTS:
        return cut_at_scripts(cut, piece);
    case TB_CUT_LENGTH:
        return cut_at_lengths(cut, piece, step->length);
    case TB_CUT_PATTERN:
    default:
        break;
    }
    if (!step->scan && !step->regex && step->literal.len == 0)
        return cut_piece(cut, piece);
    if (is_plain(step))
        return cut_gapless(cut, step->scan, piece);
    return cut_by_pattern(cut, step, piece, step->behavior);
}

tb_status tb_pretokenizer_split(const struct tb_pretokenizer *pretokenizer,
                                struct tb_span text, size_t origin_len,
                                struct tb_pretokenizer_work *work,
                                tb_word_fn on_word, void *context)
{
    struct cut cut = {pretokenizer, 0, work, on_word, context};
    struct piece piece = {text, origin_len};
    return text.len ? cut_piece(cut, piece) : TB_OK;
}

/* ---- what a chain is like
 * ------------------------------------------------------
 */

/* A step that looks at neither a space nor what is beyond one. */
static bool is_isolating(const struct tb_pretokenizer_step *step)
{
    return step->kind == TB_CUT_PATTERN && step->scan &&
           step->behavior == TB_SPLIT_ISOLATED && !step->is_inverted &&
           !step->has_prefix_space;
}

/* Steps one after the other that are known as one scanner. */
static const struct chain {
    tb_pattern_scan steps[3];
    size_t step_count;
    tb_pattern_cut cut;
} chains[] = {
    {{tb_pattern_scan_digits3, tb_pattern_scan_cjk, tb_pattern_scan_deepseek},
     3,
     tb_pattern_cut_deepseek_chain},
    {{tb_scan_numeric, tb_pattern_scan_gpt2}, 2, tb_pattern_cut_digits_gpt2},
};

static bool is_chain(const struct tb_pretokenizer *pretokenizer,
                     const struct chain *chain)
{
    bool is_it = pretokenizer->step_count == chain->step_count;
    for (size_t i = 0; i < chain->step_count && is_it; i++)
        is_it = is_isolating(&pretokenizer->steps[i]) &&
                pretokenizer->steps[i].scan == chain->steps[i];
    return is_it;
}

tb_pattern_cut
tb_pretokenizer_only_cut(const struct tb_pretokenizer *pretokenizer)
{
    const struct tb_pretokenizer_step *step = &pretokenizer->steps[0];
    for (size_t i = 0; i < sizeof(chains) / sizeof(chains[0]); i++)
        if (is_chain(pretokenizer, &chains[i]))
            return chains[i].cut;
    bool is_only = pretokenizer->step_count == 1 && !step->has_prefix_space;
    return is_only && is_plain(step) ? tb_pattern_cut_of(step->scan) : NULL;
}

/* Is there a border at each safe place, whatever the piece? */
static bool is_border_step(const struct tb_pretokenizer_step *step)
{
    if (step->kind != TB_CUT_PATTERN || !step->scan || step->has_prefix_space)
        return false;
    if (step->scan == tb_scan_white_space)
        return !step->is_inverted && (step->behavior == TB_SPLIT_ISOLATED ||
                                      step->behavior == TB_SPLIT_REMOVED);
    if (step->scan == tb_scan_words)
        return step->is_inverted && step->behavior == TB_SPLIT_REMOVED;
    return !step->has_gaps && is_whole(step) &&
           tb_pattern_is_border_at_space(step->scan);
}

bool tb_pretokenizer_is_local(const struct tb_pretokenizer *pretokenizer)
{
    bool has_border = false;
    for (size_t i = 0; i < pretokenizer->step_count; i++) {
        const struct tb_pretokenizer_step *step = &pretokenizer->steps[i];
        bool is_metaspace = step->kind == TB_CUT_METASPACE;
        // As the first step it puts nothing before a space. Further on, pieces
        // may begin with anything.
        if (is_metaspace && i > 0 && step->scheme == TB_PREPEND_FIRST)
            return false;
        if (is_border_step(step) ||
            (is_metaspace && i == 0 && step->is_splitting))
            has_border = true;
        else if (!has_border && !is_isolating(step))
            return false;
    }
    return has_border;
}

bool tb_pretokenizer_cuts_before_spaces(
    const struct tb_pretokenizer *pretokenizer, struct tb_span mark)
{
    const struct tb_pretokenizer_step *step = &pretokenizer->steps[0];
    if (!tb_pretokenizer_is_local(pretokenizer))
        return false;
    if (step->kind == TB_CUT_METASPACE)
        return mark.len == 0 || tb_span_equal(step->literal, mark);
    return mark.len == 0 &&
           (step->scan == tb_scan_white_space || step->scan == tb_scan_words);
}

bool tb_pretokenizer_cuts_at_spaces_only(
    const struct tb_pretokenizer *pretokenizer)
{
    for (size_t i = 0; i < pretokenizer->step_count; i++) {
        const struct tb_pretokenizer_step *step = &pretokenizer->steps[i];
        if (step->kind != TB_CUT_PATTERN || step->scan || step->regex ||
            step->is_inverted || step->has_prefix_space ||
            !tb_span_equal(step->literal, TB_SPAN(" ")))
            return false;
    }
    return true;
}

bool tb_pretokenizer_escapes_spaces(const struct tb_pretokenizer *pretokenizer,
                                    struct tb_span escaped)
{
    const struct tb_pretokenizer_step *step = &pretokenizer->steps[0];
    return pretokenizer->step_count == 1 && step->kind == TB_CUT_METASPACE &&
           !step->is_splitting && tb_span_equal(step->literal, escaped);
}

bool tb_pretokenizer_has_regex(const struct tb_pretokenizer *pretokenizer)
{
    for (size_t i = 0; i < pretokenizer->step_count; i++)
        if (pretokenizer->steps[i].regex)
            return true;
    return false;
}

void tb_pretokenizer_release(struct tb_pretokenizer *pretokenizer)
{
    for (size_t i = 0; i < pretokenizer->step_count; i++)
        tb_regex_free(pretokenizer->steps[i].regex);
    pretokenizer->step_count = 0;
}

void tb_pretokenizer_work_init(struct tb_pretokenizer_work *work)
{
    for (size_t i = 0; i < TB_PRETOKENIZER_MAX_STEPS; i++)
        work->texts[i] = TB_BUFFER(UINT32_MAX);
    work->region = NULL;
}

void tb_pretokenizer_work_release(struct tb_pretokenizer_work *work)
{
    for (size_t i = 0; i < TB_PRETOKENIZER_MAX_STEPS; i++)
        tb_buffer_release(&work->texts[i]);
}
