/* Waiting for a descriptor that somebody else made non-blocking: standard input
 * and output are shared with whoever started us. */
#ifndef TB_WAIT_FD_H
#define TB_WAIT_FD_H

#include <stdbool.h>

/* After a read or write of `fd` failed: if it failed only because it would
 * have had to wait (EAGAIN), waits until it can go on, or a signal comes, and
 * returns true. Else false, with errno as it was. */
bool tb_wait_fd(int fd, bool is_writing);

#endif
