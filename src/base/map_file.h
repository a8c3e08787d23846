/* A file of our own making, mapped into memory to be read. Not for inputs: a
 * mapped file that shrinks is a signal, not an error. */
#ifndef TB_MAP_FILE_H
#define TB_MAP_FILE_H

#include "status.h"

/* Maps all of `path`. TB_ERR_NOT_FOUND, TB_ERR_IO. An empty file gives an
 * empty span. */
TB_NODISCARD tb_status tb_map_file(const char *path, struct tb_span *bytes);

/* Ends the mapping; an empty span is accepted. */
void tb_unmap_file(struct tb_span bytes);

#endif
