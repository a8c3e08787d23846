/* Which agent made a call, by how its prompt begins: for traces that do not
 * say. Private to this layer; the rules are one table in agent_type.c. */
#ifndef TB_AGENT_TYPE_H
#define TB_AGENT_TYPE_H

#include "session.h"

/* Looks at the first system prompt and, without one, at the first user
 * message. `*agent` is a constant; "unknown" when no rule fits. `is_compat`:
 * as the Python converter has it. `arena` is for prompts that are lists. */
TB_NODISCARD tb_status tb_agent_type_find(const struct tb_message *messages,
                                          size_t message_count, bool is_compat,
                                          struct tb_arena *arena,
                                          struct tb_span *agent);

#endif
