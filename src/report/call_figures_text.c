#include <string.h>

#include "analysis.h"
#include "share.h"
#include "stats.h"
#include "tally_form.h"
#include "text_histogram.h"

enum {
    GROUPS_SHOWN = 10,
    TIMES_SHOWN = 16, // lines of calls in flight over time
};

/* ---- times -----------------------------------------------------------------
 */

static void put_times(struct tb_page *page, struct tb_call_analysis *calls)
{
    struct tb_call_group *all = &calls->all;
    if (all->service_ms.count == 0 && calls->gap_ms.count == 0)
        return;
    tb_page_put(page, "\n");
    tb_tally_put_columns(page, "recorded calls");
    tb_tally_put_times(page, "service", &all->service_ms);
    tb_tally_put_times(page, "first token", &all->first_token_ms);
    tb_tally_put_times(page, "gap", &calls->gap_ms);
    tb_page_put(page, "\n");
    tb_page_entry(page, "service", "from the start of a call to its end%s",
                  all->first_token_ms.count > 0
                      ? "; first token: from its start to that"
                      : "");
    if (calls->gap_ms.count > 0)
        tb_page_entry(page, "gap",
                      "from the latest end of the calls before it in its "
                      "session to the start of a call");
}

static void put_in_flight(struct tb_page *page,
                          const struct tb_in_flight *flight)
{
    if (flight->count == 0)
        return;
    tb_page_entry(page, "in flight",
                  "%s at once at most, %.2f on average, from the first start "
                  "to the last end, %.1f s",
                  tb_counted(flight->most, "call").text,
                  flight->busy_us / (double)flight->span_us,
                  (double)flight->span_us / 1e6);
}

// What of a part of all bins was the most: no peak is lost.
static uint64_t most_in(const struct tb_in_flight *flight, uint32_t from,
                        uint32_t to)
{
    uint64_t most = 0;
    for (uint32_t i = from; i < to && i < flight->count; i++)
        most = flight->bins[i].most > most ? flight->bins[i].most : most;
    return most;
}

static void put_flight_picture(struct tb_page *page,
                               const struct tb_analysis_report *report)
{
    enum { TAKEN = 24 + 9 };
    const struct tb_in_flight *flight = &report->calls->flight;
    uint32_t together = (flight->count + TIMES_SHOWN - 1) / TIMES_SHOWN;
    if (report->width == 0 || flight->count < 2)
        return;
    tb_page_put(page, "\n%-24s%9s\n", "in flight over time", "most");
    for (uint32_t i = 0; i < flight->count; i += together) {
        uint64_t most = most_in(flight, i, i + together);
        tb_page_put(page, "  from %-17.1f %8s",
                    (double)i * (double)flight->width_ms / 1000,
                    tb_grouped(most).text);
        tb_page_bar(page, report->width, (double)most / (double)flight->most,
                    TAKEN);
        tb_page_put(page, "\n");
    }
}

/* ---- what was counted ------------------------------------------------------
 */

static void put_cache(struct tb_page *page, const struct tb_call_group *all)
{
    if (all->cached_count == 0)
        return;
    tb_page_entry(
        page, "recorded cache",
        "%.1f %% of the prompt tokens of %s were in the server's cache, as it "
        "told; of their rows a prefix cache without limits serves %.1f %%",
        tb_percent(all->cached_tokens, all->cached_usage_tokens),
        tb_counted(all->cached_count, "call").text,
        tb_percent(all->our_served_tokens, all->our_prompt_tokens));
}

static void put_counts(struct tb_page *page, struct tb_call_group *all)
{
    if (all->usage_count == 0)
        return;
    struct tb_tally *ppm = &all->difference_ppm;
    tb_page_entry(page, "counts",
                  "the server's prompt count and ours differ in %s of %s, by "
                  "%.1f %% of the server's in the median and %.1f %% at most; "
                  "by %.1f %% of all its tokens",
                  tb_grouped(all->differing_count).text,
                  tb_counted(all->usage_count, "call").text,
                  (double)tb_tally_percentile(ppm, 0.5) / 1e4,
                  (double)tb_tally_percentile(ppm, 1) / 1e4,
                  tb_percent(all->difference_tokens, all->usage_tokens));
}

/* ---- what was lost ---------------------------------------------------------
 */

