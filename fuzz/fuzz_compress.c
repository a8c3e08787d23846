/* Proves: what is compressed here, in pieces of any size, comes out as it went
 * in, and begins with the magic number of its kind. */
#include "fuzz.h"

#include "compress.h"

static void check(struct tb_span content, tb_compression compression,
                  size_t step)
{
    struct tb_compressor *compressor;
    struct tb_buffer packed = TB_BUFFER(1 << 26), unpacked = packed;
    struct tb_span left = content;
    char fingerprint[33];
    bool is_done = false;
    FUZZ_CHECK(tb_compressor_new(compression, &compressor) == TB_OK);
    for (size_t len; !is_done; packed.len += len) {
        FUZZ_CHECK(tb_buffer_reserve(&packed, step) == TB_OK);
        FUZZ_CHECK(tb_compressor_run(compressor, &left, true,
                                     packed.ptr + packed.len, step, &len,
                                     &is_done) == TB_OK);
    }
    tb_compressor_free(compressor);
    FUZZ_CHECK(tb_compression_of_magic(tb_buffer_span(&packed)) == compression);
    FUZZ_CHECK(fuzz_read_file(fuzz_file(packed.ptr, packed.len), step,
                              &unpacked, fingerprint) == TB_OK);
    FUZZ_CHECK(tb_span_equal(tb_buffer_span(&unpacked), content));
    tb_buffer_release(&packed);
    tb_buffer_release(&unpacked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t step = fuzz_take(&data, &size, 1) + 1;
    check((struct tb_span){data, size}, TB_COMPRESSION_GZIP, step);
    check((struct tb_span){data, size}, TB_COMPRESSION_ZSTD, step);
    return 0;
}
