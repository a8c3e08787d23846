#include "analysis.h"
#include "group_ranking.h"
#include "json_form.h"
#include "share.h"
#include "stats.h"
#include "tally_form.h"

static void put_counts(struct tb_json_form *form, struct tb_call_group *group)
{
    tb_json_form_open(form, "counts", '{');
    tb_json_form_number(form, "calls", group->usage_count);
    tb_json_form_number(form, "recorded_tokens", group->usage_tokens);
    tb_json_form_number(form, "own_tokens", group->counted_tokens);
    tb_json_form_number(form, "differing", group->differing_count);
    tb_json_form_number(form, "difference_tokens", group->difference_tokens);
    tb_tally_put_json(form, "difference", &group->difference_ppm);
    tb_json_form_close(form, '}');
}

static void put_cache(struct tb_json_form *form,
                      const struct tb_call_group *group)
{
    tb_json_form_open(form, "recorded_cache", '{');
    tb_json_form_number(form, "calls", group->cached_count);
    tb_json_form_number(form, "prompt_tokens", group->cached_usage_tokens);
    tb_json_form_number(form, "cached_tokens", group->cached_tokens);
    tb_json_form_real(
        form, "share",
        tb_share(group->cached_tokens, group->cached_usage_tokens));
    tb_json_form_number(form, "own_prompt_tokens", group->our_prompt_tokens);
    tb_json_form_number(form, "own_tokens", group->our_served_tokens);
    tb_json_form_real(
        form, "own_share",
        tb_share(group->our_served_tokens, group->our_prompt_tokens));
    tb_json_form_close(form, '}');
}

static void put_group(struct tb_json_form *form, struct tb_call_group *group)
{
    tb_json_form_number(form, "calls", group->call_count);
    tb_json_form_number(form, "rows", group->row_count);
    tb_json_form_number(form, "never_ended", group->failed_count);
    tb_json_form_number(form, "tried_again", group->retried_count);
    tb_tally_put_json(form, "service_ms", &group->service_ms);
    tb_tally_put_json(form, "first_token_ms", &group->first_token_ms);
    put_counts(form, group);
    put_cache(form, group);
}

static void put_named(struct tb_json_form *form, struct tb_span name,
                      struct tb_call_group *group)
{
    tb_json_form_open(form, NULL, '{');
    tb_json_form_text(form, "name", name);
    put_group(form, group);
    tb_json_form_close(form, '}');
}

static void put_groups(struct tb_json_form *form, const char *key,
                       const struct tb_name_table *names,
                       struct tb_call_group *groups, size_t most)
{
    uint32_t numbers[TB_ANALYSIS_MOST_GROUPS];
    size_t count = tb_call_group_ranking(groups, names->count, numbers, most);
    tb_json_form_open(form, key, '[');
    for (size_t i = 0; i < count; i++)
        put_named(form, tb_name_table_name(names, numbers[i]),
                  &groups[numbers[i]]);
    for (uint32_t i = 0; i < names->count && most == 0; i++)
        put_named(form, tb_name_table_name(names, i), &groups[i]);
    tb_json_form_close(form, ']');
}

static void put_reasons(struct tb_json_form *form,
                        const struct tb_call_analysis *calls)
{
    tb_json_form_open(form, "without_row", '[');
    for (uint32_t i = 0; i < calls->reasons.count; i++) {
        struct tb_span reason = tb_name_table_name(&calls->reasons, i);
        tb_json_form_open(form, NULL, '{');
        tb_json_form_text(form, "reason", reason);
        tb_json_form_text(form, "text", tb_skip_text_of(reason));
        tb_json_form_number(form, "calls", calls->reason_counts[i]);
        tb_json_form_close(form, '}');
    }
    tb_json_form_close(form, ']');
}

static void put_in_flight(struct tb_json_form *form,
                          const struct tb_in_flight *flight)
{
    double span_us = (double)flight->span_us;
    tb_json_form_open(form, "in_flight", '{');
    tb_json_form_number(form, "most", flight->most);
    tb_json_form_real(form, "mean",
                      span_us > 0 ? flight->busy_us / span_us : 0);
    tb_json_form_real(form, "seconds", span_us / 1e6);
    tb_json_form_close(form, '}');
}

void tb_call_figures_json(struct tb_json_form *form,
                          const struct tb_analysis_report *report)
{
    struct tb_call_analysis *calls = report->calls;
    if (!calls) {
        tb_json_form_null(form, "calls");
        return;
    }
    tb_json_form_open(form, "calls", '{');
    if (report->calls_path)
        tb_json_form_text(form, "path", tb_span_of(report->calls_path));
    else
        tb_json_form_null(form, "path");
    tb_json_form_number(form, "lost_lines", report->lost_call_count);
    tb_json_form_number(form, "lost_records", report->lost_record_count);
    tb_json_form_number(form, "cut_sessions", report->cut_session_count);
    put_group(form, &calls->all);
    put_reasons(form, calls);
    tb_json_form_number(form, "overlaps", calls->overlap_count);
    tb_json_form_number(form, "unfit", calls->unfit_count);
    tb_json_form_number(form, "timeless", calls->timeless_count);
    tb_tally_put_json(form, "gap_ms", &calls->gap_ms);
    put_in_flight(form, &calls->flight);
    put_groups(form, "agents", &calls->agents, calls->agent_groups,
               report->most_groups);
    put_groups(form, "models", &calls->models, calls->model_groups,
               report->most_groups);
    tb_json_form_close(form, '}');
}