static void put_losses(struct tb_page *page,
                       const struct tb_analysis_report *report)
{
    const struct tb_call_analysis *calls = report->calls;
    const char *label = "without row";
    for (uint32_t i = 0; i < calls->reasons.count; i++) {
        struct tb_span text =
            tb_skip_text_of(tb_name_table_name(&calls->reasons, i));
        tb_page_entry(page, label, "%s %.*s",
                      tb_counted(calls->reason_counts[i], "call").text,
                      tb_span_shown(text, 200), (const char *)text.ptr);
        label = "";
    }
    if (calls->all.failed_count > 0)
        tb_page_entry(page, "never ended",
                      "%s, of which %s made again with the same prompt",
                      tb_counted(calls->all.failed_count, "call").text,
                      tb_grouped(calls->all.retried_count).text);
    if (calls->overlap_count > 0)
        tb_page_entry(page, "overlaps",
                      "%s that began before an earlier one of the session had "
                      "ended",
                      tb_counted(calls->overlap_count, "call").text);
    if (calls->timeless_count > 0)
        tb_page_entry(page, "note",
                      "%s whose start and end are not known, left out of "
                      "service times and of calls in flight",
                      tb_counted(calls->timeless_count, "call").text);
    if (report->lost_call_count > 0)
        tb_page_entry(page, "lost", "%s that are no calls",
                      tb_counted(report->lost_call_count, "line").text);
    if (calls->unfit_count > 0)
        tb_page_entry(page, "warning",
                      "%s whose row is not there or has another length: are "
                      "these the calls of these rows?",
                      tb_counted(calls->unfit_count, "call").text);
}

/* ---- groups ----------------------------------------------------------------
 */

// A part in percent, or that there is nothing to have one of.
static void put_share(struct tb_page *page, uint64_t part, uint64_t whole)
{
    if (whole > 0)
        tb_page_put(page, "%7.1f %%", tb_percent(part, whole));
    else
        tb_page_put(page, "%9s", "-");
}

static void put_group(struct tb_page *page, struct tb_call_group *group)
{
    tb_page_put(page, " %8s", tb_grouped(group->call_count).text);
    tb_page_put(page, " %8s",
                tb_grouped(group->call_count - group->row_count).text);
    if (group->service_ms.count > 0)
        tb_page_put(
            page, " %8s",
            tb_grouped(tb_tally_percentile(&group->service_ms, 0.5)).text);
    else
        tb_page_put(page, "%9s", "-");
    put_share(page, group->cached_tokens, group->cached_usage_tokens);
    put_share(page, group->our_served_tokens, group->our_prompt_tokens);
    put_share(page, group->difference_tokens, group->usage_tokens);
    tb_page_put(page, "\n");
}

static void put_groups(struct tb_page *page, const char *title,
                       const struct tb_name_table *names,
                       struct tb_call_group *groups)
{
    if (names->count == 0)
        return;
    tb_page_put(page, "\n%-24s%9s%9s%9s%9s%9s%9s\n", title, "calls", "no row",
                "ms, p50", "cached", "served", "off");
    for (uint32_t i = 0; i < names->count && i < GROUPS_SHOWN; i++) {
        tb_page_name(page, tb_name_table_name(names, i));
        put_group(page, &groups[i]);
    }
    if (names->count > GROUPS_SHOWN)
        tb_page_put(page, "  and %s more\n",
                    tb_grouped(names->count - GROUPS_SHOWN).text);
}

void tb_call_figures_text(struct tb_page *page,
                          const struct tb_analysis_report *report)
{
    struct tb_call_analysis *calls = report->calls;
    if (!calls)
        return;
    put_times(page, calls);
    put_in_flight(page, &calls->flight);
    tb_tally_histogram(page, report->width, "service, ms", "calls",
                       &calls->all.service_ms);
    tb_tally_histogram(page, report->width, "gap, ms", "gaps", &calls->gap_ms);
    put_flight_picture(page, report);
    put_groups(page, "calls by agent", &calls->agents, calls->agent_groups);
    put_groups(page, "calls by model", &calls->models, calls->model_groups);
    tb_page_put(page, "\n");
    if (calls->agents.count + calls->models.count > 0)
        tb_page_entry(page, "by agent",
                      "p50 of service times; of the prompt tokens of calls "
                      "that tell: cached by the server, served by a prefix "
                      "cache without limits, off between the server's count "
                      "and ours");
    tb_page_entry(page, "calls", "%s, %s with a row%s%s",
                  tb_grouped(calls->all.call_count).text,
                  tb_grouped(calls->all.row_count).text,
                  report->calls_path ? ", as told by " : "",
                  report->calls_path ? report->calls_path : "");
    put_cache(page, &calls->all);
    put_counts(page, &calls->all);
    put_losses(page, report);
}
