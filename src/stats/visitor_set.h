/* Which visitor (a session, an agent) has been at which place: a set of pairs
 * of numbers. One thread at a time; zero-initialised is empty and ready. */
#ifndef TB_VISITOR_SET_H
#define TB_VISITOR_SET_H

#include "status.h"

struct tb_visitor_set {
    uint64_t *slots; /* the pair + 1, or 0; open addressing */
    size_t slot_count, count;
    uint64_t secret; /* of their hashes */
};

bool tb_visitor_set_has(const struct tb_visitor_set *set, uint32_t place,
                        uint32_t visitor);

/* `visitor` is below UINT32_MAX. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_visitor_set_add(struct tb_visitor_set *set,
                                          uint32_t place, uint32_t visitor);

void tb_visitor_set_release(struct tb_visitor_set *set);

#endif
