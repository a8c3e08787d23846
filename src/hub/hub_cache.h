/* The Hugging Face cache on this machine, as huggingface_hub lays it out:
 *
 *     models--org--name/refs/main                   a commit
 *     models--org--name/snapshots/<commit>/<file>   -> ../../blobs/<etag>
 *     models--org--name/blobs/<etag>                the bytes
 *     .locks/models--org--name/<etag>.lock
 *
 * Nothing here goes to the network or writes. */
#ifndef TB_HUB_CACHE_H
#define TB_HUB_CACHE_H

#include "model_info.h"
#include "path.h"

/* A model at a commit that is in the cache with a file of the main ones. */
struct tb_hub_place {
    char repo[sizeof(((struct tb_hub_name *)0)->repo)];
    char commit[TB_HUB_COMMIT_LEN + 1];
    char folder[TB_PATH_SIZE]; /* the snapshot's */
    char path[TB_PATH_SIZE];   /* of the main file */
};

/* Finds `name`: its revision by refs, as a full or a unique short commit. A
 * name without an organisation may also be the end of the one model that is
 * called so. TB_ERR_NOT_FOUND; TB_ERR_VALUE when several could be meant, which
 * the message lists; TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_hub_cache_find(const struct tb_hub_name *name,
                                         const struct tb_hub_files *files,
                                         struct tb_hub_place *place,
                                         struct tb_error *error);

/* Calls `on_place` for every commit that is there with a main file; `refs` are
 * the branches and tags that lead to it, "main, v1", or "". False from it ends
 * the walk. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_hub_cache_list(
    const struct tb_hub_files *files,
    bool (*on_place)(void *context, const struct tb_hub_place *place,
                     const char *refs),
    void *context);

/* The main file in any folder. TB_ERR_NOT_FOUND, TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_hub_find_main(const char *folder,
                                        const struct tb_hub_files *files,
                                        char *path, size_t size);

#endif
