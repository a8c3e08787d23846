/* The compiled form of a tokenizer: its tables as they lie in memory, in one
 * file that the next start maps instead of reading megabytes of JSON.
 *
 * It lies in $XDG_CACHE_HOME/tracebake (or ~/.cache/tracebake) under a name
 * made of the source's place, size, time and inode and of this program's
 * format (of a tokenizer_config.json too, where that has a say), so that
 * nothing is hashed to find it and a changed source is not found. Its content
 * is checked by a hash before it is trusted; whatever is wrong with it means
 * that it is made anew. Nothing here is a failure of a run: without a cache the
 * source is read each time.
 *
 * Private to this layer.
 */
#ifndef TB_COMPILED_H
#define TB_COMPILED_H

#include "tokenizer_model.h"

/* Where the compiled form of `source` is or would be; its path is "" for the
 * built-in one. False when there is no place for it: no home, or
 * TRACEBAKE_NO_CACHE is set. */
bool tb_compiled_path(const struct tb_rank_source *source, char *path,
                      size_t size);

/* Maps the file; TB_ERR_NOT_FOUND when there is none that can be used. */
TB_NODISCARD tb_status tb_compiled_load(const char *path,
                                        struct tb_tokenizer **tokenizer);

/* Writes the file, making its folder. */
TB_NODISCARD tb_status tb_compiled_save(const struct tb_tokenizer *tokenizer,
                                        const char *path);

#endif
