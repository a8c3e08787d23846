#include "call_analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "memory.h"

/* ---- memory ----------------------------------------------------------------
 */

static void group_release(struct tb_call_group *group)
{
    tb_tally_release(&group->service_ms);
    tb_tally_release(&group->first_token_ms);
    tb_tally_release(&group->difference_ppm);
}

static void groups_release(struct tb_call_group *groups, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        group_release(&groups[i]);
    tb_memory_free(groups);
}

void tb_call_analysis_release(struct tb_call_analysis *analysis)
{
    group_release(&analysis->all);
    groups_release(analysis->agent_groups, analysis->agents.count);
    groups_release(analysis->model_groups, analysis->models.count);
    tb_name_table_release(&analysis->agents);
    tb_name_table_release(&analysis->models);
    tb_name_table_release(&analysis->sessions);
    tb_name_table_release(&analysis->reasons);
    tb_memory_free(analysis->reason_counts);
    tb_memory_free(analysis->calls);
    tb_memory_free(analysis->rows);
    tb_tally_release(&analysis->gap_ms);
    *analysis = (struct tb_call_analysis){0};
}

/* ---- a call ----------------------------------------------------------------
 */

/* Whole microseconds, as the calls file has them, so that figures are the same
 * whether calls come from there or from the trace. Later and earlier than some
 * thousand years is no time of a recording. */
static int64_t to_us(double time_s)
{
    if (!isfinite(time_s) || fabs(time_s) > 1e11)
        return TB_NO_TIME;
    return llroundl((long double)time_s * 1000000);
}

static uint64_t to_ms(int64_t us)
{
    return (uint64_t)us / 1000 + ((uint64_t)us % 1000 >= 500);
}

// The time from one to the other, or TB_NO_TIME where there is none.
static int64_t us_between(int64_t from_us, int64_t to_us)
{
    bool is_known = from_us != TB_NO_TIME && to_us != TB_NO_TIME;
    return is_known && to_us >= from_us ? to_us - from_us : TB_NO_TIME;
}

static tb_status add_time(struct tb_tally *tally, int64_t us)
{
    return us == TB_NO_TIME ? TB_OK : tb_tally_add(tally, to_ms(us));
}

static tb_status add_times(struct tb_call_group *group,
                           const struct tb_call_record *record)
{
    int64_t start_us = to_us(record->start_s);
    TB_TRY(add_time(&group->service_ms,
                    us_between(start_us, to_us(record->end_s))));
    return add_time(&group->first_token_ms,
                    us_between(start_us, to_us(record->first_token_s)));
}

// Counts are below 10^18 each; a sum that is beyond all sense wraps.
static tb_status add_counts(struct tb_call_group *group,
                            const struct tb_call_record *record)
{
    uint64_t usage = record->usage_tokens, counted = record->counted_tokens;
    uint64_t difference = usage > counted ? usage - counted : counted - usage;
    if (!record->has_row || !record->has_usage || usage == 0)
        return TB_OK;
    group->usage_count++;
    group->usage_tokens += usage;
    group->counted_tokens += counted;
    if (record->has_cached) {
        group->cached_count++;
        group->cached_usage_tokens += usage;
        group->cached_tokens += record->cached_tokens;
    }
    if (difference == 0)
        return TB_OK;
    double ppm = (double)difference / (double)usage * 1e6;
    group->differing_count++;
    group->difference_tokens += difference;
    return tb_tally_add(&group->difference_ppm,
                        ppm < 1e18 ? (uint64_t)(ppm + 0.5)
                                   : UINT64_C(1000000000000000000));
}

static tb_status add_to_group(struct tb_call_group *group,
                              const struct tb_call_record *record)
{
    group->call_count++;
    group->row_count += record->has_row;
    group->failed_count += record->is_failed;
    group->retried_count += record->is_tried_again;
    TB_TRY(add_times(group, record));
    return add_counts(group, record);
}

static tb_status add_to_named(struct tb_name_table *names, struct tb_span name,
                              struct tb_call_group **groups, size_t *capacity,
                              const struct tb_call_record *record,
                              uint32_t *number)
{
    *number = TB_NAME_NONE;
    if (name.len == 0)
        return TB_OK;
    // First the room, so that no number is ever without its group.
    struct tb_call_group *grown = tb_array_grow(
        *groups, capacity, (size_t)names->count + 1, sizeof(*grown));
    if (!grown)
        return TB_ERR_MEMORY;
    *groups = grown;
    uint32_t count = names->count;
    TB_TRY(tb_name_table_add(names, name, number));
    if (*number == count)
        grown[count] = (struct tb_call_group){0};
    return add_to_group(&grown[*number], record);
}

