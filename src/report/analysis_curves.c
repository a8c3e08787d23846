#include "analysis_page.h"
#include "curve.h"
#include "group_ranking.h"
#include "json_form.h"

/* ---- caches ----------------------------------------------------------------
 */

/* The sizes, or what they serve: up to the first that serves all. */
static void put_sizes(struct tb_json_form *form, const char *key,
                      const struct tb_prefix_cache *cache, bool is_served)
{
    const struct tb_stack_distance *stack = &cache->stack;
    uint64_t needed =
        tb_stack_distance_needed(stack, tb_prefix_cache_served(cache));
    tb_json_form_open(form, key, '[');
    for (uint64_t point = 1, size = 0; size < needed;
         point = tb_curve_next(point)) {
        size = point && point < needed ? point : needed;
        tb_json_form_number(form, NULL,
                            is_served ? tb_stack_distance_served(stack, size)
                                      : size);
    }
    tb_json_form_close(form, ']');
}

static void put_cache(struct tb_json_form *form,
                      const struct tb_prefix_cache *cache)
{
    tb_json_form_open(form, NULL, '{');
    tb_json_form_number(form, "block_size", cache->tree.block_len);
    put_sizes(form, "blocks", cache, false);
    put_sizes(form, "tokens", cache, true);
    tb_json_form_close(form, '}');
}

/* ---- distributions ---------------------------------------------------------
 */

typedef struct tb_tally *pick_tally(struct tb_length_group *group);

static struct tb_tally *prompt_of(struct tb_length_group *group)
{
    return &group->prompt;
}

static struct tb_tally *fresh_of(struct tb_length_group *group)
{
    return &group->fresh;
}

static struct tb_tally *output_of(struct tb_length_group *group)
{
    return &group->output;
}

static void put_lengths(struct tb_json_form *form, const char *key,
                        struct tb_trace_analysis *analysis, pick_tally *pick)
{
    uint32_t numbers[TB_PAGE_CURVES];
    size_t count =
        tb_group_ranking(analysis->agent_groups, analysis->agents.count,
                         numbers, TB_PAGE_CURVES);
    struct tb_curve_grid grid = {0};
    tb_curve_grid_include(&grid, pick(&analysis->all));
    for (size_t i = 0; i < count; i++)
        tb_curve_grid_include(&grid, pick(&analysis->agent_groups[numbers[i]]));
    tb_json_form_open(form, key, '{');
    tb_curve_put_grid(form, &grid);
    tb_json_form_open(form, "curves", '[');
    tb_curve_put(form, TB_SPAN(""), pick(&analysis->all), &grid);
    for (size_t i = 0; i < count; i++)
        tb_curve_put(form, tb_name_table_name(&analysis->agents, numbers[i]),
                     pick(&analysis->agent_groups[numbers[i]]), &grid);
    tb_json_form_close(form, ']');
    tb_json_form_close(form, '}');
}

static void put_gaps(struct tb_json_form *form,
                     struct tb_trace_analysis *analysis,
                     struct tb_call_analysis *calls)
{
    struct tb_curve_grid grid = {0};
    tb_curve_grid_include(&grid, &analysis->delays);
    tb_curve_grid_include(&grid, &analysis->intervals);
    if (calls)
        tb_curve_grid_include(&grid, &calls->gap_ms);
    tb_json_form_open(form, "gaps", '{');
    tb_curve_put_grid(form, &grid);
    tb_json_form_open(form, "curves", '[');
    tb_curve_put(form, TB_SPAN("delay"), &analysis->delays, &grid);
    tb_curve_put(form, TB_SPAN("interval"), &analysis->intervals, &grid);
    if (calls)
        tb_curve_put(form, TB_SPAN("recorded"), &calls->gap_ms, &grid);
    tb_json_form_close(form, ']');
    tb_json_form_close(form, '}');
}

/* ---- time ------------------------------------------------------------------
 */

typedef uint64_t pick_figure(const struct tb_time_bin *bin);

static uint64_t rows_of(const struct tb_time_bin *bin)
{
    return bin->row_count;
}

static uint64_t prompt_tokens_of(const struct tb_time_bin *bin)
{
    return bin->prompt_tokens;
}

static uint64_t fresh_tokens_of(const struct tb_time_bin *bin)
{
    return bin->fresh_tokens;
}

static uint64_t sessions_of(const struct tb_time_bin *bin)
{
    return bin->session_count;
}

static void put_times(struct tb_json_form *form,
                      const struct tb_time_bins *bins)
{
    static const struct {
        const char *key;
        pick_figure *pick;
    } figures[] = {{"rows", rows_of},
                   {"prompt_tokens", prompt_tokens_of},
                   {"new_tokens", fresh_tokens_of},
                   {"sessions", sessions_of}};
    tb_json_form_open(form, "times", '{');
    tb_json_form_real(form, "width_ms", bins->width_ms);
    tb_json_form_real(form, "first_ms", bins->first * bins->width_ms);
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        tb_json_form_open(form, figures[i].key, '[');
        for (uint32_t k = 0; k < bins->count; k++)
            tb_json_form_number(form, NULL, figures[i].pick(&bins->items[k]));
        tb_json_form_close(form, ']');
    }
    tb_json_form_close(form, '}');
}

tb_status tb_analysis_curves(const struct tb_analysis_report *report,
                             struct tb_buffer *buffer)
{
    struct tb_trace_analysis *analysis = report->analysis;
    struct tb_json_form form = tb_json_form_on(buffer, false);
    tb_json_form_open(&form, NULL, '{');
    tb_json_form_number(&form, "agents", analysis->agents.count);
    tb_json_form_number(&form, "priorities", analysis->priorities.count);
    tb_json_form_open(&form, "caches", '[');
    for (size_t i = 0; i < analysis->cache_count; i++)
        put_cache(&form, &analysis->caches[i].cache);
    tb_json_form_close(&form, ']');
    put_lengths(&form, "prompt_length", analysis, prompt_of);
    put_lengths(&form, "new_length", analysis, fresh_of);
    put_lengths(&form, "output_length", analysis, output_of);
    put_gaps(&form, analysis, report->calls);
    put_times(&form, &analysis->times);
    tb_call_curves(&form, report->calls);
    tb_json_form_close(&form, '}');
    return form.status;
}
