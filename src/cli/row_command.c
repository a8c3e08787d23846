#include "row_command.h"

#include <string.h>

#include "command_text.h"
#include "input_name.h"
#include "message.h"
#include "stop_signal.h"

#define TEXT_MAX_LEN ((size_t)32 << 20)

static bool is_stopping(void *context)
{
    (void)context;
    return tb_stop_signal() != 0;
}

struct tb_row_stop tb_row_command_stop(void)
{
    return (struct tb_row_stop){.is_stopping = is_stopping};
}

static tb_status choose_output(struct tb_row_job *job, const char *input,
                               const char *output, const char *suffix,
                               struct tb_error *error)
{
    bool is_stream = strcmp(input, "-") == 0;
    bool fits =
        output ? tb_path_format(job->output_path, sizeof(job->output_path),
                                "%s", output)
        : is_stream
            ? tb_path_format(job->output_path, sizeof(job->output_path), "-")
            : tb_path_format(job->output_path, sizeof(job->output_path),
                             "%.*s%s.jsonl", (int)tb_input_name_stem_len(input),
                             input, suffix);
    return fits ? TB_OK
                : tb_fail(error, TB_ERR_USAGE, "the output's path is too long");
}

tb_status tb_row_job_open(struct tb_row_job *job, const char *input,
                          const char *output, const char *suffix,
                          const char *command, int argc, char *const *argv,
                          struct tb_error *error)
{
    struct tb_row_stop stop = tb_row_command_stop();
    *job = (struct tb_row_job){.old_meta = TB_BUFFER(TEXT_MAX_LEN),
                               .command = TB_BUFFER(TEXT_MAX_LEN)};
    TB_TRY(tb_command_text(&job->command, command, argc, argv));
    TB_TRY(choose_output(job, input, output, suffix, error));
    TB_TRY(tb_row_input_open(&job->input, input, stop, error));
    TB_TRY(tb_meta_content(input, &job->old_meta, error));
    TB_TRY(tb_row_output_open(&job->output, job->output_path, stop, error));
    return tb_row_output_spare(&job->output, input, error);
}

tb_status tb_row_job_commit(struct tb_row_job *job,
                            struct tb_meta_change *change,
                            struct tb_error *error)
{
    struct tb_buffer meta = TB_BUFFER(TEXT_MAX_LEN);
    change->version = TB_VERSION;
    change->command = (const char *)job->command.ptr;
    // One that nobody could read said nothing that is lost.
    struct tb_span old = job->input.meta.is_found
                             ? tb_buffer_span(&job->old_meta)
                             : (struct tb_span){0};
    tb_status status = tb_meta_change(change, old, &meta);
    if (status == TB_OK)
        status =
            tb_row_output_commit(&job->output, tb_buffer_span(&meta), error);
    tb_buffer_release(&meta);
    return status;
}

tb_status tb_row_job_tell(const struct tb_row_job *job, struct tb_span text,
                          struct tb_error *error)
{
    const char *path = job->output_path;
    bool is_taken = strcmp(path, "-") == 0 ||
                    strcmp(path, "/dev/stdout") == 0 ||
                    strcmp(path, "/dev/fd/1") == 0;
    return tb_message_text(text, is_taken, error);
}

void tb_row_job_close(struct tb_row_job *job)
{
    tb_row_input_close(&job->input);
    tb_row_output_close(&job->output);
    tb_buffer_release(&job->old_meta);
    tb_buffer_release(&job->command);
}
