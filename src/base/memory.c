#include "memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifdef __APPLE__
#include <malloc/malloc.h>
#define malloc_usable_size malloc_size
#else
#include <malloc.h>
#endif

// The only mutable globals: the fault that a test asked for, and the limit
// that a user set.
static atomic_long requests_left = -1;
static size_t limit;
static atomic_size_t used; // with a limit; wraps below 0 when what was given
                           // out before it is freed
static atomic_size_t refused, refused_at;

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

static size_t size_of(void *block)
{
    return limit && block ? malloc_usable_size(block) : 0;
}

// Is there room for `more` bytes? Two threads at once may pass the limit by
// what they ask for.
static bool is_room_for(size_t more)
{
    if (limit == 0)
        return true;
    intptr_t now = (intptr_t)atomic_load_explicit(&used, memory_order_relaxed);
    if (more <= limit && (now <= 0 || (size_t)now <= limit - more))
        return true;
    atomic_store_explicit(&refused, more, memory_order_relaxed);
    atomic_store_explicit(&refused_at, now > 0 ? (size_t)now : 0,
                          memory_order_relaxed);
    return false;
}

static void count(size_t before, size_t after)
{
    if (limit)
        (void)atomic_fetch_add_explicit(&used, after - before,
                                        memory_order_relaxed);
}

void *tb_memory_resize(void *old, size_t size)
{
    size_t before = size_of(old);
    if (size == 0) {
        count(before, 0);
        free(old);
        return NULL;
    }
    if (is_refused() || (size > before && !is_room_for(size - before)))
        return NULL;
    void *made = realloc(old, size);
    if (made)
        count(before, size_of(made));
    return made;
}

void *tb_memory_zeroed(size_t items, size_t size)
{
    if (items == 0 || size == 0 || items > SIZE_MAX / size || is_refused() ||
        !is_room_for(items * size))
        return NULL;
    void *made = calloc(items, size);
    count(0, size_of(made));
    return made;
}

void tb_memory_free(void *old)
{
    count(size_of(old), 0);
    free(old);
}

void tb_memory_prefer_large_pages(void *memory, size_t len)
{
#ifdef MADV_HUGEPAGE
    uintptr_t first = (uintptr_t)memory, end = first + len;
    first = (first + TB_LARGE_PAGE - 1) & ~(uintptr_t)(TB_LARGE_PAGE - 1);
    end &= ~(uintptr_t)(TB_LARGE_PAGE - 1);
    if (first < end)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)len;
#endif
}

void tb_memory_set_limit(size_t bytes)
{
    limit = bytes;
    atomic_store(&used, 0);
    atomic_store(&refused, 0);
}

struct tb_memory_state tb_memory_state(void)
{
    intptr_t now = (intptr_t)atomic_load(&used);
    return (struct tb_memory_state){
        .limit = limit,
        .used = now > 0 ? (size_t)now : 0,
        .refused = atomic_load(&refused),
        .refused_at = atomic_load(&refused_at),
    };
}

void tb_memory_fail_after(long requests)
{
    atomic_store(&requests_left, requests);
}
