/* tracebake render: {"messages": [..], "tools": [..]} a line in, the prompt
 * that the model's chat template makes of it as a JSON string a line out. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "chat_template_file.h"
#include "command.h"
#include "fetch.h"
#include "json_reader.h"
#include "json_writer.h"
#include "line_job.h"
#include "message.h"
#include "tokenizer.h"

enum { SPECIAL_MAX = 2 * TB_CHAT_TEMPLATE_MAX_SPECIAL };

#define TEMPLATE_MAX_LEN ((size_t)64 << 20)
#define NOW_MAX UINT64_C(253402300799) // the last second of the year 9999

struct arguments {
    struct tb_text_list files;
    const char *tokenizer;
    const char *template_path;
    const char *kwargs;
    const char *special;
    uint64_t now_s;
    bool is_help;
};

static const struct tb_option options[] = {
    {"Options", "tokenizer", TB_OPTION_TEXT, "NAME", NULL,
     "The folder with the chat template, or a tokenizer.json in it, or a model "
     "on the Hugging Face hub such as org/model or org/model@revision. Its "
     "tokenizer_config.json has the special tokens.",
     offsetof(struct arguments, tokenizer), 0, 0},
    {NULL, "chat-template", TB_OPTION_TEXT, "FILE", NULL,
     "Take the template from this file.",
     offsetof(struct arguments, template_path), 0, 0},
    {NULL, "chat-template-kwargs", TB_OPTION_TEXT, "JSON", NULL,
     "An object of more variables for the template, such as "
     "'{\"enable_thinking\": false}'.",
     offsetof(struct arguments, kwargs), 0, 0},
    {NULL, "special-tokens", TB_OPTION_TEXT, "JSON", NULL,
     "An object of special tokens that go before those of the tokenizer, such "
     "as '{\"bos_token\": \"<s>\"}'.",
     offsetof(struct arguments, special), 0, 0},
    {NULL, "now", TB_OPTION_NUMBER, "SECONDS", "the time now",
     "What templates that ask for the time get, in seconds since 1970, UTC.",
     offsetof(struct arguments, now_s), 0, NOW_MAX},
    {NULL, "help", TB_OPTION_FLAG, NULL, NULL, "Show this page.",
     offsetof(struct arguments, is_help), 0, 0},
};

static const struct tb_option_table table = {
    .command = "render",
    .purpose = "turn messages and tools into prompts by a chat template",
    .usage = "render --tokenizer NAME [FILE]",
    .description =
        "Reads an object {\"messages\": [..], \"tools\": [..]} from each line "
        "of FILE, or of standard input, and writes a line with the prompt as a "
        "JSON string to standard output: what transformers' "
        "apply_chat_template gives with add_generation_prompt=True. Where the "
        "template refuses, the line is null and the reason goes to standard "
        "error. Stops at a line that is no such object.\n",
    .examples = "  echo '{\"messages\": [{\"role\": \"user\", \"content\": "
                "\"Hi\"}]}' |\n"
                "    tracebake render --tokenizer Qwen/Qwen3-8B\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = offsetof(struct arguments, files),
    .operands_max = 1,
};

struct job {
    struct tb_chat_template_file file;
    struct tb_chat_template *plain, *with_tools; // the latter may be NULL
    struct tb_special_token special[SPECIAL_MAX];
    size_t special_count;
    struct tb_span kwargs;
    double now_s;
    struct tb_arena arena; // of one line
    struct tb_buffer prompt;
    uint64_t refused_count;
};

/* ---- the template ----------------------------------------------------- */

static tb_status compile(struct tb_span source, const char *path,
                         struct tb_chat_template **chat_template,
                         struct tb_error *error)
{
    tb_status status = tb_chat_template_compile(source, chat_template, error);
    if (status != TB_OK)
        tb_error_set_path(error, path);
    return status;
}

static tb_status compile_file(struct job *job, const char *path,
                              struct tb_error *error)
{
    struct tb_buffer source = TB_BUFFER(TEMPLATE_MAX_LEN);
    tb_status status = tb_input_read_all(path, &source, error);
    if (status == TB_OK)
        status = compile(tb_buffer_span(&source), path, &job->plain, error);
    tb_buffer_release(&source);
    return status;
}

