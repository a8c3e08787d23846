/* Stands between a program and the C library (LD_PRELOAD), counts what is
 * called, and lets calls fail, be short, or be late. fault_check.py drives it
 * by these variables of the environment:
 *
 *     TB_FAULT_COUNTS=FILE   at the end, write "call count" lines there
 *     TB_FAULT_CALL=write    the call that fails,
 *     TB_FAULT_AT=7          at its 7th time (0: the first),
 *     TB_FAULT_ERRNO=28      with this errno;
 *     TB_FAULT_STICKY=1      ... and ever after
 *     TB_FAULT_SIGNAL=9      it does not fail: the process gets this signal
 *                            just before it
 *     TB_FAULT_SPARE=libonig allocations by this library do not fail
 *     TB_FAULT_SHORT=1       reads and writes take a part, every third one is
 *                            interrupted (EINTR)
 *
 * Linux with glibc. Messages of stdio do not pass here, so they survive.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum call {
    CALL_MALLOC,
    CALL_OPEN,
    CALL_CLOSE,
    CALL_READ,
    CALL_PREAD,
    CALL_WRITE,
    CALL_FSYNC,
    CALL_RENAME,
    CALL_UNLINK,
    CALL_MKDIR,
    CALL_SYMLINK,
    CALL_MKSTEMP,
    CALL_FTRUNCATE,
    CALL_MMAP,
    CALL_STAT,
    CALL_FCHMOD,
    CALL_FLOCK,
    CALL_DUP,
    CALL_OPENDIR,
    CALL_THREAD,
    CALL_COUNT
};

static const char *const names[CALL_COUNT] = {
    "malloc", "open",   "close", "read",    "pread",   "write",     "fsync",
    "rename", "unlink", "mkdir", "symlink", "mkstemp", "ftruncate", "mmap",
    "stat",   "fchmod", "flock", "dup",     "opendir", "thread"};

static atomic_long counts[CALL_COUNT];
static int failing = -1; // enum call
static long fail_at;
static int fail_errno;
static int fail_signal; // 0: none
static bool is_sticky, is_short, is_counting;
static const char *spared; // part of a library's path, or NULL

static long number_of(const char *name)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *call = getenv("TB_FAULT_CALL");
    fail_at = number_of("TB_FAULT_AT");
    fail_errno = (int)number_of("TB_FAULT_ERRNO");
    fail_signal = (int)number_of("TB_FAULT_SIGNAL");
    is_sticky = number_of("TB_FAULT_STICKY") != 0;
    spared = getenv("TB_FAULT_SPARE");
    is_short = number_of("TB_FAULT_SHORT") != 0;
    for (int i = 0; call && i < CALL_COUNT; i++)
        if (strcmp(call, names[i]) == 0)
            failing = i;
    is_counting = true;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("TB_FAULT_COUNTS");
    char line[64];
    is_counting = false;
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path,
                                 O_WRONLY | O_CREAT | O_TRUNC, 0600)
                  : -1;
    for (int i = 0; fd >= 0 && i < CALL_COUNT; i++) {
        int len = snprintf(line, sizeof(line), "%s %ld\n", names[i],
                           atomic_load(&counts[i]));
        if (syscall(SYS_write, fd, line, (size_t)len) < 0)
            break;
    }
}

// Counts the call; true: it is to fail, and errno says how.
static bool fails(enum call call)
{
    if (!is_counting)
        return false;
    long number = atomic_fetch_add(&counts[call], 1);
    if ((int)call != failing ||
        (is_sticky ? number < fail_at : number != fail_at))
        return false;
    if (fail_signal) {
        (void)raise(fail_signal);
        return false;
    }
    errno = fail_errno;
    return true;
}

/* The library's own function. What dlsym gives is no function in ISO C. */
static void find(const char *name, void *pointer)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(pointer, &found, sizeof(found));
}

#define REAL(type, name, ...)                                                  \
    static type (*real)(__VA_ARGS__);                                          \
    if (!real)                                                                 \
    find(name, &real)

// For TB_FAULT_SHORT: how much of `size` is taken now, 0: interrupted.
static size_t part_of(size_t size)
{
    static atomic_uint turn;
    if (!is_short || size == 0)
        return size ? size : 1;
    switch (atomic_fetch_add(&turn, 1) % 3) {
    case 0:
        return (size + 1) / 2;
    case 1:
        return size < 4093 ? size : 4093;
    default:
        errno = EINTR;
        return 0;
    }
}

/* ---- memory ----------------------------------------------------------- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static bool fails_for(const void *caller)
{
    Dl_info info;
    if (is_counting && spared && dladdr(caller, &info) && info.dli_fname &&
        strstr(info.dli_fname, spared))
        return false;
    return fails(CALL_MALLOC);
}

void *malloc(size_t size)
{
    return fails_for(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails_for(__builtin_return_address(0)) ? NULL
                                                  : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails_for(__builtin_return_address(0)) ? NULL
                                                  : __libc_realloc(old, size);
}

void *mmap(void *at, size_t len, int protection, int flags, int fd,
           off_t offset)
{
    if (fails(CALL_MMAP))
        return MAP_FAILED;
    long address = syscall(SYS_mmap, at, len, protection, flags, fd, offset);
    void *result;
    memcpy(&result, &address, sizeof(result));
    return result;
}

/* ---- files ------------------------------------------------------------ */

