#include "call_tools.h"

#include "hash.h"
#include "record_fields.h"

void tb_call_tools_set(struct tb_call *call, struct tb_span tools)
{
    if (!tb_field_is_filled(tools, '['))
        return;
    call->tools = tools;
    call->tools_hash = tb_hash64(tools, 0);
    if (call->tools_hash == 0) // that is: none
        call->tools_hash = 1;
}
