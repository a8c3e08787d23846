/* What filters share with the methods of strings. Private to this layer. */
#ifndef TB_TEXT_METHOD_H
#define TB_TEXT_METHOD_H

#include "jinja_eval.h"
#include "text.h"

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

/* islower() and isupper(). */
bool tb_text_is_cased(struct tb_span text, bool is_upper);

#endif
