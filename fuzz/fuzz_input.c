/* Proves: any bytes as a file, gzip and zstd frames among them, come out the
 * same in small pieces as in large ones, or fail the same behind the same
 * bytes. */
#include "fuzz.h"

enum { CONTENT_MAX = 1 << 22 /* bytes; a few bytes can hold gigabytes */ };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t step = fuzz_take(&data, &size, 1) + 1;
    struct tb_buffer large = TB_BUFFER(CONTENT_MAX), small = large;
    char first[33], second[33];
    const char *path = fuzz_file(data, size);
    tb_status status = fuzz_read_file(path, 1 << 16, &large, first);
    tb_status again = fuzz_read_file(path, step, &small, second);
    if (status != TB_ERR_LIMIT && again != TB_ERR_LIMIT) {
        FUZZ_CHECK(status == again);
        struct tb_span a = tb_buffer_span(&large), b = tb_buffer_span(&small);
        FUZZ_CHECK(tb_span_equal(a, b));
        FUZZ_CHECK(tb_span_equal(tb_span_of(first), tb_span_of(second)));
    }
    tb_buffer_release(&large);
    tb_buffer_release(&small);
    return 0;
}
