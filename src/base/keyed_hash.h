/* Hashing with a secret (HMAC-SHA256, RFC 2104): whoever does not have the
 * secret cannot tell what a hash was made of, not even by trying, and cannot
 * make the hash of another text out of it. For hashing without one see hash.h,
 * which is far quicker.
 *
 *     struct tb_keyed_hash key;
 *     TB_TRY(tb_keyed_hash_read("salt", &key, &error));
 *     id = tb_keyed_hash64(&key, bytes);
 */
#ifndef TB_KEYED_HASH_H
#define TB_KEYED_HASH_H

#include "digest.h"
#include "status.h"

enum {
    TB_KEYED_HASH_SECRET_MIN = 16, /* bytes of a file with a secret */
    TB_KEYED_HASH_SECRET_MAX = 1 << 16
};

/* The secret, taken in. Never changes, so any number of threads may hash with
 * it; may be copied. */
struct tb_keyed_hash {
    struct tb_digest inner, outer;
};

struct tb_keyed_hash tb_keyed_hash_of(struct tb_span secret);

/* All bytes of the file at `path` are the secret. One with less than
 * TB_KEYED_HASH_SECRET_MIN or more than TB_KEYED_HASH_SECRET_MAX is
 * TB_ERR_USAGE; else the statuses of tb_input_read_all. */
TB_NODISCARD tb_status tb_keyed_hash_read(const char *path,
                                          struct tb_keyed_hash *key,
                                          struct tb_error *error);

/* The first 64 of the 256 bits, the first byte lowest. */
uint64_t tb_keyed_hash64(const struct tb_keyed_hash *key, struct tb_span bytes);

/* A name for the secret that does not give it away: 32 hex digits. Two runs
 * that must have the same one can be held to it. */
void tb_keyed_hash_name(const struct tb_keyed_hash *key, char text[33]);

#endif
