#include "summary.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    GROUPS_SHOWN = 10,
    NAME_SHOWN = 24, // bytes
    LABEL_WIDTH = 15,
    LINE_WIDTH = 79,
    // Above these our prompts are not what the server saw: joined contents,
    // and what a chat template gives.
    JOINED_WARN_PERMILLE = 100,
    RENDERED_WARN_PERMILLE = 20
};

// Remembers the first failure, so that lines follow each other like text.
struct page {
    struct tb_buffer *buffer;
    tb_status status;
};

struct figure {
    char text[28]; // 20 digits and their commas
};

TB_PRINTF(2, 3)
static void put(struct page *page, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (page->status == TB_OK)
        page->status = tb_buffer_append(page->buffer, tb_span_of(line));
}

static struct figure grouped(uint64_t value)
{
    char digits[24];
    int count = snprintf(digits, sizeof(digits), "%" PRIu64, value);
    struct figure figure;
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            figure.text[at++] = ',';
        figure.text[at++] = digits[i];
    }
    figure.text[at] = '\0';
    return figure;
}

static struct figure grouped_real(double value)
{
    if (value >= 1000)
        return grouped((uint64_t)(value + 0.5));
    struct figure figure;
    (void)snprintf(figure.text, sizeof(figure.text), "%.1f", value);
    return figure;
}

// A label and a sentence beside it, broken between words. An empty label
// continues what stands above. A word longer than a line stays whole.
TB_PRINTF(3, 4)
static void put_entry(struct page *page, const char *label, const char *format,
                      ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    put(page, "%-*s", LABEL_WIDTH, label);
    size_t column = LABEL_WIDTH;
    for (const char *word = text; *word;) {
        size_t len = strcspn(word, " ");
        if (column > LABEL_WIDTH && column + 1 + len > LINE_WIDTH) {
            put(page, "\n%*s", LABEL_WIDTH, "");
            column = LABEL_WIDTH;
        }
        put(page, "%s%.*s", column > LABEL_WIDTH ? " " : "", (int)len, word);
        column += len + (column > LABEL_WIDTH);
        word += len;
        word += *word == ' ';
    }
    put(page, "\n");
}

struct counted {
    char text[80];
};

// "1 call", "2,000 calls"
static struct counted counted(uint64_t count, const char *noun)
{
    struct counted result;
    (void)snprintf(result.text, sizeof(result.text), "%s %s%s",
                   grouped(count).text, noun, count == 1 ? "" : "s");
    return result;
}

static void put_head(struct page *page, const struct tb_stats *stats)
{
    put(page, "%s, %s", counted(stats->sessions.count, "session").text,
        counted(stats->row_count, "row").text);
    const char *output = stats->output_path;
    if (output[0])
        put(page, " -> %s",
            strcmp(output, "-") == 0 ? "standard output" : output);
    put(page, "\n");
    if (stats->seconds > 0)
        put(page, "%s, %.1f MB, %.2f s\n",
            counted(stats->input_count, "input").text,
            (double)stats->bytes_read / 1e6, stats->seconds);
}

static void put_series(struct page *page, const char *name,
                       struct tb_series *series)
{
    put(page, "%-18s", name);
    put(page, "%10s", grouped(tb_series_percentile(series, 0)).text);
    put(page, "%10s", grouped_real(tb_series_mean(series)).text);
    static const double fractions[] = {0.5, 0.9, 0.99, 1};
    for (size_t i = 0; i < 4; i++)
        put(page, "%10s",
            grouped(tb_series_percentile(series, fractions[i])).text);
    put(page, "\n");
}

