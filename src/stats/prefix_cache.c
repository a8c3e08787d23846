#include "prefix_cache.h"

tb_status tb_prefix_cache_init(struct tb_prefix_cache *cache,
                               uint32_t block_len)
{
    *cache = (struct tb_prefix_cache){0};
    return tb_prefix_tree_init(&cache->tree, block_len);
}

void tb_prefix_cache_release(struct tb_prefix_cache *cache)
{
    tb_prefix_tree_release(&cache->tree);
    tb_stack_distance_release(&cache->stack);
    tb_visitor_set_release(&cache->sessions);
    tb_visitor_set_release(&cache->agents);
}

tb_status tb_prefix_cache_begin(struct tb_prefix_cache *cache, uint32_t start)
{
    return tb_prefix_tree_begin(&cache->tree, start);
}

tb_status tb_prefix_cache_extend(struct tb_prefix_cache *cache,
                                 const uint64_t *ids, size_t count,
                                 uint32_t tail_len)
{
    return count ? tb_prefix_tree_extend(&cache->tree, ids, count, tail_len)
                 : TB_OK;
}

uint32_t tb_prefix_cache_last(const struct tb_prefix_cache *cache)
{
    return tb_prefix_tree_end(&cache->tree);
}

uint64_t tb_prefix_cache_served(const struct tb_prefix_cache *cache)
{
    return cache->session_tokens + cache->agent_tokens + cache->other_tokens;
}

/* ---- who was here before --------------------------------------------------
 */

/* A node may have been cut off the beginning of another, whose visitors were
 * here too. */
static bool had_session(const struct tb_prefix_cache *cache, uint32_t number,
                        uint32_t session)
{
    for (; number; number = cache->tree.nodes[number].lower) {
        const struct tb_prefix_node *node = &cache->tree.nodes[number];
        if (node->first_session == session)
            return true;
        if (!node->has_more_sessions)
            return false;
        if (tb_visitor_set_has(&cache->sessions, number, session))
            return true;
    }
    return false;
}

static bool had_agent(const struct tb_prefix_cache *cache, uint32_t number,
                      uint32_t agent)
{
    for (; number; number = cache->tree.nodes[number].lower) {
        const struct tb_prefix_node *node = &cache->tree.nodes[number];
        if (node->first_agent == agent)
            return true;
        if (!node->has_more_agents)
            return false;
        if (tb_visitor_set_has(&cache->agents, number, agent))
            return true;
    }
    return false;
}

/* How many of the path's first nodes the session, and the agent, had before:
 * whoever had a node had those above it. */
struct visits {
    uint32_t session_count, agent_count;
};

static struct visits count_visits(const struct tb_prefix_cache *cache,
                                  const struct tb_cached_prompt *prompt)
{
    const struct tb_prefix_tree *tree = &cache->tree;
    struct visits visits = {0};
    while (
        !prompt->is_alone && visits.session_count < tree->old_count &&
        had_session(cache, tree->path[visits.session_count], prompt->session))
        visits.session_count++;
    while (visits.agent_count < tree->old_count &&
           had_agent(cache, tree->path[visits.agent_count], prompt->agent))
        visits.agent_count++;
    return visits;
}

static tb_status visit_node(struct tb_prefix_cache *cache, uint32_t number,
                            const struct tb_cached_prompt *prompt)
{
    struct tb_prefix_node *node = &cache->tree.nodes[number];
    // Nobody will ask for a session that does not come again.
    if (prompt->is_alone) {
        node->has_more_sessions = true;
    } else if (!had_session(cache, number, prompt->session)) {
        node->has_more_sessions = true;
        TB_TRY(tb_visitor_set_add(&cache->sessions, number, prompt->session));
    }
    if (!had_agent(cache, number, prompt->agent)) {
        node->has_more_agents = true;
        TB_TRY(tb_visitor_set_add(&cache->agents, number, prompt->agent));
    }
    return TB_OK;
}

static tb_status visit(struct tb_prefix_cache *cache, struct visits visits,
                       const struct tb_cached_prompt *prompt)
{
    const struct tb_prefix_tree *tree = &cache->tree;
    for (uint32_t i = 0; i < tree->path_count; i++) {
        struct tb_prefix_node *node = &tree->nodes[tree->path[i]];
        node->row_count++;
        if (i < visits.session_count && i < visits.agent_count)
            continue;
        if (i < tree->old_count) {
            TB_TRY(visit_node(cache, tree->path[i], prompt));
            continue;
        }
        node->first_session = prompt->session;
        node->first_agent = prompt->agent;
        node->first_row = cache->row_count;
    }
    return TB_OK;
}

/* ---- tokens ---------------------------------------------------------------
 */

// Tokens of the prompt that its first `count` path nodes hold.
static uint64_t tokens_of(const struct tb_prefix_cache *cache,
                          const struct tb_cached_prompt *prompt, uint32_t count)
{
    if (count == 0)
        return 0;
    const struct tb_prefix_tree *tree = &cache->tree;
    const struct tb_prefix_node *node = &tree->nodes[tree->path[count - 1]];
    if (!prompt->is_one_piece)
        return node->tokens;
    uint64_t tokens = (uint64_t)node->depth * tree->block_len;
    return tokens < prompt->covered ? tokens : prompt->covered;
}

static uint32_t depth_of(const struct tb_prefix_tree *tree, uint32_t count)
{
    return count ? tree->nodes[tree->path[count - 1]].depth : 0;
}

static void count_blocks(struct tb_prefix_cache *cache)
{
    const struct tb_prefix_tree *tree = &cache->tree;
    uint32_t all = depth_of(tree, tree->path_count);
    uint32_t served = depth_of(tree, tree->old_count);
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
    struct visits visits = count_visits(cache, prompt);
    uint64_t by_session = tokens_of(cache, prompt, visits.session_count);
    uint64_t by_agent = tokens_of(cache, prompt, visits.agent_count);
    if (by_agent < by_session)
        by_agent = by_session;
    *served = tokens_of(cache, prompt, cache->tree.old_count);
    cache->session_tokens += by_session;
    cache->agent_tokens += by_agent - by_session;
    cache->other_tokens += *served - by_agent;
    cache->prompt_tokens += prompt->length;
    count_blocks(cache);
    TB_TRY(visit(cache, visits, prompt));
    cache->row_count++;
    return tb_stack_distance_add(
        &cache->stack, &cache->tree,
        (struct tb_block_tokens){prompt->is_one_piece, prompt->covered});
}
