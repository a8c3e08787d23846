/* A vocabulary: the bytes of every token, and the way back from bytes to id.
 *
 * Flat arrays without pointers inside, so that a compiled form can be mapped
 * as it is. Built by one thread, read-only from then on.
 */
#ifndef TB_VOCAB_H
#define TB_VOCAB_H

#include "hash.h"
#include "tokenizer.h"

#define TB_NO_TOKEN UINT32_MAX

enum {
    TB_VOCAB_MAX_ID = 1 << 24,       /* largest id that is accepted */
    TB_VOCAB_MAX_TOKEN_LEN = 1 << 16 /* bytes of one token */
};

struct tb_vocab_slot {
    uint32_t tag; /* high half of the hash, to spare look-ups of bytes */
    tb_token id;  /* TB_NO_TOKEN: empty */
};

struct tb_vocab {
    struct tb_buffer bytes; /* of all tokens, one after the other */
    uint32_t *at;  /* by id: where its bytes begin; UINT32_MAX: no such id */
    uint32_t *len; /* by id: how many */
    size_t at_capacity, len_capacity;
    uint32_t id_count;           /* largest id + 1 */
    struct tb_vocab_slot *slots; /* open addressing, a power of two */
    uint32_t slot_count;
    uint32_t max_len; /* bytes of the longest token that can be found */
    bool has_twins;   /* two that can be found have the same bytes; only known
                         where the index was made, not in a compiled form */
};

void tb_vocab_init(struct tb_vocab *vocab);

/* Makes room for so many ids in all, and so many bytes. */
TB_NODISCARD tb_status tb_vocab_reserve(struct tb_vocab *vocab, uint32_t count,
                                        size_t bytes_len);

/* Says what the bytes of `id` are. TB_ERR_VALUE when it has some already or
 * is out of range. */
TB_NODISCARD tb_status tb_vocab_set(struct tb_vocab *vocab, tb_token id,
                                    struct tb_span bytes);

/* Makes the tokens findable that `is_findable` says yes to (NULL: all). When
 * two have the same bytes the one with the larger id is found. */
TB_NODISCARD tb_status tb_vocab_index(struct tb_vocab *vocab,
                                      bool (*is_findable)(const void *context,
                                                          tb_token id),
                                      const void *context);

/* The bytes of `id`; an empty span when there is no such token. */
struct tb_span tb_vocab_bytes(const struct tb_vocab *vocab, tb_token id);

/* The token with these bytes, or TB_NO_TOKEN. */
static inline tb_token tb_vocab_find(const struct tb_vocab *vocab,
                                     struct tb_span bytes);

/* Are two ids, `*id` < `*twin`, the same bytes? */
bool tb_vocab_find_twins(const struct tb_vocab *vocab, tb_token *id,
                         tb_token *twin);

/* The first byte that is no token alone, or -1. */
int tb_vocab_missing_byte(const struct tb_vocab *vocab);

/* tb_vocab_find for up to TB_VOCAB_BATCH texts. Quicker than one by one: the
 * caches fetch what one look-up needs while others are under way. */
enum { TB_VOCAB_BATCH = 64 };
void tb_vocab_find_batch(const struct tb_vocab *vocab,
                         const struct tb_span *texts, tb_token *ids,
                         size_t count);

void tb_vocab_release(struct tb_vocab *vocab);

/* ---- */

uint64_t tb_vocab_hash(struct tb_span bytes);
tb_token tb_vocab_find_hashed(const struct tb_vocab *vocab,
                              struct tb_span bytes, uint64_t hash);

static inline tb_token tb_vocab_find(const struct tb_vocab *vocab,
                                     struct tb_span bytes)
{
    if (bytes.len > vocab->max_len)
        return TB_NO_TOKEN;
    return tb_vocab_find_hashed(vocab, bytes, tb_vocab_hash(bytes));
}

#endif
