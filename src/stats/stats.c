#include "stats.h"

#include <assert.h>
#include <stdlib.h>

#include "buffer.h"
#include "memory.h"

static const struct {
    const char *key, *text;
} skips[TB_SKIP_COUNT] = {
    [TB_SKIP_NO_END] = {"no_end", "started but never ended"},
    [TB_SKIP_NO_START] = {"no_start", "ended but never started"},
    [TB_SKIP_DUPLICATE_END] = {"duplicate_end", "ended more than once"},
    [TB_SKIP_EMPTY_PROMPT] = {"empty_prompt", "no text in the prompt"},
    [TB_SKIP_NO_USAGE] = {"no_usage", "no prompt tokens recorded"},
    [TB_SKIP_UNREADABLE] = {"unreadable", "not readable"},
    [TB_SKIP_SURROGATE] = {"surrogate", "half a surrogate pair in the prompt"},
    [TB_SKIP_ABSURD] = {"absurd", "with a token count that cannot be true"},
    [TB_SKIP_REFUSED] = {"refused", "refused by the chat template"},
    [TB_SKIP_NOT_ENCODED] = {"not_encoded",
                             "with a prompt that cannot be encoded"},
};

const char *tb_skip_text(tb_skip skip)
{
    assert(skip < TB_SKIP_COUNT);
    return skips[skip].text;
}

const char *tb_skip_key(tb_skip skip)
{
    assert(skip < TB_SKIP_COUNT);
    return skips[skip].key;
}

struct tb_span tb_skip_text_of(struct tb_span key)
{
    for (int skip = 0; skip < TB_SKIP_COUNT; skip++)
        if (tb_span_equal(key, tb_span_of(skips[skip].key)))
            return tb_span_of(skips[skip].text);
    return key;
}

tb_status tb_series_add(struct tb_series *series, uint64_t value)
{
    uint64_t *values = tb_array_grow(series->values, &series->capacity,
                                     series->count + 1, sizeof(*values));
    if (!values)
        return TB_ERR_MEMORY;
    series->values = values;
    values[series->count++] = value;
    series->sum += value;
    series->is_sorted = false;
    return TB_OK;
}

