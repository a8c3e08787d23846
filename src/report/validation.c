#include "validation.h"

#include <inttypes.h>
#include <stdio.h>

#include "json_form.h"

tb_status tb_finding_text(const struct tb_finding *finding,
                          tb_mooncake_consumer consumer,
                          struct tb_buffer *buffer)
{
    struct tb_mooncake_rule_text text =
        tb_mooncake_rule_text(finding->rule, consumer);
    char place[1024];
    tb_error_format(&finding->place, place, sizeof(place));
    TB_TRY(tb_buffer_printf(buffer, "%s [%s]\n", place,
                            tb_mooncake_rule_name(finding->rule)));
    if (finding->number > 1)
        return TB_OK;
    return tb_buffer_printf(buffer, "    %s: %s\n    to change: %s\n",
                            finding->is_fatal ? "error" : "warning",
                            text.consequence, text.change);
}

static tb_status append_count(struct tb_buffer *buffer, uint64_t count,
                              const char *noun)
{
    return tb_buffer_printf(buffer, "%" PRIu64 " %s%s", count, noun,
                            count == 1 ? "" : "s");
}

static const char *verdict(const struct tb_validation_counts *counts)
{
    if (counts->fatal_count > 0)
        return "the run would end";
    return counts->warning_count > 0 ? "something else would be replayed"
                                     : "good";
}

tb_status tb_validation_text(const struct tb_validation *validation,
                             uint64_t shown_max, struct tb_buffer *buffer)
{
    const struct tb_validation_counts *counts = validation->counts;
    for (int rule = 0; rule < TB_RULE_COUNT; rule++)
        if (counts->broken[rule] > shown_max)
            TB_TRY(tb_buffer_printf(
                buffer, "%s: %" PRIu64 " more of [%s]\n", validation->path,
                counts->broken[rule] - shown_max,
                tb_mooncake_rule_name((tb_mooncake_rule)rule)));
    TB_TRY(tb_buffer_printf(buffer, "%s: ", validation->path));
    TB_TRY(append_count(buffer, counts->row_count, "row"));
    TB_TRY(tb_buffer_append(buffer, TB_SPAN(", ")));
    TB_TRY(append_count(buffer, counts->session_count, "session"));
    TB_TRY(tb_buffer_printf(
        buffer, ", block size %" PRIu32 "%s: ", validation->block_size,
        validation->block_size_origin[0] == 'g'   ? ""
        : validation->block_size_origin[0] == 'm' ? " (by the meta file)"
                                                  : " (by default)"));
    TB_TRY(append_count(buffer, counts->fatal_count, "error"));
    TB_TRY(tb_buffer_append(buffer, TB_SPAN(", ")));
    TB_TRY(append_count(buffer, counts->warning_count, "warning"));
    return tb_buffer_printf(buffer, " for %s: %s\n",
                            tb_mooncake_consumer_name(validation->consumer),
                            verdict(counts));
}

static void put_finding(struct tb_json_form *form,
                        const struct tb_finding *finding,
                        tb_mooncake_consumer consumer)
{
    struct tb_mooncake_rule_text text =
        tb_mooncake_rule_text(finding->rule, consumer);
    const struct tb_error *place = &finding->place;
    tb_json_form_text(form, "rule",
                      tb_span_of(tb_mooncake_rule_name(finding->rule)));
    tb_json_form_bool(form, "fatal", finding->is_fatal);
    tb_json_form_number(form, "line", place->line);
    tb_json_form_number(form, "offset", place->offset);
    tb_json_form_text(form, "json_path", tb_span_of(place->json_path));
    tb_json_form_text(form, "message", tb_span_of(place->message));
    tb_json_form_text(form, "consequence", tb_span_of(text.consequence));
    tb_json_form_text(form, "change", tb_span_of(text.change));
}

tb_status tb_finding_json(const struct tb_finding *finding,
                          tb_mooncake_consumer consumer,
                          struct tb_buffer *buffer)
{
    struct tb_json_form form = tb_json_form_on(buffer, false);
    form.depth = 1; // inside a list, so that no line ends
    tb_json_form_open(&form, NULL, '{');
    put_finding(&form, finding, consumer);
    tb_json_form_close(&form, '}');
    return form.status;
}

static void put_rules(struct tb_json_form *form,
                      const struct tb_validation_counts *counts)
{
    tb_json_form_open(form, "rules", '{');
    for (int rule = 0; rule < TB_RULE_COUNT; rule++)
        if (counts->broken[rule] > 0)
            tb_json_form_number(form,
                                tb_mooncake_rule_name((tb_mooncake_rule)rule),
                                counts->broken[rule]);
    tb_json_form_close(form, '}');
}

tb_status tb_validation_json(const struct tb_validation *validation,
                             struct tb_span findings, struct tb_buffer *buffer)
{
    const struct tb_validation_counts *counts = validation->counts;
    struct tb_json_form form = tb_json_form_on(buffer, false);
    tb_json_form_open(&form, NULL, '{');
    tb_json_form_text(&form, "path", tb_span_of(validation->path));
    tb_json_form_text(
        &form, "for",
        tb_span_of(tb_mooncake_consumer_name(validation->consumer)));
    tb_json_form_number(&form, "block_size", validation->block_size);
    tb_json_form_text(&form, "block_size_origin",
                      tb_span_of(validation->block_size_origin));
    tb_json_form_bool(&form, "good", counts->fatal_count == 0);
    tb_json_form_number(&form, "rows", counts->row_count);
    tb_json_form_number(&form, "sessions", counts->session_count);
    tb_json_form_number(&form, "ids", counts->id_count);
    tb_json_form_number(&form, "fatal", counts->fatal_count);
    tb_json_form_number(&form, "warnings", counts->warning_count);
    put_rules(&form, counts);
    tb_json_form_open(&form, "findings", '[');
    if (form.status == TB_OK)
        form.status = tb_buffer_append(buffer, findings);
    tb_json_form_close(&form, ']');
    tb_json_form_close(&form, '}');
    return form.status;
}
