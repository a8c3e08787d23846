#include "call_log.h"

#include <math.h>

#include "json_form.h"

enum { FLUSH_LEN = 256 << 10 }; // bytes of lines that are written at once

struct tb_call_log tb_call_log_on(struct tb_output *output)
{
    return (struct tb_call_log){.output = output,
                                .lines = TB_BUFFER(SIZE_MAX / 2)};
}

/* ---- a line ----------------------------------------------------------- */

// What was not recorded has no key.
static void put_time(struct tb_json_form *form, const char *key, double time_s)
{
    if (isfinite(time_s))
        tb_json_form_exact(form, key, time_s);
}

static void put_text(struct tb_json_form *form, const char *key,
                     struct tb_span text)
{
    if (text.len > 0)
        tb_json_form_text(form, key, text);
}

static void put_count(struct tb_json_form *form, const char *key, bool has,
                      uint64_t count)
{
    if (has)
        tb_json_form_number(form, key, count);
}

static void put_recorded(struct tb_json_form *form, const struct tb_call *call)
{
    const struct tb_usage *usage = &call->usage;
    tb_json_form_open(form, "recorded", '{');
    put_count(form, "prompt_tokens", usage->has_prompt, usage->prompt);
    put_count(form, "completion_tokens", usage->has_completion,
              usage->completion);
    put_count(form, "cached_tokens", usage->has_cached, usage->cached);
    put_count(form, "reasoning_tokens", usage->has_reasoning, usage->reasoning);
    tb_json_form_close(form, '}');
}

static struct tb_span prompt_text(tb_prompt_kind kind)
{
    switch (kind) {
    case TB_PROMPT_RENDERED:
        return TB_SPAN("template");
    case TB_PROMPT_REFUSED_JOINED:
        return TB_SPAN("joined, refused by the template");
    case TB_PROMPT_JOINED:
    case TB_PROMPT_REFUSED:
    case TB_PROMPT_NOT_ENCODED:
    default:
        return TB_SPAN("joined");
    }
}

static void put_row(struct tb_json_form *form,
                    const struct tb_call_entry *entry)
{
    const struct tb_mooncake_row *row = &entry->row;
    tb_json_form_number(form, "row", entry->row_number);
    tb_json_form_text(form, "session_id", row->session_id);
    put_text(form, "parent_session_id", row->parent_session_id);
    tb_json_form_number(form, "turn", entry->turn);
    put_count(form, "continues", entry->has_continued,
              entry->continued_row_number);
    tb_json_form_number(form, "input_length", row->input_length);
    tb_json_form_number(form, "output_length", row->output_length);
    tb_json_form_number(form, "prompt_tokens", entry->prompt_tokens);
    tb_json_form_number(form, "counted_tokens", entry->counted_tokens);
    tb_json_form_text(form, "prompt", prompt_text(entry->prompt_kind));
    put_count(form, "delay", row->has_delay, row->delay_ms);
    put_count(form, "timestamp", row->has_timestamp, row->timestamp_ms);
}

static void put_call(struct tb_json_form *form,
                     const struct tb_call_entry *entry)
{
    const struct tb_call *call = entry->call;
    tb_json_form_text(form, "recorded_session", entry->session);
    put_text(form, "model", call->model);
    put_text(form, "agent", call->agent);
    put_text(form, "priority", call->priority);
    put_time(form, "start", call->start_s);
    put_time(form, "first_token", call->first_token_s);
    put_time(form, "end", call->end_s);
    put_recorded(form, call);
    if (entry->is_failed)
        tb_json_form_bool(form, "failed", true);
    if (entry->is_tried_again)
        tb_json_form_bool(form, "tried_again", true);
    if (entry->has_overlap)
        tb_json_form_bool(form, "overlaps", true);
    tb_json_form_text(form, "trace", tb_span_of(entry->path));
    tb_json_form_number(form, "offset", call->offset);
}

static tb_status write_line(struct tb_buffer *lines,
                            const struct tb_call_entry *entry)
{
    struct tb_json_form form = tb_json_form_on(lines, false);
    tb_json_form_open(&form, NULL, '{');
    if (entry->skip == TB_SKIP_COUNT)
        put_row(&form, entry);
    else
        tb_json_form_text(&form, "skipped",
                          tb_span_of(tb_skip_key(entry->skip)));
    put_call(&form, entry);
    tb_json_form_close(&form, '}');
    return form.status;
}

/* ---- the lines -------------------------------------------------------- */

tb_status tb_call_log_flush(struct tb_call_log *log, struct tb_error *error)
{
    if (!log->output)
        return TB_OK;
    tb_status status =
        tb_output_write(log->output, tb_buffer_span(&log->lines), error);
    tb_buffer_clear(&log->lines);
    return status;
}

tb_status tb_call_log_add(struct tb_call_log *log,
                          const struct tb_call_entry *entry,
                          struct tb_error *error)
{
    if (!log->output)
        return TB_OK;
    tb_status status = write_line(&log->lines, entry);
    if (status != TB_OK)
        return tb_fail(error, status, "cannot write a call: %s",
                       tb_status_name(status));
    return log->lines.len < FLUSH_LEN ? TB_OK : tb_call_log_flush(log, error);
}

void tb_call_log_release(struct tb_call_log *log)
{
    tb_buffer_release(&log->lines);
}
