/* How many calls were in flight, over time: from their starts and ends, in
 * bins of one width, as narrow as lets all of them be in TB_FLIGHT_BINS. A bin
 * tells the least and the most that there were at once in it and how long all
 * of them together lasted, so that no peak is lost however wide it is.
 *
 *     struct tb_in_flight flight;
 *     tb_in_flight_count(&flight, starts_us, ends_us, count);
 *
 * Owns no memory; one thread.
 */
#ifndef TB_IN_FLIGHT_H
#define TB_IN_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TB_FLIGHT_BINS = 512 };

struct tb_flight_bin {
    uint64_t least, most; /* calls at once, for however short a time */
    double busy_us;       /* sum of what each call lasted in the bin */
};

struct tb_in_flight {
    uint64_t width_ms; /* of a bin, a power of two; 0: there are no calls */
    uint32_t count;    /* bins from time 0 to the last end */
    uint64_t most;     /* at once, in all */
    double busy_us;    /* sum of what all calls lasted */
    uint64_t span_us;  /* from time 0 to the last end */
    struct tb_flight_bin bins[TB_FLIGHT_BINS];
};

/* Call i lasts from starts_us[i] up to ends_us[i], which is later and below
 * 2^62. Sorts both lists, each by itself. */
void tb_in_flight_count(struct tb_in_flight *flight, uint64_t *starts_us,
                        uint64_t *ends_us, size_t count);

#endif
