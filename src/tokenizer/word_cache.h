/* The words that were encoded last and their ids: almost all words of a text
 * are found here. Private to the encoder; one per thread.
 *
 * Two tables, because most words are short and have few ids: a slot of the
 * first is half a cache line. A word goes where its hash says and replaces
 * whatever was there.
 */
#ifndef TB_WORD_CACHE_H
#define TB_WORD_CACHE_H

#include <string.h>

#include "hash.h"
#include "tokenizer.h"

enum {
    TB_SHORT_SLOTS = 1 << 16,
    TB_SHORT_LEN = 15, /* bytes; the 16th holds the length */
    TB_SHORT_IDS = 3,
    TB_LONG_SLOTS = 1 << 13,
    TB_LONG_LEN = 46, /* bytes */
    TB_LONG_IDS = 20,
};

struct tb_short_word {
    uint64_t key[2]; /* all zero: empty, since the length is not 0 */
    uint32_t count;
    tb_token ids[TB_SHORT_IDS];
};

struct tb_long_word {
    uint8_t len; /* 0: empty */
    uint8_t count;
    uint8_t bytes[TB_LONG_LEN];
    tb_token ids[TB_LONG_IDS];
};

struct tb_word_cache {
    struct tb_short_word *short_words;
    struct tb_long_word *long_words;
};

TB_NODISCARD tb_status tb_word_cache_init(struct tb_word_cache *cache);
void tb_word_cache_release(struct tb_word_cache *cache);

/* A short word as a key: its bytes, zeros, and its length in the last byte.
 * `readable_len` bytes from the word's first on may be read; when these are
 * sixteen, that is two loads and two masks. */
static inline void tb_short_key(struct tb_span word, size_t readable_len,
                                uint64_t key[2])
{
    key[0] = key[1] = 0;
    // The masks mean bytes in memory order on little-endian machines only.
    if (readable_len >= 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        memcpy(key, word.ptr, 16);
        uint64_t low =
            word.len < 8 ? (UINT64_C(1) << (word.len * 8)) - 1 : UINT64_MAX;
        uint64_t high =
            word.len <= 8 ? 0 : (UINT64_C(1) << ((word.len - 8) * 8)) - 1;
        key[0] &= low;
        key[1] &= high;
    } else {
        memcpy(key, word.ptr, word.len);
    }
    key[1] ^= (uint64_t)word.len << 56;
}

static inline struct tb_short_word *
tb_short_slot(const struct tb_word_cache *cache, const uint64_t key[2])
{
    uint64_t mixed = (key[0] ^ (key[1] * UINT64_C(0x9E3779B97F4A7C15))) *
                     UINT64_C(0xD6E8FEB86659FD93);
    return &cache->short_words[(mixed >> 40) % TB_SHORT_SLOTS];
}

static inline struct tb_long_word *
tb_long_slot(const struct tb_word_cache *cache, struct tb_span word)
{
    return &cache->long_words[tb_hash64(word, 0) % TB_LONG_SLOTS];
}

#endif
