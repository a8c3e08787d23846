#include "convert_options.h"

#include <string.h>

#include "c_locale.h"
#include "model_choice.h"

enum {
    BLOCK_SIZE_MAX = 1 << 20, // tokens
    THREADS_MAX = 1024,
};

#define AT(member) offsetof(struct tb_convert_arguments, member)
#define TEXT(name, argument, initial, member, help)                            \
    {                                                                          \
        NULL, name, TB_OPTION_TEXT, argument, initial, help, AT(member), 0, 0  \
    }
#define LIST(name, argument, initial, member, help)                            \
    {                                                                          \
        NULL, name, TB_OPTION_LIST, argument, initial, help, AT(member), 0, 0  \
    }
#define CHOICE(name, words, initial, member, help)                             \
    {                                                                          \
        NULL, name, TB_OPTION_CHOICE, words, initial, help, AT(member), 0, 0   \
    }
#define FLAG(name, member, help)                                               \
    {                                                                          \
        NULL, name, TB_OPTION_FLAG, NULL, NULL, help, AT(member), 0, 0         \
    }
#define NUMBER(name, initial, member, min, max, help)                          \
    {                                                                          \
        NULL, name, TB_OPTION_NUMBER, "N", initial, help, AT(member), min, max \
    }
/* The first option under a heading. */
#define HEADED(title, kind, name, argument, initial, member, help)             \
    {                                                                          \
        title, name, kind, argument, initial, help, AT(member), 0, 0           \
    }

// One option after the other reads better than what clang-format makes of it.
// clang-format off

#define INPUT_OPTIONS \
    HEADED("Input and output", TB_OPTION_LIST, "input-file", "FILE", NULL, \
           inputs, \
        "A trace to convert; the same as naming it without an option. May be " \
        "given several times. '-' is standard input. gzip and zstd are " \
        "recognised by their content."), \
    TEXT("files-from", "LIST", NULL, files_from, \
        "Read more names of traces from the file LIST, one a line; '-' is " \
        "standard input."), \
    TEXT("output-file", "FILE", \
         "INPUT_mooncake.jsonl, INPUT without its extension", output, \
        "Where the rows go: whole, or not at all. '-' is standard output; a " \
        "name that ends in .gz or .zst is compressed. FILE.meta.json beside " \
        "it says what the rows cannot: block size, tokenizer, inputs."), \
    TEXT("calls", "FILE", NULL, calls, \
        "Write one line of JSON per call to FILE too, also for calls without " \
        "a row: its row, times, model, agent, recorded usage and our own " \
        "count, but no text."), \
    TEXT("report", "FILE", NULL, report, \
        "Write a page of figures of the rows and their calls to FILE too: " \
        "charts and tables in one HTML file that needs no network, as " \
        "'tracebake analyze --report' makes it; '-' is standard output. " \
        "Takes some more time and memory.")

#define TOKEN_OPTIONS(block_size_text, tokenizer_text, lengths_text) \
    HEADED("Tokens and blocks", TB_OPTION_TEXT, "tokenizer", "NAME", \
           tokenizer_text, tokenizer, \
        "A tokenizer.json, tekken.json, tokenizer.model or *.tiktoken, a " \
        "folder with one, 'builtin' (o200k_base), or a " \
        "model on the Hugging Face hub such as org/model or " \
        "org/model@revision, which is fetched once. Lengths are in its " \
        "tokens: replay with the same one."), \
    NUMBER("block-size", block_size_text, block_size, 1, BLOCK_SIZE_MAX, \
        "Tokens per block, of which each has one id. The rows cannot carry " \
        "it: replay with the same number (aiperf: --isl-block-size N)."), \
    CHOICE("prompt", "auto|template|join", "auto", prompt, \
        "How the messages of a call become one text. template: by the " \
        "model's chat template, with its tools, as the server saw it. join: " \
        "their contents, with line breaks between. auto: the template where " \
        "the tokenizer has one and the messages have roles, else join."), \
    TEXT("chat-template", "FILE", "beside the tokenizer", templates.path, \
        "Take the chat template from this file."), \
    TEXT("chat-template-kwargs", "JSON", NULL, templates.kwargs, \
        "An object of more variables for the template, as they were given to " \
        "the server: '{\"enable_thinking\": false}'."), \
    TEXT("special-tokens", "JSON", NULL, templates.special, \
        "An object of special tokens for the template, before those of the " \
        "tokenizer: '{\"bos_token\": \"<s>\"}'."), \
    CHOICE("lengths", "usage|tokens", lengths_text, lengths, \
        "Who leads when the server's recorded count of a prompt and our own " \
        "differ. usage: the server; the tokens are filled up or cut to its " \
        "count. tokens: our count. Where the server recorded none, ours " \
        "counts in any case."), \
    CHOICE("ids", "order|content", "order", ids, \
        "What the ids of blocks are. order: numbers from 0 by first " \
        "appearance. content: numbers of 63 bits made of the tokens up to " \
        "there, the tokenizer and the block size, the same in every run, so " \
        "that parts of a trace can be converted apart; 'tracebake merge' " \
        "makes one numbering of their rows. Timestamps are then since 1970."), \
    TEXT("salt-file", "FILE", NULL, salt_file, \
        "With --ids content: make them with the secret in FILE, so that " \
        "nobody without it can find out by its ids whether a prompt begins " \
        "with a text they guess.")