static tb_status compile_own(struct job *job, const char *name,
                             struct tb_error *error)
{
    if (!job->file.source.ptr && !job->file.tool_source.ptr) {
        tb_fail(error, TB_ERR_NOT_FOUND,
                "no chat template beside the tokenizer; give one with "
                "--chat-template FILE");
        tb_error_set_path(error, name);
        return TB_ERR_NOT_FOUND;
    }
    if (job->file.source.ptr)
        TB_TRY(compile(job->file.source, name, &job->plain, error));
    if (job->file.tool_source.ptr)
        TB_TRY(compile(job->file.tool_source, name, &job->with_tools, error));
    return TB_OK;
}

static tb_status open_template(struct job *job,
                               const struct arguments *arguments,
                               struct tb_error *error)
{
    const char *name = arguments->tokenizer ? arguments->tokenizer : "builtin";
    char path[4096];
    if (!tb_tokenizer_is_builtin(name)) {
        TB_TRY(tb_fetch_locate(name, false, path, sizeof(path), error));
        tb_status status = tb_chat_template_file_read(path, &job->file, error);
        if (status != TB_OK) {
            tb_error_set_path(error, path);
            return status;
        }
    }
    return arguments->template_path
               ? compile_file(job, arguments->template_path, error)
               : compile_own(job, name, error);
}

/* ---- special tokens --------------------------------------------------- */

static tb_status read_special(struct job *job, struct tb_json_reader *reader)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        if (job->special_count == SPECIAL_MAX)
            return tb_json_fail(reader, TB_ERR_LIMIT,
                                "too many special tokens");
        struct tb_special_token *token = &job->special[job->special_count++];
        TB_TRY(tb_arena_copy(&job->file.arena, key, &token->name));
        TB_TRY(tb_json_read_string(reader, &job->file.arena, &token->text));
    }
}

// Those of the option stand behind those of the file, and so win.
static tb_status set_special(struct job *job, const char *json,
                             struct tb_error *error)
{
    struct tb_json_reader reader;
    for (size_t i = 0; i < job->file.special_count; i++)
        job->special[job->special_count++] = job->file.special[i];
    if (!json)
        return TB_OK;
    tb_json_reader_init_span(&reader, tb_span_of(json), 0, 1);
    tb_status status = read_special(job, &reader);
    if (status == TB_OK)
        status = tb_json_expect_end(&reader);
    if (status == TB_OK)
        return TB_OK;
    *error = reader.error;
    tb_error_set_path(error, "--special-tokens");
    return status;
}

static tb_status set_kwargs(struct job *job, const char *json,
                            struct tb_error *error)
{
    struct tb_json_reader reader;
    job->kwargs = tb_span_of(json);
    if (!json)
        return TB_OK;
    tb_json_reader_init_span(&reader, job->kwargs, 0, 1);
    tb_status status = tb_json_enter_object(&reader);
    if (status == TB_OK)
        status = tb_json_leave_to(&reader, 0);
    if (status == TB_OK)
        status = tb_json_expect_end(&reader);
    if (status == TB_OK)
        return TB_OK;
    *error = reader.error;
    tb_error_set_path(error, "--chat-template-kwargs");
    return status;
}

/* ---- lines ------------------------------------------------------------ */

static tb_status read_request(struct tb_json_reader *reader,
                              struct tb_chat_input *input)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("messages")))
            TB_TRY(tb_json_read_raw(reader, &input->messages));
        else if (tb_span_equal(key, TB_SPAN("tools")))
            TB_TRY(tb_json_read_raw(reader, &input->tools));
        else
            TB_TRY(tb_json_skip(reader));
    }
    if (!input->messages.ptr)
        return tb_json_fail(reader, TB_ERR_VALUE, "no 'messages'");
    return tb_json_expect_end(reader);
}

static const struct tb_chat_template *choose(const struct job *job,
                                             const struct tb_chat_input *input)
{
    bool has_tools =
        input->tools.ptr && !tb_span_equal(input->tools, TB_SPAN("null"));
    if ((has_tools && job->with_tools) || !job->plain)
        return job->with_tools;
    return job->plain;
}

