/* Proves: any bytes are read as a NAT trace to their end, without a failure of
 * the run; records stand inside sessions and where they say; each of them
 * parses or costs itself; prompts and answers are valid UTF-8. */
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_trace(TB_DIALECT_NAT, TB_JOIN_NAT, data, size);
    return 0;
}
