#include "prompt_maker.h"

#include <math.h>

#include "chat_request.h"
#include "join.h"
#include "json_copy.h"
#include "json_writer.h"

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

const struct tb_chat_template_entry *
tb_prompt_rule_template(const struct tb_prompt_rule *rule,
                        const struct tb_call *call)
{
    return rule->templates
               ? tb_chat_template_set_find(rule->templates, call->tools.len > 0)
               : NULL;
}

static tb_status render(struct tb_prompt_maker *maker,
                        const struct tb_chat_template *chat_template,
                        const struct tb_call *call, struct tb_buffer *text,
                        struct tb_error *error)
{
    struct tb_chat_input input =
        tb_chat_template_set_input(maker->rule->templates);
    input.messages = tb_buffer_span(&maker->messages);
    input.tools = tb_buffer_span(&maker->tools);
    input.memo = maker->memo;
    // The day of the recording, so that ids do not change with today.
    input.now_s = isfinite(call->start_s) ? call->start_s : 0;
    tb_arena_reset(&maker->arena);
    return tb_chat_template_render(chat_template, &input, &maker->arena, text,
                                   error);
}

static bool is_refusal(tb_status status)
{
    return status != TB_OK && status != TB_ERR_MEMORY;
}

/* Renders the call, if it can be; else `*kind` stays joined, or says that the
 * template refused. */
static tb_status try_template(struct tb_prompt_maker *maker,
                              const struct tb_chat_template_entry *entry,
                              const struct tb_call *call,
                              struct tb_buffer *text, tb_prompt_kind *kind,
                              struct tb_error *refusal)
{
    bool has_roles = false;
    tb_buffer_clear(&maker->messages);
    tb_buffer_clear(&maker->tools);
    tb_status status = tb_chat_request(
        call, entry->takes_parts ? TB_CHAT_FOR_PARTS : TB_CHAT_FOR_TEXT,
        maker->memo, &maker->messages, &maker->tools, &has_roles, refusal);
    if (status == TB_OK && has_roles) {
        status = render(maker, entry->compiled, call, text, refusal);
        if (status == TB_OK)
            *kind = TB_PROMPT_RENDERED;
    }
    if (!is_refusal(status))
        return status;
    *kind = maker->rule->is_template_needed ? TB_PROMPT_REFUSED
                                            : TB_PROMPT_REFUSED_JOINED;
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
    const struct tb_chat_template_entry *entry =
        tb_prompt_rule_template(rule, call);
    if (entry && !rule->is_compat)
        TB_TRY(try_template(maker, entry, call, text, kind, refusal));
    if (*kind == TB_PROMPT_RENDERED || *kind == TB_PROMPT_REFUSED)
        return TB_OK;
    return tb_join_messages(call, join, rule->is_compat, text, error);
}

// Appends the JSON in `json`, if there is any, as strict JSON.
static tb_status append_strict(struct tb_prompt_maker *maker,
                               struct tb_span json, struct tb_buffer *out,
                               struct tb_error *error)
{
    struct tb_json_reader reader;
    if (json.len == 0)
        return TB_OK;
    tb_json_reader_init_span(&reader, json, 0, 1);
    tb_status status = tb_json_copy(&reader, &maker->arena, true, out);
    if (status != TB_OK && reader.error.status == status)
        *error = reader.error;
    return status;
}

static tb_status append_user(struct tb_span text, struct tb_buffer *messages)
{
    TB_TRY(tb_buffer_append(messages,
                            TB_SPAN("[{\"role\": \"user\", \"content\": ")));
    TB_TRY(tb_json_write_string(messages, text));
    return tb_buffer_append(messages, TB_SPAN("}]"));
}

tb_status tb_prompt_maker_add_messages(struct tb_prompt_maker *maker,
                                       const struct tb_call *call,
                                       struct tb_span text,
                                       struct tb_buffer *messages,
                                       struct tb_buffer *tools,
                                       struct tb_error *error)
{
    bool has_roles;
    tb_buffer_clear(&maker->messages);
    tb_buffer_clear(&maker->tools);
    tb_arena_reset(&maker->arena);
    TB_TRY(tb_chat_request(call, TB_CHAT_FOR_ENDPOINT, maker->memo,
                           &maker->messages, &maker->tools, &has_roles, error));
    if (!has_roles)
        return append_user(text, messages);
    TB_TRY(append_strict(maker, tb_buffer_span(&maker->messages), messages,
                         error));
    return append_strict(maker, tb_buffer_span(&maker->tools), tools, error);
}
