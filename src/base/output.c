#include "output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buffer.h"
#include "compress.h"
#include "memory.h"
#include "temp_file.h"
#include "wait_fd.h"

enum {
    BLOCK_SIZE = 1 << 18, // bytes that are gathered before they are written
    LINK_MAX_DEPTH = 40,  // symbolic links that are followed, as Linux does
    PATH_LIMIT = 1 << 16  // bytes
};

struct tb_output {
    struct tb_buffer path;   // as given, zero-terminated like the next two
    struct tb_buffer target; // where links lead to
    struct tb_buffer temp;   // empty: nothing to remove
    int fd;
    bool is_standard; // fd belongs to the process
    bool is_stream;
    bool is_disposable;                 // need not be synced
    bool is_prepared;                   // all bytes are on their way
    bool is_finished;                   // committed, or tried to
    bool is_placed;                     // the file has its name
    bool has_old;                       // `temp` is what had the name before
    bool (*is_stopping)(void *context); // asked when a signal arrives
    void *stop_context;
    struct tb_compressor *compressor; // NULL: plain
    struct tb_buffer block;           // BLOCK_SIZE bytes for a file
};

static const char *text_of(const struct tb_buffer *buffer)
{
    return (const char *)buffer->ptr;
}

static const char *shown_path(const struct tb_output *output)
{
    return output->is_standard ? "standard output" : text_of(&output->path);
}

static tb_status fail(const struct tb_output *output, tb_status status,
                      const char *what, struct tb_error *error)
{
    tb_fail(error, status, "%s", what);
    tb_error_set_path(error, shown_path(output));
    return status;
}

static tb_status fail_errno(const struct tb_output *output, const char *what,
                            struct tb_error *error)
{
    if (errno == EPIPE)
        return fail(output, TB_ERR_CLOSED, "the reader went away", error);
    tb_fail_errno(error, TB_ERR_IO, "%s", what);
    tb_error_set_path(error, shown_path(output));
    return TB_ERR_IO;
}

static tb_status set_text(struct tb_buffer *buffer, struct tb_span text)
{
    tb_buffer_clear(buffer);
    TB_TRY(tb_buffer_append(buffer, text));
    return tb_buffer_append_byte(buffer, 0);
}

static tb_status follow_link(struct tb_output *output, struct tb_error *error)
{
    char text[4096];
    ssize_t len = readlink(text_of(&output->target), text, sizeof(text));
    if (len < 0)
        return fail_errno(output, "cannot follow the link", error);
    struct tb_buffer *target = &output->target;
    size_t keep_len = text[0] == '/' ? 0 : tb_path_folder_len(text_of(target));
    target->len = keep_len;
    if (tb_buffer_append(target, (struct tb_span){(const uint8_t *)text,
                                                  (size_t)len}) != TB_OK ||
        tb_buffer_append_byte(target, 0) != TB_OK)
        return fail(output, TB_ERR_MEMORY, "out of memory", error);
    return TB_OK;
}

// Follows links by hand, since the file they lead to need not exist.
static tb_status resolve(struct tb_output *output, struct tb_error *error)
{
    struct stat info;
    for (int depth = 0; depth < LINK_MAX_DEPTH; depth++) {
        if (lstat(text_of(&output->target), &info) != 0 ||
            !S_ISLNK(info.st_mode))
            return TB_OK;
        TB_TRY(follow_link(output, error));
    }
    errno = ELOOP;
    return fail_errno(output, "cannot open", error);
}

static tb_status open_temp(struct tb_output *output, const struct stat *old,
                           struct tb_error *error)
{
    const char *target = text_of(&output->target);
    tb_temp_file_sweep(target);
    tb_status status = tb_temp_file_create(target, old ? 0600 : 0666,
                                           &output->temp, &output->fd);
    if (status == TB_ERR_MEMORY)
        return fail(output, status, "out of memory", error);
    if (status != TB_OK)
        return fail_errno(output, "cannot create", error);
    if (old && fchmod(output->fd, old->st_mode & 0777) != 0)
        return fail_errno(output, "cannot set the rights", error);
    return TB_OK;
}

static tb_status open_stream(struct tb_output *output, struct tb_error *error)
{
    output->is_stream = true;
    output->fd = tb_wait_open(text_of(&output->path), O_WRONLY,
                              output->is_stopping, output->stop_context);
    if (output->fd < 0 && errno == EINTR)
        return tb_fail(error, TB_ERR_INTERRUPTED, "interrupted");
    return output->fd < 0 ? fail_errno(output, "cannot open", error) : TB_OK;
}

static tb_status open_file(struct tb_output *output, struct tb_error *error)
{
    struct stat info;
    // By its own name: /dev/fd/3 is a link to a pipe that has no other.
    bool is_there = stat(text_of(&output->path), &info) == 0;
    if (is_there && S_ISDIR(info.st_mode))
        return fail(output, TB_ERR_IO, "cannot write: it is a folder", error);
    if (is_there && !S_ISREG(info.st_mode))
        return open_stream(output, error);
    TB_TRY(resolve(output, error));
    const char *target = text_of(&output->target);
    if (target[tb_path_folder_len(target)] == '\0')
        return fail(output, TB_ERR_IO, "cannot create: it names no file",
                    error);
    is_there = stat(target, &info) == 0;
    // A rename would replace even a file that may not be written.
    if (is_there && access(target, W_OK) != 0)
        return fail_errno(output, "cannot write", error);
    return open_temp(output, is_there ? &info : NULL, error);
}

