/* Waiting for descriptors, and who may end it.
 *
 * A pipe is opened when its other end is, and has bytes when somebody writes
 * some. Whoever handles signals says with tb_wait_on_signal when it is time to
 * wait no longer: each signal that arrives meanwhile asks.
 *
 * Standard input and output are shared with whoever started us, so that others
 * may have made them non-blocking.
 */
#ifndef TB_WAIT_FD_H
#define TB_WAIT_FD_H

#include <stdbool.h>

/* After a read or write of `fd` failed: if it failed only because it would
 * have had to wait (EAGAIN), waits until it can go on, or a signal comes, and
 * returns true. Else false, with errno as it was. */
bool tb_wait_fd(int fd, bool is_writing);

/* Has `fd` bytes to read, or its end? Waits for neither. */
bool tb_wait_is_ready(int fd);

/* Sets what every wait of this process asks; NULL, as at the beginning, waits
 * on. For the program, once: a library's host has its own signals. Any thread
 * may call `is_stopping`. */
void tb_wait_on_signal(bool (*is_stopping)(void));

/* Asks it. */
bool tb_wait_is_stopped(void);

/* As open with O_CLOEXEC, but goes on after a signal, unless it is time to
 * stop: then -1 and EINTR, also before it began. `is_stopping` (may be NULL) is
 * asked too, once a signal came while it waited. */
int tb_wait_open(const char *path, int flags,
                 bool (*is_stopping)(void *context), void *context);

#endif
