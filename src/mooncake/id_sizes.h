/* What is known of each distinct id: how many tokens its block has, and which
 * id it stands behind. 16 bytes for each, and room to find them. One thread at
 * a time; zero-initialised is empty and ready. */
#ifndef TB_ID_SIZES_H
#define TB_ID_SIZES_H

#include "status.h"

struct tb_id_size {
    uint64_t id;
    uint32_t size;   /* tokens; 0: a free slot */
    uint32_t before; /* a hash of the id before, or 0 at a prompt's beginning */
};

struct tb_id_sizes {
    struct tb_id_size *slots; /* open addressing */
    size_t slot_count;
    uint64_t count;
    uint64_t secret; /* of their hashes */
};

/* What `before` is for an id that stands behind `id`; never 0. */
uint32_t tb_id_before(uint64_t id);

/* What is known of `id`; when nothing is, it is `size` tokens (at least 1)
 * behind `before` from now on, and `*is_new`. The entry lives until the next
 * call. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_id_sizes_add(struct tb_id_sizes *sizes, uint64_t id,
                                       uint32_t size, uint32_t before,
                                       const struct tb_id_size **entry,
                                       bool *is_new);

void tb_id_sizes_release(struct tb_id_sizes *sizes);

#endif
