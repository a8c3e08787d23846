#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis.h"
#include "share.h"
#include "tally_form.h"
#include "text_histogram.h"
#include "text_page.h"

enum {
    GROUPS_SHOWN = 10,
    AGENT_SHOWN = 17,
};

static void put_head(struct tb_page *page,
                     const struct tb_analysis_report *report)
{
    const struct tb_trace_analysis *analysis = report->analysis;
    tb_page_put(page, "%s",
                strcmp(report->path, "-") == 0 ? "standard input"
                                               : report->path);
    if (report->path_count > 1)
        tb_page_put(page, " and %" PRIu64 " more", report->path_count - 1);
    tb_page_put(page, ": %s, %s\n\n",
                tb_counted(analysis->session_count, "session").text,
                tb_counted(analysis->row_count, "row").text);
}

/* ---- lengths ---------------------------------------------------------------
 */

static void put_lengths(struct tb_page *page,
                        struct tb_trace_analysis *analysis)
{
    tb_tally_put_columns(page, "");
    tb_tally_put_line(page, "prompt tokens", &analysis->all.prompt);
    tb_tally_put_line(page, "new tokens", &analysis->all.fresh);
    tb_tally_put_line(page, "output tokens", &analysis->all.output);
    tb_tally_put_line(page, "turns per session", &analysis->session_turns);
    tb_tally_put_times(page, "delay", &analysis->delays);
    tb_tally_put_times(page, "interval", &analysis->intervals);
    tb_page_put(page, "\n");
    tb_page_entry(page, "new tokens",
                  "of a prompt: those that a prefix cache "
                  "without limits does not have");
    if (analysis->delays.count > 0)
        tb_page_entry(page, "delay",
                      "from an answer to the next turn of its "
                      "session, as the rows say");
    if (analysis->intervals.count > 0)
        tb_page_entry(page, "interval",
                      "between timestamps of rows of a "
                      "session that follow each other");
    if (analysis->time_count > 0)
        tb_page_entry(page, "timestamps", "%s, over %.1f s",
                      tb_counted(analysis->time_count, "row").text,
                      (analysis->last_time_ms - analysis->first_time_ms) /
                          1000);
}

/* ---- groups ----------------------------------------------------------------
 */

static void put_group_columns(struct tb_page *page, const char *title)
{
    tb_page_put(page, "\n%-24s%9s%9s%9s%9s%9s%9s\n", title, "rows", "prompt",
                "p99", "new", "output", "served");
}

// Medians, and the longest but one in a hundred prompts.
static void put_group(struct tb_page *page, struct tb_length_group *group)
{
    double all = group->prompt.sum;
    tb_page_put(page, " %8s", tb_grouped(group->row_count).text);
    tb_page_put(page, " %8s",
                tb_grouped(tb_tally_percentile(&group->prompt, 0.5)).text);
    tb_page_put(page, " %8s",
                tb_grouped(tb_tally_percentile(&group->prompt, 0.99)).text);
    tb_page_put(page, " %8s",
                tb_grouped(tb_tally_percentile(&group->fresh, 0.5)).text);
    tb_page_put(page, " %8s",
                tb_grouped(tb_tally_percentile(&group->output, 0.5)).text);
    tb_page_put(page, "%7.1f %%\n",
                all > 0 ? 100 * (all - group->fresh.sum) / all : 0);
}

/* In the order of first appearance, which is that of the trace. */
static void put_groups(struct tb_page *page, const char *title,
                       const struct tb_name_table *names,
                       struct tb_length_group *groups)
{
    if (names->count == 0)
        return;
    put_group_columns(page, title);
    for (uint32_t i = 0; i < names->count && i < GROUPS_SHOWN; i++) {
        tb_page_name(page, tb_name_table_name(names, i));
        put_group(page, &groups[i]);
    }
    if (names->count > GROUPS_SHOWN)
        tb_page_put(page, "  and %s more\n",
                    tb_grouped(names->count - GROUPS_SHOWN).text);
}

