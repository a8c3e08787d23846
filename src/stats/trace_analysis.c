#include "trace_analysis.h"

#include <inttypes.h>
#include <math.h>

#include "buffer.h"
#include "hash.h"
#include "memory.h"

enum { NO_AGENT = 0 }; // others are their number + 1

tb_status tb_trace_analysis_init(struct tb_trace_analysis *analysis,
                                 uint32_t block_len, bool is_delta,
                                 const uint32_t *multiples,
                                 size_t multiple_count)
{
    *analysis = (struct tb_trace_analysis){
        .block_len = block_len,
        .is_delta = is_delta,
        .owners = {{.none = UINT32_MAX}, {.none = NO_AGENT}},
        .first_time_ms = INFINITY,
        .last_time_ms = -INFINITY};
    for (size_t i = 0; i <= multiple_count; i++) {
        struct tb_sized_cache *sized = &analysis->caches[i];
        sized->multiple = i ? multiples[i - 1] : 1;
        analysis->cache_count++;
        TB_TRY(tb_prefix_cache_init(&sized->cache, block_len * sized->multiple,
                                    is_delta, &analysis->owners));
    }
    return TB_OK;
}

static void group_release(struct tb_length_group *group)
{
    tb_tally_release(&group->prompt);
    tb_tally_release(&group->fresh);
    tb_tally_release(&group->output);
}

static void groups_release(struct tb_length_group *groups, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        group_release(&groups[i]);
    tb_memory_free(groups);
}

void tb_trace_analysis_release(struct tb_trace_analysis *analysis)
{
    for (size_t i = 0; i < analysis->cache_count; i++) {
        tb_prefix_cache_release(&analysis->caches[i].cache);
        tb_memory_free(analysis->caches[i].ends);
    }
    tb_row_numbers_release(&analysis->owners.sessions);
    tb_row_numbers_release(&analysis->owners.agents);
    group_release(&analysis->all);
    for (size_t i = 0; i < TB_ANALYSIS_TURN_GROUPS; i++)
        group_release(&analysis->turns[i]);
    groups_release(analysis->agent_groups, analysis->agents.count);
    groups_release(analysis->priority_groups, analysis->priorities.count);
    tb_name_table_release(&analysis->agents);
    tb_name_table_release(&analysis->priorities);
    tb_name_table_release(&analysis->sessions);
    tb_memory_free(analysis->session_items);
    tb_tally_release(&analysis->session_turns);
    tb_tally_release(&analysis->delays);
    tb_tally_release(&analysis->intervals);
    tb_reblock_release(&analysis->reblock);
    tb_reblock_release(&analysis->pieces);
    *analysis = (struct tb_trace_analysis){0};
}

/* ---- groups of rows -------------------------------------------------------
 */

// 1, 2, 3-4, 5-8, ...
static size_t turn_group(uint64_t turn)
{
    size_t group = 0;
    while (UINT64_C(1) << group < turn)
        group++;
    return group;
}

void tb_turn_group_range(size_t group, uint64_t *first, uint64_t *last)
{
    *last = UINT64_C(1) << group;
    *first = group ? *last / 2 + 1 : 1;
}

static tb_status find_group(struct tb_name_table *names, struct tb_span name,
                            struct tb_length_group **groups, size_t *capacity,
                            uint32_t *number)
{
    *number = tb_name_table_find(names, name);
    if (*number != TB_NAME_NONE)
        return TB_OK;
    // First the room, so that no number is ever without its group.
    struct tb_length_group *grown = tb_array_grow(
        *groups, capacity, (size_t)names->count + 1, sizeof(*grown));
    if (!grown)
        return TB_ERR_MEMORY;
    *groups = grown;
    grown[names->count] = (struct tb_length_group){0};
    return tb_name_table_add(names, name, number);
}

/* What is known of a row once its session is. */
struct placed {
    const struct tb_trace_row *row;
    uint32_t session, agent; // numbers
    uint64_t turn;           // from 1
    uint64_t prompt_tokens, fresh_tokens;
};

static tb_status add_lengths(struct tb_length_group *group,
                             const struct placed *placed)
{
    group->row_count++;
    TB_TRY(tb_tally_add(&group->prompt, placed->prompt_tokens));
    TB_TRY(tb_tally_add(&group->fresh, placed->fresh_tokens));
    if (placed->row->has_output)
        TB_TRY(tb_tally_add(&group->output, placed->row->output_length));
    return TB_OK;
}

