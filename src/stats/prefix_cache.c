#include "prefix_cache.h"

tb_status tb_prefix_cache_init(struct tb_prefix_cache *cache,
                               uint32_t block_len, bool has_increments,
                               const struct tb_row_owners *owners)
{
    *cache = (struct tb_prefix_cache){.owners = owners,
                                      .stack = {.has_runs = has_increments}};
    return tb_prefix_tree_init(&cache->tree, block_len);
}

void tb_prefix_cache_release(struct tb_prefix_cache *cache)
{
    tb_prefix_tree_release(&cache->tree);
    tb_stack_distance_release(&cache->stack);
    tb_visitor_set_release(&cache->sessions);
    tb_visitor_set_release(&cache->agents);
}

void tb_prefix_cache_begin(struct tb_prefix_cache *cache, uint32_t start)
{
    tb_prefix_tree_begin(&cache->tree, start);
}

tb_status tb_prefix_cache_extend(struct tb_prefix_cache *cache,
                                 const uint64_t *ids, size_t count,
                                 uint32_t tail_len)
{
    return count ? tb_prefix_tree_extend(&cache->tree, ids, count, tail_len)
                 : TB_OK;
}

tb_status tb_prefix_cache_answer(struct tb_prefix_cache *cache, uint64_t tokens)
{
    return tokens ? tb_prefix_tree_answer(&cache->tree, tokens) : TB_OK;
}

uint32_t tb_prefix_cache_last(const struct tb_prefix_cache *cache)
{
    return cache->tree.end;
}

uint64_t tb_prefix_cache_served(const struct tb_prefix_cache *cache)
{
    return cache->session_tokens + cache->agent_tokens + cache->other_tokens;
}

/* ---- who was here before --------------------------------------------------
 */

#define NOBODY UINT32_MAX

/* Sessions, or agents: a node's first, and a set of the others. A node may have
 * been cut off the beginning of another, whose visitors were here too. */
struct visitors {
    const struct tb_prefix_tree *tree;
    const struct tb_row_numbers *first; // by row
    struct tb_visitor_set *others;
    bool is_sessions;
};

static bool has_more(const struct visitors *visitors, uint32_t node)
{
    return visitors->is_sessions ? visitors->tree->nodes[node].has_more_sessions
                                 : visitors->tree->nodes[node].has_more_agents;
}

static bool had(const struct visitors *visitors, uint32_t node,
                uint32_t visitor)
{
    const struct tb_prefix_node *nodes = visitors->tree->nodes;
    for (;; node = nodes[node].child) {
        if (tb_row_numbers_get(visitors->first, nodes[node].first_row) ==
            visitor)
            return true;
        if (!has_more(visitors, node))
            return false;
        if (tb_visitor_set_has(visitors->others, node, visitor))
            return true;
        if (!nodes[node].is_cut)
            return false;
    }
}

/* The last node of the path that was there before which `visitor` had: whoever
 * had a node had those above it. Those below it are visited now; not on the way
 * up, since nodes ask those that they were cut from. */
static tb_status visit(const struct visitors *visitors, uint32_t visitor,
                       uint32_t *had_node)
{
    struct tb_prefix_node *nodes = visitors->tree->nodes;
    uint32_t last = visitors->tree->old_end;
    while (last != TB_PREFIX_ROOT && !had(visitors, last, visitor))
        last = nodes[last].parent;
    *had_node = last;
    for (uint32_t node = visitors->tree->old_end; node != last;
         node = nodes[node].parent) {
        if (visitors->is_sessions)
            nodes[node].has_more_sessions = true;
        else
            nodes[node].has_more_agents = true;
        TB_TRY(tb_visitor_set_add(visitors->others, node, visitor));
    }
    return TB_OK;
}

/* Nobody will ask for a session that does not come again. */
static void visit_alone(struct tb_prefix_tree *tree)
{
    for (uint32_t node = tree->old_end;
         node != TB_PREFIX_ROOT && !tree->nodes[node].has_more_sessions;
         node = tree->nodes[node].parent)
        tree->nodes[node].has_more_sessions = true;
}

/* ---- tokens ---------------------------------------------------------------
 */

// Tokens of the prompt up to the end of `node`.
static uint64_t tokens_to(const struct tb_prefix_cache *cache,
                          const struct tb_cached_prompt *prompt, uint32_t node)
{
    const struct tb_prefix_tree *tree = &cache->tree;
    if (!prompt->is_one_piece)
        return tb_prefix_node_tokens(tree, node);
    uint64_t tokens = (uint64_t)tree->nodes[node].depth * tree->block_len;
    return tokens < prompt->covered ? tokens : prompt->covered;
}

static void count_blocks(struct tb_prefix_cache *cache)
{
    const struct tb_prefix_tree *tree = &cache->tree;
    uint32_t all = tree->nodes[tree->end].depth;
    uint32_t served = tree->nodes[tree->old_end].depth;
    if (all == 0)
        return;
    cache->block_count += all;
    cache->served_block_count += served;
    cache->share_sum += (double)served / (double)all;
    cache->id_prompt_count++;
}

tb_status tb_prefix_cache_end(struct tb_prefix_cache *cache,
                              const struct tb_cached_prompt *prompt,
                              uint64_t *served)
{
    struct tb_prefix_tree *tree = &cache->tree;
    const struct visitors sessions = {tree, &cache->owners->sessions,
                                      &cache->sessions, true};
    const struct visitors agents = {tree, &cache->owners->agents,
                                    &cache->agents, false};
    uint32_t session_node = TB_PREFIX_ROOT, agent_node;
    TB_TRY(tb_prefix_tree_complete(tree));
    if (prompt->session == NOBODY)
        visit_alone(tree);
    else
        TB_TRY(visit(&sessions, prompt->session, &session_node));
    TB_TRY(visit(&agents, prompt->agent, &agent_node));
    uint64_t by_session = tokens_to(cache, prompt, session_node);
    uint64_t by_agent = tokens_to(cache, prompt, agent_node);
    if (by_agent < by_session)
        by_agent = by_session;
    *served = tokens_to(cache, prompt, tree->old_end);
    cache->session_tokens += by_session;
    cache->agent_tokens += by_agent - by_session;
    cache->other_tokens += *served - by_agent;
    cache->prompt_tokens += prompt->length;
    count_blocks(cache);
    tb_prefix_tree_end(tree, cache->row_count++);
    return tb_stack_distance_add(
        &cache->stack, tree,
        (struct tb_block_tokens){prompt->is_one_piece, prompt->covered,
                                 prompt->is_long ? prompt->session
                                                 : TB_LONG_RUN_NONE});
}

tb_status tb_prefix_cache_finish(struct tb_prefix_cache *cache,
                                 const uint32_t *ends)
{
    tb_prefix_tree_finish(&cache->tree);
    return tb_stack_distance_finish(&cache->stack, &cache->tree, ends);
}
