#include "row_terms.h"

#include "json_form.h"

static const char *prompt_name(tb_prompt_text prompt)
{
    switch (prompt) {
    case TB_PROMPT_TEXT_TEMPLATE:
        return "template";
    case TB_PROMPT_TEXT_JOIN:
        return "join";
    case TB_PROMPT_TEXT_AUTO:
    default:
        return "auto";
    }
}

static const char *timestamps_name(tb_timestamps timestamps)
{
    switch (timestamps) {
    case TB_TIMESTAMPS_SESSION:
        return "session";
    case TB_TIMESTAMPS_ALL:
        return "all";
    case TB_TIMESTAMPS_NONE:
    default:
        return "none";
    }
}

static void put_times(struct tb_json_form *form, const struct tb_row_form *rows)
{
    tb_json_form_text(form, "timestamps",
                      tb_span_of(timestamps_name(rows->timestamps)));
    if (rows->delay != TB_DELAY_RECORDED)
        return; // one of milliseconds has its key
    tb_json_form_text(form, "delay", TB_SPAN("recorded"));
    if (rows->max_delay_ms < UINT64_MAX)
        tb_json_form_number(form, "max_delay", rows->max_delay_ms);
    if (rows->speedup > 0 && rows->speedup != 1)
        tb_json_form_real(form, "speedup", rows->speedup);
}

tb_status tb_row_terms_json(const struct tb_convert_options *options,
                            const struct tb_chat_template_set *templates,
                            struct tb_buffer *text)
{
    const struct tb_row_form *rows = &options->form;
    struct tb_json_form form = tb_json_form_on(text, false);
    char fingerprint[33];
    tb_json_form_open(&form, NULL, '{');
    tb_json_form_text(&form, "prompt",
                      tb_span_of(prompt_name(options->prompt)));
    if (tb_chat_template_set_fingerprint(templates, fingerprint))
        tb_json_form_text(&form, "chat_template", tb_span_of(fingerprint));
    tb_json_form_text(&form, "endpoint",
                      rows->endpoint == TB_ENDPOINT_CHAT
                          ? TB_SPAN("chat")
                          : TB_SPAN("completions"));
    put_times(&form, rows);
    tb_json_form_bool(&form, "keep_failed", options->keeps_failed);
    tb_json_form_bool(&form, "exact_output", rows->has_exact_output);
    tb_json_form_bool(&form, "labels", rows->has_labels);
    tb_json_form_bool(&form, "priority_numbers", rows->has_priority_number);
    tb_json_form_close(&form, '}');
    return form.status;
}
