/* What is known of each distinct id: how many tokens its block has, and which
 * id it stands behind.
 *
 * Where ids are given by first appearance, most are full blocks behind the id
 * one smaller: a bit each, in pages. All others take 16 bytes, and room to find
 * them. One thread at a time; set `full_size`, the rest zero. */
#ifndef TB_ID_SIZES_H
#define TB_ID_SIZES_H

#include "status.h"

struct tb_id_size {
    uint64_t id;
    uint32_t size;   /* tokens; 0: a free slot */
    uint32_t before; /* a hash of the id before, or 0 at a prompt's beginning */
};

enum { TB_ID_PAGE_WORDS = 64 };

/* Ids that follow each other, from a multiple of their number on. */
struct tb_id_page {
    uint64_t number;
    uint64_t words[TB_ID_PAGE_WORDS]; /* bits: full, behind the one before */
};

struct tb_id_sizes {
    uint32_t full_size;       /* tokens */
    struct tb_id_size *slots; /* open addressing */
    size_t slot_count;
    uint64_t slots_used;
    struct tb_id_page *pages;
    size_t page_count, page_capacity;
    uint32_t *page_slots; /* pages + 1 by number, or 0; open addressing */
    size_t page_slot_count;
    size_t last_page; /* that was asked for */
    uint64_t count;   /* distinct ids */
    uint64_t secret;  /* of their hashes */
};

/* What `before` is for an id that stands behind `id`; never 0. */
uint32_t tb_id_before(uint64_t id);

/* What is known of `id`, in `*known`; when nothing is, it is `size` tokens (at
 * least 1) behind `before` from now on, and `*is_new`. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_id_sizes_add(struct tb_id_sizes *sizes, uint64_t id,
                                       uint32_t size, uint32_t before,
                                       struct tb_id_size *known, bool *is_new);

void tb_id_sizes_release(struct tb_id_sizes *sizes);

#endif
