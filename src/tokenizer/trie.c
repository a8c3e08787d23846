/* Built level by level from the sorted tokens: each node stands for a range of
 * them that begin alike. */
#include "trie.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

struct key {
    struct tb_span bytes;
    tb_token id;
};

/* What a node stands for, while building: keys with `depth` bytes in common. */
struct range {
    uint32_t first, end;
    uint32_t depth;
};

struct builder {
    struct tb_trie *trie;
    struct key *keys;
    size_t key_count;
    struct range *ranges; /* by node */
    size_t ranges_capacity;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *left = a;
    const struct key *right = b;
    int order = tb_span_compare(left->bytes, right->bytes);
    return order ? order : (left->id > right->id) - (left->id < right->id);
}

static tb_status add_node(struct builder *builder, uint8_t byte,
                          struct range range)
{
    struct tb_trie *trie = builder->trie;
    if (trie->count >= UINT32_MAX)
        return TB_ERR_LIMIT;
    struct tb_trie_node *nodes = tb_array_grow(trie->nodes, &trie->capacity,
                                               trie->count + 1, sizeof(*nodes));
    if (!nodes)
        return TB_ERR_MEMORY;
    trie->nodes = nodes;
    struct range *ranges =
        tb_array_grow(builder->ranges, &builder->ranges_capacity,
                      trie->count + 1, sizeof(*ranges));
    if (!ranges)
        return TB_ERR_MEMORY;
    builder->ranges = ranges;
    ranges[trie->count] = range;
    nodes[trie->count++] =
        (struct tb_trie_node){.byte = byte, .id = TB_NO_TOKEN};
    return TB_OK;
}

static tb_status add_children(struct builder *builder, size_t node)
{
    struct range range = builder->ranges[node];
    uint32_t at = range.first;
    // Those that end here come first; the last of them counts.
    while (at < range.end && builder->keys[at].bytes.len == range.depth)
        builder->trie->nodes[node].id = builder->keys[at++].id;
    builder->trie->nodes[node].first_child = (uint32_t)builder->trie->count;
    while (at < range.end) {
        uint8_t byte = builder->keys[at].bytes.ptr[range.depth];
        uint32_t first = at;
        while (at < range.end &&
               builder->keys[at].bytes.ptr[range.depth] == byte)
            at++;
        TB_TRY(add_node(builder, byte,
                        (struct range){first, at, range.depth + 1}));
        builder->trie->nodes[node].child_count++;
    }
    return TB_OK;
}

static tb_status build(struct builder *builder, const struct tb_vocab *vocab)
{
    builder->keys =
        tb_memory_zeroed((size_t)vocab->id_count + 1, sizeof(struct key));
    if (!builder->keys)
        return TB_ERR_MEMORY;
    for (tb_token id = 0; id < vocab->id_count; id++) {
        struct tb_span bytes = tb_vocab_bytes(vocab, id);
        if (bytes.len)
            builder->keys[builder->key_count++] = (struct key){bytes, id};
    }
    if (builder->key_count)
        qsort(builder->keys, builder->key_count, sizeof(struct key),
              compare_keys);
    struct range all = {0, (uint32_t)builder->key_count, 0};
    TB_TRY(add_node(builder, 0, all));
    for (size_t node = 0; node < builder->trie->count; node++)
        TB_TRY(add_children(builder, node));
    return TB_OK;
}

tb_status tb_trie_build(struct tb_trie *trie, const struct tb_vocab *vocab)
{
    struct builder builder = {.trie = trie};
    tb_status status = build(&builder, vocab);
    tb_memory_free(builder.keys);
    tb_memory_free(builder.ranges);
    return status;
}

void tb_trie_release(struct tb_trie *trie)
{
    tb_memory_free(trie->nodes);
    *trie = (struct tb_trie){0};
}

uint32_t tb_trie_step(const struct tb_trie *trie, uint32_t node, uint8_t byte)
{
    const struct tb_trie_node *parent = &trie->nodes[node];
    uint32_t low = parent->first_child;
    uint32_t high = low + parent->child_count;
    uint32_t end = high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (trie->nodes[middle].byte < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && trie->nodes[low].byte == byte ? low : 0;
}
