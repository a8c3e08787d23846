/* tracebake merge: rows that were converted apart, as those of one run. */
#include <string.h>

#include "command_text.h"
#include "message.h"
#include "path_list.h"
#include "row_command.h"
#include "row_merge.h"
#include "stop_signal.h"
#include "temp_file.h"

#define MEMORY_MIN ((uint64_t)1 << 20)
#define MEMORY_DEFAULT ((uint64_t)1 << 30)

struct arguments {
    struct tb_text_list files;
    const char *files_from;
    const char *output;
    uint64_t max_memory;
    bool is_quiet, is_help;
    int argc;
    char *const *argv;
};

static const struct tb_option options[] = {
    {"Options", "output-file", TB_OPTION_TEXT, "FILE", NULL,
     "Where the rows go: whole, or not at all. '-' is standard output; a name "
     "that ends in .gz or .zst is compressed. FILE.meta.json goes beside it.",
     offsetof(struct arguments, output), 0, 0},
    {NULL, "files-from", TB_OPTION_TEXT, "LIST", NULL,
     "Read more names of files from the file LIST, one a line; '-' is standard "
     "input.",
     offsetof(struct arguments, files_from), 0, 0},
    {NULL, "max-memory", TB_OPTION_SIZE, "SIZE", "1G",
     "Memory for numbering blocks, in bytes (or K, M, G of them). When there "
     "are more blocks than fit, temporary files beside the output are taken "
     "too. The longest row of each file that is open comes on top.",
     offsetof(struct arguments, max_memory), MEMORY_MIN, SIZE_MAX / 2},
    {NULL, "quiet", TB_OPTION_FLAG, NULL, NULL, "Only errors.",
     offsetof(struct arguments, is_quiet), 0, 0},
    {NULL, "help", TB_OPTION_FLAG, NULL, NULL, "Show this page.",
     offsetof(struct arguments, is_help), 0, 0},
};

static const struct tb_option_table table = {
    .command = "merge",
    .purpose = "make rows that were converted apart those of one run",
    .usage = "merge FILE... --output-file FILE [--max-memory SIZE]",
    .description =
        "Reads rows that were converted with --ids content, and the meta file "
        "beside each, and writes them as one run over all traces would: ids "
        "are numbers from 0 by first appearance, timestamps count from the "
        "first call. Sessions stand in the order of their names, conv_9 before "
        "conv_10, telemetry's as it is sorted, as far as each file has them "
        "so; "
        "in which order the files are named makes no difference.\n\n"
        "Refused are files that were made with another tokenizer, block size, "
        "secret or other options than the first, and a session that comes "
        "twice. The files are read twice, so none can be a pipe; gzip and zstd "
        "are read as they are.\n",
    .examples =
        "  tracebake nat part1.json --ids content --output-file part1.jsonl\n"
        "  tracebake nat part2.json --ids content --output-file part2.jsonl\n"
        "  tracebake merge part1.jsonl part2.jsonl --output-file rows.jsonl\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = offsetof(struct arguments, files),
    .operands_max = SIZE_MAX,
};

struct job {
    struct tb_row_merge merge;
    struct tb_row_output output;
    struct tb_text_list files;
    struct tb_arena arena;   // names that a file lists
    struct tb_buffer folder; // of the output
    struct tb_buffer command;
};

#define TEXT_MAX_LEN ((size_t)32 << 20)

static tb_status list_files(struct job *job, const struct arguments *arguments,
                            struct tb_error *error)
{
    for (size_t i = 0; i < arguments->files.count; i++)
        if (tb_text_list_add(&job->files, arguments->files.items[i]) != TB_OK)
            return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    if (!arguments->files_from)
        return TB_OK;
    return tb_path_list_read(arguments->files_from, &job->arena, &job->files,
                             error);
}

// Beside the output, where there is room for it.
static tb_status choose_folder(struct job *job, const char *output)
{
    size_t len = tb_path_folder_len(output);
    if (tb_output_is_stream(job->output.rows))
        return TB_OK;
    TB_TRY(tb_buffer_append(&job->folder,
                            len ? (struct tb_span){(const uint8_t *)output, len}
                                : TB_SPAN(".")));
    return tb_buffer_append_byte(&job->folder, 0);
}

