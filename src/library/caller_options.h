/* Structs that callers fill, of whatever version, and what hangs on them. */
#ifndef TB_CALLER_OPTIONS_H
#define TB_CALLER_OPTIONS_H

#include "hub.h"
#include "status.h"

/* Copies the options of a caller, whose first member is their size, to `to`,
 * whose size is `size` and which is zero for what the caller's version did not
 * have. TB_ERR_USAGE: smaller than those of the first version, or of a later
 * version than this library's. */
TB_NODISCARD tb_status tb_caller_options_copy(void *to, size_t size,
                                              size_t first_size,
                                              const void *from,
                                              struct tb_error *error);

/* Who is told that something is fetched. */
struct tb_fetch_watch {
    bool (*on_progress)(void *context, const struct tb_load_progress *progress);
    void *context;
};

/* `watch` must outlive what is returned. */
struct tb_hub_access tb_fetch_watch_access(struct tb_fetch_watch *watch);

/* The end of every function with an error: hands `detail` out, with the
 * status's name where nobody said more. Returns `status`. */
tb_status tb_caller_fail(struct tb_error *error, tb_status status,
                         struct tb_error *detail);

#endif
