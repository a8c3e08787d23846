/* Tool lists as they were sent, from what a recorder made of them.
 *
 * NeMo Agent Toolkit keeps the parameters of a function with `type_` for
 * `type`, and with `additionalProperties: false` and `strict: true` that
 * nobody sent. With these taken back, the keys of a function in the order
 * name, description, parameters and those of parameters in the order
 * properties, required, type, a chat template gives the prompt that the server
 * counted. Lists without this damage are copied as they are. */
#ifndef TB_CHAT_TOOLS_H
#define TB_CHAT_TOOLS_H

#include "buffer.h"

/* Appends the repaired list. TB_ERR_SYNTAX, TB_ERR_CUT, TB_ERR_TYPE with the
 * place in `tools`; TB_ERR_MEMORY, TB_ERR_LIMIT. */
TB_NODISCARD tb_status tb_chat_tools_repair(struct tb_span tools,
                                            struct tb_buffer *out,
                                            struct tb_error *error);

#endif
