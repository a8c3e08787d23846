#include "stack_distance.h"

#include <string.h>

#include "memory.h"

enum { FIRST_SLOTS = 16, SLOTS_MAX = TB_PREFIX_NODES_MAX };

void tb_stack_distance_release(struct tb_stack_distance *stack)
{
    tb_memory_free(stack->sums);
    tb_memory_free(stack->tops);
    tb_memory_free(stack->above);
    tb_token_curve_release(&stack->curve);
    tb_long_runs_release(&stack->long_runs);
    *stack = (struct tb_stack_distance){0};
}

/* ---- Fenwick tree: slot i is at i + 1 ------------------------------------ */

static void change_len(struct tb_stack_distance *stack, uint32_t slot,
                       uint32_t difference)
{
    stack->used_count += difference;
    for (uint32_t at = slot + 1; at <= stack->slot_capacity; at += at & -at)
        stack->sums[at - 1] += difference;
}

// Blocks that were used last by prompts behind `slot`.
static uint32_t used_since(const struct tb_stack_distance *stack, uint32_t slot)
{
    uint32_t sum = 0;
    for (uint32_t at = slot + 1; at > 0; at -= at & -at)
        sum += stack->sums[at - 1];
    return stack->used_count - sum;
}

// What each slot has to sums, and back.
static void build_sums(struct tb_stack_distance *stack)
{
    for (uint32_t at = 1; at <= stack->slot_capacity; at++) {
        uint32_t next = at + (at & -at);
        if (next <= stack->slot_capacity)
            stack->sums[next - 1] += stack->sums[at - 1];
    }
}

static void take_sums_apart(struct tb_stack_distance *stack)
{
    for (uint32_t at = stack->slot_capacity; at > 0; at--) {
        uint32_t next = at + (at & -at);
        if (next <= stack->slot_capacity)
            stack->sums[next - 1] -= stack->sums[at - 1];
    }
}

/* ---- slots --------------------------------------------------------------- */

static tb_status grow_array(uint32_t **items, uint32_t capacity)
{
    uint32_t *grown =
        tb_memory_resize(*items, (size_t)capacity * sizeof(*grown));
    if (!grown)
        return TB_ERR_MEMORY;
    *items = grown;
    return TB_OK;
}

static tb_status grow_slots(struct tb_stack_distance *stack)
{
    uint32_t capacity = stack->slot_capacity
                            ? stack->slot_capacity + stack->slot_capacity / 2
                            : FIRST_SLOTS;
    if (capacity > SLOTS_MAX)
        return TB_ERR_LIMIT;
    TB_TRY(grow_array(&stack->sums, capacity));
    TB_TRY(grow_array(&stack->tops, capacity));
    TB_TRY(grow_array(&stack->above, capacity));
    memset(stack->sums + stack->slot_capacity, 0,
           (capacity - stack->slot_capacity) * sizeof(*stack->sums));
    stack->slot_capacity = capacity;
    return TB_OK;
}

/* Gives the runs that are left the first slots, in their order. */
static void pack_slots(struct tb_stack_distance *stack,
                       struct tb_prefix_tree *tree)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < stack->slot_count; slot++) {
        uint32_t len = stack->sums[slot];
        stack->sums[slot] = 0;
        if (len == 0)
            continue;
        stack->sums[count] = len;
        stack->above[count] = stack->above[slot];
        stack->tops[count] = stack->tops[slot];
        tree->nodes[stack->tops[count]].up = TB_PREFIX_NUMBER(count);
        count++;
    }
    stack->slot_count = count;
}

static tb_status make_room(struct tb_stack_distance *stack,
                           struct tb_prefix_tree *tree)
{
    if (stack->slot_count < stack->slot_capacity)
        return TB_OK;
    take_sums_apart(stack);
    pack_slots(stack, tree);
    if (stack->slot_count >= stack->slot_capacity / 2)
        TB_TRY(grow_slots(stack));
    build_sums(stack);
    return TB_OK;
}