static void put_table(struct page *page, struct tb_stats *stats)
{
    put(page, "\n%-18s%10s%10s%10s%10s%10s%10s\n", "", "min", "mean", "p50",
        "p90", "p99", "max");
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

// Names come from traces and may be long; a character is never cut in two.
static struct tb_span shortened(struct tb_span name)
{
    if (name.len <= NAME_SHOWN)
        return name;
    size_t len = NAME_SHOWN;
    while (len > 0 && (name.ptr[len] & 0xC0) == 0x80)
        len--;
    return (struct tb_span){name.ptr, len};
}

static void put_group(struct page *page, struct tb_span name,
                      struct tb_stats_group *group)
{
    struct tb_span shown = shortened(name);
    put(page, "  %.*s%*s", (int)shown.len, (const char *)shown.ptr,
        (int)(NAME_SHOWN - shown.len), "");
    put(page, "%10s", grouped(group->row_count).text);
    put(page, "%16s%14s", grouped(group->input_tokens).text,
        grouped(group->output_tokens).text);
    if (group->adjusted_count > 0)
        put(page, "%10.1f %%",
            (double)tb_series_percentile(&group->difference_permille, 0.5) /
                10);
    put(page, "\n");
}

static void put_groups(struct page *page, const char *title,
                       const struct tb_name_table *names,
                       struct tb_stats_group *groups, bool has_differences)
{
    if (names->count == 0)
        return;
    put(page, "\n%-26s%10s%16s%14s%s\n", title, "rows", "input tokens",
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
        put(page, "  and %s more\n", grouped(names->count - shown).text);
}

static void put_cache(struct page *page, const struct tb_stats *stats)
{
    put(page, "\n");
    put_entry(page, "prefix cache",
              "%.1f %% of all prompt tokens stand in blocks that an infinite "
              "prefix cache has already seen",
              100 * tb_stats_cached_share(stats));
    if (stats->cached_row_count == 0 || stats->cached_prompt_tokens == 0)
        return;
    put_entry(page, "", "the server took %.1f %% from its own cache (%s tell)",
              100 * (double)stats->cached_tokens /
                  (double)stats->cached_prompt_tokens,
              counted(stats->cached_row_count, "row").text);
}

static void put_who_leads(struct page *page, const struct tb_stats *stats)
{
    uint64_t led = stats->usage_led_count;
    if (led == stats->adjusted_count)
        put_entry(page, "", "input_length is the server's count");
    else if (led == 0)
        put_entry(page, "", "input_length is our count");
    else
        put_entry(page, "", "input_length is the server's count in %s of them",
                  grouped(led).text);
    if (stats->is_compat && led > 0)
        put_entry(page, "",
                  "hash_ids are of our count (--compat), so that such rows can "
                  "have too many or too few for input_length, and a replay may "
                  "refuse them");
}

static void put_differences(struct page *page, struct tb_stats *stats)
{
    if (stats->adjusted_count == 0)
        return;
    struct tb_series *permille = &stats->difference_permille;
    uint64_t median = tb_series_percentile(permille, 0.5);
    put_entry(page, "counts",
              "the server's prompt count and ours differ in %s of %s, by "
              "%.1f %% of the server's in the median and %.1f %% at most",
              grouped(stats->adjusted_count).text,
              counted(stats->usage_row_count, "row").text, (double)median / 10,
              (double)tb_series_percentile(permille, 1) / 10);
    put_who_leads(page, stats);
    bool is_rendered = stats->rendered_count * 2 > stats->row_count;
    if (is_rendered && median > RENDERED_WARN_PERMILLE)
        put_entry(page, "warning",
                  "with the chat template that should not be: the model "
                  "recorded has another tokenizer or template, or what it was "
                  "sent (tools, above all) is not in the trace");
    else if (!is_rendered && median > JOINED_WARN_PERMILLE)
        put_entry(page, "warning",
                  "that much means that our prompts are not what the server "
                  "saw: tool schemas, tool calls and the chat template are not "
                  "in the joined contents, or the model recorded has another "
                  "tokenizer");
}

static void put_prompts(struct page *page, const struct tb_stats *stats)
{
    uint64_t rendered = stats->rendered_count;
    uint64_t joined = stats->row_count - rendered;
    if (rendered > 0)
        put_entry(page, "prompts", "%s by the tokenizer's chat template",
                  counted(rendered, "row").text);
    if (joined > 0)
        put_entry(page, rendered > 0 ? "" : "prompts",
                  stats->refused_count > 0
                      ? "%s of joined contents, which the template refuses"
                      : "%s of joined contents, without a chat template",
                  counted(joined, "row").text);
    if (stats->unused_tools_count > 0 && rendered > 0)
        put_entry(page, "warning",
                  "%s with tools, which the chat template never mentions",
                  counted(stats->unused_tools_count, "row").text);
}

static void put_outputs(struct page *page, const struct tb_stats *stats)
{
    uint64_t counted_count = stats->output_counted_count;
    uint64_t unknown_count = stats->output_unknown_count;
    if (counted_count > 0)
        put_entry(page, "answers",
                  "%s not recorded, counted from the answer's text",
                  counted(counted_count, "output length").text);
    if (unknown_count > 0)
        put_entry(page, counted_count > 0 ? "" : "answers",
                  "%s not known, set to 1",
                  counted(unknown_count, "output length").text);
}

static void put_calls(struct page *page, const struct tb_stats *stats)
{
    uint64_t skipped = tb_stats_skipped(stats);
    put_entry(page, "calls", "%s in all: %s, %s skipped",
              grouped(stats->call_count).text,
              counted(stats->row_count, "row").text,
              skipped ? grouped(skipped).text : "none");
    for (int skip = 0; skip < TB_SKIP_COUNT; skip++)
        if (stats->skipped[skip] > 0)
            put_entry(page, "", "%s %s", grouped(stats->skipped[skip]).text,
                      tb_skip_text((tb_skip)skip));
    if (stats->failed_row_count > 0)
        put_entry(page, "",
                  "%s of calls that never ended, with 1 token of "
                  "output",
                  counted(stats->failed_row_count, "row").text);
    if (stats->retried_count > 0)
        put_entry(page, "",
                  "%s that never ended %s made again with the same "
                  "prompt",
                  counted(stats->retried_count, "call").text,
                  stats->retried_count == 1 ? "was" : "were");
    if (stats->overlap_count > 0)
        put_entry(page, "", "%s began before an earlier one had ended",
                  counted(stats->overlap_count, "call").text);
}

static void put_loss(struct page *page, const char **label, uint64_t count,
                     const char *noun, const char *what)
{
    if (count == 0)
        return;
    put_entry(page, *label, "%s %s", counted(count, noun).text, what);
    *label = "";
}

static void put_losses(struct page *page, const struct tb_stats *stats)
{
    const char *label = "lost";
    put_loss(page, &label, stats->lost_record_count, "unreadable record",
             "in the files");
    put_loss(page, &label, stats->cut_session_count, "unfinished session",
             "where a file ends");
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

static void put_settings(struct page *page, const struct tb_stats *stats)
{
    if (stats->tokenizer[0])
        put_entry(page, "tokenizer", "%s", stats->tokenizer);
    if (stats->tokenizer_reason[0])
        put_entry(page, "", "%s", stats->tokenizer_reason);
    bool is_built_in = strcmp(stats->tokenizer_origin, "built in") == 0;
    if (stats->tokenizer_origin[0] && !is_built_in &&
        strcmp(stats->tokenizer_origin, stats->tokenizer) != 0)
        put_entry(page, "", "from %s", stats->tokenizer_origin);
    if (stats->block_size > 0)
        put_entry(page, "block size", "%u tokens", stats->block_size);
}

static void put_replay_note(struct page *page, const struct tb_stats *stats)
{
    if (stats->branch_count > 0)
        put_entry(page, "sessions",
                  "%" PRIu64 " calls continue none before them (another agent, "
                  "a retry, calls at the same time), or have nothing left to "
                  "send: sessions of their own",
                  stats->branch_count);
    if (stats->unknown_gap_count > 0)
        put_entry(page, "delays", "%s not known, set to 0",
                  counted(stats->unknown_gap_count, "gap").text);
    if (stats->early_count > 0)
        put_entry(page, "timestamps",
                  "%s began before the first that was read, set to 0",
                  counted(stats->early_count, "row").text);
    if (stats->is_endpoint_unknown)
        put_entry(page, "note",
                  "the tokenizer has no chat template, so what the server's "
                  "template adds to each row is not taken off: it will count "
                  "more than was recorded");
    bool has_turns = stats->row_count > stats->sessions.count;
    if (stats->rows == TB_ROWS_WHOLE && has_turns &&
        stats->consumer != TB_CONSUMER_DYNAMO)
        put_entry(page, "note",
                  "each row is a whole prompt; aiperf reads the rows of one "
                  "session as increments, and these would arrive longer than "
                  "recorded: for aiperf use %s",
                  stats->consumer == TB_CONSUMER_AIPERF ? "--rows delta"
                                                        : "--for aiperf");
    if (stats->rows == TB_ROWS_MESSAGES)
        put_entry(page, "note",
                  "the messages of the prompts stand in the rows: take care "
                  "who gets the file");
}

// `text` as a word of a shell.
static void put_word(struct page *page, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=./:,@%";
    if (*text && text[strspn(text, plain)] == '\0') {
        put(page, "%s", text);
        return;
    }
    put(page, "'");
    for (; *text; text++)
        put(page, *text == '\'' ? "'\\''" : "%c", *text);
    put(page, "'");
}

static void put_aiperf_command(struct page *page, const struct tb_stats *stats)
{
    put(page, "\naiperf profile --model MODEL --url URL \\\n");
    put(page, "    --endpoint-type %s --streaming \\\n    --input-file ",
        stats->is_for_chat ? "chat" : "completions");
    put_word(page, stats->output_path);
    put(page, " --custom-dataset-type mooncake_trace \\\n");
    put(page, "    --isl-block-size %u --num-conversations %u --tokenizer ",
        stats->block_size, stats->sessions.count);
    put_word(page, stats->tokenizer);
    put(page, "\n");
}

static void put_dynamo_command(struct page *page, const struct tb_stats *stats)
{
    put(page, "\npython -m dynamo.replay ");
    put_word(page, stats->output_path);
    put(page, " \\\n    --trace-format %s --trace-block-size %u\n",
        stats->rows == TB_ROWS_DELTA ? "mooncake-delta" : "mooncake",
        stats->block_size);
}

// The command that replays the rows, to be copied.
static void put_command(struct page *page, const struct tb_stats *stats)
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

tb_status tb_summary_text(struct tb_stats *stats, struct tb_buffer *buffer)
{
    struct page page = {buffer, TB_OK};
    bool has_differences = stats->adjusted_count > 0;
    put_head(&page, stats);
    if (stats->row_count > 0) {
        put_table(&page, stats);
        put_groups(&page, "by agent", &stats->agents, stats->agent_groups,
                   has_differences);
        put_groups(&page, "by priority", &stats->priorities,
                   stats->priority_groups, has_differences);
        put_cache(&page, stats);
        put_prompts(&page, stats);
        put_differences(&page, stats);
    }
    put(&page, "\n");
    put_calls(&page, stats);
    put_outputs(&page, stats);
    put_losses(&page, stats);
    put_settings(&page, stats);
    put_replay_note(&page, stats);
    put_command(&page, stats);
    return page.status;
}