static void put_turns(struct tb_page *page, struct tb_trace_analysis *analysis)
{
    if (analysis->turns[0].row_count == analysis->row_count)
        return;
    put_group_columns(page, "by turn, medians");
    for (size_t i = 0; i < TB_ANALYSIS_TURN_GROUPS; i++) {
        char name[64];
        uint64_t first, last;
        if (analysis->turns[i].row_count == 0)
            continue;
        tb_turn_group_range(i, &first, &last);
        if (first == last)
            (void)snprintf(name, sizeof(name), "%" PRIu64, first);
        else
            (void)snprintf(name, sizeof(name), "%" PRIu64 " to %" PRIu64, first,
                           last);
        tb_page_name(page, tb_span_of(name));
        put_group(page, &analysis->turns[i]);
    }
}

/* ---- the cache -------------------------------------------------------------
 */

static void put_cache(struct tb_page *page,
                      const struct tb_trace_analysis *analysis)
{
    const struct tb_prefix_cache *cache = &analysis->caches[0].cache;
    uint64_t all = cache->prompt_tokens;
    tb_page_put(page, "\n");
    tb_page_entry(page, "prefix cache",
                  "%.1f %% of all %s prompt tokens are served by a prefix "
                  "cache without limits: leading tokens in blocks that an "
                  "earlier row already had, a partial last block by its tokens",
                  tb_percent(tb_prefix_cache_served(cache), all),
                  tb_grouped(all).text);
    tb_page_entry(page, "", "%.1f %% the same session had before,",
                  tb_percent(cache->session_tokens, all));
    if (analysis->agents.count > 0) {
        tb_page_entry(page, "",
                      "%.1f %% other sessions of the same agent_type,",
                      tb_percent(cache->agent_tokens, all));
        tb_page_entry(page, "", "%.1f %% other agents only",
                      tb_percent(cache->other_tokens, all));
    } else {
        tb_page_entry(
            page, "", "%.1f %% other sessions only",
            tb_percent(cache->agent_tokens + cache->other_tokens, all));
    }
}

static void put_needs(struct tb_page *page, const struct tb_prefix_cache *cache)
{
    const struct tb_stack_distance *stack = &cache->stack;
    double served = (double)tb_prefix_cache_served(cache);
    uint64_t most = (uint64_t)ceil(served * 0.9);
    uint64_t nearly_all = (uint64_t)ceil(served * 0.99);
    tb_page_entry(
        page, "working set",
        "%s; of what is served without limits, 90 %% needs %s, 99 %% %s and "
        "all of it %s",
        tb_counted(cache->tree.block_count, "distinct block").text,
        tb_grouped(tb_stack_distance_needed(stack, most)).text,
        tb_grouped(tb_stack_distance_needed(stack, nearly_all)).text,
        tb_grouped(tb_stack_distance_needed(stack, (uint64_t)served)).text);
}

static uint64_t put_size(struct tb_page *page,
                         const struct tb_analysis_report *report,
                         uint64_t blocks)
{
    enum { TAKEN = 24 + 9 + 9 };
    const struct tb_sized_cache *sized = &report->analysis->caches[0];
    const struct tb_prefix_cache *cache = &sized->cache;
    uint64_t served = tb_stack_distance_served(&cache->stack, blocks);
    double share = tb_percent(served, cache->prompt_tokens);
    tb_page_put(page, "  %-22s", tb_counted(blocks, "block").text);
    if (report->kv_bytes_per_token)
        tb_page_put(page, " %8.3g", tb_cache_gib(report, sized, blocks));
    else
        tb_page_put(page, "%9s", "");
    tb_page_put(page, "%7.1f %%", share);
    tb_page_bar(page, report->width, share / 100, TAKEN);
    tb_page_put(page, "\n");
    return served;
}

