#include "prefix_tree.h"

#include <assert.h>
#include <string.h>

#include "buffer.h"
#include "hash.h"
#include "memory.h"

enum { FIRST_SLOTS = 16 };

#define BLOCKS_MAX (UINT32_MAX - 1)

static_assert(sizeof(struct tb_prefix_node) == 32, "most of the memory");

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
    tb_memory_free(tree->answers);
    tb_memory_free(tree->ids);
    tb_memory_free(tree->children);
    *tree = (struct tb_prefix_tree){0};
}

uint64_t tb_prefix_node_tokens(const struct tb_prefix_tree *tree, uint32_t node)
{
    return node == TB_PREFIX_ROOT ? 0
                                  : tree->nodes[node].last_token + UINT64_C(1);
}

uint32_t tb_prefix_node_len(const struct tb_prefix_tree *tree, uint32_t node)
{
    const struct tb_prefix_node *nodes = tree->nodes;
    return nodes[node].depth - nodes[nodes[node].parent].depth;
}

/* ---- answers ------------------------------------------------------------- */

static uint32_t answer_of(const struct tb_prefix_tree *tree, uint32_t node)
{
    return tree->answers ? tree->answers[node] : 0;
}

static uint32_t blocks_of(const struct tb_prefix_tree *tree, uint64_t tokens)
{
    return (uint32_t)((tokens + tree->block_len - 1) / tree->block_len);
}

static uint32_t tail_of(const struct tb_prefix_tree *tree, uint64_t tokens)
{
    return (uint32_t)((tokens - 1) % tree->block_len) + 1;
}

/* The first id of an answer; others follow it. */
static uint64_t answer_id(uint64_t tokens)
{
    return tb_hash64((struct tb_span){(const uint8_t *)&tokens, sizeof(tokens)},
                     0);
}

size_t tb_prefix_node_pieces(const struct tb_prefix_tree *tree, uint32_t node,
                             struct tb_prefix_piece pieces[2])
{
    uint32_t answer = answer_of(tree, node), parent = tree->nodes[node].parent;
    size_t count = 0;
    if (answer)
        pieces[count++] = (struct tb_prefix_piece){
            tree->nodes[parent].depth + blocks_of(tree, answer),
            tb_prefix_node_tokens(tree, parent) + answer};
    pieces[count++] = (struct tb_prefix_piece){
        tree->nodes[node].depth, tb_prefix_node_tokens(tree, node)};
    return count;
}

/* ---- ids ----------------------------------------------------------------- */

// Of those that are its own, behind an answer.
static uint64_t first_own_id(const struct tb_prefix_tree *tree, uint32_t node)
{
    uint32_t id = tree->nodes[node].id;
    return tree->nodes[node].is_listed ? tree->ids[id] : id;
}

// What its parent knows it by.
static uint64_t first_id(const struct tb_prefix_tree *tree, uint32_t node)
{
    uint32_t answer = answer_of(tree, node);
    return answer ? answer_id(answer) : first_own_id(tree, node);
}

uint64_t tb_prefix_node_last_id(const struct tb_prefix_tree *tree,
                                uint32_t node)
{
    uint32_t last = tb_prefix_node_len(tree, node) -
                    blocks_of(tree, answer_of(tree, node)) - 1;
    return tree->nodes[node].is_run ? first_own_id(tree, node) + last
                                    : tree->ids[tree->nodes[node].id + last];
}

/* ---- children ------------------------------------------------------------ */

static uint64_t hash_of(const struct tb_prefix_tree *tree, uint32_t parent,
                        uint64_t id)
{
    uint64_t key[] = {parent, id};
    return tb_hash64((struct tb_span){(const uint8_t *)key, sizeof(key)},
                     tree->secret);
}

/* What a slot holds: the node, and two bits of its hash, which spare three of
 * four looks at the nodes of others. */
static uint32_t tagged(uint32_t node, uint64_t hash)
{
    return node | (uint32_t)(hash >> 62) << 30;
}

/* The slot of the child of `parent` that begins with `id`, or the free one
 * where it belongs. */
static uint32_t *find_slot(const struct tb_prefix_tree *tree, uint32_t parent,
                           uint64_t id)
{
    size_t mask = tree->child_slots - 1;
    uint64_t hash = hash_of(tree, parent, id);
    for (size_t at = (size_t)hash & mask;; at = (at + 1) & mask) {
        uint32_t slot = tree->children[at], node = TB_PREFIX_NUMBER(slot);
        if (slot == 0 ||
            (slot == tagged(node, hash) && tree->nodes[node].parent == parent &&
             first_id(tree, node) == id))
            return &tree->children[at];
    }
}

