#include "input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "decompress.h"
#include "memory.h"
#include "temp_file.h"
#include "wait_fd.h"

#define BOMB_FLOOR ((uint64_t)4 << 30) /* bytes */

enum {
    BOMB_RATIO = 10000,  // times
    RAW_SIZE = 1 << 18,  // bytes; first look, and compressed data
    PIECE_MAX = 1 << 30, // macOS refuses reads above INT_MAX
    HASH_ALIGNMENT = 64  // what XXH3_state_t asks for
};

struct tb_input {
    char *path;
    int fd;
    int keep_fd;          // copy of what was read, or -1
    uint64_t content_len; // bytes given so far, uncompressed
    bool is_again;        // after tb_input_rewind: the copy, or the file:
    uint64_t again_at;    // ... of that the next byte
    uint64_t start;       // offset of the content in fd (standard input)
    uint64_t bytes_done;  // taken from fd
    uint64_t bytes_total; // 0: not known
    bool is_standard;     // fd belongs to the process
    bool (*is_stopping)(void *context); // asked when a signal arrives
    void *stop_context;
    bool is_regular;
    bool is_at_end;                       // fd has no more
    tb_compression compression;           // by the first bytes
    struct tb_decompressor *decompressor; // NULL: plain
    uint8_t *raw;                         // bytes from fd, not yet used:
    struct tb_span raw_left;
    tb_status failed; // of the decompressor, given again and again
    struct tb_error failure;
    void *hash_memory;
    XXH3_state_t *hash;       // inside hash_memory, aligned
    XXH3_state_t *again_hash; // ... of what was read again
    bool is_unhashed;         // nobody will ask for the fingerprint
};

static const char *shown_path(const struct tb_input *input)
{
    return input->is_standard ? "standard input" : input->path;
}

static tb_status fail_errno(const struct tb_input *input, tb_status status,
                            const char *what, struct tb_error *error)
{
    tb_fail_errno(error, status, "%s", what);
    tb_error_set_path(error, shown_path(input));
    return status;
}

static tb_status fail(const struct tb_input *input, tb_status status,
                      const char *what, struct tb_error *error)
{
    tb_fail(error, status, "%s", what);
    tb_error_set_path(error, shown_path(input));
    return status;
}

static bool must_stop(const struct tb_input *input)
{
    return tb_wait_is_stopped() ||
           (input->is_stopping && input->is_stopping(input->stop_context));
}

static tb_status fail_stopped(struct tb_error *error)
{
    return tb_fail(error, TB_ERR_INTERRUPTED, "interrupted");
}

// A file whose size is only a guess is fine; one that lost bytes is not.
static bool has_shrunk(const struct tb_input *input)
{
    struct stat info;
    return input->bytes_done < input->bytes_total &&
           fstat(input->fd, &info) == 0 &&
           (uint64_t)info.st_size < input->start + input->bytes_total;
}

static tb_status fail_shrunk(const struct tb_input *input, tb_status status,
                             struct tb_error *error)
{
    return fail(input, status, "the file became shorter while it was read",
                error);
}

static tb_status read_fd(struct tb_input *input, uint8_t *bytes, size_t size,
                         size_t *len, struct tb_error *error)
{
    *len = 0;
    if (input->is_at_end)
        return TB_OK;
    ssize_t got;
    bool is_waiting;
    do {
        got = read(input->fd, bytes, size < PIECE_MAX ? size : PIECE_MAX);
        is_waiting =
            got < 0 && (errno == EINTR || tb_wait_fd(input->fd, false));
        if (is_waiting && must_stop(input))
            return fail_stopped(error);
    } while (is_waiting);
    if (got < 0)
        return fail_errno(input, TB_ERR_IO, "cannot read", error);
    if (got == 0 && has_shrunk(input))
        return fail_shrunk(input, TB_ERR_IO, error);
    input->is_at_end = got == 0;
    input->bytes_done += (uint64_t)got;
    *len = (size_t)got;
    return TB_OK;
}

void tb_input_on_signal(struct tb_input *input,
                        bool (*is_stopping)(void *context), void *context)
{
    input->is_stopping = is_stopping;
    input->stop_context = context;
}

