/* tracebake rewrite: rows in another consumer's form, without their trace. */
#include <string.h>

#include "call_input.h"
#include "convert_options.h"
#include "message.h"
#include "row_command.h"
#include "row_rewrite.h"
#include "stop_signal.h"
#include "text_page.h"

struct arguments {
    struct tb_text_list files;
    const char *output, *calls, *max_delay, *speedup;
    int consumer, endpoint;
    bool is_quiet, is_help;
    int argc;
    char *const *argv;
};

static const struct tb_option options[] = {
    {"Options", "for", TB_OPTION_CHOICE, "mooncake|aiperf|dynamo", NULL,
     "Who is to replay the rows; the converters' --for says what each wants.",
     offsetof(struct arguments, consumer), 0, 0},
    {NULL, "calls", TB_OPTION_TEXT, "FILE", NULL,
     "The calls that the converter wrote beside the rows with --calls: rows do "
     "not say when calls began and ended, or which goes on which.",
     offsetof(struct arguments, calls), 0, 0},
    {NULL, "endpoint", TB_OPTION_CHOICE, "completions|chat",
     "completions, for aiperf chat",
     "What the replay will call. Rows for a chat endpoint need the model's "
     "template, which rows do not have: only with the tokenizer 'builtin', "
     "which has none.",
     offsetof(struct arguments, endpoint), 0, 0},
    {NULL, "max-delay", TB_OPTION_TEXT, "MS", "none",
     "No recorded gap is longer than MS milliseconds. Gaps and times are made "
     "of the calls: what the rows were converted with is to be given again.",
     offsetof(struct arguments, max_delay), 0, 0},
    {NULL, "speedup", TB_OPTION_TEXT, "X", "1",
     "Divide recorded gaps, after --max-delay, and timestamps by X.",
     offsetof(struct arguments, speedup), 0, 0},
    {NULL, "output-file", TB_OPTION_TEXT, "FILE",
     "INPUT_rewrite.jsonl, INPUT without its extension",
     "Where the rows go: whole, or not at all. '-' is standard output; a name "
     "that ends in .gz or .zst is compressed. FILE.meta.json goes beside it.",
     offsetof(struct arguments, output), 0, 0},
    {NULL, "quiet", TB_OPTION_FLAG, NULL, NULL, "Only errors.",
     offsetof(struct arguments, is_quiet), 0, 0},
    {NULL, "help", TB_OPTION_FLAG, NULL, NULL, "Show this page.",
     offsetof(struct arguments, is_help), 0, 0},
};

static const struct tb_option_table table = {
    .command = "rewrite",
    .purpose = "give rows of a conversion another consumer's form",
    .usage = "rewrite ROWS --for CONSUMER --calls FILE",
    .description =
        "Makes of rows, their FILE.meta.json and their calls what the "
        "conversion writes with --for CONSUMER, byte for byte, without the "
        "trace and its tokenizer. Whole prompts become increments, or lose "
        "what another consumer had; increments get the fields that another "
        "consumer wants. What these files do not carry is refused: rows of "
        "messages or with --compat or --ids content, whole prompts of "
        "increments, a chat endpoint's template, and the rare increment of "
        "which they do not say whether it is the same as another one.\n"
        "\n"
        "The calls are read twice: a pipe or compressed data is copied to a "
        "temporary file. Memory grows with the blocks of first turns (24 bytes "
        "each) and the ids of all others.\n",
    .examples = "  tracebake nat trace.json --tokenizer builtin --calls "
                "calls.jsonl \\\n"
                "      --output-file rows.jsonl\n"
                "  tracebake rewrite rows.jsonl --calls calls.jsonl --for "
                "dynamo\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = offsetof(struct arguments, files),
    .operands_max = 1,
};

struct job {
    const struct arguments *arguments;
    struct tb_row_job rows;
    struct tb_call_input calls;
    struct tb_rewrite_options options;
    struct tb_row_rewrite *rewrite;
};

/* ---- what is wanted, and what is there -------------------------------- */

// What the converters' --for sets, by their own table.
static tb_status choose_form(const struct arguments *arguments,
                             struct tb_row_form *form, struct tb_error *error)
{
    struct tb_convert_arguments wanted = tb_convert_arguments_none();
    struct tb_convert_options convert = {0};
    wanted.consumer = arguments->consumer;
    wanted.endpoint = arguments->endpoint;
    wanted.max_delay = arguments->max_delay;
    wanted.speedup = arguments->speedup;
    if (arguments->consumer == TB_CONSUMER_ANY &&
        (arguments->max_delay || arguments->speedup))
        return tb_fail(error, TB_ERR_USAGE,
                       "rows for mooncake have no gaps and times that "
                       "'--max-delay' and '--speedup' could change");
    TB_TRY(tb_convert_arguments_apply(&wanted, &convert, error));
    *form = convert.form;
    return TB_OK;
}

