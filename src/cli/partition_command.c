/* tracebake partition: log files to parts that hold whole sessions. */
#include <string.h>

#include "line_partition.h"
#include "message.h"
#include "row_command.h"
#include "stop_signal.h"

enum { COMPRESS_NONE, COMPRESS_GZ, COMPRESS_ZST };

struct arguments {
    struct tb_text_list files;
    const char *folder;
    uint64_t parts;
    int compress, by;
    bool is_quiet, is_help;
};

static const struct tb_option options[] = {
    {"Options", "parts", TB_OPTION_NUMBER, "N", NULL, "How many files to make.",
     offsetof(struct arguments, parts), 1, TB_LINE_PARTS_MAX},
    {NULL, "output-dir", TB_OPTION_TEXT, "FOLDER", NULL,
     "Where they go: part-1-of-N.jsonl to part-N-of-N.jsonl, all of them or "
     "none. The folder is made when it is not there.",
     offsetof(struct arguments, folder), 0, 0},
    {NULL, "by", TB_OPTION_CHOICE, "session", "session",
     "What stays together: lines with the same session_id.",
     offsetof(struct arguments, by), 0, 0},
    {NULL, "compress", TB_OPTION_CHOICE, "none|gz|zst", "none",
     "Compress the parts, and put .gz or .zst behind their names.",
     offsetof(struct arguments, compress), 0, 0},
    {NULL, "quiet", TB_OPTION_FLAG, NULL, NULL, "Only errors and warnings.",
     offsetof(struct arguments, is_quiet), 0, 0},
    {NULL, "help", TB_OPTION_FLAG, NULL, NULL, "Show this page.",
     offsetof(struct arguments, is_help), 0, 0},
};

static const struct tb_option_table table = {
    .command = "partition",
    .purpose = "deal out the lines of log files so that sessions are whole",
    .usage = "partition FILE... --parts N --output-dir FOLDER",
    .description =
        "Reads JSONL with a session_id in each line, such as telemetry whose "
        "sessions run over several log files, and deals the lines out, as they "
        "are, so that all lines of a session are in one part, in the order in "
        "which they came. Parts can then be converted apart. Which part a "
        "session goes to hangs on its name and N alone. A line without a "
        "session, or that is no JSON, goes by its own bytes, and is counted. "
        "Empty lines are left out. Memory is that of the longest line and a "
        "little for each part. '-' is standard input; gzip and zstd are read "
        "as they are.\n",
    .examples = "  tracebake partition logs/*.jsonl.gz --parts 16 --output-dir "
                "parts\n"
                "  for part in parts/*; do\n"
                "      tracebake telemetry \"$part\"\n"
                "  done\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = offsetof(struct arguments, files),
    .operands_max = SIZE_MAX,
};

static tb_status tell(const struct arguments *arguments,
                      const struct tb_line_partition *partition,
                      struct tb_error *error)
{
    struct tb_buffer text = TB_BUFFER(1 << 20);
    tb_status status = TB_OK;
    if (partition->nameless_count + partition->broken_count > 0)
        tb_message_line("warning: %llu of %llu lines have no session, %llu are "
                        "no JSON objects",
                        (unsigned long long)partition->nameless_count,
                        (unsigned long long)partition->line_count,
                        (unsigned long long)partition->broken_count);
    for (uint32_t i = 0; i < partition->part_count && status == TB_OK; i++)
        status =
            tb_buffer_printf(&text, "%10llu lines -> %s\n",
                             (unsigned long long)partition->parts[i].line_count,
                             partition->parts[i].path);
    if (status == TB_OK && !arguments->is_quiet)
        status = tb_message_text(tb_buffer_span(&text), false, error);
    tb_buffer_release(&text);
    return status;
}

static tb_status run(const struct arguments *arguments,
                     struct tb_line_partition *partition,
                     struct tb_error *error)
{
    static const char *const extensions[] = {[COMPRESS_NONE] = ".jsonl",
                                             [COMPRESS_GZ] = ".jsonl.gz",
                                             [COMPRESS_ZST] = ".jsonl.zst"};
    const struct tb_text_list *files = &arguments->files;
    TB_TRY(tb_line_partition_open(
        partition, arguments->folder, (uint32_t)arguments->parts,
        extensions[arguments->compress], tb_row_command_stop(), error));
    for (size_t i = 0; i < files->count; i++)
        TB_TRY(tb_line_partition_spare(partition, files->items[i], error));
    for (size_t i = 0; i < files->count; i++)
        TB_TRY(tb_line_partition_add(partition, files->items[i], error));
    TB_TRY(tb_line_partition_commit(partition, error));
    return tb_command_told(tell(arguments, partition, error), error);
}

static int deal_out(const void *typed)
{
    struct tb_line_partition partition = {0};
    struct tb_error error = {0};
    tb_stop_signal_watch();
    tb_status status = run(typed, &partition, &error);
    tb_line_partition_close(&partition);
    return tb_command_end(status, &error, "partition", table.command);
}

static tb_status check(const void *typed, struct tb_error *error)
{
    const struct arguments *arguments = typed;
    if (arguments->files.count == 0)
        return tb_fail(error, TB_ERR_USAGE,
                       "no input given; name a file, or - for standard input");
    if (arguments->parts == 0)
        return tb_fail(error, TB_ERR_USAGE, "how many parts: --parts N");
    if (!arguments->folder)
        return tb_fail(error, TB_ERR_USAGE,
                       "where they go: --output-dir FOLDER");
    return TB_OK;
}

int tb_command_partition(int argc, char *const *argv)
{
    struct arguments arguments = {0};
    return tb_command_run(&table, argc, argv, &arguments, check, deal_out);
}
