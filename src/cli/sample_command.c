/* tracebake sample: some of the sessions, with the mix of all. */
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "row_command.h"
#include "session_sample.h"
#include "stop_signal.h"
#include "text_page.h"
#include "trace_row.h"

enum {
    BLOCK_SIZE_MAX = 1 << 20, // tokens
    BLOCK_SIZE_DEFAULT = 512
};

struct arguments {
    struct tb_text_list files;
    const char *output;
    uint64_t sessions, max_tokens, seed, block_size;
    bool is_quiet, is_help;
    int argc;
    char *const *argv;
};

static const struct tb_option options[] = {
    {"Options", "sessions", TB_OPTION_NUMBER, "N", NULL,
     "How many sessions to keep.", offsetof(struct arguments, sessions), 1,
     UINT32_MAX},
    {NULL, "max-tokens", TB_OPTION_NUMBER, "N", NULL,
     "Keep as many sessions as have no more than N tokens together: all "
     "input_length and output_length of their rows.",
     offsetof(struct arguments, max_tokens), 1, UINT64_MAX},
    {NULL, "seed", TB_OPTION_NUMBER, "N", "0",
     "Another number gives another sample, the same one the same on every "
     "machine.",
     offsetof(struct arguments, seed), 0, UINT64_MAX},
    {NULL, "block-size", TB_OPTION_NUMBER, "N",
     "what FILE.meta.json says, or 512",
     "Tokens of a block: only for the share that a prefix cache would serve.",
     offsetof(struct arguments, block_size), 1, BLOCK_SIZE_MAX},
    {NULL, "output-file", TB_OPTION_TEXT, "FILE",
     "INPUT_sample.jsonl, INPUT without its extension",
     "Where the rows go: whole, or not at all. '-' is standard output; a name "
     "that ends in .gz or .zst is compressed. FILE.meta.json goes beside it.",
     offsetof(struct arguments, output), 0, 0},
    {NULL, "quiet", TB_OPTION_FLAG, NULL, NULL, "Only errors.",
     offsetof(struct arguments, is_quiet), 0, 0},
    {NULL, "help", TB_OPTION_FLAG, NULL, NULL, "Show this page.",
     offsetof(struct arguments, is_help), 0, 0},
};

static const struct tb_option_table table = {
    .command = "sample",
    .purpose = "keep some of the sessions of mooncake rows, with their mix",
    .usage = "sample FILE --sessions N | --max-tokens N [--seed N]",
    .description =
        "Reads mooncake JSONL, anybody's, and keeps whole sessions, their rows "
        "as they are written and in their order. Sessions that name another "
        "one as parent_session_id go with it and count as one. Sessions are "
        "put in order of their agents, rows and tokens, and one is drawn from "
        "each of as many equal parts as are wanted; what that left of the mix "
        "is told. The file is read twice: a pipe or compressed data is copied "
        "to a temporary file. Memory is that of analyze. '-' is standard "
        "input; gzip and zstd are read as they are.\n",
    .examples = "  tracebake sample rows.jsonl --sessions 100\n"
                "  tracebake sample rows.jsonl --max-tokens 5000000 --seed 7 "
                "\\\n"
                "      --output-file some.jsonl\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = offsetof(struct arguments, files),
    .operands_max = 1,
};

struct figures {
    struct tb_trace_analysis analysis;
    struct tb_meta_counts counts;
};

struct job {
    const struct arguments *arguments;
    struct tb_row_job rows;
    struct tb_session_sample sample;
    struct figures all, taken;
};

/* ---- rows ------------------------------------------------------------- */

static tb_status count_row(struct figures *figures,
                           const struct tb_row_input *input,
                           struct tb_error *error)
{
    struct tb_trace_row row;
    struct tb_error why;
    figures->counts.rows++;
    if (!tb_trace_row_read(&input->record, &row))
        return TB_OK;
    if (tb_trace_analysis_check(&figures->analysis, &row, &why) != TB_OK)
        return tb_row_input_fail(input, TB_ERR_LIMIT, error, "%s", why.message);
    figures->counts.input_tokens += row.input_length;
    figures->counts.output_tokens += row.output_length;
    tb_status status = tb_trace_analysis_add(&figures->analysis, &row);
    return status == TB_OK ? TB_OK
                           : tb_row_input_fail(input, status, error, "%s",
                                               tb_status_name(status));
}

