/* Bytes out of gzip or zstd data, piece by piece: all members or frames that
 * follow each other. input.h uses it; nobody else needs to. */
#ifndef TB_DECOMPRESS_H
#define TB_DECOMPRESS_H

#include "status.h"

typedef enum tb_compression {
    TB_COMPRESSION_NONE,
    TB_COMPRESSION_GZIP,
    TB_COMPRESSION_ZSTD,
} tb_compression;

enum { TB_COMPRESSION_MAGIC_LEN = 4 }; /* bytes that tell which it is */

/* What begins with `bytes`? Skippable zstd frames count as zstd. */
tb_compression tb_compression_of_magic(struct tb_span bytes);

/* What should a file of this name hold? By .gz or .zst at its end. */
tb_compression tb_compression_of_name(const char *name);

struct tb_decompressor; /* one thread at a time */

/* `compression` is not TB_COMPRESSION_NONE. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_decompressor_new(
    tb_compression compression, struct tb_decompressor **decompressor);

/* Takes from the front of `*in` what it can use and writes up to `size` bytes,
 * `*len` in all. Nothing written means that it needs more; call it with an
 * empty `*in` too, since it may hold output back. TB_ERR_SYNTAX when the bytes
 * are no such data, TB_ERR_MEMORY: then and from then on nothing is written. */
TB_NODISCARD tb_status tb_decompressor_run(struct tb_decompressor *decompressor,
                                           struct tb_span *in, uint8_t *out,
                                           size_t size, size_t *len,
                                           struct tb_error *error);

/* Is everything complete that was begun? If not at the end of the file, the
 * file is cut off. */
bool tb_decompressor_is_complete(const struct tb_decompressor *decompressor);

/* NULL is accepted. */
void tb_decompressor_free(struct tb_decompressor *decompressor);

#endif
