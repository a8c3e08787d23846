#include "stack_distance.h"

#include <string.h>

#include "buffer.h"
#include "memory.h"

enum { FIRST_SLOTS = 16, SLOTS_MAX = TB_PREFIX_NODES_MAX };

void tb_stack_distance_release(struct tb_stack_distance *stack)
{
    tb_memory_free(stack->sums);
    tb_memory_free(stack->runs);
    tb_token_curve_release(&stack->curve);
    tb_long_runs_release(&stack->long_runs);
    *stack = (struct tb_stack_distance){0};
}

/* ---- slots: a Fenwick tree, slot i is at i + 1 --------------------------- */

static void change_len(struct tb_stack_distance *stack, uint32_t slot,
                       uint32_t difference)
{
    stack->used_count += difference;
    for (uint32_t at = slot + 1; at <= stack->slot_count; at += at & -at)
        stack->sums[at - 1] += difference;
}

// Blocks that were used last behind `slot`.
static uint32_t used_since(const struct tb_stack_distance *stack, uint32_t slot)
{
    uint32_t sum = 0;
    for (uint32_t at = slot + 1; at > 0; at -= at & -at)
        sum += stack->sums[at - 1];
    return stack->used_count - sum;
}

/* A slot behind all others, of `len` blocks. */
static tb_status add_slot(struct tb_stack_distance *stack, uint32_t len)
{
    uint32_t *sums =
        tb_array_grow(stack->sums, &stack->slot_capacity,
                      (size_t)stack->slot_count + 1, sizeof(*sums));
    if (!sums)
        return TB_ERR_MEMORY;
    if (stack->slot_count >= SLOTS_MAX)
        return TB_ERR_LIMIT;
    stack->sums = sums;
    uint32_t at = stack->slot_count + 1, first = at - (at & -at), sum = len;
    for (uint32_t part = at - 1; part > first; part -= part & -part)
        sum += sums[part - 1];
    sums[stack->slot_count++] = sum;
    stack->used_count += len;
    return TB_OK;
}

// What each slot has to sums, and back.
static void build_sums(struct tb_stack_distance *stack)
{
    for (uint32_t at = 1; at <= stack->slot_count; at++) {
        uint32_t next = at + (at & -at);
        if (next <= stack->slot_count)
            stack->sums[next - 1] += stack->sums[at - 1];
    }
}

static void take_sums_apart(struct tb_stack_distance *stack)
{
    for (uint32_t at = stack->slot_count; at > 0; at--) {
        uint32_t next = at + (at & -at);
        if (next <= stack->slot_count)
            stack->sums[next - 1] -= stack->sums[at - 1];
    }
}

/* The slots that have blocks become the first ones, in their order: `sums` says
 * which, by the old one; how many blocks is then told again by whom they are
 * of. */
static void number_slots(struct tb_stack_distance *stack)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < stack->slot_count; slot++) {
        bool has_blocks = stack->sums[slot] > 0;
        stack->sums[slot] = count;
        count += has_blocks;
    }
    stack->slot_count = count;
}

static void move_runs(struct tb_stack_distance *stack,
                      const struct tb_prefix_tree *tree)
{
    for (uint32_t i = 0; i < stack->run_count; i++)
        stack->runs[i].slot = stack->sums[stack->runs[i].slot];
    memset(stack->sums, 0, stack->slot_count * sizeof(*stack->sums));
    for (uint32_t i = 0; i < stack->run_count; i++)
        stack->sums[stack->runs[i].slot] +=
            tree->nodes[stack->runs[i].end].depth -
            tree->nodes[stack->runs[i].above].depth;
}

static void move_nodes(struct tb_stack_distance *stack,
                       struct tb_prefix_tree *tree)
{
    uint32_t count =
        tree->end == tree->old_end ? tree->node_count : tree->first_new;
    for (uint32_t i = 1; i < count; i++)
        tree->nodes[i].run = TB_PREFIX_NUMBER(stack->sums[tree->nodes[i].run]);
    memset(stack->sums, 0, stack->slot_count * sizeof(*stack->sums));
    for (uint32_t i = 1; i < count; i++)
        stack->sums[tree->nodes[i].run] += tb_prefix_node_len(tree, i);
}