/* Nobody has the place of `node` yet. */
static void set_child(struct tb_prefix_tree *tree, uint32_t node)
{
    size_t mask = tree->child_slots - 1;
    uint64_t hash =
        hash_of(tree, tree->nodes[node].parent, first_id(tree, node));
    size_t at = (size_t)hash & mask;
    while (tree->children[at])
        at = (at + 1) & mask;
    tree->children[at] = tagged(node, hash);
}

// 0: there is none.
static uint32_t find_child(const struct tb_prefix_tree *tree, uint32_t parent,
                           uint64_t id)
{
    const struct tb_prefix_node *above = &tree->nodes[parent];
    if (above->child == 0 || first_id(tree, above->child) == id)
        return above->child;
    return above->has_more ? TB_PREFIX_NUMBER(*find_slot(tree, parent, id)) : 0;
}

static tb_status grow_children(struct tb_prefix_tree *tree)
{
    size_t slots = 2 * tree->child_slots;
    tb_memory_free(tree->children);
    tree->child_slots = 0;
    tree->children = tb_memory_zeroed(slots, sizeof(*tree->children));
    if (!tree->children)
        return TB_ERR_MEMORY;
    tree->child_slots = slots;
    // Node by node, as they lie in memory.
    for (uint32_t i = 1; i < tree->node_count; i++)
        if (tree->nodes[tree->nodes[i].parent].child != i)
            set_child(tree, i);
    return TB_OK;
}

// Room for it was made.
static void add_child(struct tb_prefix_tree *tree, uint32_t parent,
                      uint32_t node)
{
    struct tb_prefix_node *above = &tree->nodes[parent];
    if (above->child == 0) {
        above->child = TB_PREFIX_NUMBER(node);
        return;
    }
    above->has_more = true;
    set_child(tree, node);
    tree->child_count++;
}

/* ---- nodes --------------------------------------------------------------- */

