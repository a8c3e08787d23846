#include "tokenizer_choice.h"

#include <stdio.h>

#include "model_choice.h"

enum { MODEL_SHOWN = 100 }; // bytes

static int shown_len(struct tb_span model)
{
    return (int)(model.len < MODEL_SHOWN ? model.len : MODEL_SHOWN);
}

void tb_tokenizer_choice_look(struct tb_tokenizer_choice *choice,
                              struct tb_span record)
{
    struct tb_span model;
    tb_arena_reset(&choice->scratch);
    if (tb_trace_peek_model(choice->dialect, record, &choice->scratch,
                            &model) != TB_OK)
        return;
    if (!choice->model[0])
        (void)snprintf(choice->model, sizeof(choice->model), "%.*s",
                       shown_len(model), (const char *)model.ptr);
    choice->name = tb_tokenizer_of_model(model);
    if (choice->name)
        (void)snprintf(choice->reason, sizeof(choice->reason),
                       "inferred from model '%.*s'", shown_len(model),
                       (const char *)model.ptr);
}

void tb_tokenizer_choice_default(struct tb_tokenizer_choice *choice)
{
    char *reason = choice->reason;
    if (choice->dialect == TB_DIALECT_TELEMETRY) {
        choice->name = TB_DEFAULT_TELEMETRY_TOKENIZER;
        (void)snprintf(reason, sizeof(choice->reason),
                       "the default for telemetry");
        return;
    }
    choice->name = TB_DEFAULT_NAT_TOKENIZER;
    if (choice->model[0])
        (void)snprintf(reason, sizeof(choice->reason),
                       "the default, since model '%.*s' is not known",
                       MODEL_SHOWN, choice->model);
    else
        (void)snprintf(reason, sizeof(choice->reason),
                       "the default, since no model is recorded");
}

void tb_tokenizer_choice_release(struct tb_tokenizer_choice *choice)
{
    tb_arena_release(&choice->scratch);
}
