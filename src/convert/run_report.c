#include "run_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis_page.h"
#include "memory.h"

struct tb_run_report {
    struct tb_trace_analysis rows;
    struct tb_call_analysis calls;
    uint64_t lost_row_count; /* too long for figures */
};

tb_status tb_run_report_new(uint32_t block_size, bool is_delta,
                            struct tb_run_report **report)
{
    struct tb_run_report *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return TB_ERR_MEMORY;
    tb_status status =
        tb_trace_analysis_init(&made->rows, block_size, is_delta, NULL, 0);
    if (status == TB_OK)
        *report = made;
    else
        tb_run_report_free(made);
    return status;
}

void tb_run_report_free(struct tb_run_report *report)
{
    if (!report)
        return;
    tb_trace_analysis_release(&report->rows);
    tb_call_analysis_release(&report->calls);
    tb_memory_free(report);
}

/* A number for a priority is told as it is written. */
struct priority_text {
    char digits[12];
    struct tb_span span;
};

static void find_priority(const struct tb_mooncake_row *row,
                          struct priority_text *text)
{
    text->span = row->priority;
    if (!row->has_priority || row->is_priority_null)
        text->span = (struct tb_span){0};
    if (!row->has_priority || !row->is_priority_number)
        return;
    (void)snprintf(text->digits, sizeof(text->digits), "%u",
                   tb_priority_number(row->priority));
    text->span = tb_span_of(text->digits);
}

// A row as `analyze` would read it.
static struct tb_trace_row row_of(const struct tb_mooncake_row *row,
                                  struct priority_text *priority)
{
    find_priority(row, priority);
    return (struct tb_trace_row){
        .session = row->session_id,
        .agent = row->has_agent_type ? row->agent_type : (struct tb_span){0},
        .priority = priority->span,
        .input_length = row->input_length,
        .has_output = true,
        .output_length = row->output_length,
        .ids = row->hash_ids,
        .id_count = row->hash_id_count,
        .has_time = row->has_timestamp,
        .has_delay = row->has_delay,
        .time_ms = (double)row->timestamp_ms,
        .delay_ms = (double)row->delay_ms,
    };
}

tb_status tb_run_report_add_row(struct tb_run_report *report,
                                const struct tb_mooncake_row *row,
                                uint64_t number)
{
    struct priority_text priority;
    struct tb_trace_analysis *rows = &report->rows;
    struct tb_trace_row made = row_of(row, &priority);
    if (tb_trace_analysis_check(rows, &made, NULL) != TB_OK) {
        report->lost_row_count++;
        return TB_OK;
    }
    TB_TRY(tb_trace_analysis_add(rows, &made));
    struct tb_call_row figures = {.input_length = row->input_length,
                                  .prompt_tokens = rows->last_prompt_tokens,
                                  .served_tokens = rows->last_prompt_tokens -
                                                   rows->last_fresh_tokens};
    return tb_call_analysis_add_row(&report->calls, number, &figures);
}

tb_status tb_run_report_add_call(struct tb_run_report *report,
                                 const struct tb_call_entry *entry)
{
    const struct tb_call *call = entry->call;
    bool has_row = entry->skip == TB_SKIP_COUNT;
    struct tb_call_record record = {
        .session = entry->session,
        .agent = call->agent,
        .model = call->model,
        .start_s = call->start_s,
        .first_token_s = call->first_token_s,
        .end_s = call->end_s,
        .has_row = has_row,
        .row = entry->row_number,
        .input_length = entry->row.input_length,
        .counted_tokens = entry->counted_tokens,
        .skipped = has_row ? (struct tb_span){0}
                           : tb_span_of(tb_skip_key(entry->skip)),
        .is_failed = entry->is_failed,
        .is_tried_again = entry->is_tried_again,
        .has_usage = call->usage.has_prompt,
        .has_cached = call->usage.has_cached,
        .usage_tokens = call->usage.prompt,
        .cached_tokens = call->usage.cached,
    };
    return tb_call_analysis_add(&report->calls, &record);
}

// What the summary shows of it: powers of two up to the first that serves all.
static void give_sizes(const struct tb_run_report *report,
                       struct tb_stats *stats)
{
    const struct tb_prefix_cache *cache = &report->rows.caches[0].cache;
    uint64_t all = tb_prefix_cache_served(cache), served = 0;
    stats->cache_prompt_tokens = cache->prompt_tokens;
    for (size_t i = 0; i < TB_STATS_CACHE_SIZES; i++) {
        served = tb_stack_distance_served(&cache->stack, UINT64_C(1) << i);
        stats->cache_served[stats->cache_size_count++] = served;
        if (served >= all)
            return;
    }
}

static tb_status finish(struct tb_run_report *report, const char *path,
                        struct tb_stats *stats, struct tb_buffer *page)
{
    struct tb_analysis_report told = {
        .analysis = &report->rows,
        .path = path,
        .path_count = 1,
        .block_size_origin = "given",
        .rows_origin = "given",
        .lost_line_count = report->lost_row_count,
        .hit_rate = -1,
        .calls = &report->calls,
        .lost_record_count =
            stats->lost_record_count + stats->skipped[TB_SKIP_UNREADABLE],
        .cut_session_count = stats->cut_session_count,
    };
    TB_TRY(tb_trace_analysis_finish(&report->rows));
    TB_TRY(tb_call_analysis_finish(&report->calls));
    give_sizes(report, stats);
    return tb_analysis_page(&told, page);
}

tb_status tb_run_report_write(struct tb_run_report *report, const char *path,
                              struct tb_stats *stats, struct tb_output *output,
                              struct tb_error *error)
{
    struct tb_buffer page = TB_BUFFER(SIZE_MAX / 2);
    tb_status status = finish(report, path, stats, &page);
    if (status == TB_OK)
        status = tb_output_write(output, tb_buffer_span(&page), error);
    else
        tb_fail(error, status, "cannot make the page: %s",
                tb_status_name(status));
    tb_buffer_release(&page);
    return status;
}
