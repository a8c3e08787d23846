/* The `normalizer` of a tokenizer.json: a chain of changes to the text before
 * it is cut into words. Sequences in it lie in the chain one by one. */
#ifndef TB_NORMALIZER_H
#define TB_NORMALIZER_H

#include "charsmap.h"
#include "normalize.h"
#include "regex.h"

enum { TB_NORMALIZER_MAX_STEPS = 32 };

typedef enum tb_normalizer_kind {
    TB_NORMALIZER_FORM,    /* one of Unicode's normal forms */
    TB_NORMALIZER_PREPEND, /* `content` before a text that is not empty */
    TB_NORMALIZER_REPLACE, /* each `pattern` or match becomes `content` */
    TB_NORMALIZER_NMT,
    TB_NORMALIZER_LOWERCASE,
    TB_NORMALIZER_STRIP,         /* white space at the ends */
    TB_NORMALIZER_STRIP_ACCENTS, /* combining marks */
    TB_NORMALIZER_BERT_CLEAN,
    TB_NORMALIZER_BERT_CHINESE, /* spaces around ideographs */
    TB_NORMALIZER_BERT_ACCENTS, /* without NFD, which is a step before it */
    TB_NORMALIZER_BYTE_LEVEL,   /* bytes to GPT-2's alphabet */
    TB_NORMALIZER_CHARSMAP,     /* Precompiled */
} tb_normalizer_kind;

struct tb_normalizer_step {
    tb_normalizer_kind kind;
    enum tb_normal_form form;
    struct tb_span pattern, content; /* in the arena of who loaded it */
    struct tb_regex *regex;          /* NULL: `pattern` is a text */
    struct tb_charsmap charsmap;
    bool is_stripping_left, is_stripping_right;
};

struct tb_normalizer {
    struct tb_normalizer_step steps[TB_NORMALIZER_MAX_STEPS];
    size_t step_count;
};

/* Applies all steps to `*text`. When they change anything, `*text` then lies
 * in one of the two `scratch` buffers. `*origin_len` is how many of its first
 * bytes stand for the first character of the whole text (Metaspace asks), and
 * is kept up. Nothing is put before a text that `is_rest`: one that goes on
 * where a text was cut. `region` may be NULL when no step has a regex. */
TB_NODISCARD tb_status tb_normalizer_apply(
    const struct tb_normalizer *normalizer, struct tb_regex_region *region,
    bool is_rest, struct tb_buffer scratch[2], struct tb_span *text,
    size_t *origin_len);

/* Is a place that tb_safe_cut_after (safe_cut.h) finds one that no step looks
 * across? */
bool tb_normalizer_is_local(const struct tb_normalizer *normalizer);

/* The same, but that what stands beside the space may change: in front into
 * other ASCII signs, behind into anything. `*is_escaping`: the last step makes
 * `escaped` of several spaces. */
bool tb_normalizer_keeps_words(const struct tb_normalizer *normalizer,
                               struct tb_span escaped, bool *is_escaping);

/* The same for a chain that makes `escaped` of every space, where the rest of a
 * text is normalised as such. `*is_prepending`: something comes before a text
 * that is no rest. */
bool tb_normalizer_escapes_spaces(const struct tb_normalizer *normalizer,
                                  struct tb_span escaped, bool *is_prepending);

bool tb_normalizer_has_regex(const struct tb_normalizer *normalizer);

void tb_normalizer_release(struct tb_normalizer *normalizer);

#endif