static tb_status open_job(struct job *job, const struct arguments *arguments,
                          struct tb_error *error)
{
    TB_TRY(list_files(job, arguments, error));
    job->merge = (struct tb_row_merge){
        .paths = job->files.items,
        .count = job->files.count,
        .memory = (size_t)arguments->max_memory,
        .stop = tb_row_command_stop(),
    };
    TB_TRY(tb_row_output_open(&job->output, arguments->output, job->merge.stop,
                              error));
    for (size_t i = 0; i < job->files.count; i++)
        TB_TRY(tb_row_output_spare(&job->output, job->files.items[i], error));
    if (arguments->files_from)
        TB_TRY(tb_row_output_spare(&job->output, arguments->files_from, error));
    tb_status status = choose_folder(job, arguments->output);
    if (status == TB_OK)
        status = tb_command_text(&job->command, table.command, arguments->argc,
                                 arguments->argv);
    if (status != TB_OK)
        return tb_fail(error, status, "out of memory");
    if (job->folder.len > 0)
        job->merge.folder = (const char *)job->folder.ptr;
    return tb_row_merge_open(&job->merge, error);
}

static tb_status commit(struct job *job, struct tb_error *error)
{
    struct tb_buffer meta = TB_BUFFER(SIZE_MAX / 2);
    const struct tb_meta_merge_result result = {
        .version = TB_VERSION,
        .command = (const char *)job->command.ptr,
        .order = job->merge.order,
    };
    tb_status status = tb_meta_merge_json(&job->merge.metas, &result, &meta);
    if (status == TB_OK)
        status =
            tb_row_output_commit(&job->output, tb_buffer_span(&meta), error);
    tb_buffer_release(&meta);
    return status;
}

static tb_status tell(const struct arguments *arguments, const struct job *job,
                      struct tb_error *error)
{
    struct tb_buffer text = TB_BUFFER(1 << 16);
    const struct tb_row_merge *merge = &job->merge;
    if (arguments->is_quiet)
        return TB_OK;
    tb_status status =
        tb_buffer_printf(&text, "%zu %s, %llu rows, %llu blocks%s -> %s\n",
                         merge->count, merge->count == 1 ? "file" : "files",
                         (unsigned long long)merge->row_count,
                         (unsigned long long)merge->block_count,
                         merge->part_count > 1 ? " (sorted on the disk)" : "",
                         arguments->output);
    if (status == TB_OK)
        status = tb_message_text(tb_buffer_span(&text),
                                 tb_output_is_stream(job->output.rows), error);
    tb_buffer_release(&text);
    return status;
}

static tb_status run(const struct arguments *arguments, struct job *job,
                     struct tb_error *error)
{
    TB_TRY(open_job(job, arguments, error));
    TB_TRY(tb_row_merge_write(&job->merge, &job->output, error));
    TB_TRY(commit(job, error));
    return tb_command_told(tell(arguments, job, error), error);
}

static int merge_rows(const void *typed)
{
    struct job job = {.folder = TB_BUFFER(TEXT_MAX_LEN),
                      .command = TB_BUFFER(TEXT_MAX_LEN)};
    struct tb_error error = {0};
    tb_stop_signal_watch();
    tb_status status = run(typed, &job, &error);
    tb_row_merge_close(&job.merge);
    tb_row_output_close(&job.output);
    tb_text_list_release(&job.files);
    tb_arena_release(&job.arena);
    tb_buffer_release(&job.folder);
    tb_buffer_release(&job.command);
    return tb_command_end(status, &error, "merge", table.command);
}

static tb_status check(const void *typed, struct tb_error *error)
{
    const struct arguments *arguments = typed;
    if (arguments->files.count == 0 && !arguments->files_from)
        return tb_fail(error, TB_ERR_USAGE,
                       "no rows given; name the files to merge");
    if (!arguments->output)
        return tb_fail(error, TB_ERR_USAGE,
                       "no output given: --output-file FILE");
    return TB_OK;
}

int tb_command_merge(int argc, char *const *argv)
{
    struct arguments arguments = {
        .argc = argc, .argv = argv, .max_memory = MEMORY_DEFAULT};
    return tb_command_run(&table, argc, argv, &arguments, check, merge_rows);
}
