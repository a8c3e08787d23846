#include "prefix_tree.h"

#include <string.h>

#include "buffer.h"
#include "hash.h"
#include "memory.h"

enum { FIRST_SLOTS = 16 };

#define BLOCKS_MAX (UINT32_MAX - 1)

tb_status tb_prefix_tree_init(struct tb_prefix_tree *tree, uint32_t block_len)
{
    *tree = (struct tb_prefix_tree){.block_len = block_len,
                                    .secret = tb_hash_secret()};
    tree->nodes =
        tb_array_grow(NULL, &tree->node_capacity, 1, sizeof(*tree->nodes));
    tree->children = tb_memory_zeroed(FIRST_SLOTS, sizeof(*tree->children));
    tree->child_slots = FIRST_SLOTS;
    if (!tree->nodes || !tree->children)
        return TB_ERR_MEMORY;
    tree->nodes[TB_PREFIX_ROOT] = (struct tb_prefix_node){0};
    tree->node_count = 1;
    return TB_OK;
}

void tb_prefix_tree_release(struct tb_prefix_tree *tree)
{
    tb_memory_free(tree->nodes);
    tb_memory_free(tree->ids);
    tb_memory_free(tree->children);
    tb_memory_free(tree->path);
    *tree = (struct tb_prefix_tree){0};
}

/* ---- children ------------------------------------------------------------ */

static uint64_t hash_of(const struct tb_prefix_tree *tree, uint32_t parent,
                        uint64_t id)
{
    uint64_t key[] = {parent, id};
    return tb_hash64((struct tb_span){(const uint8_t *)key, sizeof(key)},
                     tree->secret);
}

static uint64_t first_id(const struct tb_prefix_tree *tree, uint32_t node)
{
    return tree->ids[tree->nodes[node].ids_at];
}

/* The slot of the child of `parent` that begins with `id`, or the free one
 * where it belongs. */
static uint32_t *find_slot(const struct tb_prefix_tree *tree, uint32_t parent,
                           uint64_t id)
{
    size_t mask = tree->child_slots - 1;
    size_t at = (size_t)hash_of(tree, parent, id) & mask;
    for (;; at = (at + 1) & mask) {
        uint32_t node = tree->children[at];
        if (node == 0 ||
            (tree->nodes[node].parent == parent && first_id(tree, node) == id))
            return &tree->children[at];
    }
}

static tb_status grow_children(struct tb_prefix_tree *tree)
{
    uint32_t *old = tree->children;
    size_t slots = 2 * tree->child_slots;
    uint32_t *grown = tb_memory_zeroed(slots, sizeof(*grown));
    if (!grown)
        return TB_ERR_MEMORY;
    tree->children = grown;
    tree->child_slots = slots;
    for (uint32_t node = 1; node < tree->node_count; node++)
        *find_slot(tree, tree->nodes[node].parent, first_id(tree, node)) = node;
    tb_memory_free(old);
    return TB_OK;
}

/* ---- nodes --------------------------------------------------------------- */

static tb_status reserve_node(struct tb_prefix_tree *tree)
{
    struct tb_prefix_node *nodes =
        tb_array_grow(tree->nodes, &tree->node_capacity,
                      (size_t)tree->node_count + 1, sizeof(*nodes));
    if (!nodes)
        return TB_ERR_MEMORY;
    tree->nodes = nodes;
    if (tree->node_count >= tree->child_slots / 2)
        TB_TRY(grow_children(tree));
    return TB_OK;
}

/* Cuts the first `len` blocks off `lower`, as a node of their own above it. */
static tb_status split(struct tb_prefix_tree *tree, uint32_t lower,
                       uint32_t len, uint32_t *upper)
{
    TB_TRY(reserve_node(tree));
    struct tb_prefix_node *below = &tree->nodes[lower];
    uint32_t *slot = find_slot(tree, below->parent, first_id(tree, lower));
    uint32_t number = tree->node_count++;
    struct tb_prefix_node *above = &tree->nodes[number];
    *above = *below;
    above->len = len;
    above->depth = below->depth - below->len + len;
    above->tail_len = tree->block_len;
    above->lower = lower;
    above->tokens = below->tokens - below->tail_len -
                    (uint64_t)(below->len - len - 1) * tree->block_len;
    *slot = number;
    below->parent = number;
    below->len -= len;
    below->ids_at += len;
    *find_slot(tree, number, first_id(tree, lower)) = lower;
    *upper = number;
    return TB_OK;
}

