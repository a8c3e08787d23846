/* The tools that a call could choose from. Private to this layer. */
#ifndef TB_CALL_TOOLS_H
#define TB_CALL_TOOLS_H

#include "session.h"

/* Gives a call its list of tools, raw JSON; anything else is none. */
void tb_call_tools_set(struct tb_call *call, struct tb_span tools);

#endif
