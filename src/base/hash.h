/* Hashing of bytes by XXH3 (xxHash 0.8, https://xxhash.com): not
 * cryptographic, stable over machines and versions. */
#ifndef TB_HASH_H
#define TB_HASH_H

#include "span.h"

struct tb_hash128 {
    uint64_t low;
    uint64_t high;
};

/* Not known before, and another one each time: hashes with it as seed are for
 * tables whose keys come from foreign files, so that no file can be made whose
 * keys all meet in one slot. What a program tells must not depend on it. */
uint64_t tb_hash_secret(void);

uint64_t tb_hash64(struct tb_span bytes, uint64_t seed);
struct tb_hash128 tb_hash128(struct tb_span bytes, uint64_t seed);

/* That of all parts one behind the other. */
struct tb_hash128 tb_hash128_of_parts(const struct tb_span *parts, size_t count,
                                      uint64_t seed);

#endif
