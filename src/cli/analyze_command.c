/* tracebake analyze: what load do these rows make, and what would a prefix
 * cache serve of it? */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis_page.h"
#include "block_size_range.h"
#include "call_line.h"
#include "command.h"
#include "line_file.h"
#include "message.h"
#include "meta.h"
#include "mooncake_reader.h"
#include "option.h"
#include "output.h"
#include "path.h"
#include "pool.h"
#include "stop_signal.h"
#include "trace_reader.h"

enum {
    BLOCK_SIZE_MAX = 1 << 20, // tokens
    BLOCK_SIZE_DEFAULT = 512,
    GUESS_ROWS = 1000, // that are read for it
    LOST_SHOWN = 5,    // no more than TB_TRACE_BATCH_REASONS
    THREADS_MAX = 1024
};

static_assert((int)LOST_SHOWN <= (int)TB_TRACE_BATCH_REASONS,
              "whose reasons are told");

#define REPORT_MAX_LEN ((size_t)1 << 30)

enum { ROWS_AUTO, ROWS_WHOLE, ROWS_DELTA };

struct arguments {
    struct tb_text_list files;
    uint64_t block_size, kv_bytes_per_token, threads;
    const char *block_sizes, *cache_blocks, *page, *calls;
    int rows, hit_rate;
    bool is_json, is_help;
};

static const struct tb_option options[] = {
    {"Options", "block-size", TB_OPTION_NUMBER, "N",
     "what FILE.meta.json says; else what fits the first rows",
     "Tokens of a block.", offsetof(struct arguments, block_size), 1,
     BLOCK_SIZE_MAX},
    {NULL, "rows", TB_OPTION_CHOICE, "auto|whole|delta", "auto",
     "What a row holds: the whole prompt, or what the turn adds to the prompt "
     "and answer before it in its session, so that figures are of the sums. "
     "auto takes what FILE.meta.json says, else whole.",
     offsetof(struct arguments, rows), 0, 0},
    {NULL, "block-sizes", TB_OPTION_TEXT, "N,N,..", NULL,
     "Tell for these block sizes too, multiples of the rows' own, what a "
     "prefix cache would serve.",
     offsetof(struct arguments, block_sizes), 0, 0},
    {NULL, "cache-blocks", TB_OPTION_TEXT, "N,N,..", NULL,
     "Tell for caches of so many blocks too, beside powers of two.",
     offsetof(struct arguments, cache_blocks), 0, 0},
    {NULL, "kv-bytes-per-token", TB_OPTION_NUMBER, "N", NULL,
     "Show cache sizes in GiB too. For one token: 2 x layers x KV heads x head "
     "size x bytes of a number; 131072 for Llama 3.1 8B in 16 bits.",
     offsetof(struct arguments, kv_bytes_per_token), 1, UINT32_MAX},
    {NULL, "hit-rate", TB_OPTION_CHOICE,
     "tokens|blocks|aiperf|any-block|reuse|all", NULL,
     "Show the share as other tools count it under the same name.",
     offsetof(struct arguments, hit_rate), 0, 0},
    {NULL, "calls", TB_OPTION_TEXT, "FILE", NULL,
     "The calls of the rows, as a converter wrote them with --calls beside "
     "them: tells their times, agents, models, what the server counted and "
     "cached, and which calls have no row.",
     offsetof(struct arguments, calls), 0, 0},
    {NULL, "report", TB_OPTION_TEXT, "FILE", NULL,
     "Write the figures as a page too: charts and tables in one HTML file that "
     "needs no network; '-' is standard output, in place of the text.",
     offsetof(struct arguments, page), 0, 0},
    {NULL, "json", TB_OPTION_FLAG, NULL, NULL,
     "One JSON object, on one line, with all figures.",
     offsetof(struct arguments, is_json), 0, 0},
    {NULL, "threads", TB_OPTION_NUMBER, "N", "as many as there are cores",
     "How many threads work. The figures do not depend on it.",
     offsetof(struct arguments, threads), 1, THREADS_MAX},
    {NULL, "help", TB_OPTION_FLAG, NULL, NULL, "Show this page.",
     offsetof(struct arguments, is_help), 0, 0},
};

