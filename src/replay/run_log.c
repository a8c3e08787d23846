#include "run_log.h"

#include <stdio.h>

#include "line_reader.h"

/* What stands behind `mark` in `text`; empty when it does not occur. */
static struct tb_span behind(struct tb_span text, struct tb_span mark)
{
    for (size_t at = 0; at + mark.len <= text.len; at++) {
        struct tb_span rest = tb_span_from(text, at);
        if (tb_span_starts_with(rest, mark))
            return tb_span_from(rest, mark.len);
    }
    return (struct tb_span){0};
}

static uint64_t leading_number(struct tb_span text)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.len && i < 9; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            break;
        number = number * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    return number;
}

// "2026-12-01 01:57:01.945 - dataset_manager - ERROR - what went wrong"
static bool take_error(struct tb_span line, struct tb_run_log *log)
{
    struct tb_span fault = behind(line, TB_SPAN(" - ERROR - "));
    if (fault.len == 0)
        return false;
    size_t len =
        fault.len < sizeof(log->fault) ? fault.len : sizeof(log->fault) - 1;
    (void)snprintf(log->fault, sizeof(log->fault), "%.*s", (int)len,
                   (const char *)fault.ptr);
    if (tb_span_contains(fault, TB_SPAN("Hash IDs")))
        log->block_size =
            leading_number(behind(fault, TB_SPAN("Block size: ")));
    return true;
}

tb_status tb_run_log_read(const char *path, struct tb_run_log *log,
                          struct tb_error *error)
{
    struct tb_input *input;
    struct tb_span line = {0};
    *log = (struct tb_run_log){0};
    TB_TRY(tb_input_open(path, &input, error));
    struct tb_line_reader lines = tb_line_reader_on(input);
    tb_status status;
    do {
        status = tb_line_reader_next(&lines, &line, error);
    } while (status == TB_OK && line.ptr && !take_error(line, log));
    if (status != TB_OK)
        tb_error_set_path(error, path);
    tb_line_reader_release(&lines);
    tb_input_close(input);
    return status;
}