static tb_status open_fd(struct tb_input *input, struct tb_error *error)
{
    if (strcmp(input->path, "-") == 0) {
        input->is_standard = true;
        input->fd = STDIN_FILENO;
    } else {
        input->fd = tb_wait_open(input->path, O_RDONLY, input->is_stopping,
                                 input->stop_context);
    }
    if (input->fd < 0 && errno == EINTR)
        return fail_stopped(error);
    if (input->fd < 0)
        return fail_errno(input, errno == ENOENT ? TB_ERR_NOT_FOUND : TB_ERR_IO,
                          "cannot open", error);
    struct stat info;
    if (fstat(input->fd, &info) != 0)
        return fail_errno(input, TB_ERR_IO, "cannot open", error);
    if (S_ISDIR(info.st_mode))
        return fail(input, TB_ERR_IO, "cannot read: it is a folder", error);
    off_t start = S_ISREG(info.st_mode) ? lseek(input->fd, 0, SEEK_CUR) : -1;
    if (start >= 0) {
        input->is_regular = true;
        input->start = (uint64_t)start;
        if (info.st_size > start)
            input->bytes_total = (uint64_t)(info.st_size - start);
    }
    return TB_OK;
}

// Reads enough to tell compressed data from plain.
static tb_status look_inside(struct tb_input *input, struct tb_error *error)
{
    size_t have = 0, len;
    if (must_stop(input)) // the signal came before there was a wait to end
        return fail_stopped(error);
    do {
        TB_TRY(read_fd(input, input->raw + have, RAW_SIZE - have, &len, error));
        have += len;
    } while (len > 0 && have < TB_COMPRESSION_MAGIC_LEN);
    input->raw_left = (struct tb_span){input->raw, have};
    input->compression = tb_compression_of_magic(input->raw_left);
    if (input->compression == TB_COMPRESSION_NONE)
        return TB_OK;
    if (tb_decompressor_new(input->compression, &input->decompressor) != TB_OK)
        return fail(input, TB_ERR_MEMORY, "out of memory", error);
    return TB_OK;
}

static tb_status alloc_parts(struct tb_input *input, const char *path)
{
    size_t path_size = strlen(path) + 1;
    input->path = tb_memory_resize(NULL, path_size);
    input->raw = tb_memory_resize(NULL, RAW_SIZE);
    input->hash_memory =
        tb_memory_resize(NULL, 2 * sizeof(XXH3_state_t) + HASH_ALIGNMENT);
    if (!input->path || !input->raw || !input->hash_memory)
        return TB_ERR_MEMORY;
    memcpy(input->path, path, path_size);
    uintptr_t address = (uintptr_t)input->hash_memory;
    uintptr_t past = address % HASH_ALIGNMENT;
    input->hash = (void *)((uint8_t *)input->hash_memory +
                           (past ? HASH_ALIGNMENT - past : 0));
    input->again_hash = input->hash + 1;
    XXH3_INITSTATE(input->hash);
    XXH3_INITSTATE(input->again_hash);
    (void)XXH3_128bits_reset(input->hash);
    return TB_OK;
}

tb_status tb_input_open(const char *path, struct tb_input **input,
                        struct tb_error *error)
{
    return tb_input_open_until(NULL, NULL, path, input, error);
}

tb_status tb_input_open_until(bool (*is_stopping)(void *context), void *context,
                              const char *path, struct tb_input **input,
                              struct tb_error *error)
{
    struct tb_input *made = tb_memory_zeroed(1, sizeof(*made));
    *input = NULL;
    if (!made)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    made->fd = made->keep_fd = -1;
    tb_input_on_signal(made, is_stopping, context);
    tb_status status = alloc_parts(made, path);
    if (status != TB_OK)
        tb_fail(error, status, "out of memory");
    else
        status = open_fd(made, error);
    if (status == TB_OK)
        status = look_inside(made, error);
    if (status != TB_OK) {
        tb_input_close(made);
        return status;
    }
    *input = made;
    return TB_OK;
}

static tb_status read_plain(struct tb_input *input, uint8_t *bytes, size_t size,
                            size_t *len, struct tb_error *error)
{
    if (input->raw_left.len == 0)
        return read_fd(input, bytes, size, len, error);
    *len = size < input->raw_left.len ? size : input->raw_left.len;
    memcpy(bytes, input->raw_left.ptr, *len);
    input->raw_left = tb_span_from(input->raw_left, *len);
    return TB_OK;
}

