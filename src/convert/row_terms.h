/* On what terms calls became rows: all that is told to a conversion and makes
 * other rows of the same calls, but for what has a key of its own in the meta
 * file. Rows that were converted apart can be those of one run when these are
 * the same. */
#ifndef TB_ROW_TERMS_H
#define TB_ROW_TERMS_H

#include "convert.h"

/* Appends one JSON object. `templates` are those that were used. TB_ERR_MEMORY.
 */
TB_NODISCARD tb_status tb_row_terms_json(
    const struct tb_convert_options *options,
    const struct tb_chat_template_set *templates, struct tb_buffer *text);

#endif
