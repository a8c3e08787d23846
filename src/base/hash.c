#include "hash.h"

#include <sys/random.h>
#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t tb_hash_secret(void)
{
    uint64_t secret;
    if (getrandom(&secret, sizeof(secret), GRND_NONBLOCK) ==
        (ssize_t)sizeof(secret))
        return secret;
    // Early after boot, or where the call is forbidden: what the loader and
    // the clock made of this run.
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    uint64_t parts[] = {(uint64_t)now.tv_sec, (uint64_t)now.tv_nsec,
                        (uint64_t)(uintptr_t)&secret};
    return XXH3_64bits(parts, sizeof(parts));
}

uint64_t tb_hash64(struct tb_span bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes.ptr, bytes.len, seed);
}

struct tb_hash128 tb_hash128(struct tb_span bytes, uint64_t seed)
{
    XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.ptr, bytes.len, seed);
    return (struct tb_hash128){hash.low64, hash.high64};
}

struct tb_hash128 tb_hash128_of_parts(const struct tb_span *parts, size_t count,
                                      uint64_t seed)
{
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    (void)XXH3_128bits_reset_withSeed(&state, seed);
    for (size_t i = 0; i < count; i++)
        (void)XXH3_128bits_update(&state, parts[i].ptr, parts[i].len);
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
    return (struct tb_hash128){hash.low64, hash.high64};
}
