#include "stack_distance.h"

#include <string.h>

#include "buffer.h"
#include "memory.h"

enum { FIRST_SLOTS = 16, SLOTS_MAX = 1 << 30 };

void tb_stack_distance_release(struct tb_stack_distance *stack)
{
    tb_memory_free(stack->depths);
    tb_memory_free(stack->left);
    tb_memory_free(stack->sums);
    tb_memory_free(stack->changes);
    *stack = (struct tb_stack_distance){0};
}

/* ---- Fenwick tree: slot i is at i + 1 ------------------------------------ */

static void change_left(struct tb_stack_distance *stack, uint32_t slot,
                        uint32_t difference)
{
    stack->left[slot] += difference;
    for (uint32_t at = slot + 1; at <= stack->slot_capacity; at += at & -at)
        stack->sums[at - 1] += difference;
}

// Blocks that were used last by prompts up to `slot`.
static uint32_t sum_up_to(const struct tb_stack_distance *stack, uint32_t slot)
{
    uint32_t sum = 0;
    for (uint32_t at = slot + 1; at > 0; at -= at & -at)
        sum += stack->sums[at - 1];
    return sum;
}

static void build_sums(struct tb_stack_distance *stack)
{
    for (uint32_t i = 0; i < stack->slot_capacity; i++)
        stack->sums[i] = i < stack->slot_count ? stack->left[i] : 0;
    for (uint32_t at = 1; at <= stack->slot_capacity; at++) {
        uint32_t above = at + (at & -at);
        if (above <= stack->slot_capacity)
            stack->sums[above - 1] += stack->sums[at - 1];
    }
}

/* ---- slots --------------------------------------------------------------- */

static tb_status grow_slots(struct tb_stack_distance *stack, uint32_t capacity)
{
    struct tb_stack_distance grown = *stack;
    size_t size = capacity * sizeof(uint32_t);
    grown.depths = tb_memory_resize(stack->depths, size);
    if (grown.depths)
        stack->depths = grown.depths;
    grown.left = tb_memory_resize(stack->left, size);
    if (grown.left)
        stack->left = grown.left;
    grown.sums = tb_memory_resize(stack->sums, size);
    if (grown.sums)
        stack->sums = grown.sums;
    if (!grown.depths || !grown.left || !grown.sums)
        return TB_ERR_MEMORY;
    stack->slot_capacity = capacity;
    return TB_OK;
}

/* Gives the prompts that have blocks left the first slots, in their order. */
static tb_status pack_slots(struct tb_stack_distance *stack,
                            struct tb_prefix_tree *tree)
{
    uint32_t *packed = tb_memory_zeroed(stack->slot_count + 1, sizeof(*packed));
    if (!packed)
        return TB_ERR_MEMORY;
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < stack->slot_count; slot++) {
        if (stack->left[slot] == 0)
            continue;
        packed[slot] = count;
        stack->left[count] = stack->left[slot];
        stack->depths[count] = stack->depths[slot];
        count++;
    }
    // Nodes of the current path that are new have no slot yet.
    for (uint32_t node = 1; node < tree->node_count; node++)
        if (tree->nodes[node].slot < stack->slot_count)
            tree->nodes[node].slot = packed[tree->nodes[node].slot];
    stack->slot_count = count;
    tb_memory_free(packed);
    return TB_OK;
}

static tb_status make_room(struct tb_stack_distance *stack,
                           struct tb_prefix_tree *tree)
{
    if (stack->slot_count < stack->slot_capacity)
        return TB_OK;
    if (stack->slot_count > 0)
        TB_TRY(pack_slots(stack, tree));
    if (stack->slot_count >= stack->slot_capacity / 2) {
        if (stack->slot_capacity >= SLOTS_MAX)
            return TB_ERR_LIMIT;
        TB_TRY(grow_slots(stack, stack->slot_capacity ? 2 * stack->slot_capacity
                                                      : FIRST_SLOTS));
    }
    build_sums(stack);
    return TB_OK;
}

/* ---- distances ----------------------------------------------------------- */

static tb_status reserve_changes(struct tb_stack_distance *stack,
                                 uint32_t distance)
{
    size_t old = stack->change_capacity;
    if ((size_t)distance + 2 <= old)
        return TB_OK;
    uint64_t *changes = tb_array_grow(stack->changes, &stack->change_capacity,
                                      (size_t)distance + 2, sizeof(*changes));
    if (!changes)
        return TB_ERR_MEMORY;
    memset(changes + old, 0, (stack->change_capacity - old) * sizeof(*changes));
    stack->changes = changes;
    return TB_OK;
}

/* `count` blocks of `tokens` each, at distances from `distance` on. */
static void count_tokens(struct tb_stack_distance *stack, uint32_t distance,
                         uint32_t count, uint64_t tokens)
{
    stack->changes[distance] += tokens;
    stack->changes[distance + count] -= tokens;
}