/* ---- splay trees of runs ------------------------------------------------- */

static void rotate(struct tb_prefix_node *nodes, uint32_t x)
{
    uint32_t up = nodes[x].up, above = nodes[up].up;
    uint32_t moved;
    if (nodes[up].left == x) {
        moved = nodes[x].right;
        nodes[up].left = TB_PREFIX_NUMBER(moved);
        nodes[x].right = TB_PREFIX_NUMBER(up);
    } else {
        moved = nodes[x].left;
        nodes[up].right = TB_PREFIX_NUMBER(moved);
        nodes[x].left = TB_PREFIX_NUMBER(up);
    }
    if (moved)
        nodes[moved].up = TB_PREFIX_NUMBER(up);
    nodes[x].up = TB_PREFIX_NUMBER(above);
    nodes[x].is_top = nodes[up].is_top;
    if (!nodes[up].is_top) {
        if (nodes[above].left == up)
            nodes[above].left = TB_PREFIX_NUMBER(x);
        else
            nodes[above].right = TB_PREFIX_NUMBER(x);
    }
    nodes[up].up = TB_PREFIX_NUMBER(x);
    nodes[up].is_top = false;
}

/* Makes `x` the root of its splay tree. */
static void splay(struct tb_prefix_node *nodes, uint32_t x)
{
    while (!nodes[x].is_top) {
        uint32_t up = nodes[x].up;
        if (!nodes[up].is_top) {
            uint32_t above = nodes[up].up;
            bool is_straight =
                (nodes[up].left == x) == (nodes[above].left == up);
            rotate(nodes, is_straight ? up : x);
        }
        rotate(nodes, x);
    }
}

static void set_top(struct tb_stack_distance *stack,
                    struct tb_prefix_node *nodes, uint32_t node, uint32_t slot)
{
    nodes[node].up = TB_PREFIX_NUMBER(slot);
    nodes[node].is_top = true;
    stack->tops[slot] = node;
}

/* ---- distances ----------------------------------------------------------- */

/* Blocks of a prompt behind each other, from depth `from` + 1 to `to`, the
 * last of which is that of node `end`. */
struct run {
    uint32_t end, from, to;
    uint32_t since; // blocks that were used since
};

static tb_status count_by_length(struct tb_stack_distance *stack,
                                 uint32_t block_len, const struct run *run,
                                 uint64_t length)
{
    uint64_t full = length / block_len;
    uint64_t count = full > run->to     ? run->to - run->from
                     : full > run->from ? full - run->from
                                        : 0;
    TB_TRY(tb_token_curve_add(&stack->curve, run->since + UINT64_C(1), count,
                              block_len));
    if (full < run->from || full >= run->to)
        return TB_OK;
    return tb_token_curve_add(&stack->curve, run->since + count + 1, 1,
                              length % block_len);
}

static tb_status count_by_tree(struct tb_stack_distance *stack,
                               const struct tb_prefix_tree *tree,
                               const struct run *run)
{
    for (uint32_t i = run->end; tree->nodes[i].depth > run->from;
         i = tree->nodes[i].parent) {
        uint32_t parent = tree->nodes[i].parent;
        uint32_t len = tb_prefix_node_len(tree, i);
        uint64_t tail = tb_prefix_node_tokens(tree, i) -
                        tb_prefix_node_tokens(tree, parent) -
                        (len - 1) * (uint64_t)tree->block_len;
        uint64_t distance =
            run->since + UINT64_C(1) + tree->nodes[parent].depth - run->from;
        TB_TRY(tb_token_curve_add(&stack->curve, distance, len - 1,
                                  tree->block_len));
        TB_TRY(tb_token_curve_add(&stack->curve, distance + len - 1, 1, tail));
    }
    return TB_OK;
}

