#include "summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text_histogram.h"

enum {
    GROUPS_SHOWN = 10,
    NAME_SHOWN = 24, // bytes
    // Above these our prompts are not what the server saw: joined contents,
    // and what a chat template gives.
    JOINED_WARN_PERMILLE = 100,
    RENDERED_WARN_PERMILLE = 20
};

static void put_head(struct tb_page *page, const struct tb_stats *stats)
{
    tb_page_put(page, "%s, %s",
                tb_counted(stats->sessions.count, "session").text,
                tb_counted(stats->row_count, "row").text);
    const char *output = stats->output_path;
    if (output[0])
        tb_page_put(page, " -> %s",
                    strcmp(output, "-") == 0 ? "standard output" : output);
    tb_page_put(page, "\n");
}

static void put_series(struct tb_page *page, const char *name,
                       struct tb_series *series)
{
    tb_page_put(page, "%-18s", name);
    tb_page_put(page, "%10s", tb_grouped(tb_series_percentile(series, 0)).text);
    tb_page_put(page, "%10s", tb_grouped_real(tb_series_mean(series)).text);
    static const double fractions[] = {0.5, 0.9, 0.99, 1};
    for (size_t i = 0; i < 4; i++)
        tb_page_put(
            page, "%10s",
            tb_grouped(tb_series_percentile(series, fractions[i])).text);
    tb_page_put(page, "\n");
}

static void put_table(struct tb_page *page, struct tb_stats *stats)
{
    tb_page_put(page, "\n%-18s%10s%10s%10s%10s%10s%10s\n", "", "min", "mean",
                "p50", "p90", "p99", "max");
    put_series(page, "turns per session", &stats->turns);
    put_series(page, "input tokens", &stats->input);
    put_series(page, "output tokens", &stats->output);
    put_series(page, "ids per row", &stats->blocks);
}

// The group with the most rows below `limit`; groups of equal size in order
// of their number, after number `after`.
static uint32_t next_group(const struct tb_stats_group *groups, uint32_t count,
                           uint64_t limit, uint32_t after)
{
    uint32_t best = TB_NAME_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t rows = groups[i].row_count;
        if (rows > limit || (rows == limit && i <= after))
            continue;
        if (best == TB_NAME_NONE || rows > groups[best].row_count)
            best = i;
    }
    return best;
}

static void put_histogram(struct tb_page *page, unsigned width,
                          const char *title, const struct tb_series *series)
{
    struct tb_histogram histogram = {0};
    if (width == 0)
        return;
    for (size_t i = 0; i < series->count; i++)
        tb_histogram_add(&histogram, series->values[i], 1);
    tb_histogram_put(page, width, title, "rows", &histogram);
}

static void put_group(struct tb_page *page, struct tb_span name,
                      struct tb_stats_group *group)
{
    struct tb_span shown = tb_page_shortened(name, NAME_SHOWN);
    tb_page_put(page, "  %.*s%*s", (int)shown.len, (const char *)shown.ptr,
                (int)(NAME_SHOWN - shown.len), "");
    tb_page_put(page, "%10s", tb_grouped(group->row_count).text);
    tb_page_put(page, "%16s%14s", tb_grouped(group->input_tokens).text,
                tb_grouped(group->output_tokens).text);
    if (group->adjusted_count > 0)
        tb_page_put(
            page, "%10.1f %%",
            (double)tb_series_percentile(&group->difference_permille, 0.5) /
                10);
    tb_page_put(page, "\n");
}

static void put_groups(struct tb_page *page, const char *title,
                       const struct tb_name_table *names,
                       struct tb_stats_group *groups, bool has_differences)
{
    if (names->count == 0)
        return;
    tb_page_put(page, "\n%-26s%10s%16s%14s%s\n", title, "rows", "input tokens",
                "output tokens", has_differences ? "  median off" : "");
    uint64_t limit = UINT64_MAX;
    uint32_t group = 0, shown = 0;
    while (shown < GROUPS_SHOWN) {
        group = next_group(groups, names->count, limit, group);
        if (group == TB_NAME_NONE)
            return;
        put_group(page, tb_name_table_name(names, group), &groups[group]);
        limit = groups[group].row_count;
        shown++;
    }
    if (names->count > shown)
        tb_page_put(page, "  and %s more\n",
                    tb_grouped(names->count - shown).text);
}

