#include "wait_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>

static bool (*_Atomic asked)(void);

void tb_wait_on_signal(bool (*is_stopping)(void))
{
    atomic_store(&asked, is_stopping);
}

bool tb_wait_is_stopped(void)
{
    bool (*is_stopping)(void) = atomic_load(&asked);
    return is_stopping && is_stopping();
}

int tb_wait_open(const char *path, int flags,
                 bool (*is_stopping)(void *context), void *context)
{
    int fd = -1;
    bool must_stop = tb_wait_is_stopped();
    errno = EINTR;
    while (fd < 0 && errno == EINTR && !must_stop) {
        fd = open(path, flags | O_CLOEXEC);
        if (fd >= 0 || errno != EINTR)
            break;
        must_stop =
            tb_wait_is_stopped() || (is_stopping && is_stopping(context));
        errno = EINTR; // whatever was asked
    }
    return fd;
}

bool tb_wait_fd(int fd, bool is_writing)
{
    if (errno != EAGAIN && errno != EWOULDBLOCK)
        return false;
    struct pollfd waited = {.fd = fd, .events = is_writing ? POLLOUT : POLLIN};
    int number = errno;
    int count = poll(&waited, 1, -1);
    bool is_ready = count > 0 || (count < 0 && errno == EINTR);
    errno = number;
    return is_ready;
}

bool tb_wait_is_ready(int fd)
{
    struct pollfd watched = {.fd = fd, .events = POLLIN};
    return poll(&watched, 1, 0) != 0;
}
