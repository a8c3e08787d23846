#include "meta_rows.h"

static const struct {
    const char *name, *explanation;
} kinds[] = {
    [TB_ROWS_WHOLE] = {"whole", "a row is one call; input_length and hash_ids "
                                "are of its whole prompt, history included"},
    [TB_ROWS_DELTA] = {"delta",
                       "a row is one call; input_length and hash_ids are of "
                       "what it adds to the prompt and answer before it in its "
                       "session"},
    [TB_ROWS_MESSAGES] = {"messages", "a row is one call; messages are its "
                                      "whole prompt, history included"},
};

void tb_meta_rows_put(struct tb_json_form *form, tb_rows rows)
{
    tb_json_form_text(form, "prompt", tb_span_of(kinds[rows].name));
    tb_json_form_text(form, "explanation", tb_span_of(kinds[rows].explanation));
}

void tb_meta_counts_put(struct tb_json_form *form,
                        const struct tb_meta_counts *counts)
{
    tb_json_form_number(form, "sessions", counts->sessions);
    tb_json_form_number(form, "rows", counts->rows);
    tb_json_form_number(form, "input_tokens", counts->input_tokens);
    tb_json_form_number(form, "output_tokens", counts->output_tokens);
}
