#include "row_time.h"

#include <math.h>

// Seconds of the trace as whole milliseconds of the replay, never negative.
static uint64_t replay_ms(const struct tb_row_form *form, double seconds)
{
    double ms = seconds * 1000;
    if (form->speedup > 0)
        ms /= form->speedup;
    if (!(ms > 0))
        return 0;
    return ms < 1e15 ? (uint64_t)llround(ms) : UINT64_C(1000000000000000);
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
    row->delay_ms = replay_ms(form, gap_s > most_s ? most_s : gap_s);
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
    time->stats->early_count += call->start_s < time->origin_s;
    row->has_timestamp = true;
    row->timestamp_ms = replay_ms(&time->form, call->start_s - time->origin_s);
}
