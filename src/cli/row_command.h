/* What the commands that make rows of rows have in common. */
#ifndef TB_ROW_COMMAND_H
#define TB_ROW_COMMAND_H

#include "command.h"
#include "meta_change.h"
#include "row_output.h"

/* Rows in and rows out, as a command was told. */
struct tb_row_job {
    struct tb_row_input input;
    struct tb_row_output output;
    char output_path[TB_PATH_SIZE];
    struct tb_buffer old_meta; /* content of the input's meta file */
    struct tb_buffer command;  /* the command line, for the new one */
};

/* Ends the waits of a run when a signal came. */
struct tb_row_stop tb_row_command_stop(void);

/* Opens `input` and its output: `output`, or when that is NULL the input's name
 * without its extension and with `suffix` behind ("-" for "-"). `argc` and
 * `argv` are what was typed behind the name of `command`. */
TB_NODISCARD tb_status tb_row_job_open(struct tb_row_job *job,
                                       const char *input, const char *output,
                                       const char *suffix, const char *command,
                                       int argc, char *const *argv,
                                       struct tb_error *error);

/* Puts rows and meta file in place; of `change` version and command are set. */
TB_NODISCARD tb_status tb_row_job_commit(struct tb_row_job *job,
                                         struct tb_meta_change *change,
                                         struct tb_error *error);

/* Many lines about what was done: on standard output, or on standard error when
 * the rows go there. */
TB_NODISCARD tb_status tb_row_job_tell(const struct tb_row_job *job,
                                       struct tb_span text,
                                       struct tb_error *error);

void tb_row_job_close(struct tb_row_job *job);

#endif
