#include "json_form.h"
#include "share.h"
#include "verification.h"

static void put_text(struct tb_json_form *form, const char *key,
                     const char *text)
{
    tb_json_form_text(form, key, tb_span_of(text));
}

static void put_counts(struct tb_json_form *form,
                       const struct tb_replay_check *check)
{
    const struct tb_call_table *calls = check->calls;
    const struct tb_request_table *requests = check->requests;
    tb_json_form_number(form, "calls", calls->count);
    tb_json_form_number(form, "skipped_calls", calls->skipped_count);
    tb_json_form_number(form, "requests", requests->count);
    tb_json_form_number(form, "warmup_requests", requests->warmup_count);
    tb_json_form_number(form, "answered", check->answered_count);
    tb_json_form_number(form, "failed", check->failed_count);
    tb_json_form_number(form, "missing", check->missing_count);
    tb_json_form_number(form, "extra", check->extra_count);
    tb_json_form_number(form, "repeated", check->repeated_count);
    tb_json_form_open(form, "lost_lines", '{');
    tb_json_form_number(form, "calls", calls->losses.count);
    tb_json_form_number(form, "requests", requests->losses.count);
    tb_json_form_close(form, '}');
    if (check->options.has_tolerance)
        tb_json_form_number(form, "tolerance", check->options.tolerance);
    if (check->options.has_late)
        tb_json_form_number(form, "late", check->options.late_ms);
}

static void put_series(struct tb_json_form *form, const char *key,
                       struct tb_series *series)
{
    tb_json_form_open(form, key, '{');
    tb_json_form_number(form, "count", series->count);
    tb_json_form_real(form, "mean", tb_series_mean(series));
    tb_json_form_number(form, "p50", tb_series_percentile(series, 0.5));
    tb_json_form_number(form, "p90", tb_series_percentile(series, 0.9));
    tb_json_form_number(form, "max", tb_series_percentile(series, 1));
    tb_json_form_close(form, '}');
}

static void put_figure(struct tb_json_form *form, const char *key,
                       struct tb_replay_figure *figure)
{
    tb_json_form_open(form, key, '{');
    put_series(form, "recorded", &figure->recorded);
    put_series(form, "replayed", &figure->replayed);
    tb_json_form_number(form, "exact", figure->matches[TB_MATCH_EXACT]);
    tb_json_form_number(form, "within", figure->matches[TB_MATCH_WITHIN]);
    tb_json_form_number(form, "off", figure->matches[TB_MATCH_OFF]);
    tb_json_form_number(form, "not_compared", figure->matches[TB_MATCH_NONE]);
    tb_json_form_close(form, '}');
}

static void put_lag(struct tb_json_form *form, const char *key,
                    struct tb_replay_lag *lag)
{
    struct tb_series *late = &lag->late_us;
    tb_json_form_open(form, key, '{');
    tb_json_form_real(form, "p50",
                      (double)tb_series_percentile(late, 0.5) / 1000);
    tb_json_form_real(form, "p90",
                      (double)tb_series_percentile(late, 0.9) / 1000);
    tb_json_form_real(form, "max",
                      (double)tb_series_percentile(late, 1) / 1000);
    tb_json_form_real(form, "early_max", lag->early_ms);
    tb_json_form_close(form, '}');
}

static void put_cached(struct tb_json_form *form,
                       const struct tb_replay_check *check)
{
    tb_json_form_open(form, "cached", '{');
    tb_json_form_number(form, "calls", check->cached_count);
    tb_json_form_number(form, "recorded_tokens", check->recorded_cached);
    tb_json_form_number(form, "recorded_prompt_tokens", check->recorded_prompt);
    tb_json_form_number(form, "replayed_tokens", check->replayed_cached);
    tb_json_form_number(form, "replayed_prompt_tokens", check->replayed_prompt);
    tb_json_form_real(form, "recorded_share",
                      tb_share(check->recorded_cached, check->recorded_prompt));
    tb_json_form_real(form, "replayed_share",
                      tb_share(check->replayed_cached, check->replayed_prompt));
    tb_json_form_close(form, '}');
}

static void put_figures(struct tb_json_form *form,
                        struct tb_replay_check *check)
{
    put_figure(form, "prompt_tokens", &check->prompt);
    put_figure(form, "output_tokens", &check->output);
    put_figure(form, "gap_ms", &check->gap);
    put_figure(form, "start_ms", &check->start);
    tb_json_form_open(form, "prompts_counted_by", '{');
    tb_json_form_number(form, "server", check->server_counted_count);
    tb_json_form_number(form, "aiperf",
                        check->prompt.recorded.count -
                            check->server_counted_count);
    tb_json_form_close(form, '}');
    put_lag(form, "late_ms", &check->gap_lag);
    put_lag(form, "start_late_ms", &check->start_lag);
    put_cached(form, check);
}

static void put_call(struct tb_json_form *form,
                     const struct tb_replay_check *check,
                     const struct tb_replay_call *call)
{
    tb_json_form_number(form, "row", call->row);
    tb_json_form_text(
        form, "session_id",
        tb_name_table_name(&check->calls->sessions, call->session));
    tb_json_form_number(form, "turn", call->turn);
}

