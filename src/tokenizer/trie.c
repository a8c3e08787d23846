/* Built from the sorted tokens, a node with all below it before the next: each
 * node stands for a range of tokens that begin alike. Its children get a place
 * in one block of 256 nodes where all of them are free; only the last few
 * blocks are looked at, since those before are all but full. */
#include "trie.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum {
    BLOCK = 256,      /* nodes whose numbers differ in the last byte */
    OPEN_BLOCKS = 16, /* that children may go to */
};

#define NO_PARENT UINT32_MAX

struct key {
    struct tb_span bytes;
    tb_token id;
};

/* What a node stands for, while building: keys with `depth` bytes in common. */
struct range {
    uint32_t first, end;
    uint32_t depth;
    uint32_t node;
};

struct builder {
    struct tb_trie *trie;
    uint64_t is_free[OPEN_BLOCKS][BLOCK / 64]; /* of the last blocks, by turns;
                                                  a bit for each node */
    struct key *keys;
    size_t key_count;
    struct range *ranges; /* that are still to do */
    size_t range_count, ranges_capacity;
};

/* The children of a node: their bytes, in order, and their ranges. */
struct children {
    size_t count;
    uint8_t bytes[256];
    struct range ranges[256];
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *left = a;
    const struct key *right = b;
    int order = tb_span_compare(left->bytes, right->bytes);
    return order ? order : (left->id > right->id) - (left->id < right->id);
}

static tb_status add_block(struct builder *builder)
{
    struct tb_trie *trie = builder->trie;
    if (trie->count > UINT32_MAX - BLOCK)
        return TB_ERR_LIMIT;
    struct tb_trie_node *nodes = tb_array_grow(
        trie->nodes, &trie->capacity, trie->count + BLOCK, sizeof(*nodes));
    if (!nodes)
        return TB_ERR_MEMORY;
    trie->nodes = nodes;
    for (size_t i = 0; i < BLOCK; i++)
        nodes[trie->count + i] =
            (struct tb_trie_node){.parent = NO_PARENT, .id = TB_NO_TOKEN};
    memset(builder->is_free[trie->count / BLOCK % OPEN_BLOCKS], 0xFF,
           sizeof(builder->is_free[0]));
    trie->count += BLOCK;
    return TB_OK;
}

static void take(struct builder *builder, uint32_t node, uint32_t parent)
{
    builder->trie->nodes[node].parent = parent;
    builder->is_free[node / BLOCK % OPEN_BLOCKS][node % BLOCK / 64] &=
        ~(UINT64_C(1) << node % 64);
}

static bool has_room(const struct tb_trie *trie, uint32_t base,
                     const struct children *children)
{
    for (size_t i = 0; i < children->count; i++)
        if (trie->nodes[base ^ children->bytes[i]].parent != NO_PARENT)
            return false;
    return base != 0;
}

// A base for the children in the block that begins at `block`, or 0.
static uint32_t find_base(const struct builder *builder, uint32_t block,
                          const struct children *children)
{
    const uint64_t *is_free = builder->is_free[block / BLOCK % OPEN_BLOCKS];
    for (uint32_t i = 0; i < BLOCK / 64; i++) {
        for (uint64_t bits = is_free[i]; bits; bits &= bits - 1) {
            uint32_t node = block + i * 64 + (uint32_t)__builtin_ctzll(bits);
            uint32_t base = node ^ children->bytes[0];
            if (has_room(builder->trie, base, children))
                return base;
        }
    }
    return 0;
}

static tb_status choose_base(struct builder *builder,
                             const struct children *children, uint32_t *base)
{
    const struct tb_trie *trie = builder->trie;
    size_t open = trie->count / BLOCK;
    open = open < OPEN_BLOCKS ? open : OPEN_BLOCKS;
    *base = 0;
    for (size_t i = open; i > 0 && *base == 0; i--)
        *base =
            find_base(builder, (uint32_t)(trie->count - i * BLOCK), children);
    if (*base)
        return TB_OK;
    TB_TRY(add_block(builder));
    *base = find_base(builder, (uint32_t)(trie->count - BLOCK), children);
    return TB_OK;
}

static void find_children(const struct builder *builder, struct range range,
                          uint32_t at, struct children *children)
{
    children->count = 0;
    while (at < range.end) {
        uint8_t byte = builder->keys[at].bytes.ptr[range.depth];
        uint32_t first = at;
        while (at < range.end &&
               builder->keys[at].bytes.ptr[range.depth] == byte)
            at++;
        children->bytes[children->count] = byte;
        children->ranges[children->count++] =
            (struct range){.first = first, .end = at, .depth = range.depth + 1};
    }
}

static tb_status add_children(struct builder *builder, struct range range)
{
    struct tb_trie *trie = builder->trie;
    struct children children;
    uint32_t at = range.first, base;
    // Those that end here come first; the last of them counts.
    while (at < range.end && builder->keys[at].bytes.len == range.depth)
        trie->nodes[range.node].id = builder->keys[at++].id;
    find_children(builder, range, at, &children);
    if (children.count == 0)
        return TB_OK;
    struct range *ranges =
        tb_array_grow(builder->ranges, &builder->ranges_capacity,
                      builder->range_count + children.count, sizeof(*ranges));
    if (!ranges)
        return TB_ERR_MEMORY;
    builder->ranges = ranges;
    TB_TRY(choose_base(builder, &children, &base));
    trie->nodes[range.node].base = base;
    for (size_t i = 0; i < children.count; i++) {
        children.ranges[i].node = base ^ children.bytes[i];
        take(builder, children.ranges[i].node, range.node);
        ranges[builder->range_count++] = children.ranges[i];
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
    TB_TRY(add_block(builder));
    take(builder, 0, 0); // no child leads to the root
    TB_TRY(add_children(builder,
                        (struct range){.end = (uint32_t)builder->key_count}));
    while (builder->range_count > 0)
        TB_TRY(add_children(builder, builder->ranges[--builder->range_count]));
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