static const struct tb_option_table table = {
    .command = "analyze",
    .purpose = "lengths, sessions and prefix cache of mooncake rows",
    .usage = "analyze FILE... [--block-size N] [--calls FILE] [--report FILE]",
    .description =
        "Reads mooncake JSONL, anybody's, and tells its lengths, sessions and "
        "times, and how much of its prompts a prefix cache serves: without "
        "limits, and exactly for every size of an LRU cache at once. Several "
        "files are one trace, one after the other. '-' is standard input; gzip "
        "and zstd are read as they are. docs/METRICS.md defines each figure.\n",
    .examples = "  tracebake analyze rows.jsonl --kv-bytes-per-token 131072\n"
                "  tracebake analyze mooncake_trace.jsonl --block-sizes "
                "1024,2048\n"
                "  tracebake analyze rows.jsonl --calls calls.jsonl "
                "--report figures.html\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = offsetof(struct arguments, files),
    .operands_max = SIZE_MAX,
};

struct job {
    const struct arguments *arguments;
    struct tb_output *page; // NULL: none is asked for
    struct tb_trace_analysis analysis;
    struct tb_call_analysis calls; // empty without --calls
    struct tb_analysis_report report;
    struct tb_trace_reader *reader;
    struct tb_mooncake_record record; // of the rows that are read to guess by
    struct tb_arena arena;            // of one of those
    struct tb_block_size_range range; // that fits all rows
    uint64_t block_sizes[TB_ANALYSIS_MAX_CHOSEN];
    size_t block_size_count;
    uint64_t cache_blocks[TB_ANALYSIS_MAX_CHOSEN];
};

static bool is_stopping(void *context)
{
    (void)context;
    return tb_stop_signal() != 0;
}

/* ---- rows ------------------------------------------------------------------
 */

// `error` is NULL when so many were lost before that nobody asks why.
static void lose_line(struct job *job, const char *path, struct tb_error *error)
{
    tb_error_set_path(error, path);
    if (job->report.lost_line_count++ < LOST_SHOWN && error)
        tb_message_error(error);
}

static tb_status add_row(struct job *job, uint64_t line,
                         const struct tb_trace_row *row)
{
    const struct tb_trace_analysis *analysis = &job->analysis;
    if (row->id_count > 0 && row->input_length > 0)
        tb_block_size_range_narrow(&job->range, row->input_length,
                                   row->id_count);
    TB_TRY(tb_trace_analysis_add(&job->analysis, row));
    if (!job->report.calls)
        return TB_OK;
    struct tb_call_row figures = {.input_length = row->input_length,
                                  .prompt_tokens = analysis->last_prompt_tokens,
                                  .served_tokens =
                                      analysis->last_prompt_tokens -
                                      analysis->last_fresh_tokens};
    return tb_call_analysis_add_row(&job->calls, line, &figures);
}

static tb_status check_and_add(struct job *job, const char *path,
                               const struct tb_trace_line *line)
{
    struct tb_error error;
    if (tb_trace_analysis_check(&job->analysis, &line->row, &error) == TB_OK)
        return add_row(job, line->number, &line->row);
    error.line = line->number;
    error.offset = line->offset;
    lose_line(job, path, &error);
    return TB_OK;
}

/* A line that is no row costs that line. */
static tb_status add_line(struct job *job, const char *path,
                          const struct tb_trace_line *line)
{
    if (line->kind == TB_TRACE_LINE_ROW)
        return check_and_add(job, path, line);
    if (line->kind == TB_TRACE_LINE_LOST)
        lose_line(job, path, line->error);
    else
        job->report.lengthless_count++;
    return TB_OK;
}

static tb_status read_file(struct job *job, const char *path,
                           struct tb_error *error)
{
    TB_TRY(tb_trace_reader_open(job->reader, path, is_stopping, NULL, error));
    for (;;) {
        const struct tb_trace_line *line;
        if (tb_stop_signal())
            return tb_fail(error, TB_ERR_INTERRUPTED, "stopped");
        TB_TRY(tb_trace_reader_next(job->reader, &line, error));
        if (!line)
            return TB_OK;
        tb_status status = add_line(job, path, line);
        if (status != TB_OK)
            return tb_fail(error, status, "cannot analyze: %s",
                           status == TB_ERR_LIMIT ? "too many blocks"
                                                  : "out of memory");
    }
}

/* ---- calls -----------------------------------------------------------------
 */

static tb_status on_call(void *context, struct tb_span line, uint64_t offset,
                         uint64_t number, struct tb_arena *arena,
                         struct tb_error *error)
{
    struct job *job = context;
    struct tb_call_line call;
    TB_TRY(tb_call_line_read(line, offset, number, arena, &call, error));
    struct tb_call_record record = tb_call_line_record(&call);
    return tb_call_analysis_add(&job->calls, &record);
}