static void put_sizes(struct tb_page *page,
                      const struct tb_analysis_report *report)
{
    uint64_t all = tb_prefix_cache_served(&report->analysis->caches[0].cache);
    uint64_t blocks = 1;
    tb_page_put(page, "\n%-24s%9s%9s\n", "by cache size, LRU",
                report->kv_bytes_per_token ? "GiB" : "", "served");
    while (put_size(page, report, blocks) < all)
        blocks *= 2;
    for (size_t i = 0; i < report->chosen_count; i++)
        (void)put_size(page, report, report->chosen_blocks[i]);
}

static void put_block_sizes(struct tb_page *page,
                            const struct tb_trace_analysis *analysis)
{
    if (analysis->cache_count < 2)
        return;
    tb_page_put(page, "\n%-24s%9s%9s%18s\n", "by block size", "", "served",
                "distinct blocks");
    for (size_t i = 0; i < analysis->cache_count; i++) {
        const struct tb_prefix_cache *cache = &analysis->caches[i].cache;
        tb_page_put(page, "  %-22s%9s",
                    tb_counted(cache->tree.block_len, "token").text, "");
        tb_page_put(
            page, "%7.1f %% %17s\n",
            tb_percent(tb_prefix_cache_served(cache), cache->prompt_tokens),
            tb_grouped(cache->tree.block_count).text);
    }
}

static tb_status put_prefixes(struct tb_page *page,
                              const struct tb_trace_analysis *analysis)
{
    struct tb_shared_prefix prefixes[TB_ANALYSIS_PREFIXES];
    size_t count = tb_prefix_ranking(&analysis->caches[0].cache.tree, prefixes,
                                     TB_ANALYSIS_PREFIXES);
    if (count == 0)
        return TB_OK;
    tb_page_put(page, "\n%-22s%8s%9s%8s%13s%s\n", "shared prefixes", "rows",
                "tokens", "blocks", "saved tokens",
                analysis->agents.count ? "  agent" : "");
    for (size_t i = 0; i < count; i++) {
        const struct tb_shared_prefix *prefix = &prefixes[i];
        uint32_t number =
            tb_row_numbers_get(&analysis->owners.agents, prefix->first_row);
        tb_page_put(page, "  first in row %-7" PRIu32, prefix->first_row + 1);
        tb_page_put(page, " %7s", tb_grouped(prefix->rows).text);
        tb_page_put(page, " %8s", tb_grouped(prefix->tokens).text);
        tb_page_put(page, " %7s", tb_grouped(prefix->blocks).text);
        tb_page_put(page, " %12s", tb_grouped(prefix->saved_tokens).text);
        if (number) {
            struct tb_span agent = tb_page_shortened(
                tb_name_table_name(&analysis->agents, number - 1), AGENT_SHOWN);
            tb_page_put(page, "  %.*s", (int)agent.len,
                        (const char *)agent.ptr);
        }
        tb_page_put(page, "\n");
    }
    return TB_OK;
}

static void put_hit_rates(struct tb_page *page,
                          const struct tb_analysis_report *report)
{
    bool is_first = true;
    for (int rate = 0; rate < TB_HIT_RATE_COUNT; rate++) {
        if (report->hit_rate != TB_HIT_RATE_COUNT && report->hit_rate != rate)
            continue;
        if (is_first)
            tb_page_put(page, "\n");
        tb_page_entry(page, is_first ? "hit rates" : "", "%.4f %s: %s",
                      tb_hit_rate_value(report->analysis, (tb_hit_rate)rate),
                      tb_hit_rate_name((tb_hit_rate)rate),
                      tb_hit_rate_text((tb_hit_rate)rate));
        is_first = false;
    }
}

/* ---- what the figures are of -----------------------------------------------
 */

static const char *origin_text(const char *origin)
{
    switch (origin[0]) {
    case 'm':
        return ", as FILE.meta.json says";
    case 'd':
        return ", unless options say otherwise";
    case 'g':
        return origin[1] == 'u' ? ", which fits the first rows" : "";
    default:
        return "";
    }
}