static tb_status open_files(struct job *job, struct tb_error *error)
{
    const struct arguments *arguments = job->arguments;
    struct tb_row_form form;
    TB_TRY(tb_row_job_open(&job->rows, arguments->files.items[0],
                           arguments->output, "_rewrite", table.command,
                           arguments->argc, arguments->argv, error));
    TB_TRY(choose_form(arguments, &form, error));
    TB_TRY(tb_rewrite_options_choose(&job->rows.input.meta, &form,
                                     &job->options, error));
    TB_TRY(tb_row_output_spare(&job->rows.output, arguments->calls, error));
    TB_TRY(tb_call_input_open(&job->calls, arguments->calls, error));
    tb_input_on_signal(job->calls.input, tb_row_command_stop().is_stopping,
                       NULL);
    if (tb_row_rewrite_new(&job->options, &job->rewrite) != TB_OK)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    return TB_OK;
}

/* ---- rows ------------------------------------------------------------- */

static tb_status look_at_calls(struct job *job, struct tb_error *error)
{
    for (;;) {
        TB_TRY(tb_call_input_next(&job->calls, error));
        if (!job->calls.has_call)
            break;
        if (tb_row_rewrite_look(job->rewrite, &job->calls.call) != TB_OK)
            return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    }
    tb_call_input_rewind(&job->calls);
    return TB_OK;
}

// The call of the next row; those without a row are stepped over.
static tb_status next_call(struct job *job, struct tb_error *error)
{
    do
        TB_TRY(tb_call_input_next(&job->calls, error));
    while (job->calls.has_call && !job->calls.call.has_row);
    return TB_OK;
}

static tb_status write_rows(struct job *job, struct tb_error *error)
{
    struct tb_row_input *input = &job->rows.input;
    struct tb_row_output *output = &job->rows.output;
    for (;;) {
        TB_TRY(tb_row_input_next(input, error));
        TB_TRY(next_call(job, error));
        if (!input->line.ptr && !job->calls.has_call)
            return TB_OK;
        if (!input->line.ptr || !job->calls.has_call)
            return tb_fail(error, TB_ERR_VALUE,
                           "the calls are those of other rows: there are %s",
                           input->line.ptr ? "fewer" : "more");
        TB_TRY(tb_row_rewrite_add(job->rewrite, input, &job->calls.call,
                                  &output->text, error));
        TB_TRY(tb_row_output_flush(output, false, error));
    }
}

static tb_status commit(struct job *job, struct tb_error *error)
{
    struct tb_meta_counts counts = tb_row_rewrite_counts(job->rewrite);
    struct tb_meta_change change = {.has_rows = true,
                                    .rows = job->options.form.rows,
                                    .counts = &counts,
                                    .keeps_losses = true};
    return tb_row_job_commit(&job->rows, &change, error);
}

static tb_status tell(const struct job *job, struct tb_error *error)
{
    struct tb_meta_counts counts = tb_row_rewrite_counts(job->rewrite);
    struct tb_buffer text = TB_BUFFER(1 << 16);
    struct tb_page page = {.buffer = &text};
    if (job->arguments->is_quiet)
        return TB_OK;
    tb_page_put(
        &page, "%s of %s -> %.900s\n", tb_counted(counts.rows, "row").text,
        tb_counted(counts.sessions, "session").text, job->rows.output_path);
    tb_status status = page.status;
    if (status == TB_OK)
        status = tb_row_job_tell(&job->rows, tb_buffer_span(&text), error);
    tb_buffer_release(&text);
    return status;
}

static tb_status run(struct job *job, struct tb_error *error)
{
    TB_TRY(open_files(job, error));
    TB_TRY(look_at_calls(job, error));
    TB_TRY(write_rows(job, error));
    TB_TRY(commit(job, error));
    return tb_command_told(tell(job, error), error);
}

static int rewrite(const void *typed)
{
    struct job job = {.arguments = typed};
    struct tb_error error = {0};
    tb_stop_signal_watch();
    tb_status status = run(&job, &error);
    tb_row_job_close(&job.rows);
    tb_call_input_close(&job.calls);
    tb_row_rewrite_free(job.rewrite);
    return tb_command_end(status, &error, "rewrite", table.command);
}

static tb_status check(const void *typed, struct tb_error *error)
{
    const struct arguments *arguments = typed;
    if (arguments->files.count == 0)
        return tb_fail(error, TB_ERR_USAGE,
                       "no rows given; name a file that a converter wrote");
    if (arguments->consumer == TB_ARG_UNSET)
        return tb_fail(error, TB_ERR_USAGE,
                       "for whom: --for mooncake, aiperf or dynamo");
    if (!arguments->calls)
        return tb_fail(error, TB_ERR_USAGE,
                       "no calls given: convert with --calls FILE, and name "
                       "that file here");
    return TB_OK;
}

int tb_command_rewrite(int argc, char *const *argv)
{
    struct arguments arguments = {.argc = argc,
                                  .argv = argv,
                                  .consumer = TB_ARG_UNSET,
                                  .endpoint = TB_ARG_UNSET};
    return tb_command_run(&table, argc, argv, &arguments, check, rewrite);
}