static void put_worst(struct tb_json_form *form,
                      const struct tb_replay_check *check)
{
    tb_json_form_open(form, "worst", '[');
    for (size_t i = 0; i < check->worst_count; i++) {
        const struct tb_replay_pair *pair = &check->pairs[check->worst[i]];
        const struct tb_replay_call *call = pair->call;
        tb_json_form_open(form, NULL, '{');
        put_call(form, check, call);
        if (pair->prompt != TB_MATCH_NONE) {
            tb_json_form_number(form, "prompt_tokens", pair->recorded_prompt);
            tb_json_form_number(form, "replayed_prompt_tokens",
                                pair->replayed_prompt);
        }
        if (pair->output != TB_MATCH_NONE) {
            tb_json_form_number(form, "output_tokens", call->output_length);
            tb_json_form_number(form, "replayed_output_tokens",
                                pair->request->output_tokens);
        }
        bool is_start = call->turn == 0;
        if (pair->time != TB_MATCH_NONE) {
            tb_json_form_number(form, is_start ? "start_ms" : "gap_ms",
                                pair->recorded_ms);
            tb_json_form_real(
                form, is_start ? "replayed_start_ms" : "replayed_gap_ms",
                pair->replayed_ms);
        }
        tb_json_form_close(form, '}');
    }
    tb_json_form_close(form, ']');
}

static void put_partnerless(struct tb_json_form *form,
                            const struct tb_replay_check *check)
{
    size_t named = 0;
    tb_json_form_open(form, "without_request", '[');
    for (size_t i = 0; i < check->calls->count && named < TB_REPLAY_NAMED;
         i++) {
        if (check->pairs[i].request)
            continue;
        tb_json_form_open(form, NULL, '{');
        put_call(form, check, check->pairs[i].call);
        tb_json_form_close(form, '}');
        named++;
    }
    tb_json_form_close(form, ']');
    tb_json_form_open(form, "without_call", '[');
    for (size_t i = 0; i < check->extra_count && i < TB_REPLAY_NAMED; i++) {
        const struct tb_replay_request *request = check->extra[i];
        tb_json_form_open(form, NULL, '{');
        tb_json_form_text(
            form, "session_id",
            tb_name_table_name(&check->requests->sessions, request->session));
        tb_json_form_number(form, "turn", request->turn);
        tb_json_form_close(form, '}');
    }
    tb_json_form_close(form, ']');
}

static void put_settings(struct tb_json_form *form,
                         const struct tb_verification *verification)
{
    const struct tb_run_settings *settings = &verification->run->settings;
    const struct tb_replayed_rows *rows = verification->rows;
    tb_json_form_open(form, "settings", '{');
    put_text(form, "aiperf", settings->version);
    tb_json_form_number(form, "block_size", settings->block_size);
    put_text(form, "tokenizer", settings->tokenizer);
    put_text(form, "endpoint", settings->endpoint);
    tb_json_form_bool(form, "has_rows_meta", rows->is_known);
    tb_json_form_number(form, "rows_block_size", rows->block_size);
    put_text(form, "rows_tokenizer", rows->tokenizer);
    tb_json_form_close(form, '}');
}

static void put_causes(struct tb_json_form *form,
                       const struct tb_replay_causes *causes)
{
    tb_json_form_open(form, "causes", '[');
    for (size_t i = 0; i < causes->count; i++) {
        const struct tb_replay_cause *cause = &causes->items[i];
        tb_json_form_open(form, NULL, '{');
        put_text(form, "cause", tb_replay_cause_name(cause->kind));
        put_text(form, "message", cause->message);
        put_text(form, "change", cause->change);
        tb_json_form_close(form, '}');
    }
    tb_json_form_close(form, ']');
}

static void put_message(struct tb_json_form *form, const struct tb_error *error)
{
    char text[1024];
    if (error->status == TB_OK)
        return;
    tb_error_format(error, text, sizeof(text));
    put_text(form, NULL, text);
}

tb_status tb_verification_json(const struct tb_verification *verification,
                               struct tb_buffer *buffer)
{
    struct tb_json_form form = tb_json_form_on(buffer, false);
    struct tb_replay_check *check = verification->check;
    tb_json_form_open(&form, NULL, '{');
    put_text(&form, "run", verification->run_path);
    put_text(&form, "calls_file", verification->calls_path);
    put_text(&form, "rows_file", verification->rows_path);
    tb_json_form_bool(&form, "equal", tb_verification_is_good(verification));
    put_counts(&form, check);
    put_figures(&form, check);
    put_worst(&form, check);
    put_partnerless(&form, check);
    put_settings(&form, verification);
    put_causes(&form, verification->causes);
    tb_json_form_open(&form, "messages", '[');
    put_message(&form, &check->calls->losses.first);
    put_message(&form, &check->requests->losses.first);
    put_message(&form, &verification->run->settings_error);
    tb_json_form_close(&form, ']');
    tb_json_form_close(&form, '}');
    return form.status;
}