static tb_status read_calls(struct job *job, struct tb_error *error)
{
    const char *path = job->arguments->calls;
    struct tb_line_losses losses = {0};
    if (!path)
        return TB_OK;
    job->report.calls = &job->calls;
    job->report.calls_path = path;
    TB_TRY(tb_line_file_read(path, on_call, job, is_stopping, &losses, error));
    job->report.lost_call_count = losses.count;
    if (losses.count > 0)
        tb_message_error(&losses.first);
    if (job->calls.call_count > 0)
        return TB_OK;
    tb_fail(error, TB_ERR_EMPTY, "no call in it; is it what --calls wrote?");
    tb_error_set_path(error, path);
    return TB_ERR_EMPTY;
}

/* ---- how to read them ------------------------------------------------------
 */

/* The block size that the first rows of a file fit: 512 if that is one, since
 * it is what most files have; 0 when there is none, or nothing to read. */
static tb_status guess_block_size(struct job *job, const char *path,
                                  uint64_t *guess)
{
    struct tb_mooncake_reader *reader = NULL;
    struct tb_block_size_range range = tb_block_size_range_all();
    struct tb_span line;
    bool has_rows = false;
    *guess = 0;
    // Only a file can be read twice; to open a pipe is to read it.
    if (strcmp(path, "-") == 0 || tb_path_file_len(path) == 0 ||
        tb_mooncake_reader_open(path, &reader, NULL) != TB_OK)
        return TB_OK;
    tb_status status = TB_OK;
    for (int i = 0; i < GUESS_ROWS && status == TB_OK; i++) {
        struct tb_trace_row row;
        if (tb_stop_signal() ||
            tb_mooncake_reader_next(reader, &line, NULL) != TB_OK || !line.ptr)
            break;
        tb_arena_reset(&job->arena);
        status = tb_mooncake_record_read(&job->record, line, 0, 1, &job->arena,
                                         NULL);
        if (status == TB_OK && tb_trace_row_read(&job->record, &row) &&
            row.id_count > 1 && row.input_length > 0 &&
            row.input_length <= TB_TRACE_LENGTH_MAX) {
            tb_block_size_range_narrow(&range, row.input_length, row.id_count);
            has_rows = true;
        }
        status = status == TB_ERR_MEMORY ? status : TB_OK;
    }
    tb_mooncake_reader_close(reader);
    bool is_default =
        range.min <= BLOCK_SIZE_DEFAULT && range.max >= BLOCK_SIZE_DEFAULT;
    if (has_rows)
        *guess =
            is_default ? BLOCK_SIZE_DEFAULT : tb_block_size_range_guess(&range);
    return status;
}

static tb_status choose_block_size(struct job *job,
                                   const struct tb_meta_reading *meta,
                                   uint32_t *block_size)
{
    uint64_t guess = 0;
    job->report.block_size_origin = "given";
    *block_size = (uint32_t)job->arguments->block_size;
    if (*block_size)
        return TB_OK;
    job->report.block_size_origin = "meta";
    *block_size = meta->block_size;
    if (*block_size)
        return TB_OK;
    TB_TRY(guess_block_size(job, job->report.path, &guess));
    bool is_guessed = guess > 0 && guess <= BLOCK_SIZE_MAX;
    job->report.block_size_origin = is_guessed ? "guess" : "default";
    *block_size = is_guessed ? (uint32_t)guess : BLOCK_SIZE_DEFAULT;
    return TB_OK;
}

static bool choose_rows(struct job *job, const struct tb_meta_reading *meta)
{
    int rows = job->arguments->rows;
    job->report.rows_origin = rows != ROWS_AUTO  ? "given"
                              : meta->has_prompt ? "meta"
                                                 : "default";
    return rows == ROWS_AUTO ? meta->has_prompt && meta->is_delta
                             : rows == ROWS_DELTA;
}

