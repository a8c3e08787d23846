/* Which tokenizer a run takes: the one that was asked for, else by the first
 * model in the trace whose tokenizer is known, else the dialect's default.
 *
 *     struct tb_tokenizer_choice choice = {.dialect = .., .name = asked_for};
 *     while (!choice.name && ...)
 *         tb_tokenizer_choice_look(&choice, record);
 *     if (!choice.name)
 *         tb_tokenizer_choice_default(&choice);
 */
#ifndef TB_TOKENIZER_CHOICE_H
#define TB_TOKENIZER_CHOICE_H

#include "trace.h"

struct tb_tokenizer_choice {
    tb_dialect_id dialect;
    const char *name; /* NULL: not decided yet */
    char reason[160]; /* in words, for a name that nobody asked for */
    /* private */
    char model[128]; /* the first that is recorded */
    struct tb_arena scratch;
};

/* Looks for a model in a record. One that is broken has none: it is told of
 * when it is parsed. */
void tb_tokenizer_choice_look(struct tb_tokenizer_choice *choice,
                              struct tb_span record);

/* Decides without one. */
void tb_tokenizer_choice_default(struct tb_tokenizer_choice *choice);

void tb_tokenizer_choice_release(struct tb_tokenizer_choice *choice);

#endif