static tb_status open_compressor(struct tb_output *output, const char *path)
{
    tb_compression compression = tb_compression_of_name(path);
    if (compression == TB_COMPRESSION_NONE)
        return TB_OK;
    return tb_compressor_new(compression, &output->compressor);
}

static tb_status open_all(struct tb_output *output, const char *path,
                          struct tb_error *error)
{
    tb_status status = set_text(&output->path, tb_span_of(path));
    if (status == TB_OK)
        status = set_text(&output->target, tb_span_of(path));
    if (status == TB_OK)
        status = tb_buffer_reserve(&output->block, BLOCK_SIZE);
    if (status == TB_OK)
        status = open_compressor(output, path);
    if (status != TB_OK)
        return tb_fail(error, status, "out of memory");
    if (strcmp(path, "-") != 0)
        return open_file(output, error);
    output->is_standard = true;
    output->is_stream = true;
    output->fd = STDOUT_FILENO;
    return TB_OK;
}

tb_status tb_output_open(const char *path, struct tb_output **output,
                         struct tb_error *error)
{
    return tb_output_open_until(NULL, NULL, path, output, error);
}

tb_status tb_output_open_until(bool (*is_stopping)(void *context),
                               void *context, const char *path,
                               struct tb_output **output,
                               struct tb_error *error)
{
    struct tb_output *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    made->fd = -1;
    tb_output_on_signal(made, is_stopping, context);
    made->path = made->target = made->temp = TB_BUFFER(PATH_LIMIT);
    made->block = TB_BUFFER(BLOCK_SIZE);
    tb_status status = open_all(made, path, error);
    if (status != TB_OK) {
        tb_output_close(made);
        return status;
    }
    *output = made;
    return TB_OK;
}

static bool must_stop(const struct tb_output *output)
{
    return tb_wait_is_stopped() ||
           (output->is_stopping && output->is_stopping(output->stop_context));
}

static tb_status write_fd(struct tb_output *output, struct tb_span bytes,
                          struct tb_error *error)
{
    while (bytes.len > 0) {
        ssize_t put = write(output->fd, bytes.ptr, bytes.len);
        bool is_waiting =
            put < 0 && (errno == EINTR || tb_wait_fd(output->fd, true));
        if (put <= 0 && !is_waiting)
            return fail_errno(output, "cannot write", error);
        if (put > 0)
            bytes = tb_span_from(bytes, (size_t)put);
        // A signal also makes a write short that a pipe took a part of.
        if (bytes.len > 0 && must_stop(output))
            return tb_fail(error, TB_ERR_INTERRUPTED, "interrupted");
    }
    return TB_OK;
}

void tb_output_on_signal(struct tb_output *output,
                         bool (*is_stopping)(void *context), void *context)
{
    output->is_stopping = is_stopping;
    output->stop_context = context;
}

static tb_status flush_block(struct tb_output *output, struct tb_error *error)
{
    TB_TRY(write_fd(output, tb_buffer_span(&output->block), error));
    tb_buffer_clear(&output->block);
    return TB_OK;
}

static tb_status write_compressed(struct tb_output *output,
                                  struct tb_span bytes, bool is_last,
                                  struct tb_error *error)
{
    bool is_done = false;
    while (bytes.len > 0 || (is_last && !is_done)) {
        struct tb_buffer *block = &output->block;
        size_t len;
        if (tb_compressor_run(output->compressor, &bytes, is_last,
                              block->ptr + block->len, BLOCK_SIZE - block->len,
                              &len, &is_done) != TB_OK)
            return fail(output, TB_ERR_IO, "cannot compress", error);
        block->len += len;
        if (block->len == BLOCK_SIZE || is_done)
            TB_TRY(flush_block(output, error));
    }
    return TB_OK;
}

tb_status tb_output_write(struct tb_output *output, struct tb_span bytes,
                          struct tb_error *error)
{
    assert(!output->is_prepared && !output->is_finished);
    if (output->compressor)
        return write_compressed(output, bytes, false, error);
    if (output->is_stream)
        return write_fd(output, bytes, error);
    if (bytes.len > BLOCK_SIZE - output->block.len)
        TB_TRY(flush_block(output, error));
    if (bytes.len >= BLOCK_SIZE)
        return write_fd(output, bytes, error);
    return tb_buffer_append(&output->block, bytes);
}

