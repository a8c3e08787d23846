#include "digest.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK_LEN = 64, LEN_AT = 56 /* of the message, in its last block */ };

struct tb_digest tb_digest_begin(tb_digest_kind kind)
{
    struct tb_digest digest = {.kind = kind};
    static const uint32_t sha1[5] = {0x67452301, 0xefcdab89, 0x98badcfe,
                                     0x10325476, 0xc3d2e1f0};
    static const uint32_t sha256[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                       0xa54ff53a, 0x510e527f, 0x9b05688c,
                                       0x1f83d9ab, 0x5be0cd19};
    if (kind == TB_SHA1)
        memcpy(digest.state, sha1, sizeof(sha1));
    else
        memcpy(digest.state, sha256, sizeof(sha256));
    return digest;
}

static uint32_t left(uint32_t word, unsigned count)
{
    return word << count | word >> (32 - count);
}

static uint32_t right(uint32_t word, unsigned count)
{
    return word >> count | word << (32 - count);
}

static void load_block(const uint8_t *block, uint32_t words[16])
{
    for (int i = 0; i < 16; i++, block += 4)
        words[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 |
                   (uint32_t)block[2] << 8 | block[3];
}

// FIPS 180-4, 6.1.2
static void add_sha1_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3],
                    e = state[4];
    load_block(block, w);
    for (int i = 16; i < 80; i++)
        w[i] = left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (int i = 0; i < 80; i++) {
        uint32_t mixed = (b & c) ^ (~b & d), constant = 0x5a827999;
        if (i >= 60) {
            mixed = b ^ c ^ d;
            constant = 0xca62c1d6;
        } else if (i >= 40) {
            mixed = (b & c) ^ (b & d) ^ (c & d);
            constant = 0x8f1bbcdc;
        } else if (i >= 20) {
            mixed = b ^ c ^ d;
            constant = 0x6ed9eba1;
        }
        uint32_t next = left(a, 5) + mixed + e + constant + w[i];
        e = d;
        d = c;
        c = left(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

// 4.2.2: of the cube roots of the first 64 primes
static const uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// 6.2.2
static void add_sha256_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64], s[8];
    load_block(block, w);
    memcpy(s, state, sizeof(s));
    for (int i = 16; i < 64; i++) {
        uint32_t low =
            right(w[i - 15], 7) ^ right(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t high =
            right(w[i - 2], 17) ^ right(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + low + w[i - 7] + high;
    }
    for (int i = 0; i < 64; i++) {
        uint32_t e = s[4], a = s[0];
        uint32_t first = s[7] + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) +
                         ((e & s[5]) ^ (~e & s[6])) + sha256_constants[i] +
                         w[i];
        uint32_t second = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) +
                          ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof(*s));
        s[4] += first;
        s[0] = first + second;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

static void add_block(struct tb_digest *digest, const uint8_t *block)
{
    if (digest->kind == TB_SHA1)
        add_sha1_block(digest->state, block);
    else
        add_sha256_block(digest->state, block);
}

void tb_digest_add(struct tb_digest *digest, struct tb_span bytes)
{
    size_t used = digest->len % BLOCK_LEN;
    digest->len += bytes.len;
    while (bytes.len > 0) {
        size_t part = BLOCK_LEN - used;
        if (part > bytes.len)
            part = bytes.len;
        if (part == BLOCK_LEN) {
            add_block(digest, bytes.ptr);
        } else {
            memcpy(digest->block + used, bytes.ptr, part);
            if (used + part == BLOCK_LEN)
                add_block(digest, digest->block);
        }
        used = (used + part) % BLOCK_LEN;
        bytes = tb_span_from(bytes, part);
    }
}

// A bit, zeros, and the length in bits, so that it ends with a block (5.1.1).
static void pad(struct tb_digest *digest)
{
    static const uint8_t zeros[BLOCK_LEN];
    uint64_t bits = digest->len * 8;
    uint8_t len[8];
    for (int i = 0; i < 8; i++)
        len[i] = (uint8_t)(bits >> (56 - 8 * i));
    tb_digest_add(digest, TB_SPAN("\x80"));
    size_t used = digest->len % BLOCK_LEN;
    size_t gap = (LEN_AT + BLOCK_LEN - used) % BLOCK_LEN;
    tb_digest_add(digest, (struct tb_span){zeros, gap});
    tb_digest_add(digest, (struct tb_span){len, sizeof(len)});
}

void tb_digest_end_bytes(struct tb_digest *digest,
                         uint8_t bytes[TB_DIGEST_SIZE])
{
    size_t words = digest->kind == TB_SHA1 ? 5 : 8;
    pad(digest);
    for (size_t i = 0; i < 4 * words; i++)
        bytes[i] = (uint8_t)(digest->state[i / 4] >> (24 - 8 * (i % 4)));
}

void tb_digest_end(struct tb_digest *digest, char text[TB_DIGEST_TEXT_SIZE])
{
    size_t len = digest->kind == TB_SHA1 ? 20 : 32;
    uint8_t bytes[TB_DIGEST_SIZE];
    tb_digest_end_bytes(digest, bytes);
    for (size_t i = 0; i < len; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}