static tb_status read_all(struct job *job, struct tb_error *error)
{
    struct tb_row_input *input = &job->rows.input;
    for (;;) {
        TB_TRY(tb_row_input_next(input, error));
        if (!input->line.ptr)
            break;
        TB_TRY(count_row(&job->all, input, error));
        tb_status status = tb_session_sample_add(&job->sample, &input->record);
        if (status != TB_OK)
            return tb_row_input_fail(input, status, error, "%s",
                                     tb_status_name(status));
    }
    job->all.counts.sessions = job->sample.count;
    return TB_OK;
}

static tb_status draw(struct job *job, struct tb_error *error)
{
    const struct arguments *arguments = job->arguments;
    uint32_t count = job->sample.count;
    if (arguments->sessions > count)
        return tb_fail(error, TB_ERR_USAGE,
                       "--sessions %llu: the rows have %u sessions",
                       (unsigned long long)arguments->sessions, count);
    if (arguments->sessions)
        tb_session_sample_draw(&job->sample, arguments->seed,
                               (uint32_t)arguments->sessions);
    else if (!tb_session_sample_draw_tokens(&job->sample, arguments->seed,
                                            arguments->max_tokens))
        return tb_fail(
            error, TB_ERR_USAGE,
            "--max-tokens %llu: the session drawn has more; one has %llu in "
            "the mean",
            (unsigned long long)arguments->max_tokens,
            (unsigned long long)((job->all.counts.input_tokens +
                                  job->all.counts.output_tokens) /
                                 count));
    return TB_OK;
}

static tb_status write_taken(struct job *job, struct tb_error *error)
{
    struct tb_row_input *input = &job->rows.input;
    struct tb_row_output *output = &job->rows.output;
    tb_row_input_rewind(input);
    for (;;) {
        TB_TRY(tb_row_input_next(input, error));
        if (!input->line.ptr)
            break;
        if (!tb_session_sample_takes(&job->sample, &input->record))
            continue;
        TB_TRY(count_row(&job->taken, input, error));
        tb_status status = tb_buffer_append(&output->text, input->line);
        if (status == TB_OK)
            status = tb_buffer_append_byte(&output->text, '\n');
        if (status != TB_OK)
            return tb_fail(error, status, "out of memory");
        TB_TRY(tb_row_output_flush(output, false, error));
    }
    job->taken.counts.sessions = job->sample.taken_count;
    return TB_OK;
}

/* ---- how far off it is ------------------------------------------------ */

static void put_line(struct tb_page *page, const char *label, double all,
                     double taken, const char *unit)
{
    tb_page_put(page, "%-34s %13s%s %13s%s\n", label, tb_grouped_real(all).text,
                unit, tb_grouped_real(taken).text, unit);
}

