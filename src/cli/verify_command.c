/* tracebake verify: was the replay the recorded load? */
#include <stdint.h>
#include <stdio.h>

#include "command.h"
#include "message.h"
#include "meta.h"
#include "option.h"
#include "stop_signal.h"
#include "verification.h"

#define REPORT_MAX_LEN ((size_t)1 << 26)
#define NOT_GIVEN UINT64_MAX

struct arguments {
    struct tb_text_list runs;
    const char *calls, *rows;
    uint64_t tolerance, late_ms; // NOT_GIVEN, or what was
    bool is_json, is_help;
};

static const struct tb_option options[] = {
    {"Options", "calls", TB_OPTION_TEXT, "FILE", NULL,
     "The calls, as a converter wrote them with --calls beside the rows that "
     "were replayed. Needed.",
     offsetof(struct arguments, calls), 0, 0},
    {NULL, "rows", TB_OPTION_TEXT, "FILE", "what the run's settings say",
     "The rows that were replayed; FILE.meta.json beside them tells what the "
     "run should have been told.",
     offsetof(struct arguments, rows), 0, 0},
    {NULL, "tolerance", TB_OPTION_NUMBER, "TOKENS",
     "0, for prompts of later turns 1",
     "How many tokens a prompt or an answer may differ by.",
     offsetof(struct arguments, tolerance), 0, UINT32_MAX},
    {NULL, "late", TB_OPTION_NUMBER, "MS", "any",
     "How many milliseconds later or earlier than recorded a turn may follow "
     "the answer before, and a session begin after the first.",
     offsetof(struct arguments, late_ms), 0, UINT32_MAX},
    {NULL, "json", TB_OPTION_FLAG, NULL, NULL,
     "One JSON object, on one line, with all figures and causes.",
     offsetof(struct arguments, is_json), 0, 0},
    {NULL, "help", TB_OPTION_FLAG, NULL, NULL, "Show this page.",
     offsetof(struct arguments, is_help), 0, 0},
};

static const struct tb_option_table table = {
    .command = "verify",
    .purpose = "was the replay the recorded load",
    .usage = "verify RUN --calls FILE [--tolerance TOKENS] [--late MS]",
    .description =
        "Compares what aiperf (0.13.0) sent with what was recorded, call by "
        "call: tokens of prompts and answers, gaps between turns, starts of "
        "sessions, what a prefix cache had. RUN is aiperf's artifact folder, "
        "or the "
        "profile_export.jsonl in it. Where they differ it says why, as far as "
        "the run tells, and what to change.\n"
        "\n"
        "Exit status: 0 when every call was made once, as recorded; 1 when "
        "not, or when something could not be read; 2 wrong usage.\n",
    .examples = "  tracebake nat trace.json --tokenizer Qwen/Qwen3-8B --for "
                "aiperf \\\n"
                "      --output-file rows.jsonl --calls calls.jsonl\n"
                "  aiperf profile ... --artifact-dir run\n"
                "  tracebake verify run --calls calls.jsonl --late 50\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = offsetof(struct arguments, runs),
    .operands_max = 1,
};

struct job {
    const struct arguments *arguments;
    struct tb_call_table calls;
    struct tb_replay_run run;
    struct tb_meta_reading meta;
    struct tb_replay_check check;
    struct tb_replay_causes causes;
};

static bool is_stopping(void *context)
{
    (void)context;
    return tb_stop_signal() != 0;
}

static const char *rows_path(const struct job *job)
{
    return job->arguments->rows ? job->arguments->rows : job->run.settings.rows;
}

static tb_replay_rows rows_kind(const struct tb_meta_reading *meta)
{
    if (meta->is_messages)
        return TB_REPLAY_ROWS_MESSAGES;
    if (!meta->has_prompt)
        return TB_REPLAY_ROWS_UNKNOWN;
    return meta->is_delta ? TB_REPLAY_ROWS_DELTA : TB_REPLAY_ROWS_WHOLE;
}