/* Numbers with commas between, each at least 1. */
static tb_status read_numbers(const char *option, const char *text,
                              uint64_t *numbers, size_t *count,
                              struct tb_error *error)
{
    for (*count = 0; text && *text; ++*count) {
        char *end;
        unsigned long long number = strtoull(text, &end, 10);
        bool is_number = text[0] >= '0' && text[0] <= '9' && number > 0 &&
                         (*end == '\0' || (*end == ',' && end[1]));
        if (!is_number)
            return tb_fail(error, TB_ERR_USAGE,
                           "--%s: expected numbers with commas between, found "
                           "'%s'",
                           option, text);
        if (*count == TB_ANALYSIS_MAX_CHOSEN)
            return tb_fail(error, TB_ERR_USAGE, "--%s takes up to %d numbers",
                           option, TB_ANALYSIS_MAX_CHOSEN);
        numbers[*count] = number;
        text = *end ? end + 1 : end;
    }
    return TB_OK;
}

static tb_status find_multiples(const struct job *job, uint32_t block_size,
                                uint32_t *multiples, struct tb_error *error)
{
    if (job->block_size_count >= TB_ANALYSIS_MAX_SIZES)
        return tb_fail(error, TB_ERR_USAGE,
                       "--block-sizes takes up to %d numbers",
                       TB_ANALYSIS_MAX_SIZES - 1);
    for (size_t i = 0; i < job->block_size_count; i++) {
        uint64_t size = job->block_sizes[i];
        if (size <= block_size || size % block_size || size > BLOCK_SIZE_MAX)
            return tb_fail(error, TB_ERR_USAGE,
                           "--block-sizes: %llu is no multiple of the rows' "
                           "block size %u, or above %d",
                           (unsigned long long)size, block_size,
                           BLOCK_SIZE_MAX);
        multiples[i] = (uint32_t)(size / block_size);
    }
    return TB_OK;
}

static tb_status read_lists(struct job *job, struct tb_error *error)
{
    TB_TRY(read_numbers("block-sizes", job->arguments->block_sizes,
                        job->block_sizes, &job->block_size_count, error));
    job->report.chosen_blocks = job->cache_blocks;
    return read_numbers("cache-blocks", job->arguments->cache_blocks,
                        job->cache_blocks, &job->report.chosen_count, error);
}

static tb_status prepare(struct job *job, struct tb_error *error)
{
    struct tb_meta_reading meta;
    uint32_t block_size, multiples[TB_ANALYSIS_MAX_SIZES];
    job->range = tb_block_size_range_all();
    TB_TRY(read_lists(job, error));
    TB_TRY(tb_meta_read(job->report.path, &meta, error));
    TB_TRY(choose_block_size(job, &meta, &block_size));
    TB_TRY(find_multiples(job, block_size, multiples, error));
    return tb_trace_analysis_init(&job->analysis, block_size,
                                  choose_rows(job, &meta), multiples,
                                  job->block_size_count);
}

/* ---- the answer ------------------------------------------------------------
 */

static tb_status finish(struct job *job)
{
    struct tb_analysis_report *report = &job->report;
    report->width = tb_message_picture_width();
    uint64_t guess = tb_block_size_range_guess(&job->range);
    report->block_size_guess = guess != job->analysis.block_len ? guess : 0;
    TB_TRY(tb_trace_analysis_finish(&job->analysis));
    return tb_call_analysis_finish(&job->calls);
}

static tb_status tell(struct job *job, struct tb_error *error)
{
    struct tb_buffer text = TB_BUFFER(REPORT_MAX_LEN);
    tb_status status = job->arguments->is_json
                           ? tb_analysis_json(&job->report, &text)
                           : tb_analysis_text(&job->report, &text);
    if (status == TB_OK)
        status = tb_message_text(tb_buffer_span(&text), false, error);
    tb_buffer_release(&text);
    return status;
}

/* ---- the page --------------------------------------------------------------
 */

static bool is_page_standard_output(const struct arguments *arguments)
{
    return arguments->page && strcmp(arguments->page, "-") == 0;
}

// Is it a file of rows, or the meta file beside it, by any name?
static bool is_of_rows(const char *path, const char *rows)
{
    char meta[TB_PATH_SIZE];
    return tb_output_is_same_file(rows, path) ||
           (tb_path_format(meta, sizeof(meta), "%s.meta.json", rows) &&
            tb_output_is_same_file(meta, path));
}

