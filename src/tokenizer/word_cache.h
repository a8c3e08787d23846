/* The words that were encoded last and their ids: almost all words of a text
 * are found here. Private to the encoder; one per thread.
 *
 * Two tables, because most words are short and have few ids. A short word has
 * two places, which lie in one cache line; the word that came last is in the
 * first of them, the one that it displaced in the second. Three ids lie there
 * too; where there are more, they lie in a store that both tables share. Long
 * words are found by a hash and lie in the store as a whole.
 *
 * The tables grow with the number of different words up to a limit, so that a
 * short text does not pay for the memory that a long one needs. When the store
 * is full all that is in it is forgotten.
 */
#ifndef TB_WORD_CACHE_H
#define TB_WORD_CACHE_H

#include <string.h>

#include "hash.h"
#include "tokenizer.h"

enum {
    TB_SHORT_FIRST_BITS = 13, /* sets to begin with, as a power of two */
    TB_SHORT_MOST_BITS = 17,
    TB_SHORT_LEN = 15, /* bytes; the 16th holds the length */
    TB_SHORT_IDS = 3,
    TB_SHORT_IS_STORED = TB_SHORT_IDS + 1, /* as `count`: see the store */
    TB_LONG_LEN = 1024, /* bytes of a word that is worth keeping, and ids */
};

/* Sixteen bytes, which are copied as a whole. Of stored ids the first says
 * where, the second in which filling of the store. */
struct tb_short_ids {
    tb_token ids[TB_SHORT_IDS];
    uint32_t count;
};

struct tb_short_word {
    uint64_t key[2]; /* all zero: empty, since the length is not 0 */
    struct tb_short_ids value;
};

/* One cache line. */
struct tb_short_set {
    struct tb_short_word words[2];
};

struct tb_long_slot {
    uint32_t tag; /* high half of the hash */
    uint32_t at;  /* in the store + 1; 0: empty */
};

/* Some ids; valid until the next call that adds. */
struct tb_word_ids {
    const tb_token *ids; /* NULL: not found */
    size_t count;
};

struct tb_word_cache {
    void *memory; /* in which the sets lie, from the next cache line on */
    struct tb_short_set *short_sets;
    unsigned short_bits;             /* their number, as a power of two */
    size_t short_count;              /* words that were put in since it grew */
    struct tb_long_slot *long_slots; /* open addressing */
    unsigned long_bits;              /* their number, as a power of two */
    size_t long_count;
    uint64_t secret; /* of their hashes: texts come from strangers, who could
                        aim words at one slot. A short word has two places, and
                        displaces another at worst. */
    uint32_t *store; /* of each word: count, ids; and of a long one its length
                        and bytes */
    size_t store_count, store_capacity;
    uint32_t filling; /* how often the store was emptied */
};

TB_NODISCARD tb_status tb_word_cache_init(struct tb_word_cache *cache);
void tb_word_cache_release(struct tb_word_cache *cache);

/* A short word as a key: its bytes, zeros, and its length in the last byte.
 * `readable_len` bytes from the word's first on may be read; when these are
 * sixteen, that is two loads and two masks. */
static inline void tb_short_key(struct tb_span word, size_t readable_len,
                                uint64_t key[2])
{
    // Bytes in memory order, as little-endian machines load them.
    static const uint64_t masks[][2] = {{0x0000000000000000, 0},
                                        {0x00000000000000FF, 0},
                                        {0x000000000000FFFF, 0},
                                        {0x0000000000FFFFFF, 0},
                                        {0x00000000FFFFFFFF, 0},
                                        {0x000000FFFFFFFFFF, 0},
                                        {0x0000FFFFFFFFFFFF, 0},
                                        {0x00FFFFFFFFFFFFFF, 0},
                                        {UINT64_MAX, 0},
                                        {UINT64_MAX, 0x00000000000000FF},
                                        {UINT64_MAX, 0x0000FFFF},
                                        {UINT64_MAX, 0x0000000000FFFFFF},
                                        {UINT64_MAX, 0xFFFFFFFF},
                                        {UINT64_MAX, 0x000000FFFFFFFFFF},
                                        {UINT64_MAX, 0x0000FFFFFFFFFFFF},
                                        {UINT64_MAX, 0x00FFFFFFFFFFFFFF}};
    if (readable_len >= 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        memcpy(key, word.ptr, 16);
        key[0] &= masks[word.len][0];
        // Not stored as a byte: to read the half that it is in would have to
        // wait until both stores have left the core.
        key[1] = (key[1] & masks[word.len][1]) | (uint64_t)word.len << 56;
        return;
    }
    key[0] = key[1] = 0;
    memcpy(key, word.ptr, word.len);
    ((uint8_t *)key)[15] = (uint8_t)word.len; // the 16th byte in memory
}

static inline uint64_t tb_short_hash(const uint64_t key[2])
{
    return (key[0] ^ (key[1] * UINT64_C(0x9E3779B97F4A7C15))) *
           UINT64_C(0xD6E8FEB86659FD93);
}

static inline struct tb_short_set *
tb_short_set(const struct tb_word_cache *cache, const uint64_t key[2])
{
    return &cache->short_sets[tb_short_hash(key) >> (64 - cache->short_bits)];
}

/* The ids of the word with this key, or NULL. Which of both places it is in
 * cannot be guessed, so that is no branch. */
static inline const struct tb_short_ids *
tb_short_find(const struct tb_short_set *set, const uint64_t key[2])
{
    const struct tb_short_word *words = set->words;
    uint64_t first = (words[0].key[0] ^ key[0]) | (words[0].key[1] ^ key[1]);
    uint64_t second = (words[1].key[0] ^ key[0]) | (words[1].key[1] ^ key[1]);
    if (first != 0 && second != 0)
        return NULL;
    return &words[first != 0].value;
}

/* Makes the table of short words larger when that is due; sets lie elsewhere
 * afterwards. Without memory it stays as it is. */
void tb_word_cache_grow(struct tb_word_cache *cache);

/* The ids of a short word that is TB_SHORT_IS_STORED. */
struct tb_word_ids tb_short_stored(const struct tb_word_cache *cache,
                                   const struct tb_short_ids *value);

/* Puts a short word in, which is not there or no longer stored. Does nothing
 * where there is no memory or it has too many ids. */
void tb_short_add(struct tb_word_cache *cache, struct tb_short_set *set,
                  const uint64_t key[2], const tb_token *ids, size_t count);

/* The same for a word that is not short. */
struct tb_word_ids tb_long_find(const struct tb_word_cache *cache,
                                struct tb_span word);
void tb_long_add(struct tb_word_cache *cache, struct tb_span word,
                 const tb_token *ids, size_t count);

#endif
