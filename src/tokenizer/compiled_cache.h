/* The folder of compiled forms (compiled.h): how much is in it, and how to
 * empty it. They are made again when they are needed. */
#ifndef TB_COMPILED_CACHE_H
#define TB_COMPILED_CACHE_H

#include "status.h"

struct tb_compiled_sum {
    uint64_t count, bytes;
};

/* $XDG_CACHE_HOME/tracebake or ~/.cache/tracebake. False: there is no place
 * for one, or TRACEBAKE_NO_CACHE is set. */
bool tb_compiled_cache_folder(char *path, size_t size);

/* Bytes of the compiled form of a tokenizer's file, or of the built-in one
 * when it is named; 0: there is none. */
uint64_t tb_compiled_cache_len(const char *source);

/* All there are. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_compiled_cache_sum(struct tb_compiled_sum *sum);

/* Removes that of `source`, or all when it is NULL; nothing but compiled forms
 * is touched. TB_ERR_IO with the reason when one cannot be removed, which does
 * not keep others from it. `removed` says what is gone in any case. */
TB_NODISCARD tb_status tb_compiled_cache_clear(const char *source,
                                               struct tb_compiled_sum *removed,
                                               struct tb_error *error);

#endif