static tb_status reserve_ids(struct tb_prefix_tree *tree, size_t count)
{
    if (count > BLOCKS_MAX - tree->id_count)
        return TB_ERR_LIMIT;
    uint64_t *ids = tb_array_grow(tree->ids, &tree->id_capacity,
                                  tree->id_count + count, sizeof(*ids));
    if (!ids)
        return TB_ERR_MEMORY;
    tree->ids = ids;
    return TB_OK;
}

static tb_status add_node(struct tb_prefix_tree *tree, uint32_t parent,
                          const uint64_t *ids, size_t count, uint32_t tail_len,
                          uint32_t *number)
{
    TB_TRY(reserve_node(tree));
    TB_TRY(reserve_ids(tree, count));
    const struct tb_prefix_node *above = &tree->nodes[parent];
    if (count > BLOCKS_MAX - above->depth)
        return TB_ERR_LIMIT;
    *number = tree->node_count++;
    tree->nodes[*number] = (struct tb_prefix_node){
        .tokens =
            above->tokens + (count - 1) * (uint64_t)tree->block_len + tail_len,
        .parent = parent,
        .depth = above->depth + (uint32_t)count,
        .len = (uint32_t)count,
        .ids_at = tree->id_count,
        .tail_len = tail_len,
    };
    memcpy(tree->ids + tree->id_count, ids, count * sizeof(*ids));
    tree->id_count += (uint32_t)count;
    *find_slot(tree, parent, ids[0]) = *number;
    return TB_OK;
}

/* ---- paths --------------------------------------------------------------- */

static tb_status push(struct tb_prefix_tree *tree, uint32_t node)
{
    uint32_t *path = tb_array_grow(tree->path, &tree->path_capacity,
                                   (size_t)tree->path_count + 1, sizeof(*path));
    if (!path)
        return TB_ERR_MEMORY;
    tree->path = path;
    path[tree->path_count++] = node;
    return TB_OK;
}

tb_status tb_prefix_tree_begin(struct tb_prefix_tree *tree, uint32_t start)
{
    tree->path_count = 0;
    for (uint32_t node = start; node != TB_PREFIX_ROOT;
         node = tree->nodes[node].parent)
        TB_TRY(push(tree, node));
    for (uint32_t i = 0; i < tree->path_count / 2; i++) {
        uint32_t other = tree->path_count - 1 - i, kept = tree->path[i];
        tree->path[i] = tree->path[other];
        tree->path[other] = kept;
    }
    tree->old_count = tree->path_count;
    return TB_OK;
}

uint32_t tb_prefix_tree_end(const struct tb_prefix_tree *tree)
{
    return tree->path_count ? tree->path[tree->path_count - 1] : TB_PREFIX_ROOT;
}

static size_t common_count(const uint64_t *a, const uint64_t *b, size_t most)
{
    size_t count = 0;
    while (count < most && a[count] == b[count])
        count++;
    return count;
}

/* Goes down from `*node` as far as there are nodes for it; returns how many
 * blocks that are. */
static tb_status follow(struct tb_prefix_tree *tree, const uint64_t *ids,
                        size_t count, uint32_t *node, size_t *done)
{
    while (*done < count) {
        uint32_t child = *find_slot(tree, *node, ids[*done]);
        if (child == 0)
            return TB_OK;
        const struct tb_prefix_node *run = &tree->nodes[child];
        size_t most = count - *done < run->len ? count - *done : run->len;
        size_t common =
            common_count(tree->ids + run->ids_at, ids + *done, most);
        if (common < run->len)
            TB_TRY(split(tree, child, (uint32_t)common, &child));
        TB_TRY(push(tree, child));
        *done += common;
        *node = child;
    }
    return TB_OK;
}

tb_status tb_prefix_tree_extend(struct tb_prefix_tree *tree,
                                const uint64_t *ids, size_t count,
                                uint32_t tail_len)
{
    uint32_t node = tb_prefix_tree_end(tree);
    size_t done = 0;
    bool was_old = tree->old_count == tree->path_count;
    TB_TRY(follow(tree, ids, count, &node, &done));
    if (was_old)
        tree->old_count = tree->path_count;
    if (done == count)
        return TB_OK;
    TB_TRY(add_node(tree, node, ids + done, count - done, tail_len, &node));
    return push(tree, node);
}
