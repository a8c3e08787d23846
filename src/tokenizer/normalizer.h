/* The `normalizer` of a tokenizer.json: a chain of changes to the text before
 * it is cut into words. */
#ifndef TB_NORMALIZER_H
#define TB_NORMALIZER_H

#include "buffer.h"
#include "normalize.h"

enum { TB_NORMALIZER_MAX_STEPS = 8 };

typedef enum tb_normalizer_kind {
    TB_NORMALIZER_FORM,    /* one of Unicode's normal forms */
    TB_NORMALIZER_PREPEND, /* `content` before a text that is not empty */
    TB_NORMALIZER_REPLACE, /* each `pattern` becomes `content` */
} tb_normalizer_kind;

struct tb_normalizer_step {
    tb_normalizer_kind kind;
    enum tb_normal_form form;
    struct tb_span pattern, content; /* in the arena of who loaded it */
};

struct tb_normalizer {
    struct tb_normalizer_step steps[TB_NORMALIZER_MAX_STEPS];
    size_t step_count;
};

/* Applies all steps to `*text`. When they change anything, `*text` then lies
 * in one of the two `scratch` buffers. */
TB_NODISCARD tb_status
tb_normalizer_apply(const struct tb_normalizer *normalizer,
                    struct tb_buffer scratch[2], struct tb_span *text);

#endif
