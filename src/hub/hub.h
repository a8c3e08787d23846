/* Files of models from the Hugging Face hub, into its cache on this machine.
 *
 *     struct tb_hub_access access = {.on_progress = show, .context = line};
 *     TB_TRY(tb_hub_fetch(&name, &files, &access, &place, error));
 *     ... place.path is the file ...
 *
 * What is fetched lies as Python's huggingface_hub lays it (hub_cache.h), so
 * that either finds what the other fetched. A file that was cut off goes on
 * where it stopped, in this run or the next; two processes fetch a file once.
 * Nothing is printed: progress goes to a callback, faults to the error, with
 * what to do about them. The environment decides where and whether
 * (hub_settings.h).
 */
#ifndef TB_HUB_H
#define TB_HUB_H

#include "hub_cache.h"

struct tb_hub_progress {
    const char *repo;     /* "org/name" */
    const char *file;     /* "" while the hub is asked what there is */
    uint64_t bytes_done;  /* of this file */
    uint64_t bytes_total; /* 0: not known */
    bool is_waiting;      /* another process fetches it, or the hub asked for
                             patience */
};

/* How a caller wants it. */
struct tb_hub_access {
    /* Called several times a second; false stops with TB_ERR_INTERRUPTED. May
     * be NULL. */
    bool (*on_progress)(void *context, const struct tb_hub_progress *progress);
    void *context;
};

/* What was done. */
struct tb_hub_fetched {
    unsigned file_count; /* that were fetched */
    unsigned kept_count; /* that were there */
    uint64_t bytes;      /* that came over the network */
};

/* Fetches the main file of `name` and those beside it that are not there yet,
 * and says where they are. The revision's name then leads to the commit that
 * the hub said, even if an older one was there; the main file comes last, so
 * that what is found in the cache is whole. `fetched` may be NULL.
 *
 * TB_ERR_NOT_FOUND: no such model, revision or file, or no right to it, or
 * no network is allowed; TB_ERR_IO: network or disk; TB_ERR_SYNTAX,
 * TB_ERR_TYPE, TB_ERR_CUT, TB_ERR_VALUE: what answered is no hub, or settings
 * are wrong; TB_ERR_LIMIT, TB_ERR_UNSUPPORTED (no libcurl),
 * TB_ERR_INTERRUPTED, TB_ERR_MEMORY. What a failure leaves behind is at most
 * the beginning of a file, to go on from. */
TB_NODISCARD tb_status tb_hub_fetch(const struct tb_hub_name *name,
                                    const struct tb_hub_files *files,
                                    const struct tb_hub_access *access,
                                    struct tb_hub_place *place,
                                    struct tb_hub_fetched *fetched,
                                    struct tb_error *error);

#endif
