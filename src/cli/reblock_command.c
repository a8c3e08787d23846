/* tracebake reblock: rows as they would be with a larger block size. */
#include <string.h>

#include "message.h"
#include "row_command.h"
#include "row_reblock.h"
#include "stop_signal.h"

enum { BLOCK_SIZE_MAX = 1 << 20 }; // tokens

struct arguments {
    struct tb_text_list files;
    const char *output;
    uint64_t block_size, from;
    bool is_quiet, is_help;
    int argc;
    char *const *argv;
};

static const struct tb_option options[] = {
    {"Options", "block-size", TB_OPTION_NUMBER, "N", NULL,
     "Tokens of a block in the new rows: a multiple of what the rows have.",
     offsetof(struct arguments, block_size), 1, BLOCK_SIZE_MAX},
    {NULL, "from", TB_OPTION_NUMBER, "N", "what FILE.meta.json says",
     "Tokens of a block in the rows, where no meta file says it: 512 in the "
     "published Mooncake traces.",
     offsetof(struct arguments, from), 1, BLOCK_SIZE_MAX},
    {NULL, "output-file", TB_OPTION_TEXT, "FILE",
     "INPUT_reblock.jsonl, INPUT without its extension",
     "Where the rows go: whole, or not at all. '-' is standard output; a name "
     "that ends in .gz or .zst is compressed. FILE.meta.json goes beside it.",
     offsetof(struct arguments, output), 0, 0},
    {NULL, "quiet", TB_OPTION_FLAG, NULL, NULL, "Only errors and warnings.",
     offsetof(struct arguments, is_quiet), 0, 0},
    {NULL, "help", TB_OPTION_FLAG, NULL, NULL, "Show this page.",
     offsetof(struct arguments, is_help), 0, 0},
};

static const struct tb_option_table table = {
    .command = "reblock",
    .purpose = "give mooncake rows a larger block size",
    .usage = "reblock FILE --block-size N [--output-file FILE]",
    .description =
        "Reads mooncake JSONL, anybody's, whole prompts or increments, and "
        "makes so many blocks one that they have N tokens each; ids count from "
        "0 again. Rows of a converter become byte for byte what it writes with "
        "--block-size N, but for --compat. What else is in a row stays as it "
        "is written. Memory grows by about 24 bytes for each new block. '-' is "
        "standard input; gzip and zstd are read as they are.\n",
    .examples =
        "  tracebake reblock rows.jsonl --block-size 512\n"
        "  tracebake reblock mooncake_trace.jsonl --from 512 --block-size 1024 "
        "\\\n"
        "      --output-file rows.jsonl.zst\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = offsetof(struct arguments, files),
    .operands_max = 1,
};

static tb_status choose_sizes(const struct arguments *arguments,
                              const struct tb_row_input *input,
                              struct tb_row_reblock *reblock,
                              struct tb_error *error)
{
    uint32_t said = input->meta.block_size;
    uint32_t to = (uint32_t)arguments->block_size;
    uint32_t from = arguments->from ? (uint32_t)arguments->from : said;
    if (from == 0)
        return tb_fail(
            error, TB_ERR_USAGE,
            "'%.200s' has no meta file that says its block size; say "
            "it with --from N",
            input->path);
    if (said && from != said)
        return tb_fail(error, TB_ERR_USAGE,
                       "--from %u: the rows' meta file says %u", from, said);
    if (to % from != 0)
        return tb_fail(error, TB_ERR_USAGE,
                       "--block-size %u is no multiple of the rows' block size "
                       "%u",
                       to, from);
    *reblock = (struct tb_row_reblock){.from = from, .multiple = to / from};
    return TB_OK;
}

static tb_status tell(const struct arguments *arguments,
                      const struct tb_row_job *job,
                      const struct tb_row_reblock *reblock,
                      struct tb_error *error)
{
    struct tb_buffer text = TB_BUFFER(1 << 16);
    unsigned long long misfits = reblock->misfit_count;
    if (misfits)
        tb_message_line(
            "warning: %llu of %llu rows have more or fewer ids than "
            "blocks of %u tokens fit into their length",
            misfits, (unsigned long long)reblock->row_count, reblock->from);
    if (arguments->is_quiet)
        return TB_OK;
    tb_status status =
        tb_buffer_printf(&text, "%llu rows, %llu blocks of %u tokens -> %s\n",
                         (unsigned long long)reblock->row_count,
                         (unsigned long long)reblock->blocks.count,
                         reblock->from * reblock->multiple, job->output_path);
    if (status == TB_OK)
        status = tb_row_job_tell(job, tb_buffer_span(&text), error);
    tb_buffer_release(&text);
    return status;
}

static tb_status run(const struct arguments *arguments, struct tb_row_job *job,
                     struct tb_row_reblock *reblock, struct tb_error *error)
{
    TB_TRY(tb_row_job_open(job, arguments->files.items[0], arguments->output,
                           "_reblock", table.command, arguments->argc,
                           arguments->argv, error));
    TB_TRY(choose_sizes(arguments, &job->input, reblock, error));
    for (;;) {
        TB_TRY(tb_row_input_next(&job->input, error));
        if (!job->input.line.ptr)
            break;
        TB_TRY(
            tb_row_reblock_add(reblock, &job->input, &job->output.text, error));
        TB_TRY(tb_row_output_flush(&job->output, false, error));
    }
    struct tb_meta_change change = {.block_size =
                                        (uint32_t)arguments->block_size};
    TB_TRY(tb_row_job_commit(job, &change, error));
    return tb_command_told(tell(arguments, job, reblock, error), error);
}

static int reblock_rows(const void *typed)
{
    struct tb_row_job job = {0};
    struct tb_row_reblock reblock = {0};
    struct tb_error error = {0};
    tb_stop_signal_watch();
    tb_status status = run(typed, &job, &reblock, &error);
    tb_row_job_close(&job);
    tb_row_reblock_release(&reblock);
    return tb_command_end(status, &error, "reblock", table.command);
}

static tb_status check(const void *typed, struct tb_error *error)
{
    const struct arguments *arguments = typed;
    if (arguments->files.count == 0)
        return tb_fail(error, TB_ERR_USAGE,
                       "no rows given; name a file, or - for standard input");
    if (arguments->block_size == 0)
        return tb_fail(error, TB_ERR_USAGE,
                       "no block size given: --block-size N");
    return TB_OK;
}

int tb_command_reblock(int argc, char *const *argv)
{
    struct arguments arguments = {.argc = argc, .argv = argv};
    return tb_command_run(&table, argc, argv, &arguments, check, reblock_rows);
}
