/* The methods of strings, by kind, and what filters share with them. Private
 * to this layer. */
#ifndef TB_TEXT_METHOD_H
#define TB_TEXT_METHOD_H

#include "jinja_eval.h"
#include "text.h"

struct tb_text_method {
    const char *name; /* NULL ends a table */
    tb_status (*call)(struct tb_render *run, struct tb_span text,
                      const struct tb_given *given, struct tb_value *value);
};

extern const struct tb_text_method tb_text_letter_methods[];
extern const struct tb_text_method tb_text_search_methods[];
extern const struct tb_text_method tb_text_split_methods[];
extern const struct tb_text_method tb_text_strip_methods[];

/* The answer of the is...() method `name`; false when there is none. */
bool tb_text_answer(struct tb_span name, struct tb_span text, bool *result);

/* Fails as Python does when an argument is no string. */
TB_NODISCARD tb_status tb_text_want(struct tb_render *run,
                                    const struct tb_value *value,
                                    struct tb_span *text);

/* Was an argument that may be left out left out? */
bool tb_text_is_absent(const struct tb_value *value);

/* As tb_given_bind, for methods that take nothing by name. */
TB_NODISCARD tb_status tb_text_bind(struct tb_render *run,
                                    const struct tb_given *given,
                                    const char *names, size_t min,
                                    struct tb_value *values);

/* Where `part` stands last, SIZE_MAX: nowhere; counted as the steps that it
 * takes, since each place that is looked at may take all of `part`. */
TB_NODISCARD tb_status tb_text_scan_last(struct tb_render *run,
                                         struct tb_span text,
                                         struct tb_span part, size_t *hit);

/* Writes all of `text` in the case. */
TB_NODISCARD tb_status tb_text_write_case(struct tb_render *run,
                                          struct tb_span text, tb_text_case to);

/* The first character in title case, the others lower, as str.capitalize. */
TB_NODISCARD tb_status tb_text_write_capitalized(struct tb_render *run,
                                                 struct tb_span text);

/* replace(); negative `count`: all. */
TB_NODISCARD tb_status tb_text_replace(struct tb_render *run,
                                       struct tb_span text, struct tb_span from,
                                       struct tb_span to, int64_t count,
                                       struct tb_value *value);

/* center(), ljust() and rjust() to `width` code points. */
typedef enum tb_text_side {
    TB_SIDE_LEFT, /* where the text goes */
    TB_SIDE_RIGHT,
    TB_SIDE_CENTER,
} tb_text_side;

TB_NODISCARD tb_status tb_text_pad(struct tb_render *run, struct tb_span text,
                                   int64_t width, struct tb_span fill,
                                   tb_text_side side, struct tb_value *value);

/* Is it a letter of upper, lower or title case? */
bool tb_text_has_case(uint32_t cp);

/* islower() and isupper(). */
bool tb_text_is_cased(struct tb_span text, bool is_upper);

#endif