static tb_status add_to_groups(struct tb_trace_analysis *analysis,
                               const struct placed *placed)
{
    uint32_t number;
    TB_TRY(add_lengths(&analysis->turns[turn_group(placed->turn)], placed));
    if (placed->agent != NO_AGENT)
        TB_TRY(add_lengths(&analysis->agent_groups[placed->agent - 1], placed));
    if (placed->row->priority.len == 0)
        return TB_OK;
    TB_TRY(find_group(&analysis->priorities, placed->row->priority,
                      &analysis->priority_groups, &analysis->priority_capacity,
                      &number));
    return add_lengths(&analysis->priority_groups[number], placed);
}

/* ---- sessions and times ---------------------------------------------------
 */

/* A session without a name is one row, which needs no number and no memory. */
static tb_status find_session(struct tb_trace_analysis *analysis,
                              struct tb_span name, uint32_t *number)
{
    *number = UINT32_MAX;
    if (analysis->session_count >= UINT32_MAX - 1)
        return TB_ERR_LIMIT;
    analysis->session_count += name.len == 0;
    if (name.len == 0)
        return TB_OK;
    *number = tb_name_table_find(&analysis->sessions, name);
    if (*number != TB_NAME_NONE)
        return TB_OK;
    struct tb_trace_session *grown =
        tb_array_grow(analysis->session_items, &analysis->session_capacity,
                      (size_t)analysis->sessions.count + 1, sizeof(*grown));
    if (!grown)
        return TB_ERR_MEMORY;
    analysis->session_items = grown;
    grown[analysis->sessions.count] = (struct tb_trace_session){0};
    analysis->session_count++;
    return tb_name_table_add(&analysis->sessions, name, number);
}

static tb_status add_ms(struct tb_trace_analysis *analysis,
                        struct tb_tally *tally, double ms)
{
    if (!isfinite(ms) || ms < 0 || ms > 1e18) {
        analysis->negative_count++;
        return TB_OK;
    }
    return tb_tally_add(tally, (uint64_t)(ms + 0.5));
}

static void widen_span(double ms, double *first_ms, double *last_ms)
{
    *first_ms = ms < *first_ms ? ms : *first_ms;
    *last_ms = ms > *last_ms ? ms : *last_ms;
}

static tb_status add_times(struct tb_trace_analysis *analysis,
                           const struct placed *placed,
                           struct tb_trace_session *session)
{
    const struct tb_trace_row *row = placed->row;
    bool is_later = session->turn_count > 0;
    if (row->has_delay && is_later)
        TB_TRY(add_ms(analysis, &analysis->delays, row->delay_ms));
    if (!row->has_time || !isfinite(row->time_ms))
        return TB_OK;
    analysis->time_count++;
    widen_span(row->time_ms, &analysis->first_time_ms, &analysis->last_time_ms);
    tb_time_bins_add(
        &analysis->times, row->time_ms,
        &(struct tb_time_bin){.row_count = 1,
                              .prompt_tokens = placed->prompt_tokens,
                              .fresh_tokens = placed->fresh_tokens,
                              .session_count = row->session.len == 0});
    if (is_later && session->has_time)
        TB_TRY(add_ms(analysis, &analysis->intervals,
                      row->time_ms - session->time_ms));
    if (!session->has_time)
        session->first_time_ms = session->last_time_ms = row->time_ms;
    widen_span(row->time_ms, &session->first_time_ms, &session->last_time_ms);
    session->has_time = true;
    session->time_ms = row->time_ms;
    return TB_OK;
}

/* ---- prompts ---------------------------------------------------------------
 */

/* Ids for `count` blocks of row `row` of which it does not tell what is in
 * them. They follow each other, which the tree keeps in little. */
static tb_status make_ids(struct tb_reblock *pieces, uint64_t row, size_t count)
{
    uint64_t *ids =
        tb_array_grow(pieces->ids, &pieces->capacity, count + 1, sizeof(*ids));
    if (!ids)
        return TB_ERR_MEMORY;
    pieces->ids = ids;
    pieces->count = count;
    const uint64_t parts[] = {row, count};
    uint64_t first =
        tb_hash64((struct tb_span){(const uint8_t *)parts, sizeof(parts)}, 0);
    for (size_t i = 0; i < count; i++)
        ids[i] = first + i;
    return TB_OK;
}

static uint64_t block_count(uint64_t tokens, uint64_t block_len)
{
    return tokens / block_len + (tokens % block_len != 0);
}

static uint32_t tail_of(uint64_t tokens, uint32_t block_len)
{
    return tokens % block_len ? (uint32_t)(tokens % block_len) : block_len;
}

static tb_status add_unheld(struct tb_trace_analysis *analysis,
                            struct tb_prefix_cache *cache, uint64_t tokens)
{
    uint32_t block_len = cache->tree.block_len;
    uint64_t count = block_count(tokens, block_len);
    if (count == 0)
        return TB_OK;
    TB_TRY(make_ids(&analysis->pieces, analysis->row_count, (size_t)count));
    return tb_prefix_cache_extend(cache, analysis->pieces.ids, (size_t)count,
                                  tail_of(tokens, block_len));
}

