#include "json_form.h"
#include "share.h"
#include "summary.h"

static void put_series(struct tb_json_form *form, const char *key,
                       struct tb_series *series)
{
    tb_json_form_open(form, key, '{');
    tb_json_form_number(form, "min", tb_series_percentile(series, 0));
    tb_json_form_number(form, "max", tb_series_percentile(series, 1));
    tb_json_form_real(form, "mean", tb_series_mean(series));
    tb_json_form_number(form, "p50", tb_series_percentile(series, 0.5));
    tb_json_form_number(form, "p90", tb_series_percentile(series, 0.9));
    tb_json_form_number(form, "p99", tb_series_percentile(series, 0.99));
    tb_json_form_close(form, '}');
}

static void put_skipped(struct tb_json_form *form, const struct tb_stats *stats)
{
    tb_json_form_open(form, "skipped", '{');
    for (int skip = 0; skip < TB_SKIP_COUNT; skip++)
        tb_json_form_number(form, tb_skip_key((tb_skip)skip),
                            stats->skipped[skip]);
    tb_json_form_close(form, '}');
}

static void put_lengths(struct tb_json_form *form, struct tb_stats *stats)
{
    put_series(form, "turns", &stats->turns);
    put_series(form, "input_length", &stats->input);
    put_series(form, "output_length", &stats->output);
    put_series(form, "ids_per_row", &stats->blocks);
    tb_json_form_number(form, "input_tokens", stats->input.sum);
    tb_json_form_number(form, "output_tokens", stats->output.sum);
}

static void put_caches(struct tb_json_form *form, const struct tb_stats *stats)
{
    double share = tb_stats_cached_share(stats);
    uint64_t all = stats->block_tokens;
    tb_json_form_open(form, "prefix_cache", '{');
    tb_json_form_number(form, "seen_tokens",
                        share > 0 ? all - stats->new_tokens : 0);
    tb_json_form_number(form, "prompt_tokens", all);
    tb_json_form_real(form, "share", share);
    tb_json_form_close(form, '}');

    tb_json_form_open(form, "recorded_cache", '{');
    tb_json_form_number(form, "rows", stats->cached_row_count);
    tb_json_form_number(form, "cached_tokens", stats->cached_tokens);
    tb_json_form_number(form, "prompt_tokens", stats->cached_prompt_tokens);
    tb_json_form_real(
        form, "share",
        tb_share(stats->cached_tokens, stats->cached_prompt_tokens));
    tb_json_form_close(form, '}');
}

static double median_difference(struct tb_series *permille)
{
    return (double)tb_series_percentile(permille, 0.5) / 1000;
}

static void put_counts(struct tb_json_form *form, struct tb_stats *stats)
{
    struct tb_series *permille = &stats->difference_permille;
    tb_json_form_open(form, "counts", '{');
    tb_json_form_number(form, "rows", stats->usage_row_count);
    tb_json_form_number(form, "differing", stats->adjusted_count);
    tb_json_form_number(form, "server_leads", stats->usage_led_count);
    tb_json_form_real(form, "median_difference", median_difference(permille));
    tb_json_form_real(form, "max_difference",
                      (double)tb_series_percentile(permille, 1) / 1000);
    tb_json_form_close(form, '}');
    tb_json_form_number(form, "output_counted", stats->output_counted_count);
    tb_json_form_number(form, "output_unknown", stats->output_unknown_count);
}

static void put_groups(struct tb_json_form *form, const char *key,
                       const struct tb_name_table *names,
                       struct tb_stats_group *groups)
{
    tb_json_form_open(form, key, '[');
    for (uint32_t i = 0; i < names->count; i++) {
        struct tb_stats_group *group = &groups[i];
        tb_json_form_open(form, NULL, '{');
        tb_json_form_text(form, "name", tb_name_table_name(names, i));
        tb_json_form_number(form, "rows", group->row_count);
        tb_json_form_number(form, "input_tokens", group->input_tokens);
        tb_json_form_number(form, "output_tokens", group->output_tokens);
        tb_json_form_number(form, "differing", group->adjusted_count);
        tb_json_form_real(form, "median_difference",
                          median_difference(&group->difference_permille));
        tb_json_form_close(form, '}');
    }
    tb_json_form_close(form, ']');
}

