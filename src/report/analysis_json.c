#include <math.h>

#include "analysis.h"
#include "group_ranking.h"
#include "json_form.h"
#include "share.h"
#include "tally_form.h"

const char *tb_hit_rate_name(tb_hit_rate rate)
{
    static const char *const names[] = {"tokens", "blocks", "aiperf",
                                        "any-block", "reuse"};
    return names[rate];
}

const char *tb_hit_rate_text(tb_hit_rate rate)
{
    static const char *const texts[] = {
        "leading tokens in blocks already seen / all prompt tokens",
        "leading blocks already seen / all blocks",
        "mean over rows with ids of leading blocks already seen / its blocks "
        "(aiperf analyze-trace, Dynamo datagen analyze)",
        "blocks that are not the first of their kind / all blocks",
        "beginnings of prompts, one for each block, that more than one row has "
        "/ all of them (aiperf's prefix reuse ratio)"};
    return texts[rate];
}

double tb_hit_rate_value(const struct tb_trace_analysis *analysis,
                         tb_hit_rate rate)
{
    const struct tb_prefix_cache *cache = &analysis->caches[0].cache;
    switch (rate) {
    case TB_HIT_RATE_TOKENS:
        return tb_share(tb_prefix_cache_served(cache), cache->prompt_tokens);
    case TB_HIT_RATE_BLOCKS:
        return tb_share(cache->served_block_count, cache->block_count);
    case TB_HIT_RATE_AIPERF:
        return cache->id_prompt_count
                   ? cache->share_sum / (double)cache->id_prompt_count
                   : 0;
    case TB_HIT_RATE_ANY_BLOCK:
        return tb_share(cache->block_count - cache->tree.block_count,
                        cache->block_count);
    case TB_HIT_RATE_REUSE:
        return tb_prefix_reuse_ratio(&cache->tree);
    case TB_HIT_RATE_COUNT:
        break;
    }
    return 0;
}

double tb_cache_gib(const struct tb_analysis_report *report,
                    const struct tb_sized_cache *sized, uint64_t blocks)
{
    return (double)blocks * (double)sized->cache.tree.block_len *
           (double)report->kv_bytes_per_token / ((uint64_t)1 << 30);
}

static void put_head(struct tb_json_form *form,
                     const struct tb_analysis_report *report)
{
    const struct tb_trace_analysis *analysis = report->analysis;
    tb_json_form_text(form, "path", tb_span_of(report->path));
    tb_json_form_number(form, "files", report->path_count);
    tb_json_form_number(form, "rows", analysis->row_count);
    tb_json_form_number(form, "sessions", analysis->session_count);
    tb_json_form_number(form, "lost_lines", report->lost_line_count);
    tb_json_form_number(form, "lengthless_rows", report->lengthless_count);
    tb_json_form_number(form, "idless_rows", analysis->idless_count);
    tb_json_form_number(form, "unfit_rows", analysis->unfit_count);
    tb_json_form_number(form, "block_size", analysis->block_len);
    tb_json_form_text(form, "block_size_origin",
                      tb_span_of(report->block_size_origin));
    tb_json_form_text(form, "row_meaning",
                      analysis->is_delta ? TB_SPAN("delta") : TB_SPAN("whole"));
    tb_json_form_text(form, "row_meaning_origin",
                      tb_span_of(report->rows_origin));
}

static void put_cache(struct tb_json_form *form,
                      const struct tb_trace_analysis *analysis)
{
    const struct tb_prefix_cache *cache = &analysis->caches[0].cache;
    tb_json_form_number(form, "prompt_tokens", cache->prompt_tokens);
    tb_json_form_open(form, "prefix_cache", '{');
    tb_json_form_number(form, "tokens", tb_prefix_cache_served(cache));
    tb_json_form_real(form, "share",
                      tb_hit_rate_value(analysis, TB_HIT_RATE_TOKENS));
    tb_json_form_number(form, "same_session", cache->session_tokens);
    tb_json_form_number(form, "same_agent", cache->agent_tokens);
    tb_json_form_number(form, "other_agents", cache->other_tokens);
    tb_json_form_close(form, '}');
    tb_json_form_open(form, "hit_rates", '{');
    for (int rate = 0; rate < TB_HIT_RATE_COUNT; rate++)
        tb_json_form_real(form, tb_hit_rate_name((tb_hit_rate)rate),
                          tb_hit_rate_value(analysis, (tb_hit_rate)rate));
    tb_json_form_close(form, '}');
}

