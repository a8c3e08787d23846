/* One pass over a tokenizer that writes its compiled form, or takes it from
 * one: each part is named once, for both directions.
 *
 *     tb_form_carry(form, &count, sizeof(count));
 *     items = tb_form_table(form, items, count, sizeof(*items));
 *
 * Writing leaves what it is given as it is. Reading gives pointers into the
 * mapped file, which nobody writes to. What fails is seen at the end, in
 * `status`; until then everything that is read is zero.
 *
 * Private to compiled.c and compiled_parts.c.
 */
#ifndef TB_COMPILED_FORM_H
#define TB_COMPILED_FORM_H

#include "tokenizer_model.h"

/* When writing, long tables are not copied but pointed to: parts of the form
 * lie one behind the other in `out`, or are borrowed. */
enum { TB_FORM_PARTS = 64 };

struct tb_form_part {
    const uint8_t *borrowed; /* NULL: the next bytes of `out` */
    size_t len;
};

struct tb_compiled_form {
    struct tb_buffer out; /* when writing */
    struct tb_form_part parts[TB_FORM_PARTS];
    size_t part_count;
    size_t len;        /* of what is in front of the parts, and of them */
    struct tb_span in; /* when reading */
    size_t at;         /* in `in` */
    bool is_reading;
    tb_status status; /* TB_ERR_SYNTAX: what is read is no such form */
};

/* A value as it lies in memory; its bytes must all mean something. */
void tb_form_carry(struct tb_compiled_form *form, void *value, size_t len);

#define TB_CARRY(form, value) tb_form_carry(form, &(value), sizeof(value))

/* A number of items, of which there may be up to `most`. */
void tb_form_count(struct tb_compiled_form *form, size_t *count, size_t most);

/* A table, on a border of 16 bytes. Returns where it lies. */
void *tb_form_table(struct tb_compiled_form *form, const void *items,
                    size_t count, size_t size);

void tb_form_text(struct tb_compiled_form *form, struct tb_span *text);

/* What was written, in order; returns how many parts. They live as long as the
 * form is not written to, and what it was made of. */
size_t tb_form_parts(const struct tb_compiled_form *form,
                     struct tb_span parts[TB_FORM_PARTS]);

/* Notes that what was read makes no sense. */
void tb_form_refuse(struct tb_compiled_form *form);

/* All of a tokenizer but its origin. */
void tb_form_tokenizer(struct tb_compiled_form *form,
                       struct tb_tokenizer *tokenizer);

#endif
