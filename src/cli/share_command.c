/* tracebake share: rows that can be given away, and every text in them. */
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "meta_shared.h"
#include "row_command.h"
#include "row_share.h"
#include "stop_signal.h"
#include "text_census.h"
#include "text_page.h"

#define TEXT_MAX_LEN ((size_t)1 << 30)

struct arguments {
    struct tb_text_list files;
    const char *output, *salt_file;
    bool is_help;
    int argc;
    char *const *argv;
};

static const struct tb_option options[] = {
    {"Options", "output-file", TB_OPTION_TEXT, "FILE", NULL,
     "Where the rows go: whole, or not at all; to be given, since a name that "
     "is made of the input's would say what that one says. '-' is standard "
     "output; a name that ends in .gz or .zst is compressed. FILE.meta.json "
     "goes beside it.",
     offsetof(struct arguments, output), 0, 0},
    {NULL, "salt-file", TB_OPTION_TEXT, "FILE", NULL,
     "Make ids and names with the secret in FILE instead of numbering them, so "
     "that files that are shared apart with the same secret still fit "
     "together. For rows made with --ids content. Who has the secret can "
     "confirm a guess: keep it.",
     offsetof(struct arguments, salt_file), 0, 0},
    {NULL, "help", TB_OPTION_FLAG, NULL, NULL, "Show this page.",
     offsetof(struct arguments, is_help), 0, 0},
};

static const struct tb_option_table table = {
    .command = "share",
    .purpose = "make mooncake rows that can be given away",
    .usage = "share FILE --output-file FILE [--salt-file FILE]",
    .description =
        "Writes each row anew out of its lengths, ids, times and priority: "
        "sessions and agents are renamed, ids numbered anew, times count from "
        "the earliest, and whatever else is in a row is left out. The meta "
        "file keeps the block size, what a row holds, the tokenizer's "
        "fingerprint and counts. Rows that hold messages are refused. At the "
        "end every text that is left is listed: look at it.\n"
        "\n"
        "Lengths, times and shared blocks are what the file is for, and they "
        "say something too: how many people used which kind of agent when, "
        "which requests were alike, and, to somebody who has a prompt, that "
        "one of its length was sent. docs/FORMATS.md says more.\n"
        "\n"
        "The file is read twice: a pipe or compressed data is copied to a "
        "temporary file. '-' is standard input; gzip and zstd are read as they "
        "are.\n",
    .examples = "  tracebake share rows.jsonl --output-file shared.jsonl.gz\n"
                "  head -c 32 /dev/urandom > secret\n"
                "  tracebake share monday.jsonl --salt-file secret \\\n"
                "      --output-file 1.jsonl\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = offsetof(struct arguments, files),
    .operands_max = 1,
};

struct job {
    const struct arguments *arguments;
    struct tb_row_job rows;
    struct tb_row_share share;
    struct tb_keyed_hash secret;
    struct tb_meta_shared meta;
    struct tb_arena arena; // texts of the old meta file
    struct tb_text_census census;
};

/* ---- rows ------------------------------------------------------------- */

static tb_status read_meta(struct job *job, struct tb_error *error)
{
    const struct tb_meta_reading *meta = &job->rows.input.meta;
    const char *path = job->arguments->salt_file;
    if (meta->is_messages)
        return tb_fail(error, TB_ERR_VALUE,
                       "the rows hold messages, the text of prompts, which "
                       "cannot be shared");
    job->meta = (struct tb_meta_shared){.version = TB_VERSION,
                                        .has_rows = meta->has_prompt,
                                        .rows = meta->is_delta ? TB_ROWS_DELTA
                                                               : TB_ROWS_WHOLE,
                                        .block_size = meta->block_size};
    TB_TRY(tb_meta_shared_read(&job->meta, tb_buffer_span(&job->rows.old_meta),
                               &job->arena));
    if (!path)
        return TB_OK;
    if (!job->meta.has_content_ids)
        return tb_fail(error, TB_ERR_USAGE,
                       "--salt-file: ids of these rows count from 0 in each "
                       "file, so that equal ids of two files are not the same "
                       "blocks; convert with --ids content, or share without "
                       "it");
    TB_TRY(tb_row_output_spare(&job->rows.output, path, error));
    TB_TRY(tb_keyed_hash_read(path, &job->secret, error));
    job->share.secret = &job->secret;
    tb_meta_shared_set_secret(&job->meta, &job->secret);
    return TB_OK;
}

static tb_status look_at_all(struct job *job, struct tb_error *error)
{
    struct tb_row_input *input = &job->rows.input;
    for (;;) {
        TB_TRY(tb_row_input_next(input, error));
        if (!input->line.ptr)
            return TB_OK;
        TB_TRY(tb_row_share_look(&job->share, input, error));
    }
}

static tb_status write_all(struct job *job, struct tb_error *error)
{
    struct tb_row_input *input = &job->rows.input;
    struct tb_row_output *output = &job->rows.output;
    tb_row_input_rewind(input);
    for (;;) {
        size_t begin = output->text.len;
        TB_TRY(tb_row_input_next(input, error));
        if (!input->line.ptr)
            return TB_OK;
        TB_TRY(tb_row_share_add(&job->share, input, &output->text, error));
        // What was written, not what was meant.
        TB_TRY(tb_text_census_add(
            &job->census, tb_span_from(tb_buffer_span(&output->text), begin),
            error));
        TB_TRY(tb_row_output_flush(output, false, error));
    }
}

