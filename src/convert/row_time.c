#include "row_time.h"

#include <math.h>

#define MS_MAX 1e15

// Milliseconds of the trace as whole ones of the replay, never negative.
static uint64_t replay_ms(const struct tb_row_form *form, double ms)
{
    if (form->speedup > 0)
        ms /= form->speedup;
    if (!(ms > 0))
        return 0;
    return ms < MS_MAX ? (uint64_t)llround(ms) : (uint64_t)MS_MAX;
}

/* A time as whole milliseconds since 1970. It depends on nothing else, to the
 * last bit: the seconds are exact, and so is what is left of them. */
static double whole_ms(double time_s)
{
    double second = floor(time_s);
    return second * 1000 + round((time_s - second) * 1000);
}

void tb_row_time_set_delay(struct tb_row_time *time, const struct tb_call *call,
                           bool is_first, double end_before_s,
                           struct tb_mooncake_row *row)
{
    const struct tb_row_form *form = &time->form;
    if (form->delay == TB_DELAY_NONE || is_first)
        return;
    row->has_delay = true;
    row->delay_ms = form->delay_ms;
    if (form->delay == TB_DELAY_FIXED)
        return;
    double gap_s = call->start_s - end_before_s;
    double most_s = (double)form->max_delay_ms / 1000;
    time->stats->unknown_gap_count += isnan(gap_s) ? 1 : 0;
    row->delay_ms = replay_ms(form, (gap_s > most_s ? most_s : gap_s) * 1000);
}

void tb_row_time_set_timestamp(struct tb_row_time *time,
                               const struct tb_call *call, bool is_first,
                               struct tb_mooncake_row *row)
{
    tb_timestamps timestamps = time->form.timestamps;
    if (timestamps == TB_TIMESTAMPS_NONE ||
        (timestamps == TB_TIMESTAMPS_SESSION && !is_first))
        return;
    if (isnan(time->origin_s))
        time->origin_s = call->start_s;
    time->stats->early_count +=
        !time->is_absolute && call->start_s < time->origin_s;
    row->has_timestamp = true;
    double origin_ms = time->is_absolute ? 0 : whole_ms(time->origin_s);
    row->timestamp_ms =
        replay_ms(&time->form, whole_ms(call->start_s) - origin_ms);
}

bool tb_row_time_first(const struct tb_row_time *time, uint64_t *first_ms)
{
    static const struct tb_row_form as_recorded = {0};
    *first_ms = replay_ms(&as_recorded, whole_ms(time->origin_s));
    return time->form.timestamps != TB_TIMESTAMPS_NONE;
}
