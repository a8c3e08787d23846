/* When a row is sent: its delay behind the turn before, and its timestamp,
 * from the times of the trace. A timestamp is the difference of two times that
 * were rounded, so that it can be counted from another origin later. One
 * thread. */
#ifndef TB_ROW_TIME_H
#define TB_ROW_TIME_H

#include "convert.h"
#include "mooncake_row.h"

struct tb_row_time {
    struct tb_row_form form;
    struct tb_stats *stats; /* borrowed: gaps that are not known, early calls */
    double origin_s;        /* timestamp 0; NAN: not known yet */
    bool is_absolute;       /* timestamps are since 1970 */
};

/* Gives the row the gap between the end of the turn before (seconds since
 * 1970, NAN: not known) and the start of its call. A first turn has none. */
void tb_row_time_set_delay(struct tb_row_time *time, const struct tb_call *call,
                           bool is_first, double end_before_s,
                           struct tb_mooncake_row *row);

/* Gives the row the time of its call's start, if rows of its kind have one. */
void tb_row_time_set_timestamp(struct tb_row_time *time,
                               const struct tb_call *call, bool is_first,
                               struct tb_mooncake_row *row);

/* Have rows timestamps? Then `*first_ms` is the origin, since 1970. */
bool tb_row_time_first(const struct tb_row_time *time, uint64_t *first_ms);

#endif
