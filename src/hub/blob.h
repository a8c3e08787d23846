/* One file of the hub, into blobs/<etag>: once for all processes, going on
 * where an earlier try was cut. Private to this layer. */
#ifndef TB_BLOB_H
#define TB_BLOB_H

#include "transfer.h"

struct tb_blob {
    const char *file; /* its name, for messages */
    const char *etag; /* can be a file's name */
    const char *url;
    uint64_t len; /* bytes, or TB_HTTP_NO_LEN */
};

/* Statuses and messages as of tb_hub_fetch. */
TB_NODISCARD tb_status tb_blob_fetch(struct tb_transfer *transfer,
                                     const struct tb_blob *blob,
                                     struct tb_error *error);

/* Makes snapshots/<commit>/<file> lead to the blob. */
TB_NODISCARD tb_status tb_blob_link(const struct tb_transfer *transfer,
                                    const struct tb_blob *blob,
                                    const char *commit, struct tb_error *error);

/* Longest file that is fetched, bytes. */
#define TB_BLOB_MAX_LEN ((uint64_t)512 << 20)

#endif
