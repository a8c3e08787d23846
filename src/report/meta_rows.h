/* What the meta file says of what a row holds. */
#ifndef TB_META_ROWS_H
#define TB_META_ROWS_H

#include "json_form.h"
#include "stats.h"

/* Puts "prompt" and "explanation". */
void tb_meta_rows_put(struct tb_json_form *form, tb_rows rows);

#endif