// Does the failure concern this line alone?
static bool is_refusal(tb_status status)
{
    return status == TB_ERR_VALUE || status == TB_ERR_UNSUPPORTED ||
           status == TB_ERR_LIMIT;
}

static tb_status append_null(struct job *job, struct tb_line_job *lines,
                             const struct tb_error *error)
{
    job->refused_count++;
    tb_message_line("line %llu: %s", (unsigned long long)lines->lines.line,
                    error->message);
    return tb_buffer_append(&lines->text, TB_SPAN("null\n"));
}

static tb_status append_prompt(const struct job *job, struct tb_buffer *text)
{
    TB_TRY(tb_json_write_string(text, tb_buffer_span(&job->prompt)));
    return tb_buffer_append_byte(text, '\n');
}

static tb_status render_line(void *context, struct tb_line_job *lines,
                             struct tb_span line, struct tb_error *error)
{
    struct job *job = context;
    struct tb_json_reader reader;
    struct tb_chat_input input = {.special = job->special,
                                  .special_count = job->special_count,
                                  .kwargs = job->kwargs,
                                  .now_s = job->now_s};
    tb_arena_reset(&job->arena);
    tb_buffer_clear(&job->prompt);
    tb_json_reader_init_span(&reader, line, lines->lines.offset,
                             lines->lines.line);
    tb_status status = read_request(&reader, &input);
    if (status != TB_OK) {
        *error = reader.error;
        return status;
    }
    status = tb_chat_template_render(choose(job, &input), &input, &job->arena,
                                     &job->prompt, error);
    if (status == TB_OK)
        status = append_prompt(job, &lines->text);
    else if (is_refusal(status))
        status = append_null(job, lines, error);
    else
        error->line = lines->lines.line; // a place within the line till now
    return status;
}

/* ---- the command ------------------------------------------------------ */

static tb_status open_job(struct job *job, const struct arguments *arguments,
                          struct tb_error *error)
{
    job->now_s =
        arguments->now_s ? (double)arguments->now_s : (double)time(NULL);
    TB_TRY(set_kwargs(job, arguments->kwargs, error));
    TB_TRY(open_template(job, arguments, error));
    return set_special(job, arguments->special, error);
}

static void release_job(struct job *job)
{
    tb_chat_template_free(job->plain);
    tb_chat_template_free(job->with_tools);
    tb_chat_template_file_release(&job->file);
    tb_arena_release(&job->arena);
    tb_buffer_release(&job->prompt);
}

static int render(const struct arguments *arguments)
{
    struct job job = {.prompt = TB_BUFFER(SIZE_MAX)};
    const char *path = arguments->files.count ? arguments->files.items[0] : "-";
    struct tb_error error = {0};
    tb_status status = open_job(&job, arguments, &error);
    if (status == TB_OK)
        status = tb_line_job_run(path, render_line, &job, &error);
    release_job(&job);
    if (job.refused_count > 0)
        tb_message_line("%llu lines without a prompt",
                        (unsigned long long)job.refused_count);
    if (status == TB_OK || status == TB_ERR_CLOSED)
        return TB_EXIT_DONE;
    if (error.status != status)
        tb_fail(&error, status, "cannot render: %s", tb_status_name(status));
    tb_message_error(&error);
    return TB_EXIT_FAILED;
}

int tb_command_render(int argc, char *const *argv)
{
    struct arguments arguments = {0};
    struct tb_error error = {0};
    tb_status status = tb_option_parse(&table, argc, argv, &arguments, &error);
    if (status == TB_OK && !arguments.is_help && !arguments.tokenizer &&
        !arguments.template_path)
        status = tb_fail(&error, TB_ERR_USAGE,
                         "no template given: --tokenizer NAME or "
                         "--chat-template FILE");
    int result;
    if (arguments.is_help)
        result = tb_message_help(&table);
    else if (status != TB_OK)
        result = tb_message_usage(&error, table.command);
    else
        result = render(&arguments);
    tb_text_list_release(&arguments.files);
    return result;
}
