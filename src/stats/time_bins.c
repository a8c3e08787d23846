#include "time_bins.h"

#include <math.h>

static const double LEAST_MS = 1; // what times of rows are told to

static void put_together(struct tb_time_bin *bin,
                         const struct tb_time_bin *other)
{
    bin->row_count += other->row_count;
    bin->prompt_tokens += other->prompt_tokens;
    bin->fresh_tokens += other->fresh_tokens;
    bin->session_count += other->session_count;
}

/* Two neighbours become one. Numbers of bins beyond 2^53 have gaps, and what
 * stands between is empty and has no number: it is passed over. */
static void widen(struct tb_time_bins *bins)
{
    double first = floor(bins->first / 2);
    uint32_t count = 0;
    for (uint32_t i = 0; i < bins->count; i++) {
        struct tb_time_bin bin = bins->items[i];
        if (bin.row_count == 0)
            continue;
        uint32_t at = (uint32_t)(floor((bins->first + i) / 2) - first);
        bins->items[i] = (struct tb_time_bin){0};
        put_together(&bins->items[at], &bin);
        count = at + 1;
    }
    bins->first = first;
    bins->count = count;
    bins->width_ms *= 2;
}

static void move_up(struct tb_time_bins *bins, uint32_t by)
{
    for (uint32_t i = bins->count; i-- > 0;) {
        struct tb_time_bin bin = bins->items[i];
        bins->items[i] = (struct tb_time_bin){0};
        bins->items[i + by] = bin;
    }
    bins->count += by;
    bins->first -= by;
}

void tb_time_bins_add(struct tb_time_bins *bins, double ms,
                      const struct tb_time_bin *what)
{
    if (bins->width_ms == 0) {
        bins->width_ms = LEAST_MS;
        bins->first = floor(ms / LEAST_MS);
    }
    double number = floor(ms / bins->width_ms);
    while (number - bins->first >= TB_TIME_BINS ||
           bins->first + bins->count - number > TB_TIME_BINS) {
        widen(bins);
        number = floor(ms / bins->width_ms);
    }
    if (number < bins->first)
        move_up(bins, (uint32_t)(bins->first - number));
    uint32_t at = (uint32_t)(number - bins->first);
    put_together(&bins->items[at], what);
    if (at >= bins->count)
        bins->count = at + 1;
}

static uint32_t place(const struct tb_time_bins *bins, double ms)
{
    return (uint32_t)(floor(ms / bins->width_ms) - bins->first);
}

void tb_time_bins_open(struct tb_time_bins *bins, double first_ms,
                       double last_ms)
{
    uint32_t behind = place(bins, last_ms) + 1;
    bins->changes[place(bins, first_ms)]++;
    if (behind < bins->count)
        bins->changes[behind]--;
}

void tb_time_bins_finish(struct tb_time_bins *bins)
{
    uint64_t open = 0;
    for (uint32_t i = 0; i < bins->count; i++) {
        open += bins->changes[i];
        bins->items[i].session_count += open;
    }
}
