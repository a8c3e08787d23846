#include "content_id.h"

#include <stdio.h>

void tb_content_ids_init(struct tb_content_ids *ids, const char *fingerprint,
                         uint32_t block_size,
                         const struct tb_keyed_hash *secret)
{
    char text[128];
    (void)snprintf(text, sizeof(text), "tracebake content ids 1 %.64s %u",
                   fingerprint, (unsigned)block_size);
    *ids = (struct tb_content_ids){.root = tb_hash128(tb_span_of(text), 0)};
    ids->has_secret = secret != NULL;
    if (secret)
        ids->secret = *secret;
}

uint64_t tb_content_id(const struct tb_content_ids *ids,
                       struct tb_hash128 block)
{
    const uint64_t words[] = {block.low, block.high};
    const struct tb_span bytes = {(const uint8_t *)words, sizeof(words)};
    uint64_t id =
        ids->has_secret ? tb_keyed_hash64(&ids->secret, bytes) : block.low;
    return id >> 1;
}
