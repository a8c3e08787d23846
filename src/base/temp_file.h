/* The file that an output is written to before it gets its name: it lies in
 * the same folder, so that a rename puts it in place.
 *
 *     .ROWS.tracebake-a1b2c3
 *
 * Its maker holds a lock on it (flock) for as long as it lives. One without a
 * lock was left by a process that was killed, and the next run to the same
 * output takes it away. */
#ifndef TB_TEMP_FILE_H
#define TB_TEMP_FILE_H

#include <sys/types.h>

#include "buffer.h"

/* Makes one beside `target` with the rights `mode` less what umask takes. Its
 * path goes zero-terminated into `path`. TB_ERR_MEMORY, or TB_ERR_IO with
 * errno set; then `path` is empty. Where files cannot be locked it is made
 * without a lock. */
TB_NODISCARD tb_status tb_temp_file_create(const char *target, mode_t mode,
                                           struct tb_buffer *path, int *fd);

/* Removes what killed processes of this user left beside `target`. What does
 * not work is left for the next time. */
void tb_temp_file_sweep(const char *target);

/* Opens a file without a name in `folder` (NULL: $TMPDIR or /tmp), to be read
 * and written: it is gone when it is closed, however the process ends.
 * TB_ERR_IO with the reason, TB_ERR_MEMORY; `*fd` is -1 then. */
TB_NODISCARD tb_status tb_temp_file_open_nameless(const char *folder, int *fd,
                                                  struct tb_error *error);

/* Bytes of `path` up to and with its last slash. */
size_t tb_path_folder_len(const char *path);

#endif
