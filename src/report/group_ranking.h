/* Which groups of rows have most rows: there may be as many agents as rows,
 * and a page that shows them all would open for nobody. */
#ifndef TB_GROUP_RANKING_H
#define TB_GROUP_RANKING_H

#include "call_analysis.h"
#include "trace_analysis.h"

/* Fills `numbers`, which has room for `most`, with those of up to so many
 * groups, most rows first; of equal ones the earlier first. Returns how many
 * there are. */
size_t tb_group_ranking(const struct tb_length_group *groups, uint32_t count,
                        uint32_t *numbers, size_t most);

/* The same of groups of calls, most calls first. */
size_t tb_call_group_ranking(const struct tb_call_group *groups, uint32_t count,
                             uint32_t *numbers, size_t most);

#endif