static void put_unfit(struct tb_page *page,
                      const struct tb_analysis_report *report)
{
    struct tb_counted rows = tb_counted(report->analysis->unfit_count, "row");
    if (report->block_size_guess)
        tb_page_entry(
            page, "warning",
            "%s with more or fewer ids than blocks of that size, so "
            "that shares are not what they seem; --block-size %" PRIu64
            " fits all rows",
            rows.text, report->block_size_guess);
    else
        tb_page_entry(page, "warning",
                      "%s with more or fewer ids than blocks of that size",
                      rows.text);
}

static bool looks_like_delta(const struct tb_analysis_report *report)
{
    const struct tb_trace_analysis *analysis = report->analysis;
    return report->rows_origin[0] == 'd' &&
           analysis->row_count > analysis->session_count &&
           analysis->idless_count < analysis->row_count &&
           analysis->caches[0].cache.session_tokens == 0;
}

static void put_settings(struct tb_page *page,
                         const struct tb_analysis_report *report)
{
    const struct tb_trace_analysis *analysis = report->analysis;
    tb_page_put(page, "\n");
    tb_page_entry(page, "block size", "%s%s",
                  tb_counted(analysis->block_len, "token").text,
                  origin_text(report->block_size_origin));
    tb_page_entry(page, "rows", "%s%s",
                  analysis->is_delta
                      ? "hold what a turn adds; prompts are the session's rows "
                        "and answers so far"
                      : "are whole prompts",
                  origin_text(report->rows_origin));
    if (analysis->unfit_count > 0)
        put_unfit(page, report);
    if (looks_like_delta(report))
        tb_page_entry(page, "note",
                      "no row begins like an earlier one of its session: if "
                      "rows hold what a turn adds, say --rows delta");
    if (analysis->idless_count > 0)
        tb_page_entry(page, "note", "%s without ids, which no cache serves",
                      tb_counted(analysis->idless_count, "row").text);
    if (report->lengthless_count > 0)
        tb_page_entry(page, "note",
                      "%s without an input_length, left out of all figures",
                      tb_counted(report->lengthless_count, "row").text);
    if (report->lost_line_count > 0)
        tb_page_entry(page, "lost", "%s that are no rows",
                      tb_counted(report->lost_line_count, "line").text);
    if (analysis->negative_count > 0)
        tb_page_entry(page, "note", "%s below 0 between turns, left out",
                      tb_counted(analysis->negative_count, "gap").text);
}

tb_status tb_analysis_text(const struct tb_analysis_report *report,
                           struct tb_buffer *buffer)
{
    struct tb_trace_analysis *analysis = report->analysis;
    struct tb_page page = {.buffer = buffer};
    put_head(&page, report);
    put_lengths(&page, analysis);
    tb_tally_histogram(&page, report->width, "prompt tokens", "rows",
                       &analysis->all.prompt);
    tb_tally_histogram(&page, report->width, "new tokens", "rows",
                       &analysis->all.fresh);
    tb_tally_histogram(&page, report->width, "output tokens", "rows",
                       &analysis->all.output);
    put_cache(&page, analysis);
    put_needs(&page, &analysis->caches[0].cache);
    put_sizes(&page, report);
    put_block_sizes(&page, analysis);
    put_groups(&page, "by agent, medians", &analysis->agents,
               analysis->agent_groups);
    put_groups(&page, "by priority, medians", &analysis->priorities,
               analysis->priority_groups);
    put_turns(&page, analysis);
    TB_TRY(put_prefixes(&page, analysis));
    put_hit_rates(&page, report);
    tb_call_figures_text(&page, report);
    put_settings(&page, report);
    if (report->page)
        tb_page_entry(&page, "page", "%s", report->page);
    return page.status;
}