static tb_status read_compressed(struct tb_input *input, uint8_t *bytes,
                                 size_t size, size_t *len,
                                 struct tb_error *error)
{
    *len = 0;
    for (;;) {
        TB_TRY(tb_decompressor_run(input->decompressor, &input->raw_left, bytes,
                                   size, len, error));
        if (*len > 0)
            return TB_OK;
        if (input->raw_left.len > 0)
            continue;
        size_t raw_len;
        TB_TRY(read_fd(input, input->raw, RAW_SIZE, &raw_len, error));
        if (raw_len == 0)
            break;
        input->raw_left = (struct tb_span){input->raw, raw_len};
    }
    if (tb_decompressor_is_complete(input->decompressor))
        return TB_OK;
    return tb_fail(error, TB_ERR_CUT, "the compressed data is cut off");
}

/* A few bytes of zstd can hold gigabytes of one letter. No trace comes near
 * this ratio, and below the floor it does no harm. */
static tb_status check_bomb(const struct tb_input *input, size_t len,
                            struct tb_error *error)
{
    uint64_t content_len = input->content_len + len;
    if (content_len <= BOMB_FLOOR ||
        content_len / BOMB_RATIO <= input->bytes_done)
        return TB_OK;
    return tb_fail(error, TB_ERR_LIMIT,
                   "%" PRIu64 " compressed bytes hold over %d times as many: "
                   "decompress them first if that is right",
                   input->bytes_done, BOMB_RATIO);
}

// A failure is kept: zstd would not fail in the same way again.
static tb_status read_decompressed(struct tb_input *input, uint8_t *bytes,
                                   size_t size, size_t *len,
                                   struct tb_error *error)
{
    *len = 0;
    if (input->failed == TB_OK)
        input->failed =
            read_compressed(input, bytes, size, len, &input->failure);
    if (input->failed == TB_OK)
        input->failed = check_bomb(input, *len, &input->failure);
    if (input->failed == TB_OK)
        return TB_OK;
    tb_error_set_path(&input->failure, shown_path(input));
    if (error)
        *error = input->failure;
    return input->failed;
}

