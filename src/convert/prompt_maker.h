/* A call's messages as the one text that is encoded: by the model's chat
 * template with its tools, as the server saw it, or its contents joined.
 */
#ifndef TB_PROMPT_MAKER_H
#define TB_PROMPT_MAKER_H

#include "chat_template_set.h"
#include "convert.h"

/* How texts are made; read-only, shared by threads. */
struct tb_prompt_rule {
    tb_dialect_id dialect;
    bool is_compat;
    const struct tb_chat_template_set *templates; /* NULL: always joined */
    bool is_template_needed; /* what it refuses is not joined instead */
    bool has_messages;       /* rows hold the messages themselves */
};

typedef enum tb_prompt_kind {
    TB_PROMPT_JOINED,
    TB_PROMPT_RENDERED,
    TB_PROMPT_REFUSED,        /* by the template, and there is no text */
    TB_PROMPT_REFUSED_JOINED, /* by the template, and joined instead */
    TB_PROMPT_NOT_ENCODED,    /* there is a text, but its ids are not known:
                                 what encodes texts says so */
} tb_prompt_kind;

/* The template that a call is rendered with, or NULL. */
const struct tb_chat_template_entry *
tb_prompt_rule_template(const struct tb_prompt_rule *rule,
                        const struct tb_call *call);

/* One per thread. */
struct tb_prompt_maker {
    const struct tb_prompt_rule *rule;
    struct tb_memo *memo;             /* of messages that came before, or NULL;
                                         the caller begins it */
    struct tb_buffer messages, tools; /* for the template, JSON */
    struct tb_arena arena;            /* of one rendering */
};

struct tb_prompt_maker tb_prompt_maker_make(const struct tb_prompt_rule *rule);
void tb_prompt_maker_release(struct tb_prompt_maker *maker);

/* Appends the text of `call` to `text`. A refusal is no failure: `*kind` says
 * so, and `refusal`, which must not be NULL, why. TB_ERR_SYNTAX, TB_ERR_TYPE,
 * TB_ERR_CUT for what cannot be joined; TB_ERR_MEMORY, TB_ERR_LIMIT. */
TB_NODISCARD tb_status tb_prompt_maker_add(struct tb_prompt_maker *maker,
                                           const struct tb_call *call,
                                           struct tb_buffer *text,
                                           tb_prompt_kind *kind,
                                           struct tb_error *refusal,
                                           struct tb_error *error);

/* Appends the messages of `call`, and its tools if it has any, as an
 * OpenAI-style endpoint takes them: lists in strict JSON. Where messages have
 * no roles, `text` is that of one user. Statuses as tb_prompt_maker_add. */
TB_NODISCARD tb_status tb_prompt_maker_add_messages(
    struct tb_prompt_maker *maker, const struct tb_call *call,
    struct tb_span text, struct tb_buffer *messages, struct tb_buffer *tools,
    struct tb_error *error);

#endif
