/* A trie over the bytes of a vocabulary: which tokens does a text begin with?
 * Read-only once it is built, shared by threads. */
#ifndef TB_TRIE_H
#define TB_TRIE_H

#include "vocab.h"

/* The children of a node stand next to each other, sorted by byte. */
struct tb_trie_node {
    uint32_t first_child;
    tb_token id; /* TB_NO_TOKEN: no token ends here */
    uint16_t child_count;
    uint8_t byte;
};

struct tb_trie {
    struct tb_trie_node *nodes; /* the root first */
    size_t count, capacity;
};

/* Takes the tokens of `vocab` in; of two with the same bytes the one with the
 * larger id. The empty token is never found. */
TB_NODISCARD tb_status tb_trie_build(struct tb_trie *trie,
                                     const struct tb_vocab *vocab);

void tb_trie_release(struct tb_trie *trie);

/* The child of `node` by `byte`, or 0. */
uint32_t tb_trie_step(const struct tb_trie *trie, uint32_t node, uint8_t byte);

#endif