static tb_status count_run(struct tb_stack_distance *stack,
                           const struct tb_prefix_tree *tree,
                           const struct run *run, struct tb_block_tokens tokens)
{
    uint64_t last = run->since + (uint64_t)(run->to - run->from);
    if (last > stack->max_distance)
        stack->max_distance = last;
    if (tokens.is_by_length)
        return count_by_length(stack, tree->block_len, run, tokens.length);
    if (tokens.path == TB_LONG_RUN_NONE)
        return count_by_tree(stack, tree, run);
    return tb_long_runs_add(&stack->long_runs,
                            (struct tb_long_run){.path = tokens.path,
                                                 .from = run->from,
                                                 .to = run->to,
                                                 .since = run->since});
}

/* Takes the run that `end` is in up to there, and leaves the rest of it; `*end`
 * is the node in front of it then. */
static tb_status take_run(struct tb_stack_distance *stack,
                          struct tb_prefix_tree *tree, uint32_t *end,
                          struct tb_block_tokens tokens)
{
    struct tb_prefix_node *nodes = tree->nodes;
    splay(nodes, *end);
    uint32_t slot = nodes[*end].up, above = stack->above[slot];
    const struct run run = {.end = *end,
                            .from = nodes[above].depth,
                            .to = nodes[*end].depth,
                            .since = used_since(stack, slot)};
    TB_TRY(count_run(stack, tree, &run, tokens));
    change_len(stack, slot, 0u - (run.to - run.from));
    if (nodes[*end].right) {
        set_top(stack, nodes, nodes[*end].right, slot);
        stack->above[slot] = *end;
        nodes[*end].right = 0;
    }
    *end = above;
    return TB_OK;
}

tb_status tb_stack_distance_add(struct tb_stack_distance *stack,
                                struct tb_prefix_tree *tree,
                                struct tb_block_tokens tokens)
{
    struct tb_prefix_node *nodes = tree->nodes;
    uint32_t top = 0; // of what the prompt has used so far
    if (tree->end == TB_PREFIX_ROOT)
        return TB_OK;
    TB_TRY(make_room(stack, tree));
    for (uint32_t end = tree->old_end; end != TB_PREFIX_ROOT;) {
        uint32_t deeper = top;
        top = end;
        TB_TRY(take_run(stack, tree, &end, tokens));
        nodes[top].right = TB_PREFIX_NUMBER(deeper);
        if (deeper) {
            nodes[deeper].up = TB_PREFIX_NUMBER(top);
            nodes[deeper].is_top = false;
        }
    }
    if (tree->end != tree->old_end) {
        for (uint32_t i = tree->first_new; i < tree->node_count; i++) {
            nodes[i].left = TB_PREFIX_NUMBER(top);
            if (top) {
                nodes[top].up = TB_PREFIX_NUMBER(i);
                nodes[top].is_top = false;
            }
            top = i;
        }
    }
    uint32_t slot = stack->slot_count++;
    set_top(stack, nodes, top, slot);
    stack->above[slot] = TB_PREFIX_ROOT;
    change_len(stack, slot, nodes[tree->end].depth);
    return TB_OK;
}

/* ---- the answer ---------------------------------------------------------- */

tb_status tb_stack_distance_finish(struct tb_stack_distance *stack,
                                   const struct tb_prefix_tree *tree,
                                   const uint32_t *ends)
{
    stack->block_len = tree->block_len;
    TB_TRY(tb_long_runs_finish(&stack->long_runs, tree, ends));
    return tb_token_curve_finish(&stack->curve);
}

uint64_t tb_stack_distance_served(const struct tb_stack_distance *stack,
                                  uint64_t block_count)
{
    return tb_token_curve_at(&stack->curve, block_count) +
           tb_long_runs_at(&stack->long_runs, stack->block_len, block_count);
}

uint64_t tb_stack_distance_needed(const struct tb_stack_distance *stack,
                                  uint64_t tokens)
{
    uint64_t low = 1, high = stack->max_distance;
    if (tokens == 0)
        return 0;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (tb_stack_distance_served(stack, middle) >= tokens)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
