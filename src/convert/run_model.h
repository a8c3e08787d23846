/* The model whose prompts are counted: its tokenizer, its chat templates, and
 * what a chat endpoint would add with them.
 *
 *     struct tb_run_model model = {0};
 *     TB_TRY(tb_run_model_open(&model, options, &choice, stats, error));
 *     ... model.tokenizer, &model.rule, &model.endpoint ...
 *     tb_run_model_release(&model);
 */
#ifndef TB_RUN_MODEL_H
#define TB_RUN_MODEL_H

#include "endpoint.h"
#include "prompt_maker.h"
#include "tokenizer_choice.h"

/* Read-only once open, shared by threads. Must not move: `rule` points into
 * it. */
struct tb_run_model {
    struct tb_tokenizer *tokenizer;
    struct tb_chat_template_set templates;
    struct tb_prompt_rule rule;
    struct tb_endpoint endpoint;
};

/* Opens the tokenizer that was chosen, fetching it if it has to, and what
 * belongs to it; tells `stats` what that is. Statuses of tb_tokenizer_open and
 * tb_tokenizer_locate; TB_ERR_NOT_FOUND when the options need a template and
 * there is none. */
TB_NODISCARD tb_status tb_run_model_open(
    struct tb_run_model *model, const struct tb_convert_options *options,
    const struct tb_tokenizer_choice *choice, struct tb_stats *stats,
    struct tb_error *error);

void tb_run_model_release(struct tb_run_model *model);

#endif
