/* What does not fit into memory: a file without a name, which is gone when the
 * process ends, however it does.
 *
 *     struct tb_spill_file file = TB_SPILL_FILE_CLOSED;
 *     TB_TRY(tb_spill_file_open(&file, "folder/", &error));
 *     TB_TRY(tb_spill_file_write(&file, 0, bytes, len, &error));
 *     TB_TRY(tb_spill_file_read(&file, 0, bytes, len, &error));
 *     tb_spill_file_close(&file);
 */
#ifndef TB_SPILL_FILE_H
#define TB_SPILL_FILE_H

#include "status.h"

struct tb_spill_file {
    int fd;
};

#define TB_SPILL_FILE_CLOSED ((struct tb_spill_file){-1})

/* In `folder`; NULL: $TMPDIR or /tmp. TB_ERR_IO, TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_spill_file_open(struct tb_spill_file *file,
                                          const char *folder,
                                          struct tb_error *error);

/* Write or read exactly `len` bytes at `offset`. TB_ERR_IO with the reason. */
TB_NODISCARD tb_status tb_spill_file_write(const struct tb_spill_file *file,
                                           uint64_t offset, const void *bytes,
                                           size_t len, struct tb_error *error);
TB_NODISCARD tb_status tb_spill_file_read(const struct tb_spill_file *file,
                                          uint64_t offset, void *bytes,
                                          size_t len, struct tb_error *error);

void tb_spill_file_close(struct tb_spill_file *file);

#endif