// Makes the rename last; a file system that cannot is none of our business.
static void sync_folder(const char *path)
{
    struct tb_buffer folder = TB_BUFFER(PATH_LIMIT);
    size_t len = tb_path_folder_len(path);
    struct tb_span name = {(const uint8_t *)path, len};
    if (set_text(&folder, len ? name : TB_SPAN(".")) == TB_OK) {
        int fd = open(text_of(&folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0) {
            (void)fsync(fd);
            (void)close(fd);
        }
    }
    tb_buffer_release(&folder);
}

/* All that can fail late (a full disk, a quota, a network) fails here. The
 * file stays open, since its lock tells others that it is not left over. */
static tb_status sync_file(struct tb_output *output, struct tb_error *error)
{
    if (fsync(output->fd) != 0 && errno != EINVAL && errno != ENOTSUP)
        return fail_errno(output, "cannot write", error);
    // Some file systems tell of a full disk only when a descriptor is closed.
    int copy = dup(output->fd);
    if (copy >= 0 && close(copy) != 0 && errno != EINTR)
        return fail_errno(output, "cannot write", error);
    return TB_OK;
}

void tb_output_set_disposable(struct tb_output *output)
{
    output->is_disposable = true;
}

tb_status tb_output_prepare(struct tb_output *output, struct tb_error *error)
{
    assert(!output->is_finished);
    if (output->is_prepared)
        return TB_OK;
    if (output->compressor)
        TB_TRY(write_compressed(output, TB_SPAN(""), true, error));
    else
        TB_TRY(flush_block(output, error));
    output->is_prepared = true;
    bool is_synced = !output->is_stream && !output->is_disposable;
    return is_synced ? sync_file(output, error) : TB_OK;
}

/* Changes the names of both files at once, so that the old one can be given
 * back. False where there is none, or the file system cannot. */
static bool exchange(const char *temp, const char *target)
{
#ifdef RENAME_EXCHANGE
    return renameat2(AT_FDCWD, temp, AT_FDCWD, target, RENAME_EXCHANGE) == 0;
#else
    (void)temp, (void)target;
    return false;
#endif
}

static bool is_regular(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

tb_status tb_output_commit(struct tb_output *output, struct tb_error *error)
{
    tb_status status = tb_output_prepare(output, error);
    output->is_finished = true;
    if (status != TB_OK || output->is_stream)
        return status;
    const char *temp = text_of(&output->temp);
    const char *target = text_of(&output->target);
    output->has_old = is_regular(target) && exchange(temp, target);
    if (!output->has_old && rename(temp, target) != 0)
        return fail_errno(output, "cannot put the file in place", error);
    output->is_placed = true;
    if (!output->has_old)
        tb_buffer_release(&output->temp);
    if (!output->is_disposable)
        sync_folder(text_of(&output->target));
    return TB_OK;
}

void tb_output_take_back(struct tb_output *output)
{
    const char *target = text_of(&output->target);
    if (!output->is_placed)
        return;
    output->is_placed = false;
    if (!output->has_old)
        (void)unlink(target);
    else if (rename(text_of(&output->temp), target) == 0)
        tb_buffer_release(&output->temp);
}

tb_status tb_output_commit_all(struct tb_output *const *outputs, size_t count,
                               struct tb_error *error)
{
    tb_status status = TB_OK;
    for (size_t i = 0; i < count && status == TB_OK; i++)
        if (outputs[i])
            status = tb_output_prepare(outputs[i], error);
    for (size_t i = 0; i < count && status == TB_OK; i++)
        if (outputs[i])
            status = tb_output_commit(outputs[i], error);
    for (size_t i = 0; i < count && status != TB_OK; i++)
        if (outputs[i])
            tb_output_take_back(outputs[i]);
    return status;
}

bool tb_output_is_stream(const struct tb_output *output)
{
    return output->is_stream;
}

void tb_output_close(struct tb_output *output)
{
    if (!output)
        return;
    if (output->fd >= 0 && !output->is_standard)
        (void)close(output->fd);
    if (output->temp.len > 0)
        (void)unlink(text_of(&output->temp));
    tb_compressor_free(output->compressor);
    tb_buffer_release(&output->path);
    tb_buffer_release(&output->target);
    tb_buffer_release(&output->temp);
    tb_buffer_release(&output->block);
    tb_memory_free(output);
}

static bool is_same_node(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

// The folder that a path's last name stands in.
static bool stat_folder(const char *path, struct stat *info)
{
    char folder[4096];
    size_t len = tb_path_folder_len(path);
    if (len >= sizeof(folder))
        return false;
    memcpy(folder, path, len);
    folder[len] = '\0';
    return stat(len > 0 ? folder : ".", info) == 0;
}

// Two names for a file that is not there yet.
static bool is_same_place(const char *a, const char *b)
{
    struct stat first, second;
    return strcmp(a + tb_path_folder_len(a), b + tb_path_folder_len(b)) == 0 &&
           stat_folder(a, &first) && stat_folder(b, &second) &&
           is_same_node(&first, &second);
}

bool tb_output_is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return false;
    bool has_first = stat(a, &first) == 0, has_second = stat(b, &second) == 0;
    if (!has_first && !has_second)
        return is_same_place(a, b);
    // /dev/null may well be both.
    return has_first && has_second && !S_ISCHR(first.st_mode) &&
           is_same_node(&first, &second);
}
