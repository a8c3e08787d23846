/* Bytes into one gzip member or zstd frame. output.h uses it; nobody else
 * needs to. The way back is decompress.h. */
#ifndef TB_COMPRESS_H
#define TB_COMPRESS_H

#include "decompress.h"

struct tb_compressor; /* one thread at a time */

/* gzip at level 6, zstd at level 3. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_compressor_new(tb_compression compression,
                                         struct tb_compressor **compressor);

/* Takes from the front of `*in` and writes up to `size` bytes, `*len` in all;
 * call it until `*in` is empty. With `is_last` it also ends the data; then
 * call it until `*is_done`. TB_ERR_IO when the library fails. */
TB_NODISCARD tb_status tb_compressor_run(struct tb_compressor *compressor,
                                         struct tb_span *in, bool is_last,
                                         uint8_t *out, size_t size, size_t *len,
                                         bool *is_done);

/* NULL is accepted. */
void tb_compressor_free(struct tb_compressor *compressor);

#endif
