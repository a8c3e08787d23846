#include "hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t tb_hash64(struct tb_span bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes.ptr, bytes.len, seed);
}

struct tb_hash128 tb_hash128(struct tb_span bytes, uint64_t seed)
{
    XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.ptr, bytes.len, seed);
    return (struct tb_hash128){hash.low64, hash.high64};
}
