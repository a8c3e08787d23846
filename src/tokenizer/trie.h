/* A trie over the bytes of a vocabulary: which tokens does a text begin with?
 *
 * It is a double array (Aoe: An Efficient Digital Search Algorithm by Using a
 * Double-Array Structure, 1989): the child of a node by a byte has the number
 * `base ^ byte`, if it says that this node is its parent. A step is one look
 * at memory, and a compiled form can be mapped as it is.
 *
 * Read-only once it is built, shared by threads.
 */
#ifndef TB_TRIE_H
#define TB_TRIE_H

#include "vocab.h"

struct tb_trie_node {
    uint32_t base;   /* 0: it has no children */
    uint32_t parent; /* UINT32_MAX: nothing is here */
    tb_token id;     /* TB_NO_TOKEN: no token ends here */
};

struct tb_trie {
    struct tb_trie_node *nodes; /* the root first; in whole blocks of 256 */
    size_t count, capacity;
};

/* Takes the tokens of `vocab` in; of two with the same bytes the one with the
 * larger id. The empty token is never found. */
TB_NODISCARD tb_status tb_trie_build(struct tb_trie *trie,
                                     const struct tb_vocab *vocab);

void tb_trie_release(struct tb_trie *trie);

/* The child of `node` by `byte`, or 0. */
static inline uint32_t tb_trie_step(const struct tb_trie *trie, uint32_t node,
                                    uint8_t byte)
{
    uint32_t child = trie->nodes[node].base ^ byte;
    return trie->nodes[child].parent == node ? child : 0;
}

#endif