static int compare_values(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

uint64_t tb_series_percentile(struct tb_series *series, double fraction)
{
    if (series->count == 0)
        return 0;
    if (!series->is_sorted) {
        qsort(series->values, series->count, sizeof(series->values[0]),
              compare_values);
        series->is_sorted = true;
    }
    // Nearest rank; what a product misses a whole number by is not a rank.
    double exact = fraction * (double)series->count - 1e-9;
    size_t index = exact > 0 ? (size_t)exact : 0;
    return series->values[index < series->count ? index : series->count - 1];
}

double tb_series_mean(const struct tb_series *series)
{
    return series->count ? (double)series->sum / (double)series->count : 0;
}

void tb_series_release(struct tb_series *series)
{
    tb_memory_free(series->values);
    *series = (struct tb_series){0};
}

// `turns` is an array by session number for as long as rows come.
static tb_status count_turn(struct tb_stats *stats, struct tb_span session_id)
{
    uint32_t number;
    TB_TRY(tb_name_table_add(&stats->sessions, session_id, &number));
    assert(!stats->turns.is_sorted);
    if (number == stats->turns.count)
        TB_TRY(tb_series_add(&stats->turns, 0));
    stats->turns.values[number]++;
    stats->turns.sum++;
    return TB_OK;
}

static tb_status find_group(struct tb_name_table *names, struct tb_span name,
                            struct tb_stats_group **groups, size_t *capacity,
                            struct tb_stats_group **group)
{
    uint32_t number = tb_name_table_find(names, name);
    if (number == TB_NAME_NONE) {
        // First the room, so that no number is ever without its group.
        struct tb_stats_group *grown = tb_array_grow(
            *groups, capacity, (size_t)names->count + 1, sizeof(*grown));
        if (!grown)
            return TB_ERR_MEMORY;
        *groups = grown;
        grown[names->count] = (struct tb_stats_group){0};
        TB_TRY(tb_name_table_add(names, name, &number));
    }
    *group = &(*groups)[number];
    return TB_OK;
}

static bool is_adjusted(const struct tb_stats_row *row)
{
    return row->has_usage && row->usage_tokens > 0 &&
           row->usage_tokens != row->counted_tokens;
}

static uint64_t difference_permille(const struct tb_stats_row *row)
{
    uint64_t usage = row->usage_tokens, counted = row->counted_tokens;
    uint64_t difference = usage > counted ? usage - counted : counted - usage;
    return (uint64_t)((double)difference * 1000 / (double)usage + 0.5);
}

static tb_status add_to_group(struct tb_stats_group *group,
                              const struct tb_stats_row *row)
{
    group->row_count++;
    group->input_tokens += row->input_length;
    group->output_tokens += row->output_length;
    if (!is_adjusted(row))
        return TB_OK;
    group->adjusted_count++;
    return tb_series_add(&group->difference_permille, difference_permille(row));
}

static tb_status add_to_groups(struct tb_stats *stats,
                               const struct tb_stats_row *row)
{
    struct tb_stats_group *group;
    if (row->agent.len > 0) {
        TB_TRY(find_group(&stats->agents, row->agent, &stats->agent_groups,
                          &stats->agent_capacity, &group));
        TB_TRY(add_to_group(group, row));
    }
    if (row->priority.len > 0) {
        TB_TRY(find_group(&stats->priorities, row->priority,
                          &stats->priority_groups, &stats->priority_capacity,
                          &group));
        TB_TRY(add_to_group(group, row));
    }
    return TB_OK;
}

static tb_status add_counts(struct tb_stats *stats,
                            const struct tb_stats_row *row)
{
    if (row->has_usage && row->usage_tokens > 0)
        stats->usage_row_count++;
    if (is_adjusted(row)) {
        stats->adjusted_count++;
        stats->usage_led_count += row->input_length == row->usage_tokens;
        TB_TRY(tb_series_add(&stats->difference_permille,
                             difference_permille(row)));
    }
    if (row->has_cached) {
        stats->cached_row_count++;
        stats->cached_tokens += row->cached_tokens;
        stats->cached_prompt_tokens += row->usage_tokens;
    }
    stats->output_counted_count += row->is_output_counted;
    stats->output_unknown_count += row->is_output_unknown;
    return TB_OK;
}

tb_status tb_stats_add_row(struct tb_stats *stats,
                           const struct tb_stats_row *row)
{
    TB_TRY(count_turn(stats, row->session_id));
    TB_TRY(tb_series_add(&stats->input, row->input_length));
    TB_TRY(tb_series_add(&stats->output, row->output_length));
    TB_TRY(tb_series_add(&stats->blocks, row->block_count));
    TB_TRY(add_to_groups(stats, row));
    TB_TRY(add_counts(stats, row));
    stats->new_tokens += row->new_tokens;
    stats->block_tokens += stats->is_compat && row->has_usage
                               ? row->counted_tokens
                               : row->before_tokens + row->input_length;
    stats->row_count++;
    return TB_OK;
}

void tb_stats_add_skip(struct tb_stats *stats, tb_skip skip,
                       const struct tb_error *error)
{
    assert(skip < TB_SKIP_COUNT);
    stats->skipped[skip]++;
    if (error)
        tb_stats_add_message(stats, error);
}

void tb_stats_add_message(struct tb_stats *stats, const struct tb_error *error)
{
    if (stats->message_count < TB_STATS_MAX_MESSAGES)
        stats->messages[stats->message_count] = *error;
    stats->message_count++;
}

double tb_stats_cached_share(const struct tb_stats *stats)
{
    if (stats->new_tokens >= stats->block_tokens)
        return 0;
    return (double)(stats->block_tokens - stats->new_tokens) /
           (double)stats->block_tokens;
}

uint64_t tb_stats_skipped(const struct tb_stats *stats)
{
    uint64_t count = 0;
    for (size_t i = 0; i < TB_SKIP_COUNT; i++)
        count += stats->skipped[i];
    return count;
}

bool tb_stats_has_loss(const struct tb_stats *stats)
{
    return tb_stats_skipped(stats) || stats->lost_record_count ||
           stats->cut_session_count || stats->uncounted_answer_count ||
           stats->lone_surrogate_count || stats->bad_utf8_count;
}

static void groups_release(struct tb_stats_group *groups, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        tb_series_release(&groups[i].difference_permille);
    tb_memory_free(groups);
}

void tb_stats_release(struct tb_stats *stats)
{
    groups_release(stats->agent_groups, stats->agents.count);
    groups_release(stats->priority_groups, stats->priorities.count);
    tb_name_table_release(&stats->sessions);
    tb_name_table_release(&stats->agents);
    tb_name_table_release(&stats->priorities);
    tb_series_release(&stats->turns);
    tb_series_release(&stats->input);
    tb_series_release(&stats->output);
    tb_series_release(&stats->blocks);
    tb_series_release(&stats->difference_permille);
    *stats = (struct tb_stats){0};
}
