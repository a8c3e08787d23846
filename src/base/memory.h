/* The one door to malloc. Everything in this project that lives on the heap
 * was given out here, in large pieces (arenas, buffers, tables), so that a
 * test can make any one of the requests fail. */
#ifndef TB_MEMORY_H
#define TB_MEMORY_H

#include <stddef.h>

/* Grows, shrinks, allocates (`old` NULL) or frees (`size` 0, returns NULL).
 * On failure returns NULL and leaves `old` as it was. Memory is not cleared.
 * Thread-safe. */
void *tb_memory_resize(void *old, size_t size);

/* As tb_memory_resize(NULL, count * size), zeroed; NULL when that product
 * overflows or there is none to be had. */
void *tb_memory_zeroed(size_t count, size_t size);

void tb_memory_free(void *old);

/* For tests: the `count`-th request from now on (0: the next) and all after
 * it fail; negative: never. */
void tb_memory_fail_after(long count);

#endif
