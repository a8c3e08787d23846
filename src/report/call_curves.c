#include "analysis_page.h"
#include "curve.h"
#include "group_ranking.h"

static void put_service(struct tb_json_form *form,
                        struct tb_call_analysis *calls)
{
    uint32_t numbers[TB_PAGE_CURVES];
    size_t count = tb_call_group_ranking(
        calls->agent_groups, calls->agents.count, numbers, TB_PAGE_CURVES);
    struct tb_curve_grid grid = {0};
    tb_curve_grid_include(&grid, &calls->all.service_ms);
    tb_json_form_open(form, "service", '{');
    tb_curve_put_grid(form, &grid);
    tb_json_form_open(form, "curves", '[');
    tb_curve_put(form, TB_SPAN(""), &calls->all.service_ms, &grid);
    for (size_t i = 0; i < count; i++) {
        struct tb_tally *tally = &calls->agent_groups[numbers[i]].service_ms;
        tb_curve_grid_include(&grid, tally); // sorts it
        tb_curve_put(form, tb_name_table_name(&calls->agents, numbers[i]),
                     tally, &grid);
    }
    tb_json_form_close(form, ']');
    tb_json_form_close(form, '}');
}

static void put_flight(struct tb_json_form *form,
                       const struct tb_in_flight *flight)
{
    tb_json_form_open(form, "in_flight", '{');
    tb_json_form_number(form, "width_ms", flight->width_ms);
    tb_json_form_open(form, "least", '[');
    for (uint32_t i = 0; i < flight->count; i++)
        tb_json_form_number(form, NULL, flight->bins[i].least);
    tb_json_form_close(form, ']');
    tb_json_form_open(form, "most", '[');
    for (uint32_t i = 0; i < flight->count; i++)
        tb_json_form_number(form, NULL, flight->bins[i].most);
    tb_json_form_close(form, ']');
    tb_json_form_open(form, "mean", '[');
    for (uint32_t i = 0; i < flight->count; i++)
        tb_json_form_real(form, NULL,
                          flight->bins[i].busy_us /
                              ((double)flight->width_ms * 1000));
    tb_json_form_close(form, ']');
    tb_json_form_close(form, '}');
}

static void put_time(struct tb_json_form *form, int64_t time_us,
                     int64_t first_us)
{
    if (time_us == TB_NO_TIME)
        tb_json_form_null(form, NULL);
    else
        tb_json_form_real(form, NULL, (double)(time_us - first_us) / 1000);
}

static void put_call(struct tb_json_form *form,
                     const struct tb_timed_call *call, int64_t first_us)
{
    tb_json_form_open(form, NULL, '[');
    put_time(form, call->start_us, first_us);
    put_time(form, call->end_us, first_us);
    tb_json_form_number(form, NULL, call->is_failed + call->is_tried_again);
    tb_json_form_close(form, ']');
}

static void put_lane(struct tb_json_form *form,
                     const struct tb_call_analysis *calls,
                     const struct tb_call_lane *lane)
{
    tb_json_form_open(form, NULL, '{');
    tb_json_form_text(form, "session",
                      tb_name_table_name(&calls->sessions, lane->session));
    tb_json_form_number(form, "calls", lane->count);
    tb_json_form_open(form, "shown", '[');
    for (uint32_t i = 0; i < lane->count && i < TB_PAGE_LANE_CALLS; i++)
        put_call(form, &calls->calls[lane->first + i], calls->first_us);
    tb_json_form_close(form, ']');
    tb_json_form_close(form, '}');
}

void tb_call_curves(struct tb_json_form *form, struct tb_call_analysis *calls)
{
    if (!calls) {
        tb_json_form_null(form, "calls");
        return;
    }
    tb_json_form_open(form, "calls", '{');
    tb_json_form_number(form, "agents", calls->agents.count);
    tb_json_form_number(form, "models", calls->models.count);
    tb_json_form_number(form, "sessions", calls->sessions.count);
    put_service(form, calls);
    put_flight(form, &calls->flight);
    tb_json_form_open(form, "lanes", '[');
    for (size_t i = 0; i < calls->lane_count; i++)
        put_lane(form, calls, &calls->lanes[i]);
    tb_json_form_close(form, ']');
    tb_json_form_close(form, '}');
}
