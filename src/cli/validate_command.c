/* tracebake validate: would a load tester take these rows, and replay what was
 * recorded? */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "message.h"
#include "meta.h"
#include "mooncake_reader.h"
#include "option.h"
#include "stop_signal.h"
#include "validation.h"

enum {
    BLOCK_SIZE_MAX = 1 << 20, // tokens
    BLOCK_SIZE_DEFAULT = 512, // what all consumers take unless they are told
    SHOWN_DEFAULT = 5
};

#define REPORT_MAX_LEN ((size_t)1 << 30)

struct arguments {
    struct tb_text_list files;
    int consumer; // in the order of enum tb_mooncake_consumer
    uint64_t block_size, shown_max;
    bool is_json, is_help;
};

static const struct tb_option options[] = {
    {"Options", "for", TB_OPTION_CHOICE, "aiperf|mooncake|dynamo", "aiperf",
     "Who will replay the rows: aiperf 0.13.0 (mooncake_trace), a reader of "
     "the published form with whole prompts, or Dynamo's replay.",
     offsetof(struct arguments, consumer), 0, 0},
    {NULL, "block-size", TB_OPTION_NUMBER, "N",
     "what FILE.meta.json says, or 512",
     "Tokens of a block in the replay (aiperf: --isl-block-size; Dynamo: "
     "--trace-block-size).",
     offsetof(struct arguments, block_size), 1, BLOCK_SIZE_MAX},
    {NULL, "max-messages", TB_OPTION_NUMBER, "N", "5",
     "How many findings of one rule to show; all are counted.",
     offsetof(struct arguments, shown_max), 1, UINT32_MAX},
    {NULL, "json", TB_OPTION_FLAG, NULL, NULL,
     "One JSON object a file, on one line.",
     offsetof(struct arguments, is_json), 0, 0},
    {NULL, "help", TB_OPTION_FLAG, NULL, NULL, "Show this page.",
     offsetof(struct arguments, is_help), 0, 0},
};

static const struct tb_option_table table = {
    .command = "validate",
    .purpose = "would a load tester take these rows, and replay them as meant",
    .usage = "validate FILE... [--for CONSUMER] [--block-size N]",
    .description =
        "Reads mooncake JSONL, anybody's, and says which rules of the consumer "
        "it breaks, in which line, what the consumer will do then, and what to "
        "change. '-' is standard input; gzip and zstd are read as they are.\n"
        "\n"
        "Exit status: 0 when every file would be loaded, with warnings where "
        "it would replay something else than was recorded; 1 when a run would "
        "end; 2 wrong usage.\n",
    .examples = "  tracebake validate rows.jsonl --block-size 128\n"
                "  tracebake validate trace.jsonl.gz --for dynamo --json\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = offsetof(struct arguments, files),
    .operands_max = SIZE_MAX,
};

struct job {
    const struct arguments *arguments;
    tb_mooncake_consumer consumer;
    struct tb_buffer text; // to be printed: lines, or the findings' JSON
    tb_status status;      // of the first failure to write that down
    struct tb_error error; // why, when it was written and could not be
};

static void flush(struct job *job)
{
    if (job->status == TB_OK)
        job->status =
            tb_message_text(tb_buffer_span(&job->text), false, &job->error);
    tb_buffer_clear(&job->text);
}

static void show(void *context, const struct tb_finding *finding)
{
    struct job *job = context;
    if (job->status != TB_OK)
        return;
    if (!job->arguments->is_json) {
        job->status = tb_finding_text(finding, job->consumer, &job->text);
        flush(job);
        return;
    }
    if (job->text.len > 0)
        job->status = tb_buffer_append(&job->text, TB_SPAN(", "));
    if (job->status == TB_OK)
        job->status = tb_finding_json(finding, job->consumer, &job->text);
}

static bool is_stopping(void *context)
{
    (void)context;
    return tb_stop_signal() != 0;
}

static tb_status read_rows(const struct job *job,
                           struct tb_mooncake_reader *reader,
                           struct tb_validator *validator,
                           struct tb_error *error)
{
    while (job->status == TB_OK) {
        struct tb_span line;
        if (tb_stop_signal())
            return tb_fail(error, TB_ERR_INTERRUPTED, "stopped");
        TB_TRY(tb_mooncake_reader_next(reader, &line, error));
        if (!line.ptr)
            return TB_OK;
        if (tb_validator_add(validator, line, tb_mooncake_reader_offset(reader),
                             tb_mooncake_reader_line(reader)) != TB_OK)
            return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    }
    return job->status;
}

/* aiperf reads gzip by its first bytes; Dynamo, and many another, nothing that
 * is compressed. */
static void check_compression(const struct job *job,
                              struct tb_mooncake_reader *reader,
                              struct tb_validator *validator)
{
    struct tb_error error;
    tb_compression compression =
        tb_input_compression(tb_mooncake_reader_input(reader));
    bool is_gzip_read = job->consumer == TB_MOONCAKE_FOR_AIPERF;
    if (compression == TB_COMPRESSION_NONE ||
        (compression == TB_COMPRESSION_GZIP && is_gzip_read))
        return;
    tb_fail(&error, TB_ERR_UNSUPPORTED, "compressed with %s",
            compression == TB_COMPRESSION_GZIP ? "gzip" : "zstd");
    tb_validator_add_unreadable(validator, &error);
}

