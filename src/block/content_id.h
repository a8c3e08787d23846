/* Ids of blocks that are the same in every run, on every machine: made of the
 * block's identity alone, which hangs on its tokens and on all before them, the
 * tokenizer and the block size. So files can be converted apart and what they
 * share is seen when they are joined.
 *
 *     struct tb_content_ids ids;
 *     tb_content_ids_init(&ids, fingerprint, 128, NULL);
 *     block = tb_block_hash(ids.root, tokens, count);
 *     id = tb_content_id(&ids, block);
 *
 * An id has 63 bits, so that it is a whole number to readers who know 64 bits
 * with a sign. Of n blocks, two have the same one with a probability of
 * n^2 / 2^64: 1 % of 450 million. Two that also stand behind the same block
 * (so that a reader of the rows could not tell) are far rarer.
 */
#ifndef TB_CONTENT_ID_H
#define TB_CONTENT_ID_H

#include "block_table.h"
#include "keyed_hash.h"

struct tb_content_ids {
    struct tb_hash128 root; /* parent of a prompt's first block */
    bool has_secret;
    struct tb_keyed_hash secret; /* nobody without it can make an id */
};

/* `fingerprint` names the tokenizer; `secret` may be NULL and is copied. */
void tb_content_ids_init(struct tb_content_ids *ids, const char *fingerprint,
                         uint32_t block_size,
                         const struct tb_keyed_hash *secret);

uint64_t tb_content_id(const struct tb_content_ids *ids,
                       struct tb_hash128 block);

#endif