/* Gives up slots without blocks when there are as many as others. */
static void pack_slots(struct tb_stack_distance *stack,
                       struct tb_prefix_tree *tree)
{
    if (stack->slot_count < FIRST_SLOTS ||
        stack->slot_count < stack->slots_packed_at)
        return;
    take_sums_apart(stack);
    number_slots(stack);
    if (stack->has_runs)
        move_runs(stack, tree);
    else
        move_nodes(stack, tree);
    build_sums(stack);
    stack->slots_packed_at = 2 * stack->slot_count;
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

/* All blocks as if they were full, less what the last ones of pieces lack. */
static tb_status count_by_tree(struct tb_stack_distance *stack,
                               const struct tb_prefix_tree *tree,
                               const struct run *run)
{
    uint32_t block_len = tree->block_len;
    for (uint32_t i = run->end; tree->nodes[i].depth > run->from;
         i = tree->nodes[i].parent) {
        uint32_t parent = tree->nodes[i].parent;
        struct tb_prefix_piece before = {tree->nodes[parent].depth,
                                         tb_prefix_node_tokens(tree, parent)};
        struct tb_prefix_piece pieces[2];
        size_t count = tb_prefix_node_pieces(tree, i, pieces);
        for (size_t j = 0; j < count; before = pieces[j++]) {
            uint64_t full =
                (uint64_t)(pieces[j].depth - before.depth) * block_len;
            TB_TRY(tb_token_curve_add(
                &stack->curve,
                run->since + (uint64_t)(pieces[j].depth - run->from), 1,
                pieces[j].tokens - before.tokens - full));
        }
    }
    return tb_token_curve_add(&stack->curve, run->since + UINT64_C(1),
                              run->to - run->from, block_len);
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

/* Takes the blocks behind `above` up to `end` out of a slot. */
static tb_status take(struct tb_stack_distance *stack,
                      const struct tb_prefix_tree *tree, uint32_t slot,
                      uint32_t above, uint32_t end,
                      struct tb_block_tokens tokens)
{
    const struct run run = {.end = end,
                            .from = tree->nodes[above].depth,
                            .to = tree->nodes[end].depth,
                            .since = used_since(stack, slot)};
    TB_TRY(count_run(stack, tree, &run, tokens));
    change_len(stack, slot, 0u - (run.to - run.from));
    return TB_OK;
}

/* ---- prompts that are whole ---------------------------------------------- */

/* All nodes of the prompt get the next slot. */
static tb_status use_whole(struct tb_stack_distance *stack,
                           struct tb_prefix_tree *tree,
                           struct tb_block_tokens tokens)
{
    struct tb_prefix_node *nodes = tree->nodes;
    uint32_t next = TB_PREFIX_NUMBER(stack->slot_count);
    for (uint32_t i = tree->old_end; i != TB_PREFIX_ROOT;) {
        uint32_t end = i, slot = nodes[i].run;
        while (i != TB_PREFIX_ROOT && nodes[i].run == slot) {
            nodes[i].run = TB_PREFIX_NUMBER(next);
            i = nodes[i].parent;
        }
        TB_TRY(take(stack, tree, slot, i, end, tokens));
    }
    for (uint32_t i = tree->end; i != tree->old_end; i = nodes[i].parent)
        nodes[i].run = TB_PREFIX_NUMBER(next);
    return add_slot(stack, nodes[tree->end].depth);
}

/* ---- prompts that go on from earlier ones -------------------------------- */

static tb_status add_run(struct tb_stack_distance *stack, uint32_t above,
                         uint32_t *number)
{
    struct tb_stack_run *runs =
        tb_array_grow(stack->runs, &stack->run_capacity,
                      (size_t)stack->run_count + 1, sizeof(*runs));
    if (!runs)
        return TB_ERR_MEMORY;
    stack->runs = runs;
    runs[stack->run_count] = (struct tb_stack_run){.above = above};
    *number = stack->run_count++;
    return TB_OK;
}

// The nodes behind `above` up to `end`, which are its last then.
static void put_into(struct tb_stack_distance *stack,
                     struct tb_prefix_node *nodes, uint32_t above, uint32_t end,
                     uint32_t run)
{
    for (uint32_t i = end; i != above; i = nodes[i].parent)
        nodes[i].run = TB_PREFIX_NUMBER(run);
    stack->runs[run].end = end;
}

// Is `node` the last of its run?
static bool ends_run(const struct tb_stack_distance *stack,
                     const struct tb_prefix_node *nodes, uint32_t node)
{
    return node != TB_PREFIX_ROOT && stack->runs[nodes[node].run].end == node;
}

/* Cuts a run behind `end`: what is above goes into the run that ends there, so
 * that who follows a path step by step has it in one, or into a new one. */
static tb_status cut_run(struct tb_stack_distance *stack,
                         struct tb_prefix_tree *tree, uint32_t end)
{
    struct tb_prefix_node *nodes = tree->nodes;
    uint32_t cut = nodes[end].run, above = stack->runs[cut].above;
    uint32_t into = nodes[above].run;
    if (!ends_run(stack, nodes, above))
        TB_TRY(add_run(stack, above, &into));
    stack->runs[cut].above = end;
    put_into(stack, nodes, above, end, into);
    return TB_OK;
}

/* Takes all runs of what was there before, which end with the prompt then. */
static tb_status take_runs(struct tb_stack_distance *stack,
                           struct tb_prefix_tree *tree,
                           struct tb_block_tokens tokens)
{
    for (uint32_t end = tree->old_end; end != TB_PREFIX_ROOT;) {
        struct tb_stack_run run = stack->runs[tree->nodes[end].run];
        TB_TRY(take(stack, tree, run.slot, run.above, end, tokens));
        uint32_t above = run.above;
        if (ends_run(stack, tree->nodes, above)) {
            // It may be joined with what is cut off here.
            run = stack->runs[tree->nodes[above].run];
            TB_TRY(take(stack, tree, run.slot, run.above, above, tokens));
            above = run.above;
        }
        if (!ends_run(stack, tree->nodes, end))
            TB_TRY(cut_run(stack, tree, end));
        end = above;
    }
    return TB_OK;
}

static tb_status use_runs(struct tb_stack_distance *stack,
                          struct tb_prefix_tree *tree,
                          struct tb_block_tokens tokens)
{
    struct tb_prefix_node *nodes = tree->nodes;
    TB_TRY(take_runs(stack, tree, tokens));
    if (tree->end != tree->old_end) {
        // Where others go on too, what they share stays a run of its own.
        bool is_alone = tree->old_end != TB_PREFIX_ROOT &&
                        nodes[tree->old_end].child == tree->first_new;
        uint32_t run = nodes[tree->old_end].run;
        if (!is_alone)
            TB_TRY(add_run(stack, tree->old_end, &run));
        put_into(stack, nodes, tree->old_end, tree->end, run);
    }
    for (uint32_t end = tree->end; end != TB_PREFIX_ROOT;) {
        struct tb_stack_run *run = &stack->runs[nodes[end].run];
        run->slot = stack->slot_count;
        TB_TRY(add_slot(stack, nodes[end].depth - nodes[run->above].depth));
        end = run->above;
    }
    return TB_OK;
}

tb_status tb_stack_distance_add(struct tb_stack_distance *stack,
                                struct tb_prefix_tree *tree,
                                struct tb_block_tokens tokens)
{
    if (tree->end == TB_PREFIX_ROOT)
        return TB_OK;
    pack_slots(stack, tree);
    return stack->has_runs ? use_runs(stack, tree, tokens)
                           : use_whole(stack, tree, tokens);
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
