#include "prompt_maker.h"

#include <math.h>

#include "chat_request.h"
#include "join.h"

struct tb_prompt_maker tb_prompt_maker_make(const struct tb_prompt_rule *rule)
{
    return (struct tb_prompt_maker){.rule = rule,
                                    .messages = TB_BUFFER(UINT32_MAX),
                                    .tools = TB_BUFFER(UINT32_MAX)};
}

void tb_prompt_maker_release(struct tb_prompt_maker *maker)
{
    tb_buffer_release(&maker->messages);
    tb_buffer_release(&maker->tools);
    tb_arena_release(&maker->arena);
}

const struct tb_chat_template *
tb_prompt_rule_template(const struct tb_prompt_rule *rule,
                        const struct tb_call *call)
{
    return call->tools.len > 0 && rule->tool_template ? rule->tool_template
                                                      : rule->chat_template;
}

static tb_status render(struct tb_prompt_maker *maker,
                        const struct tb_call *call, struct tb_buffer *text,
                        struct tb_error *error)
{
    const struct tb_prompt_rule *rule = maker->rule;
    struct tb_chat_input input = {
        .messages = tb_buffer_span(&maker->messages),
        .tools = tb_buffer_span(&maker->tools),
        .special = rule->special,
        .special_count = rule->special_count,
        // The day of the recording, so that ids do not change with today.
        .now_s = isfinite(call->start_s) ? call->start_s : 0,
    };
    tb_arena_reset(&maker->arena);
    return tb_chat_template_render(tb_prompt_rule_template(rule, call), &input,
                                   &maker->arena, text, error);
}

static bool is_refusal(tb_status status)
{
    return status != TB_OK && status != TB_ERR_MEMORY;
}

/* Renders the call, if it can be; else `*kind` stays joined, or says that the
 * template refused. */
static tb_status try_template(struct tb_prompt_maker *maker,
                              const struct tb_call *call,
                              struct tb_buffer *text, tb_prompt_kind *kind,
                              struct tb_error *refusal)
{
    const struct tb_prompt_rule *rule = maker->rule;
    bool has_roles = false;
    tb_buffer_clear(&maker->messages);
    tb_buffer_clear(&maker->tools);
    tb_status status =
        tb_chat_request(call, rule->takes_parts, &maker->messages,
                        &maker->tools, &has_roles, refusal);
    if (status == TB_OK && has_roles) {
        status = render(maker, call, text, refusal);
        if (status == TB_OK)
            *kind = TB_PROMPT_RENDERED;
    }
    if (!is_refusal(status))
        return status;
    *kind =
        rule->is_template_needed ? TB_PROMPT_REFUSED : TB_PROMPT_REFUSED_JOINED;
    return TB_OK;
}

tb_status tb_prompt_maker_add(struct tb_prompt_maker *maker,
                              const struct tb_call *call,
                              struct tb_buffer *text, tb_prompt_kind *kind,
                              struct tb_error *refusal, struct tb_error *error)
{
    const struct tb_prompt_rule *rule = maker->rule;
    tb_join_rule join =
        rule->dialect == TB_DIALECT_NAT ? TB_JOIN_NAT : TB_JOIN_TELEMETRY;
    *kind = TB_PROMPT_JOINED;
    if (rule->chat_template && !rule->is_compat)
        TB_TRY(try_template(maker, call, text, kind, refusal));
    if (*kind == TB_PROMPT_RENDERED || *kind == TB_PROMPT_REFUSED)
        return TB_OK;
    return tb_join_messages(call, join, rule->is_compat, text, error);
}
