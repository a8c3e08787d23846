#include "blob.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "digest.h"

enum {
    TRIES_MAX = 100, // in all, however much each brings
    LOCKS_MAX = 20,  // files of one name that were taken away meanwhile
    LOCK_LOOK_MS = 100
};

struct download {
    struct tb_transfer *transfer;
    const struct tb_blob *blob;
    struct tb_error *error;
    char path[TB_PATH_SIZE];    /* blobs/<etag> */
    char partial[TB_PATH_SIZE]; /* blobs/<etag>.incomplete */
    int fd;                     /* of `partial` */
    uint64_t have;              /* bytes in it */
    bool is_begun;              /* this answer's first bytes were looked at */
    bool is_pieced;             /* it has bytes of more than one answer */
};

/* ---- one at a time ---------------------------------------------------- */

// Whoever had the lock may have taken its file away.
static bool is_lock_file(int fd, const char *path)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && stat(path, &named) == 0 &&
           held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

static tb_status wait_for_lock(struct tb_transfer *transfer, int fd,
                               struct tb_error *error)
{
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return TB_OK; // a file system without locks
        struct timespec pause = {.tv_nsec = LOCK_LOOK_MS * 1000000L};
        transfer->progress.is_waiting = true;
        if (!tb_transfer_tell(transfer))
            return tb_fail(error, TB_ERR_INTERRUPTED, "interrupted");
        (void)nanosleep(&pause, NULL);
    }
    transfer->progress.is_waiting = false;
    return TB_OK;
}

static tb_status lock(struct tb_transfer *transfer, const char *etag, int *fd,
                      struct tb_error *error)
{
    char path[TB_PATH_SIZE];
    *fd = -1;
    if (!tb_path_format(path, sizeof(path), "%s/.locks/%s/%s.lock",
                        transfer->cache, transfer->name->folder, etag))
        return tb_fail(error, TB_ERR_LIMIT, "the cache's path is too long");
    tb_path_make_folders(path, 0777);
    for (int i = 0;; i++) {
        *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0664);
        if (*fd < 0)
            return tb_transfer_fail_write(path, error);
        TB_TRY(wait_for_lock(transfer, *fd, error));
        // Some file systems call one file by another number each time: there
        // the lock that is held has to do, as where there are none.
        if (is_lock_file(*fd, path) || i == LOCKS_MAX)
            return TB_OK;
        (void)close(*fd);
    }
}

/* ---- the bytes -------------------------------------------------------- */

static tb_status fail_len(struct download *download, uint64_t len)
{
    // Not to be gone on from: nobody knows which bytes are wrong.
    (void)unlink(download->partial);
    return tb_fail(download->error, TB_ERR_IO,
                   "'%.96s' of '%.150s' came with %llu bytes where %llu were "
                   "announced: try again; a proxy may have changed it",
                   download->blob->file, download->transfer->name->repo,
                   (unsigned long long)len,
                   (unsigned long long)download->blob->len);
}

static tb_status empty(struct download *download)
{
    download->have = 0;
    if (ftruncate(download->fd, 0) != 0)
        return tb_transfer_fail_write(download->partial, download->error);
    return TB_OK;
}

static tb_status begin_answer(struct download *download,
                              const struct tb_http_answer *answer)
{
    download->is_begun = true;
    download->is_pieced = answer->status == 206;
    if (answer->status == 200)
        return empty(download); // all of it comes, whatever was asked for
    if (answer->head.range_start == download->have)
        return TB_OK;
    return tb_fail(download->error, TB_ERR_IO,
                   "the hub sends another part of '%.96s' than it was asked "
                   "for",
                   download->blob->file);
}

static tb_status take_bytes(void *context, const struct tb_http_answer *answer,
                            struct tb_span bytes)
{
    struct download *download = context;
    if (!download->is_begun)
        TB_TRY(begin_answer(download, answer));
    while (bytes.len > 0) {
        ssize_t put =
            pwrite(download->fd, bytes.ptr, bytes.len, (off_t)download->have);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return tb_transfer_fail_write(download->partial, download->error);
        download->have += (uint64_t)put;
        bytes = tb_span_from(bytes, (size_t)put);
        download->transfer->fetched.bytes += (uint64_t)put;
    }
    download->transfer->progress.bytes_done = download->have;
    return download->have > download->blob->len
               ? fail_len(download, download->have)
               : TB_OK;
}

