/* What meta files say of rows: what one holds, and how many there are. */
#ifndef TB_META_ROWS_H
#define TB_META_ROWS_H

#include "json_form.h"
#include "stats.h"

struct tb_meta_counts {
    uint64_t sessions, rows, input_tokens, output_tokens;
};

/* Puts the members of the object "counts". */
void tb_meta_counts_put(struct tb_json_form *form,
                        const struct tb_meta_counts *counts);

/* Puts "prompt" and "explanation". */
void tb_meta_rows_put(struct tb_json_form *form, tb_rows rows);

#endif
