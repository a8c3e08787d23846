/* A file with names of files. */
#ifndef TB_PATH_LIST_H
#define TB_PATH_LIST_H

#include "arena.h"
#include "option.h"

/* Adds each line of the file at `path` ("-": standard input) to `list`; empty
 * lines are skipped. The texts live in `arena`. A list without any name is
 * TB_ERR_USAGE; else the statuses of tb_input_open and tb_input_read. */
TB_NODISCARD tb_status tb_path_list_read(const char *path,
                                         struct tb_arena *arena,
                                         struct tb_text_list *list,
                                         struct tb_error *error);

#endif
