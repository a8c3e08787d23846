#include "memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

// The only mutable global: the fault that a test asked for.
static atomic_long requests_left = -1;

static bool is_refused(void)
{
    long left = atomic_load_explicit(&requests_left, memory_order_relaxed);
    if (left < 0)
        return false;
    if (left == 0)
        return true;
    atomic_store_explicit(&requests_left, left - 1, memory_order_relaxed);
    return false;
}

void *tb_memory_resize(void *old, size_t size)
{
    if (size == 0) {
        free(old);
        return NULL;
    }
    if (is_refused())
        return NULL;
    return realloc(old, size);
}

void *tb_memory_zeroed(size_t count, size_t size)
{
    if (count == 0 || size == 0 || count > SIZE_MAX / size || is_refused())
        return NULL;
    return calloc(count, size);
}

void tb_memory_free(void *old)
{
    free(old);
}

void tb_memory_fail_after(long count)
{
    atomic_store(&requests_left, count);
}