// Tokens of all distinct blocks.
static uint64_t distinct_tokens(const struct tb_prefix_tree *tree)
{
    uint64_t tokens = 0;
    for (uint32_t i = 1; i < tree->node_count; i++)
        tokens += tb_prefix_node_tokens(tree, i) -
                  tb_prefix_node_tokens(tree, tree->nodes[i].parent);
    return tokens;
}

static void put_working_set(struct tb_json_form *form,
                            const struct tb_prefix_cache *cache)
{
    const struct tb_stack_distance *stack = &cache->stack;
    uint64_t served = tb_prefix_cache_served(cache);
    tb_json_form_open(form, "working_set", '{');
    tb_json_form_number(form, "blocks", cache->tree.block_count);
    tb_json_form_number(form, "tokens", distinct_tokens(&cache->tree));
    tb_json_form_number(
        form, "blocks_for_90",
        tb_stack_distance_needed(stack, (uint64_t)ceil((double)served * 0.9)));
    tb_json_form_number(
        form, "blocks_for_99",
        tb_stack_distance_needed(stack, (uint64_t)ceil((double)served * 0.99)));
    tb_json_form_number(form, "blocks_for_all",
                        tb_stack_distance_needed(stack, served));
    tb_json_form_close(form, '}');
}

static uint64_t put_size(struct tb_json_form *form,
                         const struct tb_analysis_report *report,
                         const struct tb_sized_cache *sized, uint64_t blocks)
{
    const struct tb_prefix_cache *cache = &sized->cache;
    uint64_t served = tb_stack_distance_served(&cache->stack, blocks);
    tb_json_form_open(form, NULL, '{');
    tb_json_form_number(form, "blocks", blocks);
    tb_json_form_number(form, "tokens", served);
    tb_json_form_real(form, "share", tb_share(served, cache->prompt_tokens));
    if (report->kv_bytes_per_token)
        tb_json_form_real(form, "gib", tb_cache_gib(report, sized, blocks));
    else
        tb_json_form_null(form, "gib");
    tb_json_form_close(form, '}');
    return served;
}

static void put_sizes(struct tb_json_form *form,
                      const struct tb_analysis_report *report,
                      const struct tb_sized_cache *sized)
{
    uint64_t all = tb_prefix_cache_served(&sized->cache), blocks = 1;
    tb_json_form_open(form, "cache_sizes", '[');
    while (put_size(form, report, sized, blocks) < all)
        blocks *= 2;
    tb_json_form_close(form, ']');
    tb_json_form_open(form, "chosen_sizes", '[');
    for (size_t i = 0; i < report->chosen_count; i++)
        (void)put_size(form, report, sized, report->chosen_blocks[i]);
    tb_json_form_close(form, ']');
}

static void put_block_sizes(struct tb_json_form *form,
                            const struct tb_analysis_report *report)
{
    const struct tb_trace_analysis *analysis = report->analysis;
    tb_json_form_open(form, "block_sizes", '[');
    for (size_t i = 1; i < analysis->cache_count; i++) {
        const struct tb_sized_cache *sized = &analysis->caches[i];
        uint64_t served = tb_prefix_cache_served(&sized->cache);
        tb_json_form_open(form, NULL, '{');
        tb_json_form_number(form, "block_size", sized->cache.tree.block_len);
        tb_json_form_number(form, "tokens", served);
        tb_json_form_real(form, "share",
                          tb_share(served, sized->cache.prompt_tokens));
        tb_json_form_number(form, "blocks", sized->cache.tree.block_count);
        put_sizes(form, report, sized);
        tb_json_form_close(form, '}');
    }
    tb_json_form_close(form, ']');
}

static void put_lengths(struct tb_json_form *form,
                        struct tb_length_group *group)
{
    tb_tally_put_json(form, "prompt_length", &group->prompt);
    tb_tally_put_json(form, "new_length", &group->fresh);
    tb_tally_put_json(form, "output_length", &group->output);
}

static void put_group(struct tb_json_form *form, struct tb_length_group *group)
{
    double all = group->prompt.sum;
    tb_json_form_number(form, "rows", group->row_count);
    tb_json_form_real(form, "share",
                      all > 0 ? (all - group->fresh.sum) / all : 0);
    put_lengths(form, group);
    tb_json_form_close(form, '}');
}

static void put_named(struct tb_json_form *form, struct tb_span name,
                      struct tb_length_group *group)
{
    tb_json_form_open(form, NULL, '{');
    tb_json_form_text(form, "name", name);
    put_group(form, group);
}