static void put_counts(struct tb_page *page, const char *label, uint64_t all,
                       uint64_t taken)
{
    tb_page_put(page, "%-34s %13s %14s\n", label, tb_grouped(all).text,
                tb_grouped(taken).text);
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static double served_percent(const struct tb_trace_analysis *analysis)
{
    double prompts = analysis->all.prompt.sum;
    return percent(prompts - analysis->all.fresh.sum, prompts);
}

static void put_agents(struct tb_page *page, const struct job *job)
{
    const struct tb_trace_analysis *all = &job->all.analysis;
    const struct tb_trace_analysis *taken = &job->taken.analysis;
    for (uint32_t i = 0; i < all->agents.count; i++) {
        char label[64];
        struct tb_span name = tb_name_table_name(&all->agents, i);
        uint32_t number = tb_name_table_find(&taken->agents, name);
        double rows = number == TB_NAME_NONE
                          ? 0
                          : (double)taken->agent_groups[number].row_count;
        (void)snprintf(label, sizeof(label), "rows of %.*s",
                       tb_span_shown(name, 25), (const char *)name.ptr);
        put_line(page, label,
                 percent((double)all->agent_groups[i].row_count,
                         (double)all->row_count),
                 percent(rows, (double)taken->row_count), "%");
    }
}

static void put_figures(struct tb_page *page, const struct job *job)
{
    const struct figures *all = &job->all, *taken = &job->taken;
    tb_page_put(page, "%-34s %13s %14s\n", "", "all", "sample");
    put_counts(page, "sessions", all->counts.sessions, taken->counts.sessions);
    put_counts(page, "rows", all->counts.rows, taken->counts.rows);
    put_counts(page, "tokens",
               all->counts.input_tokens + all->counts.output_tokens,
               taken->counts.input_tokens + taken->counts.output_tokens);
    put_line(page, "rows per session, mean",
             (double)all->counts.rows / (double)all->counts.sessions,
             (double)taken->counts.rows / (double)taken->counts.sessions, " ");
    put_line(page, "prompt tokens, mean",
             tb_tally_mean(&all->analysis.all.prompt),
             tb_tally_mean(&taken->analysis.all.prompt), " ");
    put_line(page, "output tokens, mean",
             tb_tally_mean(&all->analysis.all.output),
             tb_tally_mean(&taken->analysis.all.output), " ");
    put_line(page, "served by an infinite prefix cache",
             served_percent(&all->analysis), served_percent(&taken->analysis),
             "%");
    put_agents(page, job);
    tb_page_put(page, "\n%s of %s -> %s\n",
                tb_grouped(taken->counts.sessions).text,
                tb_counted(all->counts.sessions, "session").text,
                job->rows.output_path);
}

static tb_status tell(struct job *job, struct tb_error *error)
{
    struct tb_buffer text = TB_BUFFER((size_t)64 << 20);
    struct tb_page page = {.buffer = &text};
    if (job->arguments->is_quiet)
        return TB_OK;
    TB_TRY(tb_trace_analysis_finish(&job->all.analysis));
    TB_TRY(tb_trace_analysis_finish(&job->taken.analysis));
    put_figures(&page, job);
    tb_status status = page.status;
    if (status == TB_OK)
        status = tb_row_job_tell(&job->rows, tb_buffer_span(&text), error);
    tb_buffer_release(&text);
    return status;
}

/* ---- the command ------------------------------------------------------ */

static tb_status begin_figures(struct job *job)
{
    const struct tb_meta_reading *meta = &job->rows.input.meta;
    uint64_t given = job->arguments->block_size;
    uint32_t size = given              ? (uint32_t)given
                    : meta->block_size ? meta->block_size
                                       : BLOCK_SIZE_DEFAULT;
    bool is_delta = meta->has_prompt && meta->is_delta;
    TB_TRY(tb_trace_analysis_init(&job->all.analysis, size, is_delta, NULL, 0));
    return tb_trace_analysis_init(&job->taken.analysis, size, is_delta, NULL,
                                  0);
}

static tb_status run(struct job *job, struct tb_error *error)
{
    const struct arguments *arguments = job->arguments;
    TB_TRY(tb_row_job_open(&job->rows, arguments->files.items[0],
                           arguments->output, "_sample", table.command,
                           arguments->argc, arguments->argv, error));
    TB_TRY(tb_row_input_keep(&job->rows.input, error));
    TB_TRY(begin_figures(job));
    TB_TRY(read_all(job, error));
    TB_TRY(draw(job, error));
    TB_TRY(write_taken(job, error));
    struct tb_meta_change change = {.counts = &job->taken.counts};
    TB_TRY(tb_row_job_commit(&job->rows, &change, error));
    return tb_command_told(tell(job, error), error);
}

static int sample(const void *typed)
{
    struct job job = {.arguments = typed};
    struct tb_error error = {0};
    tb_stop_signal_watch();
    tb_status status = run(&job, &error);
    tb_row_job_close(&job.rows);
    tb_session_sample_release(&job.sample);
    tb_trace_analysis_release(&job.all.analysis);
    tb_trace_analysis_release(&job.taken.analysis);
    return tb_command_end(status, &error, "sample", table.command);
}

static tb_status check(const void *typed, struct tb_error *error)
{
    const struct arguments *arguments = typed;
    if (arguments->files.count == 0)
        return tb_fail(error, TB_ERR_USAGE,
                       "no rows given; name a file, or - for standard input");
    if (!arguments->sessions == !arguments->max_tokens)
        return tb_fail(error, TB_ERR_USAGE,
                       "how much to keep: --sessions N or --max-tokens N");
    return TB_OK;
}

int tb_command_sample(int argc, char *const *argv)
{
    struct arguments arguments = {.argc = argc, .argv = argv};
    return tb_command_run(&table, argc, argv, &arguments, check, sample);
}