static void put_cache(struct tb_page *page, const struct tb_stats *stats)
{
    tb_page_put(page, "\n");
    tb_page_entry(
        page, "prefix cache",
        "%.1f %% of all prompt tokens stand in blocks that an infinite "
        "prefix cache has already seen",
        100 * tb_stats_cached_share(stats));
    if (stats->cached_row_count == 0 || stats->cached_prompt_tokens == 0)
        return;
    tb_page_entry(page, "",
                  "the server took %.1f %% from its own cache (%s tell)",
                  100 * (double)stats->cached_tokens /
                      (double)stats->cached_prompt_tokens,
                  tb_counted(stats->cached_row_count, "row").text);
}

/* What caches of some sizes serve, where the page was made: nothing else counts
 * it. */
static void put_cache_sizes(struct tb_page *page, unsigned width,
                            const struct tb_stats *stats)
{
    enum { TAKEN = 24 + 9 };
    if (stats->cache_size_count == 0 || stats->cache_prompt_tokens == 0)
        return;
    tb_page_put(page, "\n%-24s%9s\n", "by cache size, LRU", "served");
    for (size_t i = 0; i < stats->cache_size_count; i++) {
        double share =
            (double)stats->cache_served[i] / (double)stats->cache_prompt_tokens;
        tb_page_put(page, "  %-22s%7.1f %%",
                    tb_counted(UINT64_C(1) << i, "block").text, 100 * share);
        tb_page_bar(page, width, share, TAKEN);
        tb_page_put(page, "\n");
    }
    tb_page_put(page, "\n");
}

static void put_who_leads(struct tb_page *page, const struct tb_stats *stats)
{
    uint64_t led = stats->usage_led_count;
    if (led == stats->adjusted_count)
        tb_page_entry(page, "", "input_length is the server's count");
    else if (led == 0)
        tb_page_entry(page, "", "input_length is our count");
    else
        tb_page_entry(page, "",
                      "input_length is the server's count in %s of them",
                      tb_grouped(led).text);
    if (stats->is_compat && led > 0)
        tb_page_entry(
            page, "",
            "hash_ids are of our count (--compat), so that such rows can "
            "have too many or too few for input_length, and a replay may "
            "refuse them");
}

static void put_differences(struct tb_page *page, struct tb_stats *stats)
{
    if (stats->adjusted_count == 0)
        return;
    struct tb_series *permille = &stats->difference_permille;
    uint64_t median = tb_series_percentile(permille, 0.5);
    tb_page_entry(page, "counts",
                  "the server's prompt count and ours differ in %s of %s, by "
                  "%.1f %% of the server's in the median and %.1f %% at most",
                  tb_grouped(stats->adjusted_count).text,
                  tb_counted(stats->usage_row_count, "row").text,
                  (double)median / 10,
                  (double)tb_series_percentile(permille, 1) / 10);
    put_who_leads(page, stats);
    bool is_rendered = stats->rendered_count * 2 > stats->row_count;
    if (is_rendered && median > RENDERED_WARN_PERMILLE)
        tb_page_entry(
            page, "warning",
            "with the chat template that should not be: the model "
            "recorded has another tokenizer or template, or what it was "
            "sent (tools, above all) is not in the trace");
    else if (!is_rendered && median > JOINED_WARN_PERMILLE)
        tb_page_entry(
            page, "warning",
            "that much means that our prompts are not what the server "
            "saw: tool schemas, tool calls and the chat template are not "
            "in the joined contents, or the model recorded has another "
            "tokenizer");
}

static void put_prompts(struct tb_page *page, const struct tb_stats *stats)
{
    uint64_t rendered = stats->rendered_count;
    uint64_t joined = stats->row_count - rendered;
    if (rendered > 0)
        tb_page_entry(page, "prompts", "%s by the tokenizer's chat template",
                      tb_counted(rendered, "row").text);
    if (joined > 0)
        tb_page_entry(page, rendered > 0 ? "" : "prompts",
                      stats->refused_count > 0
                          ? "%s of joined contents, which the template refuses"
                          : "%s of joined contents, without a chat template",
                      tb_counted(joined, "row").text);
    if (stats->unused_tools_count > 0 && rendered > 0)
        tb_page_entry(page, "warning",
                      "%s with tools, which the chat template never mentions",
                      tb_counted(stats->unused_tools_count, "row").text);
}

static void put_outputs(struct tb_page *page, const struct tb_stats *stats)
{
    uint64_t counted_count = stats->output_counted_count;
    uint64_t unknown_count = stats->output_unknown_count;
    if (counted_count > 0)
        tb_page_entry(page, "answers",
                      "%s not recorded, counted from the answer's text",
                      tb_counted(counted_count, "output length").text);
    if (unknown_count > 0)
        tb_page_entry(page, counted_count > 0 ? "" : "answers",
                      "%s not known, set to 1",
                      tb_counted(unknown_count, "output length").text);
}