static tb_status read_all(struct job *job, struct tb_error *error)
{
    const struct arguments *arguments = job->arguments;
    TB_TRY(
        tb_call_table_read(&job->calls, arguments->calls, is_stopping, error));
    TB_TRY(tb_replay_run_read(&job->run, arguments->runs.items[0], is_stopping,
                              error));
    return rows_path(job)[0] ? tb_meta_read(rows_path(job), &job->meta, error)
                             : TB_OK;
}

static tb_status tell(struct job *job, const struct tb_replayed_rows *rows,
                      bool *is_good, struct tb_error *error)
{
    struct tb_buffer text = TB_BUFFER(REPORT_MAX_LEN);
    struct tb_verification verification = {
        .run_path = job->arguments->runs.items[0],
        .calls_path = job->arguments->calls,
        .rows_path = rows_path(job),
        .check = &job->check,
        .run = &job->run,
        .rows = rows,
        .causes = &job->causes,
    };
    *is_good = tb_verification_is_good(&verification);
    tb_status status = job->arguments->is_json
                           ? tb_verification_json(&verification, &text)
                           : tb_verification_text(&verification, &text);
    if (status == TB_OK)
        status = tb_message_text(tb_buffer_span(&text), false, error);
    tb_buffer_release(&text);
    return status;
}

static tb_status run(struct job *job, bool *is_good, struct tb_error *error)
{
    const struct arguments *arguments = job->arguments;
    TB_TRY(read_all(job, error));
    struct tb_replay_options checked = {
        .has_tolerance = arguments->tolerance != NOT_GIVEN,
        .tolerance = arguments->tolerance,
        .has_late = arguments->late_ms != NOT_GIVEN,
        .late_ms = arguments->late_ms,
        .rows = rows_kind(&job->meta),
    };
    struct tb_replayed_rows rows = {
        .is_known = job->meta.is_found,
        .kind = checked.rows,
        .block_size = job->meta.block_size,
        .row_count = job->meta.row_count,
        .tokenizer = job->meta.tokenizer,
    };
    TB_TRY(tb_replay_check_make(&job->calls, &job->run.requests, &checked,
                                &job->check));
    tb_replay_causes_find(&job->check, &job->run, &rows, &job->causes);
    return tell(job, &rows, is_good, error);
}

static int verify(const void *typed)
{
    const struct arguments *arguments = typed;
    struct job job = {.arguments = arguments};
    struct tb_error error = {0};
    bool is_good = false;
    tb_stop_signal_watch();
    tb_status status = run(&job, &is_good, &error);
    tb_replay_check_release(&job.check);
    tb_replay_run_release(&job.run);
    tb_call_table_release(&job.calls);
    if (status == TB_ERR_INTERRUPTED && tb_stop_signal())
        return TB_EXIT_SIGNAL + tb_stop_signal();
    if (status == TB_OK || status == TB_ERR_CLOSED)
        return is_good ? TB_EXIT_DONE : TB_EXIT_FAILED;
    if (error.status != status)
        tb_fail(&error, status, "cannot verify: %s", tb_status_name(status));
    tb_message_error(&error);
    return TB_EXIT_FAILED;
}

static tb_status check(const void *typed, struct tb_error *error)
{
    const struct arguments *arguments = typed;
    if (arguments->runs.count == 0)
        return tb_fail(error, TB_ERR_USAGE,
                       "no run given; name aiperf's artifact folder");
    if (!arguments->calls)
        return tb_fail(error, TB_ERR_USAGE,
                       "'--calls FILE' is needed: what a converter wrote with "
                       "--calls");
    return TB_OK;
}

int tb_command_verify(int argc, char *const *argv)
{
    struct arguments arguments = {.tolerance = NOT_GIVEN, .late_ms = NOT_GIVEN};
    return tb_command_run(&table, argc, argv, &arguments, check, verify);
}