static void put_groups(struct tb_json_form *form, const char *key,
                       const struct tb_name_table *names,
                       struct tb_length_group *groups, size_t most)
{
    uint32_t numbers[TB_ANALYSIS_MOST_GROUPS];
    size_t count = tb_group_ranking(groups, names->count, numbers, most);
    tb_json_form_open(form, key, '[');
    for (size_t i = 0; i < count; i++)
        put_named(form, tb_name_table_name(names, numbers[i]),
                  &groups[numbers[i]]);
    for (uint32_t i = 0; i < names->count && most == 0; i++)
        put_named(form, tb_name_table_name(names, i), &groups[i]);
    tb_json_form_close(form, ']');
}

static void put_turns(struct tb_json_form *form,
                      struct tb_trace_analysis *analysis)
{
    tb_json_form_open(form, "turns", '[');
    for (size_t i = 0; i < TB_ANALYSIS_TURN_GROUPS; i++) {
        uint64_t first, last;
        if (analysis->turns[i].row_count == 0)
            continue;
        tb_turn_group_range(i, &first, &last);
        tb_json_form_open(form, NULL, '{');
        tb_json_form_number(form, "first", first);
        tb_json_form_number(form, "last", last);
        put_group(form, &analysis->turns[i]);
    }
    tb_json_form_close(form, ']');
}

static void put_times(struct tb_json_form *form,
                      struct tb_trace_analysis *analysis)
{
    bool has_times = analysis->time_count > 0;
    tb_tally_put_json(form, "turns_per_session", &analysis->session_turns);
    tb_tally_put_json(form, "delay_ms", &analysis->delays);
    tb_tally_put_json(form, "interval_ms", &analysis->intervals);
    tb_json_form_open(form, "timestamps", '{');
    tb_json_form_number(form, "rows", analysis->time_count);
    tb_json_form_real(form, "first_ms",
                      has_times ? analysis->first_time_ms : 0);
    tb_json_form_real(form, "last_ms", has_times ? analysis->last_time_ms : 0);
    tb_json_form_close(form, '}');
    tb_json_form_number(form, "negative_times", analysis->negative_count);
}

static void put_prefixes(struct tb_json_form *form,
                         const struct tb_trace_analysis *analysis,
                         const struct tb_shared_prefix *prefixes, size_t count)
{
    tb_json_form_open(form, "shared_prefixes", '[');
    for (size_t i = 0; i < count; i++) {
        const struct tb_shared_prefix *prefix = &prefixes[i];
        uint32_t agent =
            tb_row_numbers_get(&analysis->owners.agents, prefix->first_row);
        tb_json_form_open(form, NULL, '{');
        tb_json_form_number(form, "saved_tokens", prefix->saved_tokens);
        tb_json_form_number(form, "rows", prefix->rows);
        tb_json_form_number(form, "tokens", prefix->tokens);
        tb_json_form_number(form, "blocks", prefix->blocks);
        tb_json_form_number(form, "last_id", prefix->last_id);
        tb_json_form_number(form, "first_row", prefix->first_row + UINT64_C(1));
        tb_json_form_text(form, "agent",
                          agent
                              ? tb_name_table_name(&analysis->agents, agent - 1)
                              : TB_SPAN(""));
        tb_json_form_close(form, '}');
    }
    tb_json_form_close(form, ']');
}

tb_status tb_analysis_json(const struct tb_analysis_report *report,
                           struct tb_buffer *buffer)
{
    struct tb_trace_analysis *analysis = report->analysis;
    struct tb_shared_prefix prefixes[TB_ANALYSIS_PREFIXES];
    size_t prefix_count = tb_prefix_ranking(&analysis->caches[0].cache.tree,
                                            prefixes, TB_ANALYSIS_PREFIXES);
    struct tb_json_form form = tb_json_form_on(buffer, false);
    tb_json_form_open(&form, NULL, '{');
    put_head(&form, report);
    put_cache(&form, analysis);
    put_working_set(&form, &analysis->caches[0].cache);
    put_sizes(&form, report, &analysis->caches[0]);
    put_block_sizes(&form, report);
    put_lengths(&form, &analysis->all);
    put_groups(&form, "agents", &analysis->agents, analysis->agent_groups,
               report->most_groups);
    put_groups(&form, "priorities", &analysis->priorities,
               analysis->priority_groups, report->most_groups);
    put_turns(&form, analysis);
    put_times(&form, analysis);
    put_prefixes(&form, analysis, prefixes, prefix_count);
    tb_call_figures_json(&form, report);
    tb_json_form_close(&form, '}');
    return form.status;
}