static tb_status commit(struct job *job, struct tb_error *error)
{
    struct tb_buffer text = TB_BUFFER(TEXT_MAX_LEN);
    job->meta.counts = job->share.counts;
    job->meta.counts.sessions =
        job->share.sessions.count + job->share.nameless_count;
    tb_status status = tb_meta_shared_json(&job->meta, &text);
    if (status == TB_OK)
        status = tb_text_census_add(&job->census, tb_buffer_span(&text), error);
    if (status == TB_OK)
        status = tb_row_output_commit(&job->rows.output, tb_buffer_span(&text),
                                      error);
    tb_buffer_release(&text);
    return status;
}

/* ---- what is left ----------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
    return tb_span_compare(*(const struct tb_span *)a,
                           *(const struct tb_span *)b);
}

// Is it a session's new name: s and digits, or s- and 16 hex digits?
static bool is_session_name(struct tb_span text)
{
    bool is_keyed = tb_span_starts_with(text, TB_SPAN("s-"));
    size_t from = is_keyed ? 2 : 1;
    const char *digits = is_keyed ? "0123456789abcdef" : "0123456789";
    if (text.len <= from || text.ptr[0] != 's' ||
        (is_keyed && text.len != from + 16))
        return false;
    for (size_t i = from; i < text.len; i++)
        if (!memchr(digits, text.ptr[i], strlen(digits)))
            return false;
    return true;
}

// One a line, in their order; sessions' names only counted.
static uint64_t put_texts(struct tb_page *page,
                          const struct tb_name_table *texts, bool has_sessions)
{
    uint64_t session_count = 0;
    if (texts->count > 0)
        qsort(texts->names, texts->count, sizeof(*texts->names), compare_texts);
    for (uint32_t i = 0; i < texts->count; i++) {
        struct tb_span text = texts->names[i];
        if (has_sessions && is_session_name(text)) {
            session_count++;
            continue;
        }
        for (size_t at = 0; at < text.len || at == 0; at += 512)
            tb_page_put(page, "%s%.*s", at == 0 ? "  " : "",
                        (int)(text.len - at < 512 ? text.len - at : 512),
                        (const char *)text.ptr + at);
        tb_page_put(page, "\n");
    }
    return session_count;
}

static tb_status tell(struct job *job, struct tb_error *error)
{
    struct tb_buffer text = TB_BUFFER(TEXT_MAX_LEN);
    struct tb_page page = {.buffer = &text};
    const char *path = job->rows.output_path;
    tb_page_put(&page, "all texts in %.900s and its meta file, to look at:\n",
                path);
    uint64_t sessions = put_texts(&page, &job->census.texts, true);
    tb_page_put(&page, "  and the names of %s, %s\n",
                tb_counted(sessions, "session").text,
                job->share.secret ? "each s- and 16 hex digits"
                                  : "each s and a number");
    tb_page_put(&page, "all names of fields:\n");
    (void)put_texts(&page, &job->census.keys, false);
    if (job->share.dropped_priority)
        tb_page_put(&page, "left out: %s of no known name\n",
                    tb_counted(job->share.dropped_priority, "priority").text);
    tb_page_put(&page, "\n%s of %s -> %.900s\n",
                tb_counted(job->meta.counts.rows, "row").text,
                tb_counted(job->meta.counts.sessions, "session").text, path);
    tb_status status = page.status;
    if (status == TB_OK)
        status = tb_row_job_tell(&job->rows, tb_buffer_span(&text), error);
    tb_buffer_release(&text);
    return status;
}

/* ---- the command ------------------------------------------------------ */

static tb_status run(struct job *job, struct tb_error *error)
{
    const struct arguments *arguments = job->arguments;
    TB_TRY(tb_row_job_open(&job->rows, arguments->files.items[0],
                           arguments->output, "", table.command,
                           arguments->argc, arguments->argv, error));
    TB_TRY(read_meta(job, error));
    TB_TRY(tb_row_input_keep(&job->rows.input, error));
    TB_TRY(look_at_all(job, error));
    TB_TRY(write_all(job, error));
    TB_TRY(commit(job, error));
    return tb_command_told(tell(job, error), error);
}

static int share(const void *typed)
{
    struct job job = {.arguments = typed};
    struct tb_error error = {0};
    tb_stop_signal_watch();
    tb_status status = run(&job, &error);
    tb_row_job_close(&job.rows);
    tb_row_share_release(&job.share);
    tb_text_census_release(&job.census);
    tb_arena_release(&job.arena);
    return tb_command_end(status, &error, "share", table.command);
}

static tb_status check(const void *typed, struct tb_error *error)
{
    const struct arguments *arguments = typed;
    if (arguments->files.count == 0)
        return tb_fail(error, TB_ERR_USAGE,
                       "no rows given; name a file, or - for standard input");
    if (!arguments->output)
        return tb_fail(error, TB_ERR_USAGE,
                       "no output given: --output-file FILE, a name that says "
                       "nothing");
    return TB_OK;
}

int tb_command_share(int argc, char *const *argv)
{
    struct arguments arguments = {.argc = argc, .argv = argv};
    return tb_command_run(&table, argc, argv, &arguments, check, share);
}