// Room for one more, and for its place among children.
static tb_status reserve_node(struct tb_prefix_tree *tree)
{
    if (tree->node_count > TB_PREFIX_NODES_MAX)
        return TB_ERR_LIMIT;
    struct tb_prefix_node *nodes =
        tb_array_grow(tree->nodes, &tree->node_capacity,
                      (size_t)tree->node_count + 1, sizeof(*nodes));
    if (!nodes)
        return TB_ERR_MEMORY;
    tree->nodes = nodes;
    if (tree->answers) {
        uint32_t *answers =
            tb_array_grow(tree->answers, &tree->answer_capacity,
                          (size_t)tree->node_count + 1, sizeof(*answers));
        if (!answers)
            return TB_ERR_MEMORY;
        tree->answers = answers;
        answers[tree->node_count] = 0;
    }
    if (3 * tree->child_count >= 2 * tree->child_slots)
        TB_TRY(grow_children(tree));
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

/* Cuts off an answer, which becomes the ids of `above`. Room was made. */
static void cut_answer(struct tb_prefix_tree *tree, uint32_t lower,
                       struct tb_prefix_node *above)
{
    uint32_t answer = tree->answers[lower];
    above->last_token =
        (uint32_t)(tb_prefix_node_tokens(tree, above->parent) + answer - 1);
    above->is_listed = above->is_run = true;
    above->id = tree->id_count++;
    tree->ids[above->id] = answer_id(answer);
    tree->answers[lower] = 0;
}

/* Cuts `len` blocks off what a node's ids are. Room for one more was made. */
static void cut_ids(struct tb_prefix_tree *tree, struct tb_prefix_node *node,
                    uint32_t len)
{
    if (node->is_listed && node->is_run) {
        tree->ids[tree->id_count] = tree->ids[node->id] + len;
        node->id = tree->id_count++;
        return;
    }
    if (!node->is_listed && node->id > UINT32_MAX - len) {
        tree->ids[tree->id_count] = node->id + (uint64_t)len;
        node->id = tree->id_count++;
        node->is_listed = true;
        return;
    }
    node->id += len;
}

/* Takes the place of `lower` with its parent, which knows it by its first id.
 */
static void replace_child(struct tb_prefix_tree *tree, uint32_t lower,
                          uint32_t upper)
{
    uint32_t parent = tree->nodes[lower].parent;
    if (tree->nodes[parent].child == lower) {
        tree->nodes[parent].child = TB_PREFIX_NUMBER(upper);
        return;
    }
    uint32_t *slot = find_slot(tree, parent, first_id(tree, lower));
    *slot = upper | (*slot ^ lower);
}

/* Cuts the first `len` blocks off `lower`, as a node of their own above it;
 * where it begins with an answer, that is what they are. */
static tb_status split(struct tb_prefix_tree *tree, uint32_t lower,
                       uint32_t len, uint32_t *upper)
{
    TB_TRY(reserve_node(tree));
    TB_TRY(reserve_ids(tree, 1));
    uint32_t number = tree->node_count++;
    replace_child(tree, lower, number);
    struct tb_prefix_node *below = &tree->nodes[lower];
    struct tb_prefix_node *above = &tree->nodes[number];
    uint32_t parent = below->parent;
    *above = *below;
    above->depth = tree->nodes[parent].depth + len;
    above->last_token = (uint32_t)(tb_prefix_node_tokens(tree, parent) +
                                   (uint64_t)len * tree->block_len - 1);
    above->child = TB_PREFIX_NUMBER(lower);
    above->is_cut = true;
    above->has_more = false;
    above->prompt_count = 0;
    below->parent = TB_PREFIX_NUMBER(number);
    if (answer_of(tree, lower))
        cut_answer(tree, lower, above);
    else
        cut_ids(tree, below, len);
    *upper = number;
    return TB_OK;
}

static bool are_in_row(const uint64_t *ids, size_t count)
{
    uint64_t other = 0;
    for (size_t i = 1; i < count; i++)
        other |= ids[i] - ids[0] - i;
    return other == 0;
}

/* How many blocks of `node` the ids go along with. */
static size_t common_count(const struct tb_prefix_tree *tree, uint32_t node,
                           const uint64_t *ids, size_t most)
{
    const struct tb_prefix_node *run = &tree->nodes[node];
    size_t count = 0;
    if (run->is_run) {
        uint64_t first = first_id(tree, node);
        while (count + 8 <= most) {
            uint64_t other = 0;
            for (size_t i = 0; i < 8; i++)
                other |= ids[count + i] ^ (first + count + i);
            if (other)
                break;
            count += 8;
        }
        while (count < most && ids[count] == first + count)
            count++;
        return count;
    }
    const uint64_t *own = tree->ids + run->id;
    while (count < most && own[count] == ids[count])
        count++;
    return count;
}

static tb_status add_ids(struct tb_prefix_tree *tree,
                         struct tb_prefix_node *node, const uint64_t *ids,
                         size_t count, bool is_run)
{
    node->is_run = is_run;
    node->is_listed = !node->is_run || ids[0] > UINT32_MAX;
    node->id = (uint32_t)ids[0];
    if (!node->is_listed)
        return TB_OK;
    size_t listed = node->is_run ? 1 : count;
    TB_TRY(reserve_ids(tree, listed));
    memcpy(tree->ids + tree->id_count, ids, listed * sizeof(*ids));
    node->id = tree->id_count;
    tree->id_count += (uint32_t)listed;
    return TB_OK;
}

/* A node behind the prompt's end, of the answer that waits for one, if any, and
 * of `count` ids, of which is_run needs the first only. */
static tb_status add_node(struct tb_prefix_tree *tree, const uint64_t *ids,
                          size_t count, bool is_run, uint32_t tail_len)
{
    TB_TRY(reserve_node(tree));
    uint32_t parent = tree->end;
    uint32_t above_depth = tree->nodes[parent].depth;
    uint64_t all = (uint64_t)count + blocks_of(tree, tree->answer);
    uint64_t tokens = tb_prefix_node_tokens(tree, parent) + tree->answer +
                      (count - 1) * (uint64_t)tree->block_len + tail_len;
    if (all > BLOCKS_MAX - above_depth || all > BLOCKS_MAX - tree->block_count)
        return TB_ERR_LIMIT;
    struct tb_prefix_node node = {
        .parent = TB_PREFIX_NUMBER(parent),
        .depth = above_depth + (uint32_t)all,
        .last_token = (uint32_t)(tokens - 1),
    };
    TB_TRY(add_ids(tree, &node, ids, count, is_run));
    if (tree->answer)
        tree->answers[tree->node_count] = tree->answer;
    tree->answer = 0;
    tree->nodes[tree->node_count] = node;
    tree->end = tree->node_count++;
    tree->block_count += (uint32_t)all;
    add_child(tree, parent, tree->end);
    return TB_OK;
}

/* ---- prompts ------------------------------------------------------------- */

void tb_prefix_tree_begin(struct tb_prefix_tree *tree, uint32_t start)
{
    tree->end = tree->old_end = start;
    tree->answer = 0;
}

/* Goes down from the end as far as there are nodes for it; `*done` is how many
 * blocks that are. */
static tb_status follow(struct tb_prefix_tree *tree, const uint64_t *ids,
                        size_t count, size_t *done)
{
    for (*done = 0; *done < count;) {
        uint32_t child = find_child(tree, tree->end, ids[*done]);
        if (child == 0)
            break;
        if (answer_of(tree, child))
            TB_TRY(split(tree, child, blocks_of(tree, answer_of(tree, child)),
                         &child));
        size_t len = tb_prefix_node_len(tree, child);
        size_t most = count - *done < len ? count - *done : len;
        size_t common = common_count(tree, child, ids + *done, most);
        if (common < len)
            TB_TRY(split(tree, child, (uint32_t)common, &child));
        *done += common;
        tree->end = child;
    }
    tree->old_end = tree->end;
    return TB_OK;
}

tb_status tb_prefix_tree_extend(struct tb_prefix_tree *tree,
                                const uint64_t *ids, size_t count,
                                uint32_t tail_len)
{
    size_t done = 0;
    if (tree->end == tree->old_end && !tree->answer) {
        TB_TRY(follow(tree, ids, count, &done));
        tree->first_new = tree->node_count;
    }
    if (done == count)
        return TB_OK;
    return add_node(tree, ids + done, count - done,
                    are_in_row(ids + done, count - done), tail_len);
}

static tb_status add_answer(struct tb_prefix_tree *tree, uint64_t tokens)
{
    uint64_t first = answer_id(tokens);
    return add_node(tree, &first, blocks_of(tree, tokens), true,
                    tail_of(tree, tokens));
}

/* Goes on by an answer that is known there. */
static tb_status follow_answer(struct tb_prefix_tree *tree, uint64_t tokens)
{
    uint32_t child = find_child(tree, tree->end, answer_id(tokens));
    if (child && answer_of(tree, child))
        TB_TRY(split(tree, child, blocks_of(tree, tokens), &child));
    if (child)
        tree->end = tree->old_end = child;
    tree->first_new = tree->node_count;
    return TB_OK;
}

tb_status tb_prefix_tree_answer(struct tb_prefix_tree *tree, uint64_t tokens)
{
    uint32_t before = tree->end;
    if (tree->end == tree->old_end)
        TB_TRY(follow_answer(tree, tokens));
    if (tree->end != before)
        return TB_OK;
    if (tokens > UINT32_MAX)
        return add_answer(tree, tokens);
    if (!tree->answers) {
        tree->answers =
            tb_memory_zeroed(tree->node_capacity, sizeof(*tree->answers));
        tree->answer_capacity = tree->node_capacity;
    }
    if (!tree->answers)
        return TB_ERR_MEMORY;
    tree->answer = (uint32_t)tokens;
    return TB_OK;
}

tb_status tb_prefix_tree_complete(struct tb_prefix_tree *tree)
{
    uint32_t answer = tree->answer;
    tree->answer = 0;
    return answer ? add_answer(tree, answer) : TB_OK;
}

void tb_prefix_tree_end(struct tb_prefix_tree *tree, uint32_t row)
{
    tree->nodes[tree->end].prompt_count++;
    if (tree->end != tree->old_end)
        for (uint32_t i = tree->first_new; i < tree->node_count; i++)
            tree->nodes[i].first_row = row;
}

/* Leaves first: a node is done when all its children are, which `run` counts.
 */
void tb_prefix_tree_finish(struct tb_prefix_tree *tree)
{
    struct tb_prefix_node *nodes = tree->nodes;
    for (uint32_t i = 0; i < tree->node_count; i++)
        nodes[i].run = 0;
    for (uint32_t i = 1; i < tree->node_count; i++)
        nodes[nodes[i].parent].run++;
    for (uint32_t leaf = 1; leaf < tree->node_count; leaf++) {
        if (nodes[leaf].child)
            continue;
        for (uint32_t i = leaf; i != TB_PREFIX_ROOT; i = nodes[i].parent) {
            struct tb_prefix_node *above = &nodes[nodes[i].parent];
            above->prompt_count += nodes[i].prompt_count;
            if (--above->run > 0)
                break;
        }
    }
    for (uint32_t i = 1; i < tree->node_count; i++)
        if (nodes[i].prompt_count == nodes[nodes[i].parent].prompt_count)
            nodes[nodes[i].parent].run = true;
}
