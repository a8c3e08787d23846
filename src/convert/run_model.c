#include "run_model.h"

#include <stdio.h>
#include <string.h>

/* ---- the tokenizer ---------------------------------------------------- */

static tb_status find_tokenizer(struct tb_run_model *model, const char *name,
                                const struct tb_hub_access *hub,
                                struct tb_error *error)
{
    char path[4096];
    TB_TRY(tb_tokenizer_locate(name, hub, path, sizeof(path), error));
    return tb_tokenizer_open(path, &model->tokenizer, error);
}

static tb_status open_tokenizer(struct tb_run_model *model,
                                const struct tb_convert_options *options,
                                const struct tb_tokenizer_choice *choice,
                                struct tb_error *error)
{
    struct tb_error why = {0};
    tb_status status = find_tokenizer(model, choice->name, options->hub, &why);
    if (status == TB_OK || !error)
        return status;
    *error = why;
    if (status != TB_ERR_INTERRUPTED && choice->reason[0])
        (void)snprintf(error->message, sizeof(error->message),
                       "no --tokenizer given (%.90s): %.390s", choice->reason,
                       why.message);
    return status;
}

static void tell(const struct tb_run_model *model, struct tb_stats *stats)
{
    (void)snprintf(stats->tokenizer_origin, sizeof(stats->tokenizer_origin),
                   "%.255s", tb_tokenizer_origin(model->tokenizer));
    (void)snprintf(stats->tokenizer_fingerprint,
                   sizeof(stats->tokenizer_fingerprint), "%.32s",
                   tb_tokenizer_fingerprint(model->tokenizer));
}

/* ---- templates -------------------------------------------------------- */

/* The templates beside the tokenizer, or that were given. One that this program
 * cannot compile is a failure only for who insists on it or gave it; everybody
 * else is told, and has joined contents. */
static tb_status open_templates(struct tb_run_model *model,
                                const struct tb_convert_options *options,
                                struct tb_stats *stats, struct tb_error *error)
{
    const char *origin = tb_tokenizer_origin(model->tokenizer);
    bool is_needed =
        options->prompt == TB_PROMPT_TEXT_TEMPLATE || options->templates.path;
    struct tb_error why = {0};
    if (strcmp(origin, "built in") == 0)
        origin = NULL;
    TB_TRY(tb_chat_template_set_read(&model->templates, origin,
                                     &options->templates, error));
    tb_status status = tb_chat_template_set_compile(&model->templates, &why);
    if (status == TB_OK)
        return TB_OK;
    if (is_needed || status == TB_ERR_MEMORY) {
        *error = why;
        return status;
    }
    tb_stats_add_message(stats, &why);
    tb_chat_template_set_release(&model->templates);
    return TB_OK;
}

static tb_status make_rule(struct tb_run_model *model,
                           const struct tb_convert_options *options,
                           const struct tb_tokenizer_choice *choice,
                           struct tb_stats *stats, struct tb_error *error)
{
    bool is_needed = options->prompt == TB_PROMPT_TEXT_TEMPLATE;
    model->rule = (struct tb_prompt_rule){.dialect = options->dialect,
                                          .is_compat = options->is_compat,
                                          .is_template_needed = is_needed,
                                          .has_messages = options->form.rows ==
                                                          TB_ROWS_MESSAGES};
    if (options->is_compat || options->prompt == TB_PROMPT_TEXT_JOIN)
        return TB_OK;
    TB_TRY(open_templates(model, options, stats, error));
    if (tb_chat_template_set_find(&model->templates, true))
        model->rule.templates = &model->templates;
    else if (is_needed)
        return tb_fail(error, TB_ERR_NOT_FOUND,
                       "tokenizer '%.200s' has no chat template", choice->name);
    return TB_OK;
}

/* ---- the model -------------------------------------------------------- */

tb_status tb_run_model_open(struct tb_run_model *model,
                            const struct tb_convert_options *options,
                            const struct tb_tokenizer_choice *choice,
                            struct tb_stats *stats, struct tb_error *error)
{
    (void)snprintf(stats->tokenizer, sizeof(stats->tokenizer), "%.255s",
                   choice->name);
    (void)snprintf(stats->tokenizer_reason, sizeof(stats->tokenizer_reason),
                   "%s", choice->reason);
    TB_TRY(open_tokenizer(model, options, choice, error));
    tell(model, stats);
    TB_TRY(make_rule(model, options, choice, stats, error));
    if (options->form.endpoint != TB_ENDPOINT_CHAT)
        return TB_OK;
    TB_TRY(tb_endpoint_init(&model->endpoint, &model->templates,
                            model->tokenizer));
    stats->is_endpoint_unknown = model->endpoint.turn_count == 0;
    return TB_OK;
}

void tb_run_model_release(struct tb_run_model *model)
{
    tb_tokenizer_free(model->tokenizer);
    tb_chat_template_set_release(&model->templates);
    model->tokenizer = NULL;
}
