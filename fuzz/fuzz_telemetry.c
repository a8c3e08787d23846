/* Proves: of telemetry what fuzz_nat.c proves of NAT traces. */
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_trace(TB_DIALECT_TELEMETRY, TB_JOIN_TELEMETRY, data, size);
    return 0;
}
