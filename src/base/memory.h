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

/* As tb_memory_resize(NULL, items * size), zeroed; NULL when that product
 * overflows or there is none to be had. */
void *tb_memory_zeroed(size_t items, size_t size);

void tb_memory_free(void *old);

/* Asks the system for large pages behind those of `len` bytes, not touched yet,
 * that fill some. Where there are none nothing happens. */
enum { TB_LARGE_PAGE = 2 << 20 };
void tb_memory_prefer_large_pages(void *memory, size_t len);

/* What this project has on its heap; libraries' own memory and threads' stacks
 * are not in it. */
struct tb_memory_state {
    size_t limit;   /* bytes; 0: none, and nothing is counted */
    size_t used;    /* bytes given out since the limit was set */
    size_t refused; /* bytes of the last request that did not fit; 0: all did */
    size_t refused_at; /* bytes that were given out then */
};

/* From now on at most `limit` bytes are given out, and what does not fit is
 * refused as if there were none. To be set once, before there are threads; 0
 * takes it away. */
void tb_memory_set_limit(size_t limit);

/* Thread-safe; figures of one moment. */
struct tb_memory_state tb_memory_state(void);

/* For tests: the `requests`-th request from now on (0: the next) and all after
 * it fail; negative: never. */
void tb_memory_fail_after(long requests);

#endif
