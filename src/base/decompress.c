#include "decompress.h"

#include <limits.h>

#include <zlib.h>
#include <zstd.h>

#include "memory.h"

enum {
    GZIP_WINDOW_BITS = 15 + 16, // the largest window; a gzip header is a must
    PIECE_MAX = INT_MAX,        // zlib counts in unsigned int
    ZSTD_START_LEN = 5,         // bytes that tell a zstd frame's header
    ZSTD_BLOCK_HEADER_LEN = 3
};

struct tb_decompressor {
    tb_compression compression;
    bool is_complete; // at the end of a member or frame, none begun
    z_stream gzip;
    ZSTD_DCtx *zstd;
    size_t zstd_wanted; // bytes that zstd asks for; 0: a new frame
    bool is_zstd_full;  // the last call filled its room: zstd may hold more
};

tb_compression tb_compression_of_magic(struct tb_span bytes)
{
    const uint8_t *b = bytes.ptr;
    if (bytes.len >= 2 && b[0] == 0x1F && b[1] == 0x8B)
        return TB_COMPRESSION_GZIP;
    if (bytes.len < 4)
        return TB_COMPRESSION_NONE;
    bool is_frame = b[0] == 0x28 && b[1] == 0xB5 && b[2] == 0x2F;
    bool is_skippable = (b[0] & 0xF0) == 0x50 && b[1] == 0x2A && b[2] == 0x4D;
    bool is_zstd = (is_frame && b[3] == 0xFD) || (is_skippable && b[3] == 0x18);
    return is_zstd ? TB_COMPRESSION_ZSTD : TB_COMPRESSION_NONE;
}

tb_compression tb_compression_of_name(const char *name)
{
    struct tb_span span = tb_span_of(name);
    if (tb_span_ends_with(span, TB_SPAN(".gz")))
        return TB_COMPRESSION_GZIP;
    if (tb_span_ends_with(span, TB_SPAN(".zst")))
        return TB_COMPRESSION_ZSTD;
    return TB_COMPRESSION_NONE;
}

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

tb_status tb_decompressor_new(tb_compression compression,
                              struct tb_decompressor **decompressor)
{
    struct tb_decompressor *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return TB_ERR_MEMORY;
    made->compression = compression;
    made->is_complete = true;
    bool is_ready;
    if (compression == TB_COMPRESSION_GZIP) {
        made->gzip.zalloc = zlib_alloc;
        made->gzip.zfree = zlib_free;
        is_ready = inflateInit2(&made->gzip, GZIP_WINDOW_BITS) == Z_OK;
    } else {
        made->zstd = ZSTD_createDCtx();
        is_ready = made->zstd != NULL;
    }
    if (!is_ready) {
        tb_memory_free(made);
        return TB_ERR_MEMORY;
    }
    *decompressor = made;
    return TB_OK;
}

// Between members nothing but zeros may stand (tapes pad with them), or the
// next member.
static tb_status begin_member(struct tb_decompressor *d, struct tb_span *in)
{
    size_t zeros = 0;
    while (zeros < in->len && in->ptr[zeros] == 0)
        zeros++;
    *in = tb_span_from(*in, zeros);
    if (in->len == 0)
        return TB_OK;
    d->is_complete = false;
    return inflateReset(&d->gzip) == Z_OK ? TB_OK : TB_ERR_SYNTAX;
}

static tb_status run_gzip(struct tb_decompressor *d, struct tb_span *in,
                          uint8_t *out, size_t size, size_t *len,
                          struct tb_error *error)
{
    if (d->is_complete)
        TB_TRY(begin_member(d, in));
    if (d->is_complete)
        return TB_OK;
    z_stream *z = &d->gzip;
    uInt in_len = (uInt)(in->len < PIECE_MAX ? in->len : PIECE_MAX);
    uInt out_size = (uInt)(size < PIECE_MAX ? size : PIECE_MAX);
    // zlib was made without const; it only reads there.
    z->next_in = (Bytef *)(uintptr_t)in->ptr;
    z->avail_in = in_len;
    z->next_out = out;
    z->avail_out = out_size;
    int result = inflate(z, Z_NO_FLUSH);
    *in = tb_span_from(*in, in_len - z->avail_in);
    *len = out_size - z->avail_out;
    if (result == Z_STREAM_END)
        d->is_complete = true;
    else if (result == Z_MEM_ERROR)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    else if (result != Z_OK && result != Z_BUF_ERROR && *len == 0)
        return tb_fail(error, TB_ERR_SYNTAX, "damaged gzip data: %s",
                       z->msg ? z->msg : "unknown reason");
    // After an error inflate goes on failing, so what it wrote comes first.
    return TB_OK;
}

// How many bytes end the block being read. zstd asks for the next block's
// header along with a block.
static size_t block_rest(const struct tb_decompressor *d)
{
    if (d->is_zstd_full)
        return 0;
    if (d->zstd_wanted == 0)
        return ZSTD_START_LEN;
    bool has_header = d->zstd_wanted > ZSTD_BLOCK_HEADER_LEN;
    return d->zstd_wanted - (has_header ? ZSTD_BLOCK_HEADER_LEN : 0);
}

/* A call that fails does not say how far it came. So each call gets no more
 * than one block, and none as long as an earlier one is not out: everything
 * before a damaged one comes out, whatever the sizes in which it is read. */
static tb_status run_zstd(struct tb_decompressor *d, struct tb_span *in,
                          uint8_t *out, size_t size, size_t *len,
                          struct tb_error *error)
{
    // At a boundary, no input would make zstd begin a frame that is not there.
    if (d->is_complete && in->len == 0)
        return TB_OK;
    size_t wanted = block_rest(d);
    ZSTD_inBuffer from = {in->ptr, in->len < wanted ? in->len : wanted, 0};
    ZSTD_outBuffer to = {out, size, 0};
    size_t left = ZSTD_decompressStream(d->zstd, &to, &from);
    *in = tb_span_from(*in, from.pos);
    *len = to.pos;
    if (ZSTD_isError(left)) {
        *len = 0;
        return tb_fail(error, TB_ERR_SYNTAX, "damaged zstd data: %s",
                       ZSTD_getErrorName(left));
    }
    d->zstd_wanted = left;
    d->is_zstd_full = left != 0 && to.pos == size;
    d->is_complete = left == 0;
    return TB_OK;
}

tb_status tb_decompressor_run(struct tb_decompressor *decompressor,
                              struct tb_span *in, uint8_t *out, size_t size,
                              size_t *len, struct tb_error *error)
{
    *len = 0;
    if (decompressor->compression == TB_COMPRESSION_GZIP)
        return run_gzip(decompressor, in, out, size, len, error);
    return run_zstd(decompressor, in, out, size, len, error);
}

bool tb_decompressor_is_complete(const struct tb_decompressor *decompressor)
{
    return decompressor->is_complete;
}

void tb_decompressor_free(struct tb_decompressor *decompressor)
{
    if (!decompressor)
        return;
    if (decompressor->compression == TB_COMPRESSION_GZIP)
        (void)inflateEnd(&decompressor->gzip);
    (void)ZSTD_freeDCtx(decompressor->zstd);
    tb_memory_free(decompressor);
}
