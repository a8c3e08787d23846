#include "in_flight.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

static void choose_width(struct tb_in_flight *flight)
{
    uint64_t last_us = flight->span_us - 1;
    flight->width_ms = 1;
    while (last_us / (flight->width_ms * 1000) >= TB_FLIGHT_BINS)
        flight->width_ms *= 2;
    flight->count = (uint32_t)(last_us / (flight->width_ms * 1000)) + 1;
    for (uint32_t i = 0; i < flight->count; i++)
        flight->bins[i].least = UINT64_MAX;
}

/* So many calls were there from one time up to another. */
static void cover(struct tb_in_flight *flight, uint64_t from_us, uint64_t to_us,
                  uint64_t level)
{
    uint64_t width_us = flight->width_ms * 1000;
    flight->most = level > flight->most ? level : flight->most;
    while (from_us < to_us) {
        uint64_t at = from_us / width_us;
        uint64_t end_us = (at + 1) * width_us;
        struct tb_flight_bin *bin = &flight->bins[at];
        end_us = end_us < to_us ? end_us : to_us;
        bin->least = level < bin->least ? level : bin->least;
        bin->most = level > bin->most ? level : bin->most;
        bin->busy_us += (double)level * (double)(end_us - from_us);
        flight->busy_us += (double)level * (double)(end_us - from_us);
        from_us = end_us;
    }
}

void tb_in_flight_count(struct tb_in_flight *flight, uint64_t *starts_us,
                        uint64_t *ends_us, size_t count)
{
    *flight = (struct tb_in_flight){0};
    if (count == 0)
        return;
    qsort(starts_us, count, sizeof(*starts_us), compare);
    qsort(ends_us, count, sizeof(*ends_us), compare);
    flight->span_us = ends_us[count - 1];
    choose_width(flight);
    // Who ends when another begins is gone by then.
    uint64_t now_us = 0, level = 0;
    for (size_t begun = 0, ended = 0; ended < count;) {
        bool is_start = begun < count && starts_us[begun] < ends_us[ended];
        uint64_t next_us = is_start ? starts_us[begun++] : ends_us[ended++];
        if (next_us > now_us)
            cover(flight, now_us, next_us, level);
        now_us = next_us;
        level = is_start ? level + 1 : level - 1;
    }
    cover(flight, now_us, flight->count * flight->width_ms * 1000, 0);
}
