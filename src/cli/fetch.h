/* Fetching a tokenizer as a person sees it: a line on the terminal while it
 * comes. A signal that is watched (stop_signal.h) ends it; what came is kept
 * either way. */
#ifndef TB_FETCH_H
#define TB_FETCH_H

#include "hub.h"
#include "progress.h"

/* Shows on `progress`, which must outlive what is returned. */
struct tb_hub_access tb_fetch_access(struct tb_progress *progress);

/* tb_tokenizer_locate with a line of its own, which is gone when it returns. */
TB_NODISCARD tb_status tb_fetch_locate(const char *name, bool is_quiet,
                                       char *path, size_t size,
                                       struct tb_error *error);

#endif
