#include "temp_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    NAME_PART_MAX = 200, // bytes of the final name that are repeated
    TAIL_LEN = 6,        // letters behind ".tracebake-"
    ATTEMPTS = 100,      // names that are tried
    PREFIX_SIZE = NAME_PART_MAX + 16
};

static const char tail_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";

size_t tb_path_folder_len(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static tb_status set_name(struct tb_buffer *path, const char *target,
                          unsigned attempt)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    uint64_t number = (uint64_t)now.tv_nsec ^ ((uint64_t)now.tv_sec << 30) ^
                      ((uint64_t)getpid() << 14) ^ attempt;
    char tail[TAIL_LEN + 1] = {0};
    for (size_t i = 0; i < TAIL_LEN; i++, number /= sizeof(tail_letters) - 1)
        tail[i] = tail_letters[number % (sizeof(tail_letters) - 1)];
    size_t folder = tb_path_folder_len(target);
    tb_buffer_clear(path);
    TB_TRY(tb_buffer_printf(path, "%.*s.%.*s.tracebake-%s", (int)folder, target,
                            NAME_PART_MAX, target + folder, tail));
    return tb_buffer_append_byte(path, 0);
}

/* Whoever sweeps may have taken the file before the lock was ours: then it has
 * no name any more, or is locked just now in order to lose it. */
static bool take_lock(int fd)
{
    struct stat info;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(fd, &info) != 0 || info.st_nlink > 0;
}

// Not mkstemp: a new file gets the rights that umask (or an access list)
// leaves it, which only open itself knows.
static int open_new(const char *path, mode_t mode)
{
    int fd;
    do
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    if (fd < 0 || take_lock(fd))
        return fd;
    (void)unlink(path); // if whoever sweeps has not done so
    (void)close(fd);
    errno = EEXIST;
    return -1;
}

tb_status tb_temp_file_create(const char *target, mode_t mode,
                              struct tb_buffer *path, int *fd)
{
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (set_name(path, target, attempt) != TB_OK) {
            tb_buffer_clear(path);
            return TB_ERR_MEMORY;
        }
        *fd = open_new((const char *)path->ptr, mode);
        if (*fd >= 0)
            return TB_OK;
        if (errno != EEXIST)
            break;
    }
    tb_buffer_clear(path);
    return TB_ERR_IO;
}

static bool is_ours(const char *name, struct tb_span prefix)
{
    struct tb_span text = tb_span_of(name);
    return text.len == prefix.len + TAIL_LEN &&
           tb_span_starts_with(text, prefix) &&
           strspn(name + prefix.len, tail_letters) == TAIL_LEN;
}

// Takes the name away when nobody holds the file.
static void remove_if_left(int folder, const char *name)
{
    struct stat info, named;
    int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
        info.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        named.st_ino == info.st_ino && named.st_dev == info.st_dev)
        (void)unlinkat(folder, name, 0);
    (void)close(fd);
}

static DIR *open_folder(const char *target)
{
    struct tb_buffer path = TB_BUFFER(1 << 16);
    size_t len = tb_path_folder_len(target);
    struct tb_span name = {(const uint8_t *)target, len};
    DIR *folder = NULL;
    if (tb_buffer_append(&path, len ? name : TB_SPAN("./")) == TB_OK &&
        tb_buffer_append_byte(&path, 0) == TB_OK)
        folder = opendir((const char *)path.ptr);
    tb_buffer_release(&path);
    return folder;
}

void tb_temp_file_sweep(const char *target)
{
    struct tb_buffer prefix = TB_BUFFER(PREFIX_SIZE);
    const char *name = target + tb_path_folder_len(target);
    if (tb_buffer_printf(&prefix, ".%.*s.tracebake-", NAME_PART_MAX, name) ==
        TB_OK) {
        DIR *folder = open_folder(target);
        for (const struct dirent *entry; folder && (entry = readdir(folder));)
            if (is_ours(entry->d_name, tb_buffer_span(&prefix)))
                remove_if_left(dirfd(folder), entry->d_name);
        if (folder)
            (void)closedir(folder);
    }
    tb_buffer_release(&prefix);
}

// A file that never had a name; -1 where the system or the folder has none.
static int open_nameless(const char *folder)
{
#ifdef O_TMPFILE
    return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#else
    (void)folder;
    return -1;
#endif
}

static tb_status open_and_unlink(const char *folder, int *fd,
                                 struct tb_error *error)
{
    struct tb_buffer name = TB_BUFFER(1 << 16);
    tb_status status = tb_buffer_printf(&name, "%s/tracebake-XXXXXX", folder);
    if (status == TB_OK)
        status = tb_buffer_append_byte(&name, 0);
    if (status != TB_OK) {
        tb_buffer_release(&name);
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    }
    *fd = mkstemp((char *)name.ptr);
    if (*fd < 0) {
        status =
            tb_fail_errno(error, TB_ERR_IO, "cannot create a temporary file");
        tb_error_set_path(error, (const char *)name.ptr);
    } else {
        (void)unlink((const char *)name.ptr);
        (void)fcntl(*fd, F_SETFD, FD_CLOEXEC);
    }
    tb_buffer_release(&name);
    return status;
}

tb_status tb_temp_file_open_nameless(const char *folder, int *fd,
                                     struct tb_error *error)
{
    if (!folder)
        folder = getenv("TMPDIR");
    if (!folder || !folder[0])
        folder = "/tmp";
    *fd = open_nameless(folder);
    return *fd >= 0 ? TB_OK : open_and_unlink(folder, fd, error);
}
