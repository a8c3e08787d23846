/* Hashing of bytes by XXH3 (xxHash 0.8, https://xxhash.com): not
 * cryptographic, stable over machines and versions. */
#ifndef TB_HASH_H
#define TB_HASH_H

#include "span.h"

struct tb_hash128 {
    uint64_t low;
    uint64_t high;
};

uint64_t tb_hash64(struct tb_span bytes, uint64_t seed);
struct tb_hash128 tb_hash128(struct tb_span bytes, uint64_t seed);

#endif