/* How many blocks of a node are full for this prompt, and the tokens of the
 * one behind them, if there is one. */
static uint32_t full_count(const struct tb_prefix_tree *tree,
                           const struct tb_prefix_node *node,
                           struct tb_block_tokens tokens, uint32_t *tail_len)
{
    *tail_len = node->tail_len;
    if (!tokens.is_by_length)
        return node->len - 1;
    uint64_t full = tokens.length / tree->block_len;
    uint32_t begin = node->depth - node->len;
    *tail_len = 0;
    if (full >= node->depth)
        return node->len;
    if (full >= begin)
        *tail_len = (uint32_t)(tokens.length % tree->block_len);
    return full > begin ? (uint32_t)(full - begin) : 0;
}

static tb_status count_node(struct tb_stack_distance *stack,
                            const struct tb_prefix_tree *tree,
                            const struct tb_prefix_node *node,
                            struct tb_block_tokens tokens, uint32_t since)
{
    uint32_t begin = node->depth - node->len, tail_len;
    uint32_t taken = stack->depths[node->slot] - stack->left[node->slot];
    uint32_t distance = since + begin + 1 - taken;
    uint32_t last = distance + node->len - 1;
    TB_TRY(reserve_changes(stack, last));
    if (last > stack->max_distance)
        stack->max_distance = last;
    uint32_t full = full_count(tree, node, tokens, &tail_len);
    count_tokens(stack, distance, full, tree->block_len);
    if (full < node->len)
        count_tokens(stack, distance + full, 1, tail_len);
    return TB_OK;
}

/* All that a later prompt used last of this path stands together: nodes of one
 * slot follow each other. */
static tb_status count_path(struct tb_stack_distance *stack,
                            const struct tb_prefix_tree *tree,
                            struct tb_block_tokens tokens)
{
    uint32_t total = tree->old_count && stack->slot_count
                         ? sum_up_to(stack, stack->slot_count - 1)
                         : 0;
    uint32_t slot = UINT32_MAX, since = 0;
    for (uint32_t i = 0; i < tree->old_count; i++) {
        const struct tb_prefix_node *node = &tree->nodes[tree->path[i]];
        if (node->slot != slot) {
            slot = node->slot;
            since = total - sum_up_to(stack, slot);
        }
        TB_TRY(count_node(stack, tree, node, tokens, since));
    }
    return TB_OK;
}

static void use_path(struct tb_stack_distance *stack,
                     struct tb_prefix_tree *tree, uint32_t slot)
{
    uint32_t i = 0;
    while (i < tree->old_count) {
        uint32_t old = tree->nodes[tree->path[i]].slot, len = 0;
        for (; i < tree->old_count && tree->nodes[tree->path[i]].slot == old;
             i++) {
            len += tree->nodes[tree->path[i]].len;
            tree->nodes[tree->path[i]].slot = slot;
        }
        change_left(stack, old, 0u - len);
    }
    for (; i < tree->path_count; i++)
        tree->nodes[tree->path[i]].slot = slot;
}

tb_status tb_stack_distance_add(struct tb_stack_distance *stack,
                                struct tb_prefix_tree *tree,
                                struct tb_block_tokens tokens)
{
    if (tree->path_count == 0)
        return TB_OK;
    for (uint32_t i = tree->old_count; i < tree->path_count; i++)
        tree->nodes[tree->path[i]].slot = UINT32_MAX;
    TB_TRY(make_room(stack, tree));
    TB_TRY(count_path(stack, tree, tokens));
    uint32_t depth = tree->nodes[tb_prefix_tree_end(tree)].depth;
    uint32_t slot = stack->slot_count++;
    stack->depths[slot] = depth;
    stack->left[slot] = 0;
    use_path(stack, tree, slot);
    change_left(stack, slot, depth);
    return TB_OK;
}

void tb_stack_distance_finish(struct tb_stack_distance *stack)
{
    uint64_t tokens = 0, all = 0;
    for (uint32_t distance = 1; distance <= stack->max_distance; distance++) {
        tokens += stack->changes[distance];
        all += tokens;
        stack->changes[distance] = all;
    }
}

uint64_t tb_stack_distance_served(const struct tb_stack_distance *stack,
                                  uint64_t block_count)
{
    if (stack->max_distance == 0)
        return 0;
    return stack
        ->changes[block_count < stack->max_distance ? block_count
                                                    : stack->max_distance];
}

uint64_t tb_stack_distance_needed(const struct tb_stack_distance *stack,
                                  uint64_t tokens)
{
    uint64_t low = 0, high = stack->max_distance;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (tb_stack_distance_served(stack, middle ? middle : 1) >= tokens &&
            middle > 0)
            high = middle;
        else
            low = middle + 1;
    }
    return tokens ? low : 0;
}
