/* How often each value came: percentiles that are exact, in memory for the
 * distinct values only, since lengths repeat. Values that lie close together
 * from 0 on have a place each once they are many: an eighth of the memory that
 * a table takes, so that caches hold them. One thread at a time;
 * zero-initialised is empty and ready. */
#ifndef TB_TALLY_H
#define TB_TALLY_H

#include "status.h"

struct tb_tally_entry {
    uint64_t value;
    uint64_t count; /* 0: a free slot */
};

struct tb_tally {
    uint64_t *near_counts; /* of the values below near_len, and NULL for none */
    size_t near_len;
    struct tb_tally_entry *entries; /* of the others; open addressing; in order
                                       of values, and without free slots, once
                                       is_sorted */
    size_t slot_count, entry_count;
    size_t value_count; /* distinct values */
    uint64_t count;     /* of all values that came */
    double sum;
    bool is_sorted;
};

/* Not after a percentile was asked for. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_tally_add(struct tb_tally *tally, uint64_t value);

/* `value` will be added soon: its place is fetched from memory meanwhile. */
void tb_tally_expect(const struct tb_tally *tally, uint64_t value);

/* Adds all that came to `other`, which is not sorted yet. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_tally_merge(struct tb_tally *tally,
                                      const struct tb_tally *other);

/* The smallest value that at least `fraction` (0..1) of all values do not
 * exceed; 0 when empty. Sorts on first use. */
uint64_t tb_tally_percentile(struct tb_tally *tally, double fraction);

/* The values that came, one after the other, in their order once a percentile
 * was asked for: `*at` is 0 at first; a count of 0 is behind the last. */
struct tb_tally_entry tb_tally_next(const struct tb_tally *tally, size_t *at);

double tb_tally_mean(const struct tb_tally *tally);

void tb_tally_release(struct tb_tally *tally);

#endif
