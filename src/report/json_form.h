/* JSON documents for people and programs: objects and lists with keys, on one
 * line or indented. Remembers the first failure, so that a document is written
 * without a look at each step:
 *
 *     struct tb_json_form form = tb_json_form_on(&buffer, true);
 *     tb_json_form_open(&form, NULL, '{');
 *     tb_json_form_number(&form, "rows", 3);
 *     tb_json_form_close(&form, '}');
 *     return form.status;
 */
#ifndef TB_JSON_FORM_H
#define TB_JSON_FORM_H

#include "json_reader.h"

struct tb_json_form {
    struct tb_buffer *buffer; /* borrowed */
    bool is_indented;
    bool is_first; /* nothing stands in the innermost object or list */
    unsigned depth;
    tb_status status; /* the first failure, or TB_OK */
};

struct tb_json_form tb_json_form_on(struct tb_buffer *buffer, bool is_indented);

/* `key` is NULL in a list and for the document itself. */
void tb_json_form_open(struct tb_json_form *form, const char *key,
                       char bracket);
void tb_json_form_close(struct tb_json_form *form, char bracket);
void tb_json_form_number(struct tb_json_form *form, const char *key,
                         uint64_t value);
/* With at most six digits behind the point. `value` is finite. */
void tb_json_form_real(struct tb_json_form *form, const char *key,
                       double value);
/* With as many digits as bring the number back, at least one behind the point
 * and no exponent. `value` is finite. */
void tb_json_form_exact(struct tb_json_form *form, const char *key,
                        double value);
void tb_json_form_null(struct tb_json_form *form, const char *key);
void tb_json_form_bool(struct tb_json_form *form, const char *key, bool value);
void tb_json_form_text(struct tb_json_form *form, const char *key,
                       struct tb_span value);
/* The next value of `reader`, whatever it is. `arena` holds its texts
 * meanwhile. What cannot be read is the form's failure. */
void tb_json_form_copy(struct tb_json_form *form, const char *key,
                       struct tb_json_reader *reader, struct tb_arena *arena);
/* The same behind a key as tb_json_next_key gives it. */
tb_status tb_json_form_copy_member(struct tb_json_form *form,
                                   struct tb_span key,
                                   struct tb_json_reader *reader,
                                   struct tb_arena *arena);

#endif
