/* How values are spread: count, least, mean, median, p90, p99 and most of a
 * tally, as a line of a table and as JSON. Sorts the tally. */
#ifndef TB_TALLY_FORM_H
#define TB_TALLY_FORM_H

#include "json_form.h"
#include "tally.h"
#include "text_page.h"

/* An object: count, min, mean, p50, p90, p99, max. */
void tb_tally_put_json(struct tb_json_form *form, const char *key,
                       struct tb_tally *tally);

/* The head of a table, and a line of it; no line for an empty tally. */
void tb_tally_put_columns(struct tb_page *page, const char *title);
void tb_tally_put_line(struct tb_page *page, const char *name,
                       struct tb_tally *tally);

/* A line of milliseconds; in seconds where they are too many for a column. */
void tb_tally_put_times(struct tb_page *page, const char *name,
                        struct tb_tally *tally);

#endif
