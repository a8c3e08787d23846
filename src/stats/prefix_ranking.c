#include "prefix_ranking.h"

#include <string.h>

#include "memory.h"

static struct tb_shared_prefix prefix_of(const struct tb_prefix_tree *tree,
                                         const struct tb_prefix_node *node)
{
    return (struct tb_shared_prefix){
        .saved_tokens = node->tokens * (node->row_count - 1),
        .tokens = node->tokens,
        .rows = node->row_count,
        .blocks = node->depth,
        .last_id = tree->ids[node->ids_at + node->len - 1],
        .first_row = node->first_row,
        .first_agent = node->first_agent,
    };
}

static bool is_before(const struct tb_shared_prefix *a,
                      const struct tb_shared_prefix *b)
{
    if (a->saved_tokens != b->saved_tokens)
        return a->saved_tokens > b->saved_tokens;
    if (a->tokens != b->tokens)
        return a->tokens > b->tokens;
    return a->first_row < b->first_row;
}

static void insert(struct tb_shared_prefix *prefixes, size_t most,
                   size_t *count, const struct tb_shared_prefix *prefix)
{
    size_t at = *count;
    while (at > 0 && is_before(prefix, &prefixes[at - 1]))
        at--;
    if (at == most)
        return;
    *count += *count < most;
    memmove(&prefixes[at + 1], &prefixes[at],
            (*count - at - 1) * sizeof(*prefixes));
    prefixes[at] = *prefix;
}

tb_status tb_prefix_ranking(const struct tb_prefix_tree *tree,
                            struct tb_shared_prefix *prefixes, size_t most,
                            size_t *count)
{
    // The most rows that a child of each node has.
    uint32_t *child_rows =
        tb_memory_zeroed(tree->node_count, sizeof(*child_rows));
    if (!child_rows)
        return TB_ERR_MEMORY;
    for (uint32_t i = 1; i < tree->node_count; i++) {
        const struct tb_prefix_node *node = &tree->nodes[i];
        if (child_rows[node->parent] < node->row_count)
            child_rows[node->parent] = node->row_count;
    }
    *count = 0;
    for (uint32_t i = 1; i < tree->node_count; i++) {
        const struct tb_prefix_node *node = &tree->nodes[i];
        if (!node->has_more_sessions || child_rows[i] == node->row_count)
            continue;
        struct tb_shared_prefix prefix = prefix_of(tree, node);
        insert(prefixes, most, count, &prefix);
    }
    tb_memory_free(child_rows);
    return TB_OK;
}

double tb_prefix_reuse_ratio(const struct tb_prefix_tree *tree)
{
    uint64_t reused = 0, all = 0;
    for (uint32_t i = 1; i < tree->node_count; i++) {
        uint64_t beginnings =
            (uint64_t)tree->nodes[i].len * tree->nodes[i].row_count;
        all += beginnings;
        reused += tree->nodes[i].row_count > 1 ? beginnings : 0;
    }
    return all ? (double)reused / (double)all : 0;
}
