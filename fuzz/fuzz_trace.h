/* The body of the targets for trace dialects. */
#ifndef TB_FUZZ_TRACE_H
#define TB_FUZZ_TRACE_H

#include "fuzz.h"
#include "join.h"
#include "trace.h"

/* The first byte says how the trace is read, the rest is the trace. */
void fuzz_trace(tb_dialect_id dialect, tb_join_rule rule, const uint8_t *data,
                size_t size);

#endif
