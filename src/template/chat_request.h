/* A recorded call as the request that the server got: OpenAI-style messages
 * and tools, which is what chat templates are written for.
 *
 * Recorders keep messages in shapes of their own and damage tools on the way;
 * docs/FORMATS.md has the list. Here they become
 *
 *     [{"role": .., "content": .., "tool_calls": [..], ..}, ..]
 *     [{"type": "function", "function": {..}}, ..]
 *
 * Contents are copied as they stand, escapes and all, so that a long one is
 * not decoded only to be encoded again. Arguments of tool calls are objects,
 * as servers give them to templates. Pure: any thread.
 */
#ifndef TB_CHAT_REQUEST_H
#define TB_CHAT_REQUEST_H

#include "buffer.h"
#include "memo.h"
#include "session.h"

/* Does this template walk through the parts of a content that is a list?
 * Otherwise servers give it their texts as one string. */
bool tb_chat_template_takes_parts(struct tb_span source);

/* Who reads the request. */
typedef enum tb_chat_reader {
    /* A template that takes a content to be text: the texts of a list of parts
     * become one string, with line breaks between, as servers do it. */
    TB_CHAT_FOR_TEXT,
    /* A template that walks through lists of parts: they stay. */
    TB_CHAT_FOR_PARTS,
    /* An OpenAI-style endpoint: lists of typed parts stay, others become one
     * string; the arguments of tool calls are text that holds JSON. */
    TB_CHAT_FOR_ENDPOINT,
} tb_chat_reader;

/* Appends the call's messages and tools as JSON lists; nothing is appended to
 * `tools` when it has none. `*has_roles` is false when a message has no role,
 * so that no template can be applied. `memo`, which may be NULL, keeps what
 * messages became. TB_ERR_SYNTAX, TB_ERR_CUT, TB_ERR_TYPE
 * with the place in the record; TB_ERR_MEMORY, TB_ERR_LIMIT. */
TB_NODISCARD tb_status tb_chat_request(const struct tb_call *call,
                                       tb_chat_reader chat_reader,
                                       struct tb_memo *memo,
                                       struct tb_buffer *messages,
                                       struct tb_buffer *tools, bool *has_roles,
                                       struct tb_error *error);

#endif