static void put_calls(struct tb_page *page, const struct tb_stats *stats)
{
    uint64_t skipped = tb_stats_skipped(stats);
    tb_page_entry(page, "calls", "%s in all: %s, %s skipped",
                  tb_grouped(stats->call_count).text,
                  tb_counted(stats->row_count, "row").text,
                  skipped ? tb_grouped(skipped).text : "none");
    for (int skip = 0; skip < TB_SKIP_COUNT; skip++)
        if (stats->skipped[skip] > 0)
            tb_page_entry(page, "", "%s %s",
                          tb_grouped(stats->skipped[skip]).text,
                          tb_skip_text((tb_skip)skip));
    if (stats->failed_row_count > 0)
        tb_page_entry(page, "",
                      "%s of calls that never ended, with 1 token of "
                      "output",
                      tb_counted(stats->failed_row_count, "row").text);
    if (stats->retried_count > 0)
        tb_page_entry(page, "",
                      "%s that never ended %s made again with the same "
                      "prompt",
                      tb_counted(stats->retried_count, "call").text,
                      stats->retried_count == 1 ? "was" : "were");
    if (stats->overlap_count > 0)
        tb_page_entry(page, "", "%s began before an earlier one had ended",
                      tb_counted(stats->overlap_count, "call").text);
}

static void put_loss(struct tb_page *page, const char **label, uint64_t count,
                     const char *noun, const char *what)
{
    if (count == 0)
        return;
    tb_page_entry(page, *label, "%s %s", tb_counted(count, noun).text, what);
    *label = "";
}

static void put_losses(struct tb_page *page, const struct tb_stats *stats)
{
    const char *label = "lost";
    put_loss(page, &label, stats->lost_record_count, "unreadable record",
             "in the files");
    put_loss(page, &label, stats->cut_session_count, "unfinished session",
             "where a file ends or is broken");
    put_loss(page, &label, stats->uncounted_answer_count, "answer",
             "that cannot be encoded, so that its length is not known");
    put_loss(page, &label, stats->lone_surrogate_count, "half surrogate pair",
             "read as U+FFFD");
    put_loss(page, &label, stats->bad_utf8_count, "broken UTF-8 sequence",
             "read as U+FFFD");
    put_loss(page, &label, stats->image_count, "part",
             "without text (images), not in the prompts");
    label = "empty";
    put_loss(page, &label, stats->empty_session_count, "session",
             "without a record");
}

static void put_settings(struct tb_page *page, const struct tb_stats *stats)
{
    if (stats->tokenizer[0])
        tb_page_entry(page, "tokenizer", "%s", stats->tokenizer);
    if (stats->tokenizer_reason[0])
        tb_page_entry(page, "", "%s", stats->tokenizer_reason);
    bool is_built_in = strcmp(stats->tokenizer_origin, "built in") == 0;
    if (stats->tokenizer_origin[0] && !is_built_in &&
        strcmp(stats->tokenizer_origin, stats->tokenizer) != 0)
        tb_page_entry(page, "", "from %s", stats->tokenizer_origin);
    if (stats->block_size > 0)
        tb_page_entry(page, "block size", "%u tokens", stats->block_size);
}

/* What it took: most prompts repeat an earlier one. How much of that is noticed
 * depends on which worker got which prompt. */
static void put_work(struct tb_page *page, const struct tb_stats *stats)
{
    uint64_t reused = stats->reused_token_count;
    const char *label = "work";
    if (stats->seconds > 0) {
        tb_page_entry(page, label, "%s, %.1f MB, %.2f s",
                      tb_counted(stats->input_count, "input").text,
                      (double)stats->bytes_read / 1e6, stats->seconds);
        label = "";
    }
    if (stats->token_count == 0)
        return;
    tb_page_entry(page, label,
                  "%s prompt tokens: %s encoded, %.1f %% taken over from "
                  "earlier prompts",
                  tb_grouped(stats->token_count).text,
                  tb_grouped(stats->token_count - reused).text,
                  100 * (double)reused / (double)stats->token_count);
}