static tb_status open_page(struct job *job, struct tb_error *error)
{
    const struct arguments *arguments = job->arguments;
    const char *path = arguments->page;
    if (!path)
        return TB_OK;
    if (is_page_standard_output(arguments) && arguments->is_json)
        return tb_fail(error, TB_ERR_USAGE,
                       "--report - and --json would share standard output");
    for (size_t i = 0; i < arguments->files.count; i++)
        if (is_of_rows(path, arguments->files.items[i]))
            return tb_fail(error, TB_ERR_USAGE,
                           "--report '%s' would overwrite its rows", path);
    if (arguments->calls && tb_output_is_same_file(arguments->calls, path))
        return tb_fail(error, TB_ERR_USAGE,
                       "--report '%s' would overwrite its calls", path);
    TB_TRY(tb_output_open(path, &job->page, error));
    tb_output_on_signal(job->page, is_stopping, NULL);
    return TB_OK;
}

static tb_status write_page(struct job *job, struct tb_error *error)
{
    struct tb_buffer text = TB_BUFFER(REPORT_MAX_LEN);
    tb_status status = tb_analysis_page(&job->report, &text);
    if (status == TB_OK)
        status = tb_output_write(job->page, tb_buffer_span(&text), error);
    tb_buffer_release(&text);
    TB_TRY(status);
    return tb_output_prepare(job->page, error);
}

/* The page gets its name when the figures are told, too: who sees a failure
 * finds what was there before. */
static tb_status tell_and_commit(struct job *job, struct tb_error *error)
{
    tb_status told =
        is_page_standard_output(job->arguments) ? TB_OK : tell(job, error);
    bool is_good = told == TB_OK || told == TB_ERR_CLOSED;
    if (is_good && job->page)
        TB_TRY(tb_output_commit(job->page, error));
    return told;
}

static tb_status start_reader(struct job *job, struct tb_error *error)
{
    uint64_t threads = job->arguments->threads;
    tb_status status = tb_trace_reader_new(
        threads ? (unsigned)threads : tb_pool_core_count(), &job->reader);
    return status == TB_OK ? TB_OK
                           : tb_fail(error, status, "cannot start threads: %s",
                                     tb_status_name(status));
}

static tb_status run(struct job *job, struct tb_error *error)
{
    const struct tb_text_list *files = &job->arguments->files;
    TB_TRY(open_page(job, error));
    TB_TRY(prepare(job, error));
    TB_TRY(read_calls(job, error));
    TB_TRY(start_reader(job, error));
    for (size_t i = 0; i < files->count; i++)
        TB_TRY(read_file(job, files->items[i], error));
    if (job->analysis.row_count == 0) {
        tb_fail(error, TB_ERR_EMPTY, "no rows with lengths");
        tb_error_set_path(error, job->report.path);
        return TB_ERR_EMPTY;
    }
    TB_TRY(finish(job));
    if (job->page)
        TB_TRY(write_page(job, error));
    return tell_and_commit(job, error);
}

static int analyze(const void *typed)
{
    const struct arguments *arguments = typed;
    struct job job = {
        .arguments = arguments,
        .report = {.path = arguments->files.items[0],
                   .path_count = arguments->files.count,
                   .kv_bytes_per_token = arguments->kv_bytes_per_token,
                   .hit_rate = arguments->hit_rate,
                   .page = arguments->page}};
    struct tb_error error = {0};
    job.report.analysis = &job.analysis;
    tb_stop_signal_watch();
    tb_status status = run(&job, &error);
    tb_output_close(job.page);
    tb_trace_reader_free(job.reader);
    tb_trace_analysis_release(&job.analysis);
    tb_call_analysis_release(&job.calls);
    tb_mooncake_record_release(&job.record);
    tb_arena_release(&job.arena);
    return tb_command_end(status, &error, "analyze", table.command);
}

static tb_status check(const void *typed, struct tb_error *error)
{
    const struct arguments *arguments = typed;
    if (arguments->files.count == 0)
        return tb_fail(error, TB_ERR_USAGE,
                       "no rows given; name a file, or - for standard input");
    if (!arguments->calls)
        return TB_OK;
    if (arguments->files.count > 1)
        return tb_fail(error, TB_ERR_USAGE,
                       "--calls are those of one file of rows");
    if (strcmp(arguments->calls, "-") == 0 &&
        strcmp(arguments->files.items[0], "-") == 0)
        return tb_fail(error, TB_ERR_USAGE,
                       "rows and calls cannot both come from standard input");
    return TB_OK;
}

int tb_command_analyze(int argc, char *const *argv)
{
    struct arguments arguments = {.hit_rate = -1};
    return tb_command_run(&table, argc, argv, &arguments, check, analyze);
}
