#include "analysis_page.h"
#include "group_ranking.h"
#include "json_form.h"

enum { STEPS = 32 }; // in each doubling

/* 1, 2, 3, ... 64, 66, ..., 128, 132, ...; 0 at the end of numbers. */
static uint64_t next_point(uint64_t point)
{
    uint64_t step = 1;
    while (point / step >= 2 * STEPS)
        step *= 2;
    return point <= UINT64_MAX - step ? point + step : 0;
}

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
         point = next_point(point)) {
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

/* The points that several tallies are told at. */
struct grid {
    uint64_t first, last;
};

static void grid_include(struct grid *grid, struct tb_tally *tally)
{
    if (tally->count == 0)
        return;
    uint64_t least = tb_tally_percentile(tally, 0);
    uint64_t most = tb_tally_percentile(tally, 1);
    uint64_t point = 1, before = 1;
    for (; point && point <= least; point = next_point(point))
        before = point;
    if (grid->first == 0 || before < grid->first)
        grid->first = before;
    // The first point behind all, where no row is left.
    for (; point && point <= most; point = next_point(point))
        before = point;
    if (point > grid->last || point == 0)
        grid->last = point ? point : before;
}

static void put_grid(struct tb_json_form *form, const struct grid *grid)
{
    tb_json_form_open(form, "at", '[');
    for (uint64_t point = grid->first; point && point <= grid->last;
         point = next_point(point))
        tb_json_form_number(form, NULL, point);
    tb_json_form_close(form, ']');
}

/* How many values are at least as large as each point. */
static void put_curve(struct tb_json_form *form, struct tb_span name,
                      struct tb_tally *tally, const struct grid *grid)
{
    uint64_t left = tally->count;
    size_t at = 0;
    tb_json_form_open(form, NULL, '{');
    tb_json_form_text(form, "name", name);
    tb_json_form_number(form, "count", tally->count);
    tb_json_form_open(form, "rows", '[');
    for (uint64_t point = grid->first; point && point <= grid->last;
         point = next_point(point)) {
        for (; at < tally->entry_count && tally->entries[at].value < point;
             at++)
            left -= tally->entries[at].count;
        tb_json_form_number(form, NULL, left);
    }
    tb_json_form_close(form, ']');
    tb_json_form_close(form, '}');
}

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
    struct grid grid = {0};
    grid_include(&grid, pick(&analysis->all));
    for (size_t i = 0; i < count; i++)
        grid_include(&grid, pick(&analysis->agent_groups[numbers[i]]));
    tb_json_form_open(form, key, '{');
    put_grid(form, &grid);
    tb_json_form_open(form, "curves", '[');
    put_curve(form, TB_SPAN(""), pick(&analysis->all), &grid);
    for (size_t i = 0; i < count; i++)
        put_curve(form, tb_name_table_name(&analysis->agents, numbers[i]),
                  pick(&analysis->agent_groups[numbers[i]]), &grid);
    tb_json_form_close(form, ']');
    tb_json_form_close(form, '}');
}

static void put_gaps(struct tb_json_form *form,
                     struct tb_trace_analysis *analysis)
{
    struct grid grid = {0};
    grid_include(&grid, &analysis->delays);
    grid_include(&grid, &analysis->intervals);
    tb_json_form_open(form, "gaps", '{');
    put_grid(form, &grid);
    tb_json_form_open(form, "curves", '[');
    put_curve(form, TB_SPAN("delay"), &analysis->delays, &grid);
    put_curve(form, TB_SPAN("interval"), &analysis->intervals, &grid);
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
    put_gaps(&form, analysis);
    put_times(&form, &analysis->times);
    tb_json_form_close(&form, '}');
    return form.status;
}