static tb_status add_ids(struct tb_trace_analysis *analysis,
                         struct tb_sized_cache *sized,
                         const struct tb_trace_row *row, size_t count,
                         uint64_t covered)
{
    const uint64_t *ids = row->ids;
    if (sized->multiple > 1) {
        TB_TRY(
            tb_reblock_make(&analysis->reblock, ids, count, sized->multiple));
        ids = analysis->reblock.ids;
        count = analysis->reblock.count;
    }
    return tb_prefix_cache_extend(
        &sized->cache, ids, count,
        tail_of(covered, sized->cache.tree.block_len));
}

/* What stood before an increment: the prompt before, and its answer. */
static tb_status add_before(struct tb_trace_analysis *analysis,
                            struct tb_sized_cache *sized,
                            const struct placed *placed,
                            const struct tb_trace_session *session)
{
    bool is_later = analysis->is_delta && session->turn_count > 0;
    uint32_t start = is_later ? sized->ends[placed->session] : TB_PREFIX_ROOT;
    tb_prefix_cache_begin(&sized->cache, start);
    return is_later
               ? tb_prefix_cache_answer(&sized->cache, session->output_tokens)
               : TB_OK;
}

static tb_status keep_end(struct tb_sized_cache *sized,
                          const struct placed *placed)
{
    uint32_t *ends = tb_array_grow(sized->ends, &sized->end_capacity,
                                   (size_t)placed->session + 1, sizeof(*ends));
    if (!ends)
        return TB_ERR_MEMORY;
    sized->ends = ends;
    ends[placed->session] = tb_prefix_cache_last(&sized->cache);
    return TB_OK;
}

static tb_status add_prompt(struct tb_trace_analysis *analysis,
                            struct tb_sized_cache *sized,
                            const struct placed *placed,
                            const struct tb_trace_session *session,
                            uint64_t *served)
{
    const struct tb_trace_row *row = placed->row;
    uint64_t need = block_count(row->input_length, analysis->block_len);
    size_t count = row->id_count < need ? row->id_count : (size_t)need;
    uint64_t covered = (uint64_t)count * analysis->block_len;
    if (covered > row->input_length)
        covered = row->input_length;
    TB_TRY(add_before(analysis, sized, placed, session));
    TB_TRY(add_ids(analysis, sized, row, count, covered));
    // In later increments the rest is there, so that it needs a place.
    if (analysis->is_delta)
        TB_TRY(
            add_unheld(analysis, &sized->cache, row->input_length - covered));
    struct tb_cached_prompt prompt = {.session = placed->session,
                                      .agent = placed->agent,
                                      .length = placed->prompt_tokens,
                                      .is_one_piece = !analysis->is_delta,
                                      .covered = covered,
                                      .is_long = analysis->is_delta &&
                                                 session->turn_count >=
                                                     TB_TRACE_LONG_SESSION};
    TB_TRY(tb_prefix_cache_end(&sized->cache, &prompt, served));
    return analysis->is_delta && row->session.len > 0 ? keep_end(sized, placed)
                                                      : TB_OK;
}

static void count_fit(struct tb_trace_analysis *analysis,
                      const struct tb_trace_row *row)
{
    if (row->id_count == 0)
        analysis->idless_count++;
    else if (row->id_count !=
             block_count(row->input_length, analysis->block_len))
        analysis->unfit_count++;
}

/* Blocks that get made ids; of the rows' own size, that is the smallest. */
static uint64_t unheld_count(const struct tb_trace_analysis *analysis,
                             const struct tb_trace_row *row)
{
    uint64_t need = block_count(row->input_length, analysis->block_len);
    uint64_t left = row->id_count < need ? need - row->id_count : 0;
    return left + block_count(row->output_length, analysis->block_len);
}

static uint64_t tokens_before(const struct tb_trace_analysis *analysis,
                              struct tb_span name)
{
    uint32_t number = name.len > 0
                          ? tb_name_table_find(&analysis->sessions, name)
                          : TB_NAME_NONE;
    if (number == TB_NAME_NONE)
        return 0;
    const struct tb_trace_session *session = &analysis->session_items[number];
    return session->prompt_tokens + session->output_tokens;
}