static bool tell(void *context)
{
    const struct download *download = context;
    return tb_transfer_tell(download->transfer);
}

static tb_status send_once(struct download *download,
                           struct tb_http_answer *answer)
{
    struct tb_http_request request = {
        .url = download->blob->url,
        .from = download->have,
        .max_len = TB_BLOB_MAX_LEN,
        .on_bytes = take_bytes,
        .on_wait = tell,
        .context = download,
    };
    download->is_begun = false;
    return tb_http_send(download->transfer->http, &request, answer,
                        download->error);
}

// Asks for what is missing until all is there, or nothing comes any more.
static tb_status receive(struct download *download)
{
    struct tb_transfer *transfer = download->transfer;
    unsigned attempt = 0;
    for (unsigned i = 0; i < TRIES_MAX; i++) {
        struct tb_http_answer answer;
        uint64_t before = download->have;
        TB_TRY(send_once(download, &answer));
        bool is_whole = answer.fault == TB_HTTP_ANSWERED &&
                        (answer.status == 200 || answer.status == 206);
        if (is_whole && (download->blob->len == TB_HTTP_NO_LEN ||
                         download->have == download->blob->len))
            return TB_OK;
        if (is_whole)
            return fail_len(download, download->have);
        bool is_past_end = answer.status == 416 && before > 0;
        if (is_past_end)
            TB_TRY(empty(download));
        attempt = download->have > before ? 0 : attempt + 1;
        bool is_passing = is_past_end || tb_transfer_is_passing(&answer);
        if (!is_passing || attempt > TB_TRANSFER_RETRIES)
            return tb_transfer_fail(transfer, &answer, download->blob->file,
                                    download->error);
        TB_TRY(tb_transfer_pause(transfer, attempt ? attempt - 1 : 0, &answer,
                                 download->error));
    }
    return tb_fail(download->error, TB_ERR_IO,
                   "the connection was cut %d times: try again, it goes on "
                   "where it stopped",
                   TRIES_MAX);
}

/* ---- is it what its name says? ---------------------------------------- */

static bool is_hex_name(const struct tb_blob *blob, size_t digits)
{
    return strlen(blob->etag) == digits &&
           strspn(blob->etag, "0123456789abcdef") == digits;
}

