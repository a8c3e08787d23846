/* SHA-1 and SHA-256 (FIPS 180-4): by these others name contents, such as git
 * and the Hugging Face hub. For hashing of our own see hash.h, which is far
 * quicker.
 *
 *     struct tb_digest digest = tb_digest_begin(TB_SHA256);
 *     tb_digest_add(&digest, bytes);
 *     tb_digest_end(&digest, text);
 */
#ifndef TB_DIGEST_H
#define TB_DIGEST_H

#include "span.h"

typedef enum tb_digest_kind { TB_SHA1, TB_SHA256 } tb_digest_kind;

enum {
    TB_DIGEST_SHA1_DIGITS = 40,
    TB_DIGEST_SHA256_DIGITS = 64,
    TB_DIGEST_TEXT_SIZE = TB_DIGEST_SHA256_DIGITS + 1,
    TB_DIGEST_SIZE = 32 /* bytes of the longer one */
};

struct tb_digest {
    tb_digest_kind kind;
    uint32_t state[8]; /* SHA-1 has five */
    uint64_t len;      /* bytes so far */
    uint8_t block[64]; /* the last, not full yet */
};

struct tb_digest tb_digest_begin(tb_digest_kind kind);
void tb_digest_add(struct tb_digest *digest, struct tb_span bytes);

/* Writes the digest in lower-case hex digits; the struct is used up. */
void tb_digest_end(struct tb_digest *digest, char text[TB_DIGEST_TEXT_SIZE]);

/* The same as the bytes that the digits stand for, 20 or 32 of them. */
void tb_digest_end_bytes(struct tb_digest *digest,
                         uint8_t bytes[TB_DIGEST_SIZE]);

#endif