static void put_losses(struct tb_json_form *form, const struct tb_stats *stats)
{
    tb_json_form_open(form, "losses", '{');
    tb_json_form_number(form, "records", stats->lost_record_count);
    tb_json_form_number(form, "cut_sessions", stats->cut_session_count);
    tb_json_form_number(form, "empty_sessions", stats->empty_session_count);
    tb_json_form_number(form, "answers", stats->uncounted_answer_count);
    tb_json_form_number(form, "lone_surrogates", stats->lone_surrogate_count);
    tb_json_form_number(form, "bad_utf8", stats->bad_utf8_count);
    tb_json_form_number(form, "images", stats->image_count);
    tb_json_form_close(form, '}');
    tb_json_form_number(form, "rendered", stats->rendered_count);
    tb_json_form_number(form, "failed_rows", stats->failed_row_count);
    tb_json_form_number(form, "tried_again", stats->retried_count);
    tb_json_form_number(form, "branches", stats->branch_count);
    tb_json_form_number(form, "overlaps", stats->overlap_count);
}

static void put_messages(struct tb_json_form *form,
                         const struct tb_stats *stats)
{
    tb_json_form_open(form, "messages", '[');
    uint64_t kept = stats->message_count < TB_STATS_MAX_MESSAGES
                        ? stats->message_count
                        : TB_STATS_MAX_MESSAGES;
    for (uint64_t i = 0; i < kept; i++) {
        char text[1024];
        tb_error_format(&stats->messages[i], text, sizeof(text));
        tb_json_form_text(form, NULL, tb_span_of(text));
    }
    tb_json_form_close(form, ']');
    tb_json_form_number(form, "message_count", stats->message_count);
}

static void put_run(struct tb_json_form *form, const struct tb_stats *stats)
{
    tb_json_form_number(form, "block_size", stats->block_size);
    tb_json_form_open(form, "tokenizer", '{');
    tb_json_form_text(form, "name", tb_span_of(stats->tokenizer));
    tb_json_form_text(form, "origin", tb_span_of(stats->tokenizer_origin));
    tb_json_form_text(form, "reason", tb_span_of(stats->tokenizer_reason));
    tb_json_form_text(form, "fingerprint",
                      tb_span_of(stats->tokenizer_fingerprint));
    tb_json_form_close(form, '}');
    tb_json_form_text(form, "format",
                      stats->is_telemetry ? TB_SPAN("telemetry")
                                          : TB_SPAN("nat"));
    tb_json_form_bool(form, "compat", stats->is_compat);
    tb_json_form_open(form, "run", '{');
    tb_json_form_number(form, "inputs", stats->input_count);
    tb_json_form_number(form, "bytes", stats->bytes_read);
    tb_json_form_number(form, "records", stats->record_count);
    tb_json_form_number(form, "prompt_tokens", stats->token_count);
    tb_json_form_number(form, "encoded_tokens",
                        stats->token_count - stats->reused_token_count);
    tb_json_form_number(form, "reused_tokens", stats->reused_token_count);
    tb_json_form_real(form, "seconds", stats->seconds);
    tb_json_form_text(form, "output", tb_span_of(stats->output_path));
    tb_json_form_close(form, '}');
}

tb_status tb_summary_json(struct tb_stats *stats, struct tb_buffer *buffer)
{
    struct tb_json_form form = tb_json_form_on(buffer, false);
    tb_json_form_open(&form, NULL, '{');
    tb_json_form_number(&form, "rows", stats->row_count);
    tb_json_form_number(&form, "sessions", stats->sessions.count);
    tb_json_form_number(&form, "calls", stats->call_count);
    put_skipped(&form, stats);
    put_lengths(&form, stats);
    put_caches(&form, stats);
    put_counts(&form, stats);
    put_groups(&form, "agents", &stats->agents, stats->agent_groups);
    put_groups(&form, "priorities", &stats->priorities, stats->priority_groups);
    put_losses(&form, stats);
    put_messages(&form, stats);
    put_run(&form, stats);
    tb_json_form_close(&form, '}');
    return form.status;
}
