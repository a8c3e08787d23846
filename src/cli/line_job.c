#include "line_job.h"

#include "message.h"

enum { FLUSH_LEN = 1 << 18 }; // bytes of output that are written at once

static tb_status flush(struct tb_line_job *job, struct tb_error *error)
{
    TB_TRY(tb_output_write(job->output, tb_buffer_span(&job->text), error));
    tb_buffer_clear(&job->text);
    return TB_OK;
}

static tb_status do_lines(struct tb_line_job *job, tb_line_fn on_line,
                          void *context, struct tb_error *error)
{
    for (;;) {
        struct tb_span line;
        TB_TRY(tb_line_reader_next(&job->lines, &line, error));
        if (!line.ptr)
            return TB_OK;
        TB_TRY(on_line(context, job, line, error));
        if (job->text.len >= FLUSH_LEN || tb_line_reader_must_read(&job->lines))
            TB_TRY(flush(job, error));
    }
}

static tb_status do_job(struct tb_line_job *job, tb_line_fn on_line,
                        void *context, struct tb_error *error)
{
    tb_status status = do_lines(job, on_line, context, error);
    if (status != TB_OK) {
        tb_error_set_path(error, tb_input_path(job->input));
        tb_status flushed =
            status == TB_ERR_CLOSED ? TB_ERR_CLOSED : flush(job, NULL);
        return flushed == TB_ERR_CLOSED ? flushed : status;
    }
    TB_TRY(flush(job, error));
    return tb_output_commit(job->output, error);
}

tb_status tb_line_job_run(const char *path, tb_line_fn on_line, void *context,
                          struct tb_error *error)
{
    struct tb_line_job job = {.text = TB_BUFFER(SIZE_MAX)};
    TB_TRY(tb_input_open(path, &job.input, error));
    job.lines = tb_line_reader_on(job.input);
    tb_status status = tb_output_open("-", &job.output, error);
    if (status == TB_OK)
        status = do_job(&job, on_line, context, error);
    tb_line_reader_release(&job.lines);
    tb_input_close(job.input);
    tb_output_close(job.output);
    tb_buffer_release(&job.text);
    return status;
}

void tb_line_job_tell_null(uint64_t count, const char *what)
{
    if (count > 0)
        tb_message_line("%llu line%s without %s", (unsigned long long)count,
                        count == 1 ? "" : "s", what);
}