static mode_t mode_of(int flags, va_list arguments)
{
    return flags & O_CREAT ? (mode_t)va_arg(arguments, unsigned) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    REAL(int, "open", const char *, int, ...);
    return fails(CALL_OPEN) ? -1 : real(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    REAL(int, "openat", int, const char *, int, ...);
    return fails(CALL_OPEN) ? -1 : real(folder, path, flags, mode);
}

// What open is compiled to when its flags are no constant.
int __open_2(const char *path, int flags);

int __open_2(const char *path, int flags)
{
    return open(path, flags);
}

FILE *fopen(const char *path, const char *mode)
{
    REAL(FILE *, "fopen", const char *, const char *);
    return fails(CALL_OPEN) ? NULL : real(path, mode);
}

// What fails has closed all the same, as on Linux.
int close(int fd)
{
    REAL(int, "close", int);
    bool is_failing = fails(CALL_CLOSE);
    int number = errno;
    int result = real(fd);
    if (!is_failing)
        return result;
    errno = number;
    return -1;
}

ssize_t read(int fd, void *bytes, size_t size)
{
    REAL(ssize_t, "read", int, void *, size_t);
    size_t part = fails(CALL_READ) ? 0 : part_of(size);
    return part ? real(fd, bytes, size < part ? size : part) : -1;
}

ssize_t __read_chk(int fd, void *bytes, size_t size, size_t room);

ssize_t __read_chk(int fd, void *bytes, size_t size, size_t room)
{
    return size <= room ? read(fd, bytes, size) : -1;
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
    REAL(ssize_t, "pread", int, void *, size_t, off_t);
    size_t part = fails(CALL_PREAD) ? 0 : part_of(size);
    return part ? real(fd, bytes, size < part ? size : part, offset) : -1;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    REAL(ssize_t, "write", int, const void *, size_t);
    size_t part = fails(CALL_WRITE) ? 0 : part_of(size);
    return part ? real(fd, bytes, size < part ? size : part) : -1;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
    size_t part = fails(CALL_WRITE) ? 0 : part_of(size);
    return part ? real(fd, bytes, size < part ? size : part, offset) : -1;
}

int fsync(int fd)
{
    REAL(int, "fsync", int);
    return fails(CALL_FSYNC) ? -1 : real(fd);
}

int rename(const char *from, const char *to)
{
    REAL(int, "rename", const char *, const char *);
    return fails(CALL_RENAME) ? -1 : real(from, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to,
              unsigned flags)
{
    REAL(int, "renameat2", int, const char *, int, const char *, unsigned);
    return fails(CALL_RENAME) ? -1
                              : real(from_folder, from, to_folder, to, flags);
}

int unlink(const char *path)
{
    REAL(int, "unlink", const char *);
    return fails(CALL_UNLINK) ? -1 : real(path);
}

int unlinkat(int folder, const char *path, int flags)
{
    REAL(int, "unlinkat", int, const char *, int);
    return fails(CALL_UNLINK) ? -1 : real(folder, path, flags);
}

int mkdir(const char *path, mode_t mode)
{
    REAL(int, "mkdir", const char *, mode_t);
    return fails(CALL_MKDIR) ? -1 : real(path, mode);
}

int symlink(const char *target, const char *path)
{
    REAL(int, "symlink", const char *, const char *);
    return fails(CALL_SYMLINK) ? -1 : real(target, path);
}

int mkstemp(char *path)
{
    REAL(int, "mkstemp", char *);
    return fails(CALL_MKSTEMP) ? -1 : real(path);
}

int ftruncate(int fd, off_t len)
{
    REAL(int, "ftruncate", int, off_t);
    return fails(CALL_FTRUNCATE) ? -1 : real(fd, len);
}

int stat(const char *path, struct stat *info)
{
    REAL(int, "stat", const char *, struct stat *);
    return fails(CALL_STAT) ? -1 : real(path, info);
}

int lstat(const char *path, struct stat *info)
{
    REAL(int, "lstat", const char *, struct stat *);
    return fails(CALL_STAT) ? -1 : real(path, info);
}

int fstat(int fd, struct stat *info)
{
    REAL(int, "fstat", int, struct stat *);
    return fails(CALL_STAT) ? -1 : real(fd, info);
}

int fstatat(int folder, const char *path, struct stat *info, int flags)
{
    REAL(int, "fstatat", int, const char *, struct stat *, int);
    return fails(CALL_STAT) ? -1 : real(folder, path, info, flags);
}

int fchmod(int fd, mode_t mode)
{
    REAL(int, "fchmod", int, mode_t);
    return fails(CALL_FCHMOD) ? -1 : real(fd, mode);
}

int flock(int fd, int operation)
{
    REAL(int, "flock", int, int);
    return fails(CALL_FLOCK) ? -1 : real(fd, operation);
}

int dup(int fd)
{
    REAL(int, "dup", int);
    return fails(CALL_DUP) ? -1 : real(fd);
}

struct __dirstream;

struct __dirstream *opendir(const char *path);

struct __dirstream *opendir(const char *path)
{
    REAL(struct __dirstream *, "opendir", const char *);
    return fails(CALL_OPENDIR) ? NULL : real(path);
}

/* ---- threads ---------------------------------------------------------- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*run)(void *), void *argument)
{
    REAL(int, "pthread_create", pthread_t *, const pthread_attr_t *,
         void *(*)(void *), void *);
    if (fails(CALL_THREAD))
        return fail_errno;
    return real(thread, attributes, run, argument);
}