static tb_status write_keep(struct tb_input *input, const uint8_t *bytes,
                            size_t len, struct tb_error *error)
{
    for (size_t done = 0; done < len;) {
        ssize_t put = write(input->keep_fd, bytes + done, len - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return fail_errno(input, TB_ERR_IO,
                              "cannot write a temporary copy ($TMPDIR says "
                              "where)",
                              error);
        done += (size_t)put;
    }
    return TB_OK;
}

// At the end of what was read before: is it the same?
static tb_status check_again(const struct tb_input *input,
                             struct tb_error *error)
{
    if (XXH128_isEqual(XXH3_128bits_digest(input->hash),
                       XXH3_128bits_digest(input->again_hash)))
        return TB_OK;
    return fail(input, TB_ERR_IO, "the file was changed while it was read",
                error);
}

static tb_status read_again(struct tb_input *input, uint8_t *bytes, size_t size,
                            size_t *len, struct tb_error *error)
{
    bool is_kept = input->keep_fd >= 0;
    uint64_t from = is_kept ? input->again_at : input->start + input->again_at;
    uint64_t left = input->content_len - input->again_at;
    ssize_t got;
    *len = 0;
    if (must_stop(input))
        return fail_stopped(error);
    if (left == 0)
        return check_again(input, error);
    size = left < size ? (size_t)left : size;
    do
        got = pread(is_kept ? input->keep_fd : input->fd, bytes,
                    size < PIECE_MAX ? size : PIECE_MAX, (off_t)from);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return fail_errno(input, TB_ERR_IO, "cannot read", error);
    if (got == 0)
        return fail_shrunk(input, TB_ERR_IO, error);
    *len = (size_t)got;
    input->again_at += *len;
    (void)XXH3_128bits_update(input->again_hash, bytes, *len);
    return TB_OK;
}

void tb_input_rewind(struct tb_input *input)
{
    assert(tb_input_is_seekable(input) || input->keep_fd >= 0);
    input->is_again = true;
    input->again_at = 0;
    (void)XXH3_128bits_reset(input->again_hash);
}

tb_status tb_input_read(struct tb_input *input, uint8_t *bytes, size_t size,
                        size_t *len, struct tb_error *error)
{
    assert(size > 0);
    if (input->is_again)
        return read_again(input, bytes, size, len, error);
    if (input->decompressor)
        TB_TRY(read_decompressed(input, bytes, size, len, error));
    else
        TB_TRY(read_plain(input, bytes, size, len, error));
    input->content_len += *len;
    if (!input->is_unhashed)
        (void)XXH3_128bits_update(input->hash, bytes, *len);
    if (input->keep_fd >= 0)
        TB_TRY(write_keep(input, bytes, *len, error));
    return TB_OK;
}

bool tb_input_is_ready(const struct tb_input *input)
{
    return input->is_regular || input->is_at_end || input->raw_left.len > 0 ||
           tb_wait_is_ready(input->fd);
}

bool tb_input_is_seekable(const struct tb_input *input)
{
    return input->is_regular && !input->decompressor;
}

bool tb_input_can_reopen(const struct tb_input *input)
{
    return input->is_regular && !input->is_standard;
}

static tb_status seek(struct tb_input *input, uint64_t offset,
                      struct tb_error *error)
{
    if (offset > INT64_MAX - input->start ||
        lseek(input->fd, (off_t)(input->start + offset), SEEK_SET) < 0)
        return fail_errno(input, TB_ERR_IO, "cannot read", error);
    input->raw_left.len = 0;
    input->is_at_end = false;
    input->bytes_done = offset;
    return TB_OK;
}

tb_status tb_input_skip(struct tb_input *input, uint64_t offset,
                        struct tb_error *error)
{
    if (tb_input_is_seekable(input))
        return seek(input, offset, error);
    uint8_t bytes[4096];
    while (offset > 0) {
        size_t len;
        TB_TRY(tb_input_read(input, bytes,
                             offset < sizeof(bytes) ? offset : sizeof(bytes),
                             &len, error));
        if (len == 0)
            return TB_OK;
        offset -= len;
    }
    return TB_OK;
}

tb_status tb_input_keep(struct tb_input *input, struct tb_error *error)
{
    if (tb_input_is_seekable(input) || input->keep_fd >= 0)
        return TB_OK;
    return tb_temp_file_open_nameless(NULL, &input->keep_fd, error);
}

tb_status tb_input_read_at(struct tb_input *input, uint64_t offset,
                           uint8_t *bytes, size_t size, struct tb_error *error)
{
    assert(tb_input_is_seekable(input) || input->keep_fd >= 0);
    bool is_kept = input->keep_fd >= 0;
    int fd = is_kept ? input->keep_fd : input->fd;
    uint64_t from = is_kept ? offset : input->start + offset;
    for (size_t done = 0; done < size;) {
        size_t left = size - done;
        ssize_t got =
            pread(fd, bytes + done, left < PIECE_MAX ? left : PIECE_MAX,
                  (off_t)(from + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_errno(input, TB_ERR_IO, "cannot read", error);
        if (got == 0)
            return fail_shrunk(input, TB_ERR_CUT, error);
        done += (size_t)got;
    }
    return TB_OK;
}

tb_compression tb_input_compression(const struct tb_input *input)
{
    return input->compression;
}

const char *tb_input_path(const struct tb_input *input)
{
    return input->path;
}

uint64_t tb_input_bytes_done(const struct tb_input *input)
{
    return input->bytes_done;
}

uint64_t tb_input_bytes_total(const struct tb_input *input)
{
    return input->bytes_total;
}

void tb_input_fingerprint(const struct tb_input *input, char text[33])
{
    XXH128_hash_t hash = XXH3_128bits_digest(input->hash);
    (void)snprintf(text, 33, "%016" PRIx64 "%016" PRIx64, (uint64_t)hash.high64,
                   (uint64_t)hash.low64);
}

void tb_input_close(struct tb_input *input)
{
    if (!input)
        return;
    if (input->fd >= 0 && !input->is_standard)
        (void)close(input->fd);
    if (input->keep_fd >= 0)
        (void)close(input->keep_fd);
    tb_decompressor_free(input->decompressor);
    tb_memory_free(input->path);
    tb_memory_free(input->raw);
    tb_memory_free(input->hash_memory);
    tb_memory_free(input);
}

tb_status tb_input_read_all(const char *path, struct tb_buffer *content,
                            struct tb_error *error)
{
    enum { STEP_LEN = 1 << 20 };
    struct tb_input *input;
    TB_TRY(tb_input_open(path, &input, error));
    input->is_unhashed = true;
    tb_status status = TB_OK;
    for (size_t len = 1; status == TB_OK && len > 0;) {
        status = tb_buffer_reserve(content, STEP_LEN);
        if (status != TB_OK) {
            tb_fail(error, status, "cannot hold the file");
            break;
        }
        status = tb_input_read(input, content->ptr + content->len, STEP_LEN,
                               &len, error);
        content->len += len;
    }
    if (status != TB_OK)
        tb_error_set_path(error, path);
    tb_input_close(input);
    return status;
}
