/* tracebake nat, tracebake telemetry: options to a conversion, and what it did
 * back to the person. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "convert.h"
#include "message.h"
#include "model_choice.h"
#include "path_list.h"
#include "progress.h"
#include "stop_signal.h"
#include "summary.h"

enum {
    BLOCK_SIZE_MAX = 1 << 20, // tokens
    THREADS_MAX = 1024,
    COMMAND_MAX = 1 << 16, // bytes
    SUMMARY_MAX = 1 << 26,
    MESSAGES_SHOWN = 5
};

// In the order of the words in the tables below.
enum { PROMPT_AUTO, PROMPT_JOIN, PROMPT_TEMPLATE };
enum { STATS_TEXT, STATS_JSON, STATS_NONE };
enum { CHOICE_UNSET = -1 };

struct arguments {
    struct tb_text_list inputs;
    const char *files_from;
    const char *output;
    const char *tokenizer;
    uint64_t block_size;
    uint64_t skip_requests;
    uint64_t max_requests;
    const char *delay;
    int lengths;
    int prompt;
    int session_prefix;
    int stats;
    bool is_compat;
    bool is_strict;
    bool is_dry_run;
    bool is_quiet;
    bool is_help;
    uint64_t threads;
};

#define AT(member) offsetof(struct arguments, member)

#define INPUT_OPTIONS                                                          \
    {"Input and output",                                                       \
     "input-file",                                                             \
     TB_OPTION_LIST,                                                           \
     "FILE",                                                                   \
     NULL,                                                                     \
     "A trace to convert; the same as naming it without an option. May be "    \
     "given several times. '-' is standard input. gzip and zstd are "          \
     "recognised by their content.",                                           \
     AT(inputs),                                                               \
     0,                                                                        \
     0},                                                                       \
        {NULL,                                                                 \
         "files-from",                                                         \
         TB_OPTION_TEXT,                                                       \
         "LIST",                                                               \
         NULL,                                                                 \
         "Read more names of traces from the file LIST, one a line; '-' is "   \
         "standard input.",                                                    \
         AT(files_from),                                                       \
         0,                                                                    \
         0},                                                                   \
    {                                                                          \
        NULL, "output-file", TB_OPTION_TEXT, "FILE",                           \
            "INPUT_mooncake.jsonl, INPUT without its extension",               \
            "Where the rows go: whole, or not at all. '-' is standard "        \
            "output; a name that ends in .gz or .zst is compressed. "          \
            "FILE.meta.json beside it says what the rows cannot: block size, " \
            "tokenizer, inputs.",                                              \
            AT(output), 0, 0                                                   \
    }

#define TOKEN_OPTIONS(block_size_text, tokenizer_text, lengths_text)           \
    {"Tokens and blocks",                                                      \
     "tokenizer",                                                              \
     TB_OPTION_TEXT,                                                           \
     "NAME",                                                                   \
     tokenizer_text,                                                           \
     "A tokenizer.json, a folder with one, 'builtin' (o200k_base), or a "      \
     "model "                                                                  \
     "in the Hugging Face cache such as org/model or org/model@revision. "     \
     "Lengths are in its tokens: replay with the same one.",                   \
     AT(tokenizer),                                                            \
     0,                                                                        \
     0},                                                                       \
        {NULL,                                                                 \
         "block-size",                                                         \
         TB_OPTION_NUMBER,                                                     \
         "N",                                                                  \
         block_size_text,                                                      \
         "Tokens per block, of which each has one id. The rows cannot carry "  \
         "it: replay with the same number (aiperf: --isl-block-size N).",      \
         AT(block_size),                                                       \
         1,                                                                    \
         BLOCK_SIZE_MAX},                                                      \
        {NULL,                                                                 \
         "prompt",                                                             \
         TB_OPTION_CHOICE,                                                     \
         "auto|join|template",                                                 \
         "auto",                                                               \
         "How the messages of a call become one text. join: their contents, "  \
         "with line breaks between. template: by the model's chat template, "  \
         "with its tools; not built yet. auto: the best there is, for now "    \
         "join.",                                                              \
         AT(prompt),                                                           \
         0,                                                                    \
         0},                                                                   \
    {                                                                          \
        NULL, "lengths", TB_OPTION_CHOICE, "usage|tokens", lengths_text,       \
            "Who leads when the server's recorded count of a prompt and our "  \
            "own differ. usage: the server; the tokens are filled up or cut "  \
            "to its count. tokens: our count. Where the server recorded "      \
            "none, "                                                           \
            "ours counts in any case.",                                        \
            AT(lengths), 0, 0                                                  \
    }

#define ROW_OPTIONS                                                            \
    {"Rows",                                                                   \
     "delay",                                                                  \
     TB_OPTION_TEXT,                                                           \
     "none|MS",                                                                \
     "none",                                                                   \
     "Give each row of a session but its first a delay of MS milliseconds "    \
     "after the answer before.",                                               \
     AT(delay),                                                                \
     0,                                                                        \
     0},                                                                       \
        {NULL,                                                                 \
         "session-prefix",                                                     \
         TB_OPTION_CHOICE,                                                     \
         "auto|always|never",                                                  \
         "auto",                                                               \
         "Put the name of the trace's file in front of each session id, so "   \
         "that sessions of two files stay apart. auto: with several inputs.",  \
         AT(session_prefix),                                                   \
         0,                                                                    \
         0},                                                                   \
    {                                                                          \
        NULL, "compat", TB_OPTION_FLAG, NULL, NULL,                            \
            "Write byte for byte what the Python converters write with the "   \
            "same block size, tokenizer and delay: their order, their joined " \
            "text, lengths and ids that need not fit each other.",             \
            AT(is_compat), 0, 0                                                \
    }

#define PART_OPTIONS                                                           \
    {"Part of a trace",                                                        \
     "num-requests",                                                           \
     TB_OPTION_NUMBER,                                                         \
     "N",                                                                      \
     "all",                                                                    \
     "Convert only N requests of the trace; a request is a session.",          \
     AT(max_requests),                                                         \
     1,                                                                        \
     UINT64_MAX},                                                              \
    {                                                                          \
        NULL, "skip-requests", TB_OPTION_NUMBER, "N", "0",                     \
            "First leave out N requests.", AT(skip_requests), 0, UINT64_MAX    \
    }

#define RUN_OPTIONS                                                            \
    {"Run",                                                                    \
     "stats",                                                                  \
     TB_OPTION_CHOICE,                                                         \
     "text|json|none",                                                         \
     "text, with --quiet none",                                                \
     "What to tell at the end: a summary to read, one JSON object on one "     \
     "line, or nothing. It goes to standard output, or to standard error "     \
     "when the rows go to standard output.",                                   \
     AT(stats),                                                                \
     0,                                                                        \
     0},                                                                       \
        {NULL,                                                                 \
         "strict",                                                             \
         TB_OPTION_FLAG,                                                       \
         NULL,                                                                 \
         NULL,                                                                 \
         "Fail, and write nothing, when anything in the trace had to be left " \
         "out: a call without a row, an unreadable record, a broken "          \
         "character.",                                                         \
         AT(is_strict),                                                        \
         0,                                                                    \
         0},                                                                   \
        {NULL,           "dry-run", TB_OPTION_FLAG,                            \
         NULL,           NULL,      "Do everything but write files.",          \
         AT(is_dry_run), 0,         0},                                        \
        {NULL,                                                                 \
         "threads",                                                            \
         TB_OPTION_NUMBER,                                                     \
         "N",                                                                  \
         "as many as there are cores",                                         \
         "How many threads work. The rows do not depend on it.",               \
         AT(threads),                                                          \
         1,                                                                    \
         THREADS_MAX},                                                         \
        {NULL,                                                                 \
         "quiet",                                                              \
         TB_OPTION_FLAG,                                                       \
         NULL,                                                                 \
         NULL,                                                                 \
         "No progress, no warnings, no summary; only errors.",                 \
         AT(is_quiet),                                                         \
         0,                                                                    \
         0},                                                                   \
    {                                                                          \
        NULL, "help", TB_OPTION_FLAG, NULL, NULL, "Show this page.",           \
            AT(is_help), 0, 0                                                  \
    }

static const struct tb_option nat_options[] = {
    INPUT_OPTIONS,
    TOKEN_OPTIONS("128", "inferred from the recorded model's name", "usage"),
    PART_OPTIONS,
    ROW_OPTIONS,
    RUN_OPTIONS,
};

static const struct tb_option telemetry_options[] = {
    INPUT_OPTIONS,
    TOKEN_OPTIONS("64", TB_DEFAULT_TELEMETRY_TOKENIZER, "tokens"),
    ROW_OPTIONS,
    RUN_OPTIONS,
};

static const struct tb_option_table nat_table = {
    .command = "nat",
    .purpose = "convert a NeMo Agent Toolkit profiler trace",
    .usage = "nat [OPTION...] FILE...",
    .description =
        "Reads all_requests_profiler_traces.json as the toolkit's profiler "
        "writes it, and writes one row of mooncake JSONL per model call that "
        "has an answer. A request of the trace is a session (conv_0, conv_1, "
        "...), its calls are the turns. Each row holds the whole prompt.\n\n"
        "What is broken in a trace costs that call, is counted, and is said "
        "in the summary; of a file that is cut off all complete requests are "
        "converted.\n",
    .examples =
        "  tracebake nat all_requests_profiler_traces.json\n"
        "  tracebake nat trace.json.gz --tokenizer builtin --block-size 64 \\\n"
        "      --output-file rows.jsonl.zst\n"
        "  tracebake nat run1.json run2.json --output-file - | head\n",
    .options = nat_options,
    .option_count = sizeof(nat_options) / sizeof(nat_options[0]),
    .operands = AT(inputs),
    .operands_max = SIZE_MAX,
};

static const struct tb_option_table telemetry_table = {
    .command = "telemetry",
    .purpose = "convert telemetry JSONL with llm_call events",
    .usage = "telemetry [OPTION...] FILE...",
    .description =
        "Reads one JSON event a line and writes one row of mooncake JSONL per "
        "llm_call event, with the kind of agent and the priority beside the "
        "usual fields. Rows are ordered by session, then by time. Each row "
        "holds the whole prompt.\n\n"
        "A line that cannot be read costs that line, is counted, and is said "
        "in the summary.\n",
    .examples =
        "  tracebake telemetry events.jsonl\n"
        "  tracebake telemetry events.jsonl.zst --tokenizer builtin \\\n"
        "      --output-file rows.jsonl\n",
    .options = telemetry_options,
    .option_count = sizeof(telemetry_options) / sizeof(telemetry_options[0]),
    .operands = AT(inputs),
    .operands_max = SIZE_MAX,
};

static tb_status read_delay(const char *text,
                            struct tb_convert_options *options,
                            struct tb_error *error)
{
    if (!text || strcmp(text, "none") == 0)
        return TB_OK;
    if (strcmp(text, "recorded") == 0)
        return tb_fail(error, TB_ERR_USAGE,
                       "'--delay recorded' is not built yet; give a number of "
                       "milliseconds, or none");
    uint64_t value = 0;
    size_t len = strspn(text, "0123456789");
    if (len == 0 || len > 15 || text[len] != '\0')
        return tb_fail(error, TB_ERR_USAGE,
                       "'--delay' needs none or a whole number of "
                       "milliseconds, not '%s'",
                       text);
    for (const char *digit = text; *digit; digit++)
        value = value * 10 + (uint64_t)(*digit - '0');
    options->has_delay = true;
    options->delay_ms = value;
    return TB_OK;
}

static tb_status check(const struct arguments *arguments,
                       struct tb_error *error)
{
    size_t stdin_count =
        arguments->files_from && strcmp(arguments->files_from, "-") == 0;
    for (size_t i = 0; i < arguments->inputs.count; i++)
        stdin_count += strcmp(arguments->inputs.items[i], "-") == 0;
    if (stdin_count > 1)
        return tb_fail(error, TB_ERR_USAGE,
                       "standard input can be read only once");
    if (arguments->inputs.count == 0 && !arguments->files_from)
        return tb_fail(error, TB_ERR_USAGE,
                       "no input given; name a trace, or - for standard input");
    if (arguments->prompt == PROMPT_TEMPLATE)
        return tb_fail(error, TB_ERR_USAGE,
                       "'--prompt template' is not built yet; use join");
    return TB_OK;
}

static tb_status fill_options(const struct arguments *arguments,
                              struct tb_convert_options *options,
                              struct tb_error *error)
{
    options->output = arguments->output;
    options->tokenizer = arguments->tokenizer;
    options->block_size = (uint32_t)arguments->block_size;
    options->skip_requests = arguments->skip_requests;
    options->max_requests = arguments->max_requests;
    options->session_prefix = (tb_session_prefix)arguments->session_prefix;
    options->is_compat = arguments->is_compat;
    options->is_strict = arguments->is_strict;
    options->is_dry_run = arguments->is_dry_run;
    options->threads = (unsigned)arguments->threads;
    if (arguments->lengths != CHOICE_UNSET)
        options->lengths =
            arguments->lengths == 0 ? TB_LENGTHS_USAGE : TB_LENGTHS_TOKENS;
    return read_delay(arguments->delay, options, error);
}

// How the run was asked for, so that a shell takes it again.
static tb_status append_word(struct tb_buffer *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=./:,@%";
    TB_TRY(tb_buffer_append_byte(text, ' '));
    if (*word && word[strspn(word, plain)] == '\0')
        return tb_buffer_append(text, tb_span_of(word));
    TB_TRY(tb_buffer_append_byte(text, '\''));
    for (; *word; word++)
        TB_TRY(*word == '\'' ? tb_buffer_append(text, TB_SPAN("'\\''"))
                             : tb_buffer_append_byte(text, (uint8_t)*word));
    return tb_buffer_append_byte(text, '\'');
}

static tb_status append_command(struct tb_buffer *text, const char *command,
                                int argc, char *const *argv)
{
    TB_TRY(tb_buffer_printf(text, "tracebake %s", command));
    for (int i = 0; i < argc; i++)
        TB_TRY(append_word(text, argv[i]));
    return tb_buffer_append_byte(text, 0);
}

static bool on_progress(void *context, const struct tb_convert_progress *state)
{
    if (tb_stop_signal())
        return false;
    tb_progress_show(context, state);
    return true;
}

// Do the rows go to standard output, so that nothing else may?
static bool is_output_taken(const struct tb_convert_options *options)
{
    char path[4096];
    const char *output = options->output;
    if (options->is_dry_run)
        return false;
    if (!output) {
        tb_convert_output_path(options->inputs[0], path, sizeof(path));
        output = path;
    }
    return strcmp(output, "-") == 0 || strcmp(output, "/dev/stdout") == 0 ||
           strcmp(output, "/dev/fd/1") == 0;
}

static void print_messages(const struct tb_stats *stats)
{
    uint64_t count = stats->message_count;
    uint64_t shown = count < MESSAGES_SHOWN ? count : MESSAGES_SHOWN;
    for (uint64_t i = 0; i < shown; i++)
        tb_message_error(&stats->messages[i]);
    if (count > shown)
        tb_message_line("and %llu more",
                        (unsigned long long)(count - shown));
}

static tb_status print_summary(const struct arguments *arguments,
                               struct tb_stats *stats, bool is_error)
{
    int kind = arguments->stats;
    if (kind == CHOICE_UNSET)
        kind = arguments->is_quiet ? STATS_NONE : STATS_TEXT;
    if (kind == STATS_NONE)
        return TB_OK;
    struct tb_buffer text = TB_BUFFER(SUMMARY_MAX);
    tb_status status = kind == STATS_JSON ? tb_summary_json(stats, &text)
                                          : tb_summary_text(stats, &text);
    if (status == TB_OK)
        status = tb_message_text(tb_buffer_span(&text), is_error);
    tb_buffer_release(&text);
    return status;
}

// The figures say why nothing came out, or what --strict refused.
static bool is_explained_by_figures(tb_status status)
{
    return status == TB_ERR_EMPTY || status == TB_ERR_VALUE;
}

static int finish(const struct arguments *arguments,
                  const struct tb_convert_options *options, tb_status status,
                  struct tb_stats *stats, struct tb_error *error)
{
    if (!arguments->is_quiet)
        print_messages(stats);
    if (status == TB_ERR_INTERRUPTED && tb_stop_signal()) {
        tb_message_line("stopped, nothing written");
        return TB_EXIT_SIGNAL + tb_stop_signal();
    }
    if (status == TB_ERR_CLOSED)
        return TB_EXIT_DONE; // whoever read the rows had enough
    bool is_failed = status != TB_OK;
    if (!is_failed || is_explained_by_figures(status)) {
        bool is_error = is_failed || is_output_taken(options);
        tb_status printed = print_summary(arguments, stats, is_error);
        if (printed != TB_OK && printed != TB_ERR_CLOSED && !is_failed)
            status = tb_fail_errno(error, printed, "cannot print the summary");
    }
    if (status == TB_OK)
        return TB_EXIT_DONE;
    tb_message_error(error);
    return status == TB_ERR_USAGE ? TB_EXIT_USAGE : TB_EXIT_FAILED;
}

static int convert(const struct arguments *arguments,
                   struct tb_convert_options *options)
{
    struct tb_stats stats = {0};
    struct tb_error error = {0};
    struct tb_progress progress = tb_progress_start(arguments->is_quiet);
    options->on_progress = on_progress;
    options->context = &progress;
    tb_stop_signal_watch();
    tb_status status = tb_convert(options, &stats, &error);
    tb_progress_clear(&progress);
    error.status = status;
    int result = finish(arguments, options, status, &stats, &error);
    tb_stats_release(&stats);
    return result;
}

static int run_parsed(const struct tb_option_table *table,
                      struct arguments *arguments,
                      struct tb_convert_options *options)
{
    struct tb_error error = {0};
    struct tb_arena arena = {0};
    tb_status status = check(arguments, &error);
    if (status == TB_OK)
        status = fill_options(arguments, options, &error);
    if (status == TB_OK && arguments->files_from)
        status = tb_path_list_read(arguments->files_from, &arena,
                                   &arguments->inputs, &error);
    options->inputs = arguments->inputs.items;
    options->input_count = arguments->inputs.count;
    int result;
    if (status == TB_ERR_USAGE) {
        result = tb_message_usage(&error, table->command);
    } else if (status != TB_OK) {
        tb_message_error(&error);
        result = TB_EXIT_FAILED;
    } else {
        result = convert(arguments, options);
    }
    tb_arena_release(&arena);
    return result;
}

static int run(const struct tb_option_table *table, tb_dialect_id dialect,
               int argc, char *const *argv)
{
    struct arguments arguments = {.max_requests = UINT64_MAX,
                                  .lengths = CHOICE_UNSET,
                                  .stats = CHOICE_UNSET};
    struct tb_convert_options options = {.dialect = dialect,
                                         .version = TB_VERSION};
    struct tb_error error = {0};
    struct tb_buffer command = TB_BUFFER(COMMAND_MAX);
    // A command line that is too long for the meta file is left out there.
    if (append_command(&command, table->command, argc, argv) == TB_OK)
        options.command = (const char *)command.ptr;
    int result;
    tb_status status = tb_option_parse(table, argc, argv, &arguments, &error);
    if (arguments.is_help)
        result = tb_message_help(table);
    else if (status != TB_OK)
        result = tb_message_usage(&error, table->command);
    else
        result = run_parsed(table, &arguments, &options);
    tb_text_list_release(&arguments.inputs);
    tb_buffer_release(&command);
    return result;
}

int tb_command_nat(int argc, char *const *argv)
{
    return run(&nat_table, TB_DIALECT_NAT, argc, argv);
}

int tb_command_telemetry(int argc, char *const *argv)
{
    return run(&telemetry_table, TB_DIALECT_TELEMETRY, argc, argv);
}