static tb_status add_reason(struct tb_call_analysis *analysis,
                            struct tb_span reason)
{
    uint32_t number;
    uint64_t *counts =
        tb_array_grow(analysis->reason_counts, &analysis->reason_capacity,
                      (size_t)analysis->reasons.count + 1, sizeof(*counts));
    if (!counts)
        return TB_ERR_MEMORY;
    analysis->reason_counts = counts;
    if (tb_name_table_find(&analysis->reasons, reason) == TB_NAME_NONE)
        counts[analysis->reasons.count] = 0;
    TB_TRY(tb_name_table_add(&analysis->reasons, reason, &number));
    counts[number]++;
    return TB_OK;
}

// Does the server's cache count: is there a share of it?
static bool has_cached(const struct tb_call_record *record)
{
    return record->has_row && record->has_cached && record->has_usage &&
           record->usage_tokens > 0;
}

static tb_status keep(struct tb_call_analysis *analysis,
                      const struct tb_call_record *record, uint32_t agent,
                      uint32_t model)
{
    uint32_t session;
    struct tb_timed_call *calls =
        tb_array_grow(analysis->calls, &analysis->call_capacity,
                      analysis->call_count + 1, sizeof(*calls));
    if (!calls)
        return TB_ERR_MEMORY;
    analysis->calls = calls;
    TB_TRY(tb_name_table_add(&analysis->sessions, record->session, &session));
    int64_t start_us = to_us(record->start_s), end_us = to_us(record->end_s);
    bool has_service = us_between(start_us, end_us) != TB_NO_TIME;
    calls[analysis->call_count] = (struct tb_timed_call){
        .start_us = start_us,
        .end_us = has_service ? end_us : TB_NO_TIME,
        .row = record->has_row ? record->row : 0,
        .input_length = record->input_length,
        .session = session,
        .number = (uint32_t)analysis->call_count,
        .agent = agent,
        .model = model,
        .is_failed = record->is_failed,
        .is_tried_again = record->is_tried_again,
        .has_cached = has_cached(record),
    };
    analysis->call_count++;
    analysis->timeless_count +=
        start_us == TB_NO_TIME || (!record->is_failed && !has_service);
    return TB_OK;
}

tb_status tb_call_analysis_add(struct tb_call_analysis *analysis,
                               const struct tb_call_record *record)
{
    uint32_t agent, model;
    if (analysis->call_count >= UINT32_MAX - 1)
        return TB_ERR_LIMIT;
    TB_TRY(add_to_group(&analysis->all, record));
    TB_TRY(add_to_named(&analysis->agents, record->agent,
                        &analysis->agent_groups, &analysis->agent_capacity,
                        record, &agent));
    TB_TRY(add_to_named(&analysis->models, record->model,
                        &analysis->model_groups, &analysis->model_capacity,
                        record, &model));
    if (!record->has_row)
        TB_TRY(add_reason(analysis, record->skipped));
    return keep(analysis, record, agent, model);
}

tb_status tb_call_analysis_add_row(struct tb_call_analysis *analysis,
                                   uint64_t line, const struct tb_call_row *row)
{
    struct tb_call_row *rows = tb_array_grow(
        analysis->rows, &analysis->row_capacity, (size_t)line, sizeof(*rows));
    if (!rows)
        return TB_ERR_MEMORY;
    analysis->rows = rows;
    while (analysis->row_count < line)
        rows[analysis->row_count++] = (struct tb_call_row){0};
    rows[line - 1] = *row;
    return TB_OK;
}

/* ---- all calls -------------------------------------------------------------
 */

// By session, then by start; those without one first.
static int compare(const void *a, const void *b)
{
    const struct tb_timed_call *first = a, *second = b;
    if (first->session != second->session)
        return first->session < second->session ? -1 : 1;
    if (first->start_us != second->start_us)
        return first->start_us < second->start_us ? -1 : 1;
    return (first->number > second->number) - (first->number < second->number);
}

