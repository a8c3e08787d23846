/* Rows as nearly all are written: an object of texts without escapes, plain
 * numbers and a list of plain ids, with nothing but spaces between. They are
 * most of a file, and read in one go; whoever reads them reads any other the
 * long way (mooncake_record.h), and gets the same where both can.
 */
#ifndef TB_PLAIN_ROW_H
#define TB_PLAIN_ROW_H

#include "mooncake_record.h"

/* Fills an empty record. False when anything else is in the line, right or
 * wrong, or a key twice, or out of memory; the record holds nothing of use
 * then. Spans borrow from `line`. */
bool tb_plain_row_read(struct tb_span line, struct tb_mooncake_record *record);

/* Reads the ids of a list that `text` begins with, of at least one plain number
 * below 2^64. `*len` is how many bytes it is, or 0 when it is anything else.
 * TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_plain_ids_read(struct tb_span text,
                                         struct tb_mooncake_record *record,
                                         size_t *len);

#endif
