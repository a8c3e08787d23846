/* Cutting a text into the words that are encoded one by one: the
 * `pre_tokenizer` of a tokenizer.json as a chain of steps, each of which cuts
 * every piece that the one before it left.
 */
#ifndef TB_PRETOKENIZER_H
#define TB_PRETOKENIZER_H

#include "buffer.h"
#include "pattern.h"

enum { TB_PRETOKENIZER_MAX_STEPS = 8 };

/* What happens to the matches of a step's pattern. */
typedef enum tb_split_behavior {
    TB_SPLIT_ISOLATED, /* matches and what lies between are pieces */
    TB_SPLIT_REMOVED,  /* only what lies between is */
    TB_SPLIT_MERGED_WITH_PREVIOUS,
    TB_SPLIT_MERGED_WITH_NEXT,
    TB_SPLIT_CONTIGUOUS, /* isolated, neighbouring matches as one */
} tb_split_behavior;

struct tb_pretokenizer_step {
    tb_pattern_scan scan;   /* NULL: `literal` is the pattern */
    struct tb_span literal; /* in the arena of who loaded it; not empty when
                               it is used */
    tb_split_behavior behavior;
    bool is_inverted;      /* what lies between counts as matched */
    bool has_prefix_space; /* a space goes before a piece without one */
};

struct tb_pretokenizer {
    struct tb_pretokenizer_step steps[TB_PRETOKENIZER_MAX_STEPS];
    size_t step_count;
};

/* Takes one word; any status but TB_OK stops the cutting. */
typedef tb_status (*tb_word_fn)(void *context, struct tb_span word);

/* Cuts `text` and gives the words, none of them empty, in order. `scratch` is
 * room for texts that a step changes; its content is not kept. */
TB_NODISCARD tb_status tb_pretokenizer_split(
    const struct tb_pretokenizer *pretokenizer, struct tb_span text,
    struct tb_buffer *scratch, tb_word_fn on_word, void *context);

/* The scanner whose matches, one behind the other, are the words, when that is
 * all there is to do; else NULL. */
tb_pattern_scan
tb_pretokenizer_only_scan(const struct tb_pretokenizer *pretokenizer);

#endif