// The lane with most calls first; of equal ones the earlier session.
static void offer_lane(struct tb_call_analysis *analysis,
                       const struct tb_call_lane *lane)
{
    struct tb_call_lane *lanes = analysis->lanes;
    size_t at = analysis->lane_count;
    while (at > 0 && lanes[at - 1].count < lane->count)
        at--;
    if (at == TB_CALL_LANES)
        return;
    size_t kept = analysis->lane_count < TB_CALL_LANES ? analysis->lane_count++
                                                       : TB_CALL_LANES - 1;
    memmove(&lanes[at + 1], &lanes[at], (kept - at) * sizeof(*lanes));
    lanes[at] = *lane;
}

/* A gap is from the latest end of the session's calls that began before, as
 * the delays of whole rows have it. */
static tb_status add_gap(struct tb_call_analysis *analysis,
                         const struct tb_timed_call *call,
                         int64_t *latest_end_us)
{
    int64_t gap_us = us_between(*latest_end_us, call->start_us);
    analysis->overlap_count += call->start_us < *latest_end_us;
    if (call->end_us > *latest_end_us)
        *latest_end_us = call->end_us;
    return add_time(&analysis->gap_ms, gap_us);
}

static tb_status walk_session(struct tb_call_analysis *analysis, size_t from,
                              size_t to)
{
    int64_t latest_end_us = TB_NO_TIME;
    while (from < to && analysis->calls[from].start_us == TB_NO_TIME)
        from++;
    if (from == to)
        return TB_OK;
    if (analysis->first_us == TB_NO_TIME ||
        analysis->calls[from].start_us < analysis->first_us)
        analysis->first_us = analysis->calls[from].start_us;
    offer_lane(analysis,
               &(struct tb_call_lane){.session = analysis->calls[from].session,
                                      .first = from,
                                      .count = (uint32_t)(to - from)});
    for (; from < to; from++)
        TB_TRY(add_gap(analysis, &analysis->calls[from], &latest_end_us));
    return TB_OK;
}

static tb_status walk_sessions(struct tb_call_analysis *analysis)
{
    const struct tb_timed_call *calls = analysis->calls;
    analysis->first_us = TB_NO_TIME;
    for (size_t from = 0, to = 0; from < analysis->call_count; from = to) {
        while (to < analysis->call_count &&
               calls[to].session == calls[from].session)
            to++;
        TB_TRY(walk_session(analysis, from, to));
    }
    return TB_OK;
}

static tb_status count_flight(struct tb_call_analysis *analysis)
{
    size_t count = 0;
    uint64_t *starts =
        tb_memory_zeroed(2 * analysis->call_count + 1, sizeof(*starts));
    uint64_t *ends = starts ? starts + analysis->call_count : NULL;
    if (!starts)
        return TB_ERR_MEMORY;
    for (size_t i = 0; i < analysis->call_count; i++) {
        const struct tb_timed_call *call = &analysis->calls[i];
        if (us_between(call->start_us, call->end_us) <= 0)
            continue; // TB_NO_TIME is below 0
        starts[count] = (uint64_t)(call->start_us - analysis->first_us);
        ends[count++] = (uint64_t)(call->end_us - analysis->first_us);
    }
    tb_in_flight_count(&analysis->flight, starts, ends, count);
    tb_memory_free(starts);
    return TB_OK;
}

static void add_ours(struct tb_call_group *group, const struct tb_call_row *row)
{
    group->our_prompt_tokens += row->prompt_tokens;
    group->our_served_tokens += row->served_tokens;
}

// What our cache serves of the rows of which the server told what its had.
static void join_rows(struct tb_call_analysis *analysis)
{
    for (size_t i = 0; i < analysis->call_count; i++) {
        const struct tb_timed_call *call = &analysis->calls[i];
        if (call->row == 0)
            continue;
        const struct tb_call_row *row = call->row <= analysis->row_count
                                            ? &analysis->rows[call->row - 1]
                                            : NULL;
        if (!row || row->input_length != call->input_length) {
            analysis->unfit_count++;
            continue;
        }
        if (!call->has_cached)
            continue;
        add_ours(&analysis->all, row);
        if (call->agent != TB_NAME_NONE)
            add_ours(&analysis->agent_groups[call->agent], row);
        if (call->model != TB_NAME_NONE)
            add_ours(&analysis->model_groups[call->model], row);
    }
}

tb_status tb_call_analysis_finish(struct tb_call_analysis *analysis)
{
    if (analysis->call_count > 0)
        qsort(analysis->calls, analysis->call_count, sizeof(*analysis->calls),
              compare);
    TB_TRY(walk_sessions(analysis));
    TB_TRY(count_flight(analysis));
    join_rows(analysis);
    return TB_OK;
}
