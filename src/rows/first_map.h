/* Which of many come first, as bits, and how many of those there are before a
 * place. */
#ifndef TB_FIRST_MAP_H
#define TB_FIRST_MAP_H

#include "status.h"

/* One thread at a time; zero-initialised is closed. */
struct tb_first_map {
    uint64_t *words;  /* a bit for each place */
    uint64_t *before; /* bits that are set before each group of words */
    uint64_t word_count;
};

/* All places are not set. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_first_map_init(struct tb_first_map *map,
                                         uint64_t place_count);
void tb_first_map_set(struct tb_first_map *map, uint64_t place);

/* After the last was set; returns how many are. */
uint64_t tb_first_map_count(struct tb_first_map *map);

/* How many are set before `place`. */
uint64_t tb_first_map_before(const struct tb_first_map *map, uint64_t place);

void tb_first_map_release(struct tb_first_map *map);

#endif