static bool add_file(const struct download *download, struct tb_digest *digest)
{
    uint8_t bytes[1 << 16];
    for (uint64_t at = 0; at < download->have;) {
        ssize_t got = pread(download->fd, bytes, sizeof(bytes), (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        tb_digest_add(digest, (struct tb_span){bytes, (size_t)got});
        at += (uint64_t)got;
    }
    return true;
}

/* The hub names large files by SHA-256, and small ones as git does. Any other
 * name says nothing. */
static bool is_as_named(const struct download *download)
{
    char text[TB_DIGEST_TEXT_SIZE], head[32];
    struct tb_digest digest = tb_digest_begin(TB_SHA256);
    if (is_hex_name(download->blob, TB_DIGEST_SHA1_DIGITS)) {
        int len = snprintf(head, sizeof(head), "blob %llu",
                           (unsigned long long)download->have);
        digest = tb_digest_begin(TB_SHA1);
        tb_digest_add(&digest,
                      (struct tb_span){(const uint8_t *)head, (size_t)len + 1});
    } else if (!is_hex_name(download->blob, TB_DIGEST_SHA256_DIGITS)) {
        return true;
    }
    if (!add_file(download, &digest))
        return false;
    tb_digest_end(&digest, text);
    return strcmp(text, download->blob->etag) == 0;
}

/* A file that was put together of pieces may have a wrong one: what a crash of
 * the machine left of an earlier run. It is then fetched again as a whole.
 * Where that does not help, 40 digits may be a mirror's own ETag. */
static tb_status check_content(struct download *download)
{
    if (is_as_named(download))
        return TB_OK;
    if (download->is_pieced) {
        TB_TRY(empty(download));
        TB_TRY(receive(download));
    }
    if (is_as_named(download) ||
        is_hex_name(download->blob, TB_DIGEST_SHA1_DIGITS))
        return TB_OK;
    (void)unlink(download->partial);
    return tb_fail(download->error, TB_ERR_IO,
                   "'%.96s' of '%.150s' is not what its ETag says: try again; "
                   "a proxy may have changed it",
                   download->blob->file, download->transfer->name->repo);
}

static tb_status check_room(struct download *download)
{
    struct statvfs disk;
    uint64_t len = download->blob->len;
    if (len == TB_HTTP_NO_LEN || statvfs(download->transfer->model, &disk) != 0)
        return TB_OK;
    uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (room + download->have >= len)
        return TB_OK;
    errno = ENOSPC;
    return tb_transfer_fail_write(download->partial, download->error);
}

static tb_status fill(struct download *download)
{
    struct stat info;
    uint64_t len = download->blob->len;
    if (fstat(download->fd, &info) != 0)
        return tb_transfer_fail_write(download->partial, download->error);
    download->have = (uint64_t)info.st_size;
    if (download->have > len)
        TB_TRY(empty(download));
    TB_TRY(check_room(download));
    // The end alone cannot be asked for when nothing is missing.
    download->is_pieced = download->have > 0;
    if (download->have < len || len == TB_HTTP_NO_LEN)
        TB_TRY(receive(download));
    TB_TRY(check_content(download));
    if (fsync(download->fd) != 0 ||
        rename(download->partial, download->path) != 0)
        return tb_transfer_fail_write(download->path, download->error);
    download->transfer->fetched.file_count++;
    return TB_OK;
}

static tb_status download_locked(struct download *download)
{
    if (tb_path_is_file(download->path)) {
        download->transfer->fetched.kept_count++;
        return TB_OK;
    }
    tb_path_make_folders(download->partial, 0777);
    download->fd = open(download->partial,
                        O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (download->fd < 0)
        return tb_transfer_fail_write(download->partial, download->error);
    tb_status status = fill(download);
    (void)close(download->fd);
    return status;
}

tb_status tb_blob_fetch(struct tb_transfer *transfer,
                        const struct tb_blob *blob, struct tb_error *error)
{
    struct download download = {
        .transfer = transfer, .blob = blob, .error = error, .fd = -1};
    if (!tb_path_format(download.path, sizeof(download.path), "%s/blobs/%s",
                        transfer->model, blob->etag) ||
        !tb_path_format(download.partial, sizeof(download.partial),
                        "%s.incomplete", download.path))
        return tb_fail(error, TB_ERR_LIMIT, "the cache's path is too long");
    int lock_fd;
    tb_status status = lock(transfer, blob->etag, &lock_fd, error);
    if (status == TB_OK)
        status = download_locked(&download);
    if (lock_fd >= 0)
        (void)close(lock_fd); // gives the lock back
    return status;
}

/* ---- its name --------------------------------------------------------- */

tb_status tb_blob_link(const struct tb_transfer *transfer,
                       const struct tb_blob *blob, const char *commit,
                       struct tb_error *error)
{
    char path[TB_PATH_SIZE], target[TB_PATH_SIZE], blob_path[TB_PATH_SIZE];
    if (!tb_path_format(path, sizeof(path), "%s/snapshots/%s/%s",
                        transfer->model, commit, blob->file) ||
        !tb_path_format(target, sizeof(target), "../../blobs/%s", blob->etag) ||
        !tb_path_format(blob_path, sizeof(blob_path), "%s/blobs/%s",
                        transfer->model, blob->etag))
        return tb_fail(error, TB_ERR_LIMIT, "the cache's path is too long");
    tb_path_make_folders(path, 0777);
    (void)unlink(path); // what is here leads nowhere, or it would be kept
    if (symlink(target, path) == 0 || tb_path_is_file(path))
        return TB_OK;
    // Where there are no links, huggingface_hub keeps the file itself here.
    if (rename(blob_path, path) == 0)
        return TB_OK;
    return tb_transfer_fail_write(path, error);
}
