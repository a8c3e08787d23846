#include "prefix_ranking.h"

#include <string.h>

static struct tb_shared_prefix prefix_of(const struct tb_prefix_tree *tree,
                                         uint32_t number)
{
    const struct tb_prefix_node *node = &tree->nodes[number];
    uint64_t tokens = tb_prefix_node_tokens(tree, number);
    return (struct tb_shared_prefix){
        .saved_tokens = tokens * (node->prompt_count - UINT64_C(1)),
        .tokens = tokens,
        .rows = node->prompt_count,
        .blocks = node->depth,
        .last_id = tb_prefix_node_last_id(tree, number),
        .first_row = node->first_row,
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

size_t tb_prefix_ranking(const struct tb_prefix_tree *tree,
                         struct tb_shared_prefix *prefixes, size_t most)
{
    size_t count = 0;
    for (uint32_t i = 1; i < tree->node_count; i++) {
        const struct tb_prefix_node *node = &tree->nodes[i];
        if (!node->has_more_sessions || node->run)
            continue;
        struct tb_shared_prefix prefix = prefix_of(tree, i);
        insert(prefixes, most, &count, &prefix);
    }
    return count;
}

double tb_prefix_reuse_ratio(const struct tb_prefix_tree *tree)
{
    uint64_t reused = 0, all = 0;
    for (uint32_t i = 1; i < tree->node_count; i++) {
        uint64_t rows = tree->nodes[i].prompt_count;
        uint64_t beginnings = tb_prefix_node_len(tree, i) * rows;
        all += beginnings;
        reused += rows > 1 ? beginnings : 0;
    }
    return all ? (double)reused / (double)all : 0;
}
