#include "wait_fd.h"

#include <errno.h>
#include <poll.h>

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
