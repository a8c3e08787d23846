/* tracebake tokenize: a JSON string a line in, a JSON list of ids a line out.
 */
#include <stdio.h>

#include "command.h"
#include "fetch.h"
#include "json_reader.h"
#include "line_job.h"
#include "message.h"
#include "tokenizer.h"

enum { ID_MAX = 12 }; // bytes of an id with what stands between

struct arguments {
    struct tb_text_list files;
    const char *tokenizer;
    bool is_help;
};

static const struct tb_option options[] = {
    {"Options", "tokenizer", TB_OPTION_TEXT, "NAME", NULL,
     "A tokenizer.json, tekken.json, tokenizer.model or *.tiktoken, a folder "
     "with one, 'builtin' (o200k_base), or a model on the Hugging Face hub "
     "such as org/model or org/model@revision. Must "
     "be given.",
     offsetof(struct arguments, tokenizer), 0, 0},
    {NULL, "help", TB_OPTION_FLAG, NULL, NULL, "Show this page.",
     offsetof(struct arguments, is_help), 0, 0},
};

static const struct tb_option_table table = {
    .command = "tokenize",
    .purpose = "turn JSON strings into lists of token ids",
    .usage = "tokenize --tokenizer NAME [FILE]",
    .description =
        "Reads a JSON string from each line of FILE, or of standard input, and "
        "writes a line with a JSON list of its token ids to standard output. "
        "No special tokens are added. Where a text cannot be encoded, the line "
        "is null and the reason goes to standard error. Stops at a line that "
        "is no JSON string.\n",
    .examples = "  echo '\"Hello, world\"' | "
                "tracebake tokenize --tokenizer builtin\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = offsetof(struct arguments, files),
    .operands_max = 1,
};

struct job {
    struct tb_encoder *encoder;
    struct tb_arena arena; // of one line
    struct tb_tokens tokens;
    uint64_t lone_surrogate_count, bad_utf8_count, refused_count;
};

static uint8_t *put_id(uint8_t *out, tb_token id)
{
    uint8_t digits[10];
    size_t count = 0;
    do {
        digits[count++] = (uint8_t)('0' + id % 10);
        id /= 10;
    } while (id != 0);
    while (count > 0)
        *out++ = digits[--count];
    return out;
}

static tb_status append_ids(struct tb_buffer *text,
                            const struct tb_tokens *tokens)
{
    if (tokens->count > SIZE_MAX / ID_MAX - 3)
        return TB_ERR_LIMIT;
    TB_TRY(tb_buffer_reserve(text, tokens->count * ID_MAX + 3));
    uint8_t *out = text->ptr + text->len;
    *out++ = '[';
    for (size_t i = 0; i < tokens->count; i++) {
        if (i > 0) {
            *out++ = ',';
            *out++ = ' ';
        }
        out = put_id(out, tokens->ids[i]);
    }
    *out++ = ']';
    *out++ = '\n';
    text->len = (size_t)(out - text->ptr);
    return TB_OK;
}

static tb_status read_string(struct job *job,
                             const struct tb_line_reader *lines,
                             struct tb_span line, struct tb_span *text,
                             struct tb_error *error)
{
    struct tb_json_reader json;
    tb_arena_reset(&job->arena);
    tb_json_reader_init_span(&json, line, lines->offset, lines->line);
    tb_status status = tb_json_read_string(&json, &job->arena, text);
    if (status == TB_OK)
        status = tb_json_expect_end(&json);
    job->lone_surrogate_count += json.lone_surrogate_count;
    job->bad_utf8_count += json.bad_utf8_count;
    if (status != TB_OK && error)
        *error = json.error;
    tb_json_reader_release(&json);
    return status;
}

static tb_status append_null(struct job *job, struct tb_line_job *lines,
                             tb_status status)
{
    job->refused_count++;
    tb_message_line("line %llu: %s", (unsigned long long)lines->lines.line,
                    tb_encoder_fault(status));
    return tb_buffer_append(&lines->text, TB_SPAN("null\n"));
}

static tb_status tokenize_line(void *context, struct tb_line_job *lines,
                               struct tb_span line, struct tb_error *error)
{
    struct job *job = context;
    struct tb_span text;
    TB_TRY(read_string(job, &lines->lines, line, &text, error));
    job->tokens.count = 0;
    tb_status status = tb_encoder_encode(job->encoder, text, &job->tokens);
    if (tb_encoder_is_text_fault(status))
        return append_null(job, lines, status);
    if (status == TB_OK)
        status = append_ids(&lines->text, &job->tokens);
    if (status == TB_OK)
        return TB_OK;
    return tb_fail(error, status, "cannot tokenize line %llu: %s",
                   (unsigned long long)lines->lines.line,
                   tb_status_name(status));
}

static void print_replaced(uint64_t count, const char *what)
{
    if (count > 0)
        tb_message_line("%llu %s%s read as U+FFFD", (unsigned long long)count,
                        what, count == 1 ? "" : "s");
}

static int tokenize(const void *typed)
{
    const struct arguments *arguments = typed;
    struct job job = {0};
    struct tb_tokenizer *tokenizer = NULL;
    struct tb_error error = {0};
    const char *path = arguments->files.count ? arguments->files.items[0] : "-";
    char file[4096];
    tb_status status = tb_fetch_locate(arguments->tokenizer, false, file,
                                       sizeof(file), &error);
    if (status == TB_OK)
        status = tb_tokenizer_open(file, &tokenizer, &error);
    if (status == TB_OK)
        status = tb_encoder_new(tokenizer, &job.encoder);
    if (status == TB_OK)
        status = tb_line_job_run(path, tokenize_line, &job, &error);
    tb_encoder_free(job.encoder);
    tb_arena_release(&job.arena);
    tb_tokens_release(&job.tokens);
    tb_tokenizer_free(tokenizer);
    print_replaced(job.lone_surrogate_count, "half surrogate pair");
    print_replaced(job.bad_utf8_count, "broken UTF-8 sequence");
    tb_line_job_tell_null(job.refused_count, "ids");
    if (status == TB_OK || status == TB_ERR_CLOSED)
        return TB_EXIT_DONE;
    if (error.status != status)
        tb_fail(&error, status, "cannot tokenize: %s", tb_status_name(status));
    tb_message_error(&error);
    return TB_EXIT_FAILED;
}

static tb_status check(const void *typed, struct tb_error *error)
{
    const struct arguments *arguments = typed;
    if (!arguments->tokenizer)
        return tb_fail(error, TB_ERR_USAGE,
                       "no tokenizer given: --tokenizer NAME");
    return TB_OK;
}

int tb_command_tokenize(int argc, char *const *argv)
{
    struct arguments arguments = {0};
    return tb_command_run(&table, argc, argv, &arguments, check, tokenize);
}
