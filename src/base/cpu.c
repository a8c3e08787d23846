#include "cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static bool is_portable_wanted(void)
{
    const char *wanted = getenv("TB_CPU");
    return wanted && strcmp(wanted, "portable") == 0;
}

static bool detect(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("popcnt") &&
           __builtin_cpu_supports("pclmul") && !is_portable_wanted();
#elif defined(__aarch64__)
    return !is_portable_wanted();
#else
    return false;
#endif
}

bool tb_cpu_has_vectors(void)
{
    // Written with the same value by whichever threads come first.
    static atomic_int answer = -1;
    int known = atomic_load_explicit(&answer, memory_order_relaxed);
    if (known < 0) {
        known = detect();
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known;
}
