/* A part of a whole, 0 where there is no whole. */
#ifndef TB_SHARE_H
#define TB_SHARE_H

#include <stdint.h>

static inline double tb_share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static inline double tb_percent(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

#endif