tb_status tb_trace_analysis_check(const struct tb_trace_analysis *analysis,
                                  const struct tb_trace_row *row,
                                  struct tb_error *error)
{
    const uint64_t most = TB_TRACE_LENGTH_MAX;
    if (row->input_length > most)
        return tb_fail(error, TB_ERR_LIMIT,
                       "the prompt is above %" PRIu64 " tokens", most);
    if (row->output_length > most)
        return tb_fail(error, TB_ERR_LIMIT,
                       "the output is above %" PRIu64 " tokens", most);
    if (!analysis->is_delta)
        return TB_OK;
    // Whose session it is has to be looked up only where some session is long.
    if (analysis->most_tokens + row->input_length > most &&
        tokens_before(analysis, row->session) + row->input_length > most)
        return tb_fail(error, TB_ERR_LIMIT,
                       "the session's prompt is above %" PRIu64 " tokens",
                       most);
    if (unheld_count(analysis, row) > TB_TRACE_UNHELD_MAX)
        return tb_fail(error, TB_ERR_LIMIT, "more than %d blocks without ids",
                       TB_TRACE_UNHELD_MAX);
    return TB_OK;
}

tb_status tb_trace_analysis_add(struct tb_trace_analysis *analysis,
                                const struct tb_trace_row *row)
{
    struct placed placed = {.row = row, .agent = NO_AGENT};
    struct tb_trace_session alone = {0}, *session = &alone;
    TB_TRY(find_session(analysis, row->session, &placed.session));
    if (row->session.len > 0)
        session = &analysis->session_items[placed.session];
    if (row->agent.len > 0) {
        TB_TRY(find_group(&analysis->agents, row->agent,
                          &analysis->agent_groups, &analysis->agent_capacity,
                          &placed.agent));
        placed.agent++;
    }
    placed.turn = (uint64_t)session->turn_count + 1;
    placed.prompt_tokens = row->input_length;
    if (analysis->is_delta)
        placed.prompt_tokens += session->prompt_tokens + session->output_tokens;
    tb_tally_expect(&analysis->turns[turn_group(placed.turn)].prompt,
                    placed.prompt_tokens);
    uint32_t row_number = analysis->caches[0].cache.row_count;
    TB_TRY(tb_row_numbers_set(&analysis->owners.sessions, row_number,
                              placed.session));
    TB_TRY(
        tb_row_numbers_set(&analysis->owners.agents, row_number, placed.agent));
    uint64_t served = 0;
    for (size_t i = analysis->cache_count; i-- > 0;)
        TB_TRY(add_prompt(analysis, &analysis->caches[i], &placed, session,
                          &served));
    placed.fresh_tokens = placed.prompt_tokens - served;
    analysis->last_prompt_tokens = placed.prompt_tokens;
    analysis->last_fresh_tokens = placed.fresh_tokens;
    TB_TRY(add_to_groups(analysis, &placed));
    TB_TRY(add_times(analysis, &placed, session));
    count_fit(analysis, row);
    session->prompt_tokens = placed.prompt_tokens;
    session->output_tokens = row->has_output ? row->output_length : 0;
    if (session->prompt_tokens + session->output_tokens > analysis->most_tokens)
        analysis->most_tokens = session->prompt_tokens + session->output_tokens;
    session->turn_count++;
    analysis->row_count++;
    return TB_OK;
}

// Each row is in one group of turns.
static tb_status merge_turns(struct tb_trace_analysis *analysis)
{
    struct tb_length_group *all = &analysis->all;
    for (size_t i = 0; i < TB_ANALYSIS_TURN_GROUPS; i++) {
        const struct tb_length_group *group = &analysis->turns[i];
        all->row_count += group->row_count;
        TB_TRY(tb_tally_merge(&all->prompt, &group->prompt));
        TB_TRY(tb_tally_merge(&all->fresh, &group->fresh));
        TB_TRY(tb_tally_merge(&all->output, &group->output));
    }
    return TB_OK;
}

tb_status tb_trace_analysis_finish(struct tb_trace_analysis *analysis)
{
    TB_TRY(merge_turns(analysis));
    for (uint32_t i = 0; i < analysis->sessions.count; i++) {
        const struct tb_trace_session *session = &analysis->session_items[i];
        TB_TRY(tb_tally_add(&analysis->session_turns, session->turn_count));
        if (session->has_time)
            tb_time_bins_open(&analysis->times, session->first_time_ms,
                              session->last_time_ms);
    }
    tb_time_bins_finish(&analysis->times);
    for (size_t i = 0; i < analysis->cache_count; i++)
        TB_TRY(tb_prefix_cache_finish(&analysis->caches[i].cache,
                                      analysis->caches[i].ends));
    uint64_t alone_count = analysis->session_count - analysis->sessions.count;
    for (uint64_t i = 0; i < alone_count; i++)
        TB_TRY(tb_tally_add(&analysis->session_turns, 1));
    return TB_OK;
}