#define PART_OPTIONS \
    {"Part of a trace", "num-requests", TB_OPTION_NUMBER, "N", "all", \
        "Convert only N requests of the trace; a request is a session.", \
        AT(max_requests), 1, UINT64_MAX}, \
    NUMBER("skip-requests", "0", skip_requests, 0, UINT64_MAX, \
        "First leave out N requests."), \
    FLAG("keep-failed", keeps_failed, \
        "Give calls that never ended a row too, with 1 token of output: they " \
        "did load the server.")

#define ROW_OPTIONS \
    HEADED("Rows", TB_OPTION_CHOICE, "for", "mooncake|aiperf|dynamo", \
           "mooncake", consumer, \
        "Set what follows to what that consumer needs, and print the command " \
        "that replays the rows. aiperf: --rows delta --endpoint chat --delay " \
        "recorded --timestamps session, and each row asks the server for " \
        "just the recorded length. dynamo (its replay): --rows delta --delay " \
        "recorded --timestamps session, and priorities as numbers. mooncake: " \
        "the defaults."), \
    CHOICE("rows", "whole|delta|messages", "whole", rows, \
        "What a row holds: the whole prompt by its length and ids, history " \
        "included; only what the turn adds to the conversation; or the " \
        "messages themselves, which puts the text of the prompts into the " \
        "file. With delta and messages, a call that continues none before it " \
        "begins a session of its own (conv_3.2), and names the one it " \
        "belongs to as parent_session_id."), \
    CHOICE("endpoint", "completions|chat", "completions, for aiperf chat", \
           endpoint, \
        "What the replay will call. A chat endpoint puts the model's " \
        "template around each row and each live answer; rows are shorter by " \
        "what the template beside the tokenizer adds, so that the server's " \
        "count is the recorded one."), \
    TEXT("delay", "none|recorded|MS", "none", delay, \
        "Give each row of a session but its first a delay after the answer " \
        "before: the recorded gap, or MS milliseconds."), \
    TEXT("max-delay", "MS", "none", max_delay, \
        "No recorded gap is longer than MS milliseconds."), \
    TEXT("speedup", "X", "1", speedup, \
        "Divide recorded gaps, after --max-delay, and timestamps by X."), \
    CHOICE("timestamps", "none|session|all", "none", timestamps, \
        "Give the first row of each session, or all rows, the time of their " \
        "start, in milliseconds since the first call of the trace."), \
    CHOICE("session-prefix", "auto|always|never|path", "auto", \
           session_prefix, \
        "Put the name of the trace's file in front of each session id, so " \
        "that sessions of two files stay apart. auto: with several inputs. " \
        "path: with its folders, as it was named."), \
    FLAG("compat", is_compat, \
        "Write byte for byte what the Python converters write with the same " \
        "block size, tokenizer and delay: their order, their joined text, " \
        "lengths and ids that need not fit each other.")

#define MEMORY_MIN ((uint64_t)16 << 20) /* bytes; the tokenizer needs some */

#define RUN_OPTIONS \
    HEADED("Run", TB_OPTION_CHOICE, "stats", "text|json|none", \
           "text, with --quiet none", stats, \
        "What to tell at the end: a summary to read, one JSON object on one " \
        "line, or nothing. It goes to standard output, or to standard error " \
        "when the rows go to standard output."), \
    FLAG("strict", is_strict, \
        "Fail, and write nothing, when anything in the trace had to be left " \
        "out: a call without a row, an unreadable record, a broken " \
        "character."), \
    FLAG("dry-run", is_dry_run, "Do everything but write files."), \
    NUMBER("threads", "as many as there are cores", threads, 1, THREADS_MAX, \
        "How many threads work. The rows do not depend on it."), \
    {NULL, "max-memory", TB_OPTION_SIZE, "SIZE", "no limit", \
        "Fail rather than take more than so many bytes (or K, M, G of them): " \
        "memory grows with the longest session, and the message says which " \
        "one it was. Threads' stacks are not in it.", \
        AT(max_memory), MEMORY_MIN, SIZE_MAX / 2}, \
    FLAG("no-reuse", has_no_reuse, \
        "Read and encode every prompt anew, also where it repeats an earlier " \
        "one. The rows are the same and take longer: for tests and " \
        "measurements."), \
    FLAG("quiet", is_quiet, \
        "No progress, no warnings, no summary; only errors."), \
    FLAG("help", is_help, "Show this page.")
