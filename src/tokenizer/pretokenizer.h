/* Cutting a text into the words that are encoded one by one: the
 * `pre_tokenizer` of a tokenizer.json as a chain of steps, each of which cuts
 * every piece that the one before it left. Sequences lie in it one by one.
 */
#ifndef TB_PRETOKENIZER_H
#define TB_PRETOKENIZER_H

#include "buffer.h"
#include "pattern.h"
#include "regex.h"

enum { TB_PRETOKENIZER_MAX_STEPS = 16 };

/* What happens to the matches of a step's pattern. */
typedef enum tb_split_behavior {
    TB_SPLIT_ISOLATED, /* matches and what lies between are pieces */
    TB_SPLIT_REMOVED,  /* only what lies between is */
    TB_SPLIT_MERGED_WITH_PREVIOUS,
    TB_SPLIT_MERGED_WITH_NEXT,
    TB_SPLIT_CONTIGUOUS, /* isolated, neighbouring matches as one */
} tb_split_behavior;

typedef enum tb_cut_kind {
    TB_CUT_PATTERN,    /* at the matches of `scan`, `regex` or `literal` */
    TB_CUT_BYTE_LEVEL, /* not at all; bytes become GPT-2's alphabet */
    TB_CUT_METASPACE,  /* spaces become `literal`, a cut before each */
    TB_CUT_SCRIPTS,    /* where the script changes */
    TB_CUT_LENGTH,     /* after every `length` characters */
} tb_cut_kind;

typedef enum tb_prepend_scheme {
    TB_PREPEND_ALWAYS,
    TB_PREPEND_FIRST, /* only where the whole text begins */
    TB_PREPEND_NEVER,
} tb_prepend_scheme;

struct tb_pretokenizer_step {
    tb_pattern_scan scan;   /* NULL: `regex` or `literal` is the pattern */
    struct tb_span literal; /* in the arena of who loaded it; empty, with no
                               `scan` and no `regex`: no cut */
    tb_split_behavior behavior;
    bool is_inverted;      /* what lies between counts as matched */
    bool has_prefix_space; /* a space goes before a piece without one */
    bool has_gaps;         /* `scan` matches one kind of character only */
    tb_cut_kind kind;
    struct tb_regex *regex;
    tb_prepend_scheme scheme; /* of Metaspace */
    bool is_splitting;        /* Metaspace: cut at all? */
    size_t length;            /* characters */
};

struct tb_pretokenizer {
    struct tb_pretokenizer_step steps[TB_PRETOKENIZER_MAX_STEPS];
    size_t step_count;
};

/* Room to work in, one per thread: for each step the text that it changed.
 * Zero-initialised is empty and ready; `region` is the caller's. */
struct tb_pretokenizer_work {
    struct tb_buffer texts[TB_PRETOKENIZER_MAX_STEPS];
    struct tb_regex_region *region; /* NULL when no step has a regex */
};

void tb_pretokenizer_work_init(struct tb_pretokenizer_work *work);
void tb_pretokenizer_work_release(struct tb_pretokenizer_work *work);

/* Takes one word; any status but TB_OK stops the cutting. */
typedef tb_status (*tb_word_fn)(void *context, struct tb_span word);

/* Cuts `text`, of which `origin_len` bytes stand for the first character of
 * the whole text, and gives the words, none of them empty, in order. */
TB_NODISCARD tb_status tb_pretokenizer_split(
    const struct tb_pretokenizer *pretokenizer, struct tb_span text,
    size_t origin_len, struct tb_pretokenizer_work *work, tb_word_fn on_word,
    void *context);

/* What gives the words, one behind the other, when finding the matches of one
 * pattern is all there is to do; else NULL. */
tb_pattern_cut
tb_pretokenizer_only_cut(const struct tb_pretokenizer *pretokenizer);

/* Is a place that tb_safe_cut_after (safe_cut.h) finds always between two
 * words, wherever the text begins? */
bool tb_pretokenizer_is_local(const struct tb_pretokenizer *pretokenizer);

/* The same for any place before a space, whatever stands beside it. `mark` is
 * such a space too, unless it is empty. */
bool tb_pretokenizer_cuts_before_spaces(
    const struct tb_pretokenizer *pretokenizer, struct tb_span mark);

/* Is a text without spaces one word? */
bool tb_pretokenizer_cuts_at_spaces_only(
    const struct tb_pretokenizer *pretokenizer);

/* Is a text one word, in which `escaped` stands for each space, and nothing
 * before one that begins with a space? */
bool tb_pretokenizer_escapes_spaces(const struct tb_pretokenizer *pretokenizer,
                                    struct tb_span escaped);

bool tb_pretokenizer_has_regex(const struct tb_pretokenizer *pretokenizer);

void tb_pretokenizer_release(struct tb_pretokenizer *pretokenizer);

/* Scanners that match one character of a kind: white space (as Rust has it),
 * punctuation, numbers; and the runs of Whitespace's \w+|[^\w\s]+. */
size_t tb_scan_white_space(struct tb_span text, size_t at);
size_t tb_scan_punctuation(struct tb_span text, size_t at);
size_t tb_scan_numeric(struct tb_span text, size_t at);
size_t tb_scan_words(struct tb_span text, size_t at);

#endif
