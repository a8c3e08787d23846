#include "compress.h"

#include <limits.h>

#include <zlib.h>
#include <zstd.h>

#include "memory.h"

enum {
    GZIP_LEVEL = 6,
    GZIP_WINDOW_BITS = 15 + 16, // the largest window, a gzip header
    GZIP_MEMORY_LEVEL = 8,      // zlib's own default
    ZSTD_LEVEL = 3,
    PIECE_MAX = INT_MAX // zlib counts in unsigned int
};

struct tb_compressor {
    tb_compression compression;
    z_stream gzip;
    ZSTD_CCtx *zstd;
};

static void *zlib_alloc(void *opaque, unsigned count, unsigned size)
{
    (void)opaque;
    return tb_memory_zeroed(count, size);
}

static void zlib_free(void *opaque, void *old)
{
    (void)opaque;
    tb_memory_free(old);
}

static bool init_gzip(z_stream *gzip)
{
    gzip->zalloc = zlib_alloc;
    gzip->zfree = zlib_free;
    return deflateInit2(gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS,
                        GZIP_MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
}

static bool init_zstd(ZSTD_CCtx **zstd)
{
    *zstd = ZSTD_createCCtx();
    return *zstd &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(*zstd, ZSTD_c_compressionLevel,
                                                ZSTD_LEVEL)) &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(*zstd, ZSTD_c_checksumFlag, 1));
}

tb_status tb_compressor_new(tb_compression compression,
                            struct tb_compressor **compressor)
{
    struct tb_compressor *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return TB_ERR_MEMORY;
    made->compression = compression;
    bool is_ready = compression == TB_COMPRESSION_GZIP ? init_gzip(&made->gzip)
                                                       : init_zstd(&made->zstd);
    if (!is_ready) {
        tb_compressor_free(made);
        return TB_ERR_MEMORY;
    }
    *compressor = made;
    return TB_OK;
}

static tb_status run_gzip(z_stream *z, struct tb_span *in, bool is_last,
                          uint8_t *out, size_t size, size_t *len, bool *is_done)
{
    uInt in_len = (uInt)(in->len < PIECE_MAX ? in->len : PIECE_MAX);
    uInt out_size = (uInt)(size < PIECE_MAX ? size : PIECE_MAX);
    // zlib was made without const; it only reads there.
    z->next_in = (Bytef *)(uintptr_t)in->ptr;
    z->avail_in = in_len;
    z->next_out = out;
    z->avail_out = out_size;
    bool is_end = is_last && in_len == in->len;
    int result = deflate(z, is_end ? Z_FINISH : Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return TB_ERR_IO;
    *in = tb_span_from(*in, in_len - z->avail_in);
    *len = out_size - z->avail_out;
    *is_done = result == Z_STREAM_END;
    return TB_OK;
}

static tb_status run_zstd(ZSTD_CCtx *zstd, struct tb_span *in, bool is_last,
                          uint8_t *out, size_t size, size_t *len, bool *is_done)
{
    ZSTD_inBuffer from = {in->ptr, in->len, 0};
    ZSTD_outBuffer to = {out, size, 0};
    size_t left = ZSTD_compressStream2(zstd, &to, &from,
                                       is_last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left))
        return TB_ERR_IO;
    *in = tb_span_from(*in, from.pos);
    *len = to.pos;
    *is_done = is_last && left == 0;
    return TB_OK;
}

tb_status tb_compressor_run(struct tb_compressor *compressor,
                            struct tb_span *in, bool is_last, uint8_t *out,
                            size_t size, size_t *len, bool *is_done)
{
    *len = 0;
    *is_done = false;
    if (compressor->compression == TB_COMPRESSION_GZIP)
        return run_gzip(&compressor->gzip, in, is_last, out, size, len,
                        is_done);
    return run_zstd(compressor->zstd, in, is_last, out, size, len, is_done);
}

void tb_compressor_free(struct tb_compressor *compressor)
{
    if (!compressor)
        return;
    if (compressor->compression == TB_COMPRESSION_GZIP)
        (void)deflateEnd(&compressor->gzip);
    (void)ZSTD_freeCCtx(compressor->zstd);
    tb_memory_free(compressor);
}
