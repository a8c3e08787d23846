/* Renders chat templates, for template_oracle.py. A JSON object per line in:
 *
 *     {"template": "...", "messages": [...], "tools": [...] or null,
 *      "special": {"bos_token": "..."}, "kwargs": {...}, "now": 0}
 *
 * and {"text": "..."} or {"error": "...", "status": "..."} per line out. */
#include <stdio.h>
#include <stdlib.h>

#include "chat_template.h"
#include "json_reader.h"
#include "json_writer.h"

#define MAX_LEN ((size_t)1 << 30)

enum { SPECIAL_MAX = 32 };

struct job {
    struct tb_arena arena;
    struct tb_special_token special[SPECIAL_MAX];
    struct tb_chat_input input;
    struct tb_span source;
    /* The template of the line before is kept: many have the same. */
    struct tb_buffer kept_source;
    struct tb_chat_template *kept;
};

static bool read_line(struct tb_buffer *line)
{
    tb_buffer_clear(line);
    int byte = getchar();
    if (byte == EOF)
        return false;
    for (; byte != EOF && byte != '\n'; byte = getchar()) {
        if (tb_buffer_append_byte(line, (uint8_t)byte) != TB_OK)
            exit(1);
    }
    return true;
}

static tb_status read_special(struct job *job, struct tb_json_reader *reader)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr || job->input.special_count == SPECIAL_MAX)
            return TB_OK;
        struct tb_special_token *token =
            &job->special[job->input.special_count++];
        TB_TRY(tb_arena_copy(&job->arena, key, &token->name));
        TB_TRY(tb_json_read_string(reader, &job->arena, &token->text));
    }
}

static tb_status read_job(struct job *job, struct tb_json_reader *reader)
{
    job->input = (struct tb_chat_input){.special = job->special};
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        struct tb_json_number number;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        if (tb_span_equal(key, TB_SPAN("template"))) {
            TB_TRY(tb_json_read_string(reader, &job->arena, &job->source));
        } else if (tb_span_equal(key, TB_SPAN("messages"))) {
            TB_TRY(tb_json_read_raw(reader, &job->input.messages));
        } else if (tb_span_equal(key, TB_SPAN("tools"))) {
            TB_TRY(tb_json_read_raw(reader, &job->input.tools));
        } else if (tb_span_equal(key, TB_SPAN("kwargs"))) {
            TB_TRY(tb_json_read_raw(reader, &job->input.kwargs));
        } else if (tb_span_equal(key, TB_SPAN("special"))) {
            TB_TRY(read_special(job, reader));
        } else if (tb_span_equal(key, TB_SPAN("now"))) {
            TB_TRY(tb_json_read_number(reader, &number));
            job->input.now_s = number.value;
        } else {
            TB_TRY(tb_json_skip(reader));
        }
    }
}

static tb_status compile(struct job *job, struct tb_error *error)
{
    if (job->kept &&
        tb_span_equal(job->source, tb_buffer_span(&job->kept_source)))
        return TB_OK;
    tb_chat_template_free(job->kept);
    job->kept = NULL;
    tb_buffer_clear(&job->kept_source);
    TB_TRY(tb_buffer_append(&job->kept_source, job->source));
    return tb_chat_template_compile(job->source, &job->kept, error);
}

static tb_status run(struct job *job, struct tb_span line,
                     struct tb_buffer *prompt, struct tb_error *error)
{
    struct tb_json_reader reader;
    tb_json_reader_init_span(&reader, line, 0, 1);
    tb_status status = read_job(job, &reader);
    if (status != TB_OK) {
        *error = reader.error;
        return status;
    }
    TB_TRY(compile(job, error));
    return tb_chat_template_render(job->kept, &job->input, &job->arena, prompt,
                                   error);
}

static void print_field(struct tb_buffer *json, const char *name,
                        struct tb_span text)
{
    tb_buffer_clear(json);
    if (tb_json_write_string(json, text) != TB_OK)
        exit(1);
    printf("\"%s\": %.*s", name, (int)json->len, (const char *)json->ptr);
}

int main(void)
{
    struct job job = {.kept_source = TB_BUFFER(MAX_LEN)};
    struct tb_buffer line = TB_BUFFER(MAX_LEN), prompt = TB_BUFFER(MAX_LEN);
    struct tb_buffer json = TB_BUFFER(MAX_LEN);
    while (read_line(&line)) {
        struct tb_error error = {0};
        tb_buffer_clear(&prompt);
        tb_status status = run(&job, tb_buffer_span(&line), &prompt, &error);
        putchar('{');
        if (status == TB_OK) {
            print_field(&json, "text", tb_buffer_span(&prompt));
        } else {
            print_field(&json, "error", tb_span_of(error.message));
            printf(", \"status\": \"%s\"", tb_status_name(status));
        }
        printf("}\n");
        (void)fflush(stdout);
        tb_arena_reset(&job.arena);
    }
    tb_chat_template_free(job.kept);
    tb_arena_release(&job.arena);
    tb_buffer_release(&job.kept_source);
    tb_buffer_release(&line);
    tb_buffer_release(&prompt);
    tb_buffer_release(&json);
    return 0;
}
