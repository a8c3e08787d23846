/* A row as the figures see it (trace_analysis.h), of the row as it is read. */
#ifndef TB_TRACE_ROW_H
#define TB_TRACE_ROW_H

#include "mooncake_record.h"
#include "trace_analysis.h"

/* False for a row without a length, of which there are no figures. `row`
 * borrows from `record`. */
bool tb_trace_row_read(const struct tb_mooncake_record *record,
                       struct tb_trace_row *row);

#endif
