#include "json_form.h"
#include "meta.h"
#include "meta_rows.h"

static void put_rows(struct tb_json_form *form, const struct tb_meta *meta,
                     const struct tb_stats *stats)
{
    tb_json_form_open(form, "rows", '{');
    tb_meta_rows_put(form, stats->rows);
    tb_json_form_text(form, "prompt_text",
                      stats->rendered_count == 0 ? TB_SPAN("joined contents")
                      : stats->rendered_count == stats->row_count
                          ? TB_SPAN("chat template")
                          : TB_SPAN("chat template where it applies"));
    tb_json_form_text(form, "length_source",
                      meta->does_usage_lead ? TB_SPAN("server")
                                            : TB_SPAN("tokenizer"));
    tb_json_form_bool(form, "compat", stats->is_compat);
    if (meta->has_delay)
        tb_json_form_number(form, "delay_ms", meta->delay_ms);
    tb_json_form_close(form, '}');
}

static void put_ids(struct tb_json_form *form, const struct tb_meta *meta)
{
    if (!meta->has_content_ids)
        return;
    tb_json_form_text(form, "ids", TB_SPAN("content"));
    if (meta->secret_name)
        tb_json_form_text(form, "salt", tb_span_of(meta->secret_name));
    struct tb_json_reader options;
    struct tb_arena arena = {0};
    tb_json_reader_init_span(&options, meta->options, 0, 1);
    tb_json_form_copy(form, "options", &options, &arena);
    tb_arena_release(&arena);
    if (meta->has_timestamps)
        tb_json_form_number(form, "first_ms", meta->first_ms);
}

static void put_tokenizer(struct tb_json_form *form,
                          const struct tb_stats *stats)
{
    tb_json_form_number(form, "block_size", stats->block_size);
    tb_json_form_open(form, "tokenizer", '{');
    tb_json_form_text(form, "name", tb_span_of(stats->tokenizer));
    tb_json_form_text(form, "fingerprint",
                      tb_span_of(stats->tokenizer_fingerprint));
    tb_json_form_bool(form, "chat_template", stats->rendered_count > 0);
    tb_json_form_close(form, '}');
}

static void put_inputs(struct tb_json_form *form, const struct tb_meta *meta,
                       const struct tb_stats *stats)
{
    tb_json_form_text(form, "format",
                      stats->is_telemetry ? TB_SPAN("telemetry")
                                          : TB_SPAN("nat"));
    tb_json_form_open(form, "inputs", '[');
    for (size_t i = 0; i < meta->input_count; i++) {
        const struct tb_meta_input *input = &meta->inputs[i];
        tb_json_form_open(form, NULL, '{');
        tb_json_form_text(form, "path", tb_span_of(input->path));
        tb_json_form_number(form, "size", input->size);
        tb_json_form_text(form, "xxh3_128", tb_span_of(input->fingerprint));
        tb_json_form_close(form, '}');
    }
    tb_json_form_close(form, ']');
}

static void put_counts(struct tb_json_form *form, const struct tb_stats *stats)
{
    tb_json_form_open(form, "counts", '{');
    tb_json_form_number(form, "sessions", stats->sessions.count);
    tb_json_form_number(form, "rows", stats->row_count);
    tb_json_form_number(form, "skipped_calls", tb_stats_skipped(stats));
    tb_json_form_number(form, "lost_records", stats->lost_record_count);
    tb_json_form_number(form, "cut_sessions", stats->cut_session_count);
    tb_json_form_number(form, "input_tokens", stats->input.sum);
    tb_json_form_number(form, "output_tokens", stats->output.sum);
    tb_json_form_close(form, '}');
}

tb_status tb_meta_json(const struct tb_meta *meta, const struct tb_stats *stats,
                       struct tb_buffer *buffer)
{
    struct tb_json_form form = tb_json_form_on(buffer, true);
    tb_json_form_open(&form, NULL, '{');
    tb_json_form_number(&form, "meta_format", TB_META_FORMAT);
    tb_json_form_text(&form, "tracebake", tb_span_of(meta->version));
    if (meta->command)
        tb_json_form_text(&form, "command", tb_span_of(meta->command));
    put_rows(&form, meta, stats);
    put_tokenizer(&form, stats);
    put_ids(&form, meta);
    put_inputs(&form, meta, stats);
    put_counts(&form, stats);
    tb_json_form_close(&form, '}');
    return form.status;
}
