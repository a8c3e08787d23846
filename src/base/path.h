/* Paths in buffers of a fixed size, and what lies there. */
#ifndef TB_PATH_H
#define TB_PATH_H

#include "status.h"

/* Room for any path that is made here, bytes; a longer one is refused. */
enum { TB_PATH_SIZE = 4096 };

/* Writes a path; false, with `path` of no use, when it does not fit. */
bool tb_path_format(char *path, size_t size, const char *format, ...)
    TB_PRINTF(3, 4);

/* Is there anything but a folder (links are followed)? Is there a folder? */
bool tb_path_is_file(const char *path);
bool tb_path_is_folder(const char *path);

/* Bytes of the file, 0 when there is none. */
uint64_t tb_path_file_len(const char *path);

/* Makes all folders above the last '/' that are not there, with the rights
 * `mode` less umask. What fails here fails again when the file is made, and
 * is told there. */
void tb_path_make_folders(const char *path, unsigned mode);

/* Calls `on_name` for each entry of the folder but "." and "..", in order of
 * their bytes; false from it ends the walk. A folder that is not there or that
 * may not be read has no entries. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_path_list(const char *folder,
                                    bool (*on_name)(void *context,
                                                    const char *name),
                                    void *context);

#endif
