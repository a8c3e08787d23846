/* JSON as values, and values as JSON. Private to this layer. */
#ifndef TB_JSON_VALUE_H
#define TB_JSON_VALUE_H

#include "render.h"

/* What json.loads makes of `json`, which must outlive the value: strings
 * without escapes borrow from it. TB_ERR_SYNTAX, TB_ERR_CUT, TB_ERR_LIMIT
 * (deeper than TB_RENDER_MAX_VALUE_DEPTH), TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_json_value_read(struct tb_render *run,
                                          struct tb_span json,
                                          struct tb_value *value);

struct tb_json_style {
    bool is_ascii;          /* \uXXXX for what is not */
    bool is_sorted;         /* keys in order */
    bool is_indented;       /* one item a line */
    struct tb_span indent;  /* per level */
    struct tb_span between; /* items */
    struct tb_span colon;
};

/* Writes what json.dumps makes of `value`. TB_ERR_VALUE for what has no
 * JSON. */
TB_NODISCARD tb_status tb_json_value_write(struct tb_render *run,
                                           const struct tb_value *value,
                                           const struct tb_json_style *style);

#endif
