/* tracebake render: {"messages": [..], "tools": [..]} a line in, the prompt
 * that the model's chat template makes of it as a JSON string a line out. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "chat_template_set.h"
#include "command.h"
#include "fetch.h"
#include "json_reader.h"
#include "json_writer.h"
#include "line_job.h"
#include "message.h"
#include "tokenizer.h"

#define NOW_MAX UINT64_C(253402300799) // the last second of the year 9999

struct arguments {
    struct tb_text_list files;
    const char *tokenizer;
    struct tb_chat_template_overrides overrides;
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
     offsetof(struct arguments, overrides.path), 0, 0},
    {NULL, "chat-template-kwargs", TB_OPTION_TEXT, "JSON", NULL,
     "An object of more variables for the template, such as "
     "'{\"enable_thinking\": false}'.",
     offsetof(struct arguments, overrides.kwargs), 0, 0},
    {NULL, "special-tokens", TB_OPTION_TEXT, "JSON", NULL,
     "An object of special tokens that go before those of the tokenizer, such "
     "as '{\"bos_token\": \"<s>\"}'.",
     offsetof(struct arguments, overrides.special), 0, 0},
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
    struct tb_chat_template_set templates;
    double now_s;
    struct tb_arena arena; // of one line
    struct tb_buffer prompt;
    uint64_t refused_count;
};

/* ---- the template ----------------------------------------------------- */

static tb_status open_templates(struct job *job,
                                const struct arguments *arguments,
                                struct tb_error *error)
{
    const char *name = arguments->tokenizer;
    char path[4096];
    bool has_file = name && !tb_tokenizer_is_builtin(name);
    if (has_file)
        TB_TRY(tb_fetch_locate(name, false, path, sizeof(path), error));
    TB_TRY(tb_chat_template_set_read(&job->templates, has_file ? path : NULL,
                                     &arguments->overrides, error));
    TB_TRY(tb_chat_template_set_compile(&job->templates, error));
    if (tb_chat_template_set_find(&job->templates, true))
        return TB_OK;
    tb_fail(error, TB_ERR_NOT_FOUND,
            "no chat template beside the tokenizer; give one with "
            "--chat-template FILE");
    tb_error_set_path(error, name);
    return TB_ERR_NOT_FOUND;
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
    return tb_chat_template_set_find(&job->templates, has_tools)->compiled;
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
    struct tb_chat_input input = tb_chat_template_set_input(&job->templates);
    input.now_s = job->now_s;
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
    return open_templates(job, arguments, error);
}

static void release_job(struct job *job)
{
    tb_chat_template_set_release(&job->templates);
    tb_arena_release(&job->arena);
    tb_buffer_release(&job->prompt);
}

static int render(const void *typed)
{
    const struct arguments *arguments = typed;
    struct job job = {.prompt = TB_BUFFER(SIZE_MAX)};
    const char *path = arguments->files.count ? arguments->files.items[0] : "-";
    struct tb_error error = {0};
    tb_status status = open_job(&job, arguments, &error);
    if (status == TB_OK)
        status = tb_line_job_run(path, render_line, &job, &error);
    release_job(&job);
    tb_line_job_tell_null(job.refused_count, "a prompt");
    if (status == TB_OK || status == TB_ERR_CLOSED)
        return TB_EXIT_DONE;
    if (error.status != status)
        tb_fail(&error, status, "cannot render: %s", tb_status_name(status));
    tb_message_error(&error);
    return TB_EXIT_FAILED;
}

static tb_status check(const void *typed, struct tb_error *error)
{
    const struct arguments *arguments = typed;
    if (!arguments->tokenizer && !arguments->overrides.path)
        return tb_fail(error, TB_ERR_USAGE,
                       "no template given: --tokenizer NAME or "
                       "--chat-template FILE");
    return TB_OK;
}

int tb_command_render(int argc, char *const *argv)
{
    struct arguments arguments = {0};
    return tb_command_run(&table, argc, argv, &arguments, check, render);
}
