#include "fuzz.h"

#include <string.h>
#include <unistd.h>

#include "input.h"

static char temporary[256];

static void remove_file(void)
{
    (void)unlink(temporary);
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
    static int fd = -1;
    if (fd < 0) {
        const char *folder = getenv("TMPDIR");
        (void)snprintf(temporary, sizeof(temporary), "%.200s/tb_fuzz_XXXXXX",
                       folder ? folder : "/tmp");
        fd = mkstemp(temporary);
        FUZZ_CHECK(fd >= 0);
        (void)atexit(remove_file);
    }
    FUZZ_CHECK(ftruncate(fd, 0) == 0);
    FUZZ_CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
    return temporary;
}

uint32_t fuzz_take(const uint8_t **data, size_t *size, size_t count)
{
    uint32_t number = 0;
    for (; count > 0; count--) {
        number = number << 8 | (*size > 0 ? **data : 0);
        *data += *size > 0;
        *size -= *size > 0;
    }
    return number;
}

tb_status fuzz_read_stream(void *stream, uint8_t *bytes, size_t size,
                           size_t *len, struct tb_error *error)
{
    struct fuzz_stream *from = stream;
    (void)error;
    *len = from->step < size ? from->step : size;
    *len = *len < from->left.len ? *len : from->left.len;
    if (*len)
        memcpy(bytes, from->left.ptr, *len);
    from->left = tb_span_from(from->left, *len);
    return TB_OK;
}

tb_status fuzz_read_file(const char *path, size_t step,
                         struct tb_buffer *content, char fingerprint[33])
{
    struct tb_input *input;
    size_t len = 1;
    TB_TRY(tb_input_open(path, &input, NULL));
    tb_status status = TB_OK;
    while (status == TB_OK && len > 0) {
        status = tb_buffer_reserve(content, step);
        if (status == TB_OK)
            status = tb_input_read(input, content->ptr + content->len, step,
                                   &len, NULL);
        content->len += status == TB_OK ? len : 0;
    }
    tb_input_fingerprint(input, fingerprint);
    tb_input_close(input);
    return status;
}