/* Is the file itself at fault, rather than the machine or the person? */
static bool is_finding(tb_status status)
{
    return status == TB_ERR_SYNTAX || status == TB_ERR_CUT ||
           status == TB_ERR_LIMIT;
}

static tb_status check_file(struct job *job, const char *path,
                            struct tb_validator *validator,
                            struct tb_error *error)
{
    struct tb_mooncake_reader *reader = NULL;
    TB_TRY(tb_mooncake_reader_open(path, &reader, error));
    tb_input_on_signal(tb_mooncake_reader_input(reader), is_stopping, NULL);
    if (job->consumer != TB_MOONCAKE_FOR_AIPERF)
        tb_mooncake_reader_set_plain(reader);
    tb_status status = read_rows(job, reader, validator, error);
    if (is_finding(status)) {
        tb_validator_add_unreadable(validator, error);
        status = TB_OK;
    }
    if (status == TB_OK) {
        check_compression(job, reader, validator);
        tb_validator_finish(validator);
    }
    tb_mooncake_reader_close(reader);
    return status;
}

static tb_status close_report(struct job *job,
                              const struct tb_validation *validation)
{
    if (!job->arguments->is_json) {
        TB_TRY(tb_validation_text(validation, job->arguments->shown_max,
                                  &job->text));
        flush(job);
        return job->status;
    }
    struct tb_buffer whole = TB_BUFFER(REPORT_MAX_LEN);
    tb_status status =
        tb_validation_json(validation, tb_buffer_span(&job->text), &whole);
    tb_buffer_clear(&job->text);
    if (status == TB_OK)
        status = tb_message_text(tb_buffer_span(&whole), false, &job->error);
    tb_buffer_release(&whole);
    return status;
}

static tb_status validate_file(struct job *job, const char *path, bool *is_good,
                               struct tb_error *error)
{
    const struct arguments *arguments = job->arguments;
    struct tb_meta_reading meta;
    struct tb_validator *validator = NULL;
    TB_TRY(tb_meta_read(path, &meta, error));
    uint64_t given = arguments->block_size;
    uint32_t found = meta.block_size ? meta.block_size : BLOCK_SIZE_DEFAULT;
    struct tb_validator_options checked = {
        .path = strcmp(path, "-") == 0 ? "standard input" : path,
        .consumer = job->consumer,
        .block_size = given ? (uint32_t)given : found,
        .made_block_size = meta.block_size,
        .rows = !meta.has_prompt ? TB_MEANING_UNKNOWN
                : meta.is_delta  ? TB_MEANING_DELTA
                                 : TB_MEANING_WHOLE,
        .shown_max = arguments->shown_max,
        .on_finding = show,
        .context = job,
    };
    tb_status status = tb_validator_new(&checked, &validator);
    if (status == TB_OK)
        status = check_file(job, path, validator, error);
    if (status == TB_OK && job->status == TB_OK) {
        struct tb_validation validation = {
            .path = checked.path,
            .consumer = job->consumer,
            .block_size = checked.block_size,
            .block_size_origin = given             ? "given"
                                 : meta.block_size ? "meta"
                                                   : "default",
            .counts = tb_validator_counts(validator),
        };
        *is_good &= validation.counts->fatal_count == 0;
        status = close_report(job, &validation);
    }
    tb_validator_free(validator);
    return status == TB_OK ? job->status : status;
}

static int validate(const void *typed)
{
    const struct arguments *arguments = typed;
    struct job job = {.arguments = arguments,
                      .consumer = (tb_mooncake_consumer)arguments->consumer,
                      .text = TB_BUFFER(REPORT_MAX_LEN)};
    struct tb_error error = {0};
    bool is_good = true;
    tb_status status = TB_OK;
    tb_stop_signal_watch();
    for (size_t i = 0; i < arguments->files.count && status == TB_OK; i++)
        status =
            validate_file(&job, arguments->files.items[i], &is_good, &error);
    tb_buffer_release(&job.text);
    if (status == TB_ERR_INTERRUPTED && tb_stop_signal())
        return TB_EXIT_SIGNAL + tb_stop_signal();
    if (status == TB_OK || status == TB_ERR_CLOSED)
        return is_good ? TB_EXIT_DONE : TB_EXIT_FAILED;
    if (job.error.status == status)
        error = job.error;
    if (error.status != status)
        tb_fail(&error, status, "cannot validate: %s", tb_status_name(status));
    tb_message_error(&error);
    return TB_EXIT_FAILED;
}

static tb_status check(const void *typed, struct tb_error *error)
{
    const struct arguments *arguments = typed;
    if (arguments->files.count == 0)
        return tb_fail(error, TB_ERR_USAGE,
                       "no rows given; name a file, or - for standard input");
    return TB_OK;
}

int tb_command_validate(int argc, char *const *argv)
{
    struct arguments arguments = {.shown_max = SHOWN_DEFAULT};
    return tb_command_run(&table, argc, argv, &arguments, check, validate);
}