// clang-format on

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

const struct tb_option_table *tb_convert_option_table(tb_dialect_id dialect)
{
    return dialect == TB_DIALECT_NAT ? &nat_table : &telemetry_table;
}

struct tb_convert_arguments tb_convert_arguments_none(void)
{
    return (struct tb_convert_arguments){
        .max_requests = UINT64_MAX,
        .lengths = TB_ARG_UNSET,
        .rows = TB_ARG_UNSET,
        .endpoint = TB_ARG_UNSET,
        .timestamps = TB_ARG_UNSET,
        .stats = TB_ARG_UNSET,
    };
}

/* ---- what was typed
 * ----------------------------------------------------------- */

static bool is_typed(const char *text)
{
    return text && strcmp(text, "none") != 0;
}

static tb_status read_ms(const char *option, const char *text, uint64_t *ms,
                         struct tb_error *error)
{
    size_t len = strspn(text, "0123456789");
    if (len == 0 || len > 15 || text[len] != '\0')
        return tb_fail(error, TB_ERR_USAGE,
                       "'--%s' needs a whole number of milliseconds, not '%s'",
                       option, text);
    *ms = 0;
    for (const char *digit = text; *digit; digit++)
        *ms = *ms * 10 + (uint64_t)(*digit - '0');
    return TB_OK;
}

static tb_status read_delay(const char *text, struct tb_row_form *form,
                            struct tb_error *error)
{
    if (!text)
        return TB_OK;
    form->delay = TB_DELAY_NONE;
    if (strcmp(text, "none") == 0)
        return TB_OK;
    form->delay = TB_DELAY_RECORDED;
    if (strcmp(text, "recorded") == 0)
        return TB_OK;
    form->delay = TB_DELAY_FIXED;
    return read_ms("delay", text, &form->delay_ms, error);
}

static tb_status read_speedup(const char *text, double *speedup,
                              struct tb_error *error)
{
    char *end;
    *speedup = text ? tb_real_of_text(text, &end) : 1;
    if (text && (end == text || *end || !(*speedup > 0) || *speedup > 1e6))
        return tb_fail(error, TB_ERR_USAGE,
                       "'--speedup' needs a number above 0, not '%s'", text);
    return TB_OK;
}

// What that consumer needs.
static struct tb_row_form form_for(tb_consumer consumer)
{
    struct tb_row_form form = {.max_delay_ms = UINT64_MAX};
    if (consumer == TB_CONSUMER_ANY)
        return form;
    form.rows = TB_ROWS_DELTA;
    form.delay = TB_DELAY_RECORDED;
    form.timestamps = TB_TIMESTAMPS_SESSION;
    if (consumer == TB_CONSUMER_AIPERF) {
        form.endpoint = TB_ENDPOINT_CHAT;
        form.has_exact_output = true;
        form.has_labels = true;
    } else {
        form.has_priority_number = true;
    }
    return form;
}

static tb_status apply_form(const struct tb_convert_arguments *arguments,
                            struct tb_row_form *form, struct tb_error *error)
{
    *form = form_for((tb_consumer)arguments->consumer);
    if (arguments->rows != TB_ARG_UNSET)
        form->rows = (tb_rows)arguments->rows;
    if (arguments->endpoint != TB_ARG_UNSET)
        form->endpoint = (tb_endpoint_kind)arguments->endpoint;
    if (arguments->timestamps != TB_ARG_UNSET)
        form->timestamps = (tb_timestamps)arguments->timestamps;
    TB_TRY(read_delay(arguments->delay, form, error));
    if (is_typed(arguments->max_delay))
        TB_TRY(read_ms("max-delay", arguments->max_delay, &form->max_delay_ms,
                       error));
    return read_speedup(arguments->speedup, &form->speedup, error);
}

// An option that would change nothing is one that was meant otherwise.
static tb_status check_effect(const struct tb_convert_arguments *arguments,
                              const struct tb_row_form *form,
                              struct tb_error *error)
{
    bool has_gaps = form->delay == TB_DELAY_RECORDED;
    bool has_times = form->timestamps != TB_TIMESTAMPS_NONE;
    if (is_typed(arguments->max_delay) && !has_gaps)
        return tb_fail(error, TB_ERR_USAGE,
                       "'--max-delay' caps recorded gaps: give '--delay "
                       "recorded' too");
    if (arguments->speedup && !has_gaps && !has_times)
        return tb_fail(error, TB_ERR_USAGE,
                       "'--speedup' divides recorded gaps and timestamps: give "
                       "'--delay recorded' or '--timestamps' too");
    return TB_OK;
}