static void put_replay_note(struct tb_page *page, const struct tb_stats *stats)
{
    if (stats->branch_count > 0)
        tb_page_entry(
            page, "sessions",
            "%" PRIu64 " calls continue none before them (another agent, "
            "a retry, calls at the same time), or have nothing left to "
            "send: sessions of their own",
            stats->branch_count);
    if (stats->unknown_gap_count > 0)
        tb_page_entry(page, "delays", "%s not known, set to 0",
                      tb_counted(stats->unknown_gap_count, "gap").text);
    if (stats->early_count > 0)
        tb_page_entry(page, "timestamps",
                      "%s began before the first that was read, set to 0",
                      tb_counted(stats->early_count, "row").text);
    if (stats->is_endpoint_unknown)
        tb_page_entry(
            page, "note",
            "the tokenizer has no chat template, so what the server's "
            "template adds to each row is not taken off: it will count "
            "more than was recorded");
    bool has_turns = stats->row_count > stats->sessions.count;
    if (stats->rows == TB_ROWS_WHOLE && has_turns &&
        stats->consumer != TB_CONSUMER_DYNAMO)
        tb_page_entry(
            page, "note",
            "each row is a whole prompt; aiperf reads the rows of one "
            "session as increments, and these would arrive longer than "
            "recorded: for aiperf use %s",
            stats->consumer == TB_CONSUMER_AIPERF ? "--rows delta"
                                                  : "--for aiperf");
    if (stats->rows == TB_ROWS_MESSAGES)
        tb_page_entry(
            page, "note",
            "the messages of the prompts stand in the rows: take care "
            "who gets the file");
}

// `text` as a word of a shell.
static void put_word(struct tb_page *page, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=./:,@%";
    if (*text && text[strspn(text, plain)] == '\0') {
        tb_page_put(page, "%s", text);
        return;
    }
    tb_page_put(page, "'");
    for (; *text; text++)
        tb_page_put(page, *text == '\'' ? "'\\''" : "%c", *text);
    tb_page_put(page, "'");
}

static void put_aiperf_command(struct tb_page *page,
                               const struct tb_stats *stats)
{
    tb_page_put(page, "\naiperf profile --model MODEL --url URL \\\n");
    tb_page_put(page,
                "    --endpoint-type %s --streaming \\\n    --input-file ",
                stats->is_for_chat ? "chat" : "completions");
    put_word(page, stats->output_path);
    tb_page_put(page, " --custom-dataset-type mooncake_trace \\\n");
    tb_page_put(page,
                "    --isl-block-size %u --num-conversations %u --tokenizer ",
                stats->block_size, stats->sessions.count);
    put_word(page, stats->tokenizer);
    tb_page_put(page, "\n");
}

static void put_dynamo_command(struct tb_page *page,
                               const struct tb_stats *stats)
{
    tb_page_put(page, "\npython -m dynamo.replay ");
    put_word(page, stats->output_path);
    tb_page_put(page, " \\\n    --trace-format %s --trace-block-size %u\n",
                stats->rows == TB_ROWS_DELTA ? "mooncake-delta" : "mooncake",
                stats->block_size);
}

// The command that replays the rows, to be copied.
static void put_command(struct tb_page *page, const struct tb_stats *stats)
{
    bool has_file =
        stats->output_path[0] && strcmp(stats->output_path, "-") != 0;
    if (!has_file || stats->row_count == 0)
        return;
    if (stats->consumer == TB_CONSUMER_AIPERF)
        put_aiperf_command(page, stats);
    else if (stats->consumer == TB_CONSUMER_DYNAMO)
        put_dynamo_command(page, stats);
}

tb_status tb_summary_text(struct tb_stats *stats, unsigned width,
                          struct tb_buffer *buffer)
{
    struct tb_page page = {buffer, TB_OK};
    bool has_differences = stats->adjusted_count > 0;
    put_head(&page, stats);
    if (stats->row_count > 0) {
        put_table(&page, stats);
        put_histogram(&page, width, "input length", &stats->input);
        put_histogram(&page, width, "output length", &stats->output);
        put_groups(&page, "by agent", &stats->agents, stats->agent_groups,
                   has_differences);
        put_groups(&page, "by priority", &stats->priorities,
                   stats->priority_groups, has_differences);
        put_cache(&page, stats);
        put_cache_sizes(&page, width, stats);
        put_prompts(&page, stats);
        put_differences(&page, stats);
    }
    tb_page_put(&page, "\n");
    put_calls(&page, stats);
    put_outputs(&page, stats);
    put_losses(&page, stats);
    put_settings(&page, stats);
    put_replay_note(&page, stats);
    put_work(&page, stats);
    put_command(&page, stats);
    return page.status;
}
