/* Load over time: what started when, in bins of one width, as narrow as lets
 * all of the trace be in TB_TIME_BINS of them. Bins are at multiples of their
 * width, a power of two; when a time has no place, neighbours become one. So
 * what comes out is exact, and the same for any order of times.
 *
 *     tb_time_bins_add(&bins, row.time_ms, &(struct tb_time_bin){...});
 *     tb_time_bins_open(&bins, first_ms, last_ms);   // behind the last add
 *     tb_time_bins_finish(&bins);
 *
 * One thread at a time. Zero-initialised is empty and ready; owns no memory.
 */
#ifndef TB_TIME_BINS_H
#define TB_TIME_BINS_H

#include <stdint.h>

enum { TB_TIME_BINS = 512 };

struct tb_time_bin {
    uint64_t row_count;
    uint64_t prompt_tokens;
    uint64_t fresh_tokens;  /* that an infinite cache does not have */
    uint64_t session_count; /* of one row, which started here; once finished
                               all that had begun and not ended before */
};

struct tb_time_bins {
    double width_ms; /* 0: nothing was added */
    double first;    /* bin 0 begins at first x width_ms */
    uint32_t count;  /* from the first that has something to the last */
    struct tb_time_bin items[TB_TIME_BINS];
    uint64_t changes[TB_TIME_BINS]; /* sessions that begin in a bin less those
                                       that ended before it, wrapping */
};

/* Adds what starts at `ms`, which is finite. */
void tb_time_bins_add(struct tb_time_bins *bins, double ms,
                      const struct tb_time_bin *what);

/* A session has rows from `first_ms` to `last_ms`, both added before. No add
 * may follow. */
void tb_time_bins_open(struct tb_time_bins *bins, double first_ms,
                       double last_ms);

/* Behind the last tb_time_bins_open, once. */
void tb_time_bins_finish(struct tb_time_bins *bins);

#endif