static tb_status check_ids(const struct tb_convert_arguments *arguments,
                           const struct tb_row_form *form,
                           struct tb_error *error)
{
    if (arguments->ids == TB_IDS_ORDER)
        return !arguments->salt_file
                   ? TB_OK
                   : tb_fail(error, TB_ERR_USAGE,
                             "'--salt-file' is for '--ids content': numbers "
                             "by first appearance say nothing of a text");
    if (form->rows == TB_ROWS_MESSAGES)
        return tb_fail(error, TB_ERR_USAGE,
                       "'--ids content' is for rows with ids, which '--rows "
                       "messages' does not give");
    if (form->timestamps != TB_TIMESTAMPS_NONE && form->speedup != 1)
        return tb_fail(error, TB_ERR_USAGE,
                       "'--speedup' cannot divide timestamps with '--ids "
                       "content', which are since 1970: give '--timestamps "
                       "none'");
    return TB_OK;
}

static tb_status check_consumer(const struct tb_convert_arguments *arguments,
                                const struct tb_row_form *form,
                                struct tb_error *error)
{
    if (arguments->consumer == TB_CONSUMER_DYNAMO &&
        form->rows == TB_ROWS_MESSAGES)
        return tb_fail(error, TB_ERR_USAGE,
                       "'--for dynamo' needs lengths and ids, which '--rows "
                       "messages' does not give");
    return TB_OK;
}

static tb_status check_report(const struct tb_convert_arguments *arguments,
                              const struct tb_row_form *form,
                              struct tb_error *error)
{
    if (arguments->report && form->rows == TB_ROWS_MESSAGES)
        return tb_fail(error, TB_ERR_USAGE,
                       "'--report' needs lengths and ids, which '--rows "
                       "messages' does not give");
    return TB_OK;
}

static tb_status check_templates(const struct tb_convert_arguments *arguments,
                                 struct tb_error *error)
{
    const struct tb_chat_template_overrides *given = &arguments->templates;
    bool is_joined =
        arguments->is_compat || arguments->prompt == TB_PROMPT_TEXT_JOIN;
    if (is_joined && (given->path || given->kwargs || given->special))
        return tb_fail(error, TB_ERR_USAGE,
                       "'--chat-template', '--chat-template-kwargs' and "
                       "'--special-tokens' are for prompts by a template, not "
                       "for '--prompt join' or '--compat'");
    return TB_OK;
}

static tb_status check_compat(const struct tb_convert_arguments *arguments,
                              const struct tb_row_form *form,
                              struct tb_error *error)
{
    bool is_other = form->rows != TB_ROWS_WHOLE ||
                    form->delay == TB_DELAY_RECORDED ||
                    form->timestamps != TB_TIMESTAMPS_NONE ||
                    form->endpoint != TB_ENDPOINT_COMPLETIONS ||
                    arguments->prompt == TB_PROMPT_TEXT_TEMPLATE ||
                    arguments->keeps_failed || arguments->ids != TB_IDS_ORDER;
    if (arguments->is_compat && is_other)
        return tb_fail(
            error, TB_ERR_USAGE,
            "'--compat' writes what the Python converters write, "
            "who know no --for, --rows but whole, --endpoint, --timestamps, "
            "--delay recorded, --keep-failed, --ids content or --prompt "
            "template");
    return TB_OK;
}

tb_status
tb_convert_arguments_apply(const struct tb_convert_arguments *arguments,
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
    options->has_no_reuse = arguments->has_no_reuse;
    if (arguments->lengths != TB_ARG_UNSET)
        options->lengths =
            arguments->lengths == 0 ? TB_LENGTHS_USAGE : TB_LENGTHS_TOKENS;
    options->prompt = (tb_prompt_text)arguments->prompt;
    options->templates = arguments->templates;
    options->consumer = (tb_consumer)arguments->consumer;
    options->calls = arguments->calls;
    options->report = arguments->report;
    options->list = arguments->files_from;
    options->ids = (tb_ids)arguments->ids;
    options->salt_file = arguments->salt_file;
    options->keeps_failed = arguments->keeps_failed;
    TB_TRY(apply_form(arguments, &options->form, error));
    TB_TRY(check_effect(arguments, &options->form, error));
    TB_TRY(check_templates(arguments, error));
    TB_TRY(check_ids(arguments, &options->form, error));
    TB_TRY(check_consumer(arguments, &options->form, error));
    TB_TRY(check_report(arguments, &options->form, error));
    return check_compat(arguments, &options->form, error);
}
