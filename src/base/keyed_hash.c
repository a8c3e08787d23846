#include "keyed_hash.h"

#include <stdio.h>
#include <string.h>

#include "input.h"

enum { BLOCK_LEN = 64 }; // bytes that SHA-256 takes at a time

#define FILE_MAX_LEN ((size_t)4 << 20) // bytes that are read to be refused

static struct tb_digest begin_with(const uint8_t key[BLOCK_LEN], uint8_t mask)
{
    uint8_t block[BLOCK_LEN];
    for (size_t i = 0; i < BLOCK_LEN; i++)
        block[i] = key[i] ^ mask;
    struct tb_digest digest = tb_digest_begin(TB_SHA256);
    tb_digest_add(&digest, (struct tb_span){block, sizeof(block)});
    return digest;
}

struct tb_keyed_hash tb_keyed_hash_of(struct tb_span secret)
{
    uint8_t key[BLOCK_LEN] = {0};
    if (secret.len > BLOCK_LEN) {
        struct tb_digest digest = tb_digest_begin(TB_SHA256);
        tb_digest_add(&digest, secret);
        tb_digest_end_bytes(&digest, key);
    } else if (secret.len > 0) {
        memcpy(key, secret.ptr, secret.len);
    }
    return (struct tb_keyed_hash){.inner = begin_with(key, 0x36),
                                  .outer = begin_with(key, 0x5C)};
}

static void hash(const struct tb_keyed_hash *key, struct tb_span bytes,
                 uint8_t out[TB_DIGEST_SIZE])
{
    struct tb_digest inner = key->inner, outer = key->outer;
    tb_digest_add(&inner, bytes);
    tb_digest_end_bytes(&inner, out);
    tb_digest_add(&outer, (struct tb_span){out, TB_DIGEST_SIZE});
    tb_digest_end_bytes(&outer, out);
}

uint64_t tb_keyed_hash64(const struct tb_keyed_hash *key, struct tb_span bytes)
{
    uint8_t out[TB_DIGEST_SIZE];
    uint64_t number = 0;
    hash(key, bytes, out);
    for (size_t i = sizeof(number); i-- > 0;)
        number = number << 8 | out[i];
    return number;
}

void tb_keyed_hash_name(const struct tb_keyed_hash *key, char text[33])
{
    uint8_t out[TB_DIGEST_SIZE];
    hash(key, TB_SPAN("the name of this secret"), out);
    for (size_t i = 0; i < 16; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", out[i]);
}

static tb_status check_len(size_t len, struct tb_error *error)
{
    if (len < TB_KEYED_HASH_SECRET_MIN)
        return tb_fail(error, TB_ERR_USAGE,
                       "a secret of %zu bytes can be guessed, it needs %d: "
                       "'head -c 32 /dev/urandom > FILE' makes one",
                       len, (int)TB_KEYED_HASH_SECRET_MIN);
    if (len > TB_KEYED_HASH_SECRET_MAX)
        return tb_fail(error, TB_ERR_USAGE,
                       "this is no secret: it is longer than %d bytes",
                       (int)TB_KEYED_HASH_SECRET_MAX);
    return TB_OK;
}

tb_status tb_keyed_hash_read(const char *path, struct tb_keyed_hash *key,
                             struct tb_error *error)
{
    struct tb_buffer secret = TB_BUFFER(FILE_MAX_LEN);
    tb_status status = tb_input_read_all(path, &secret, error);
    if (status == TB_OK || status == TB_ERR_LIMIT)
        status = check_len(status == TB_OK ? secret.len : FILE_MAX_LEN, error);
    if (status == TB_OK)
        *key = tb_keyed_hash_of(tb_buffer_span(&secret));
    else
        tb_error_set_path(error, path);
    tb_buffer_release(&secret);
    return status;
}
