#include "spill_file.h"

#include <errno.h>
#include <unistd.h>

#include "temp_file.h"

enum { PIECE_MAX = 1 << 30 }; // macOS refuses more at a time

tb_status tb_spill_file_open(struct tb_spill_file *file, const char *folder,
                             struct tb_error *error)
{
    return tb_temp_file_open_nameless(folder, &file->fd, error);
}

static size_t piece_of(size_t left)
{
    return left < PIECE_MAX ? left : PIECE_MAX;
}

tb_status tb_spill_file_write(const struct tb_spill_file *file, uint64_t offset,
                              const void *bytes, size_t len,
                              struct tb_error *error)
{
    const uint8_t *from = bytes;
    for (size_t done = 0; done < len;) {
        ssize_t put = pwrite(file->fd, from + done, piece_of(len - done),
                             (off_t)(offset + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return tb_fail_errno(error, TB_ERR_IO,
                                 "cannot write a temporary file");
        done += (size_t)put;
    }
    return TB_OK;
}

tb_status tb_spill_file_read(const struct tb_spill_file *file, uint64_t offset,
                             void *bytes, size_t len, struct tb_error *error)
{
    uint8_t *to = bytes;
    for (size_t done = 0; done < len;) {
        ssize_t got = pread(file->fd, to + done, piece_of(len - done),
                            (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return tb_fail_errno(error, TB_ERR_IO,
                                 "cannot read a temporary file");
        if (got == 0)
            return tb_fail(error, TB_ERR_IO,
                           "a temporary file has become shorter");
        done += (size_t)got;
    }
    return TB_OK;
}

void tb_spill_file_close(struct tb_spill_file *file)
{
    if (file->fd >= 0)
        (void)close(file->fd);
    *file = TB_SPILL_FILE_CLOSED;
}
