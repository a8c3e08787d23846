/* All that is printed goes through here. Texts may come from a trace, so that
 * control characters in them do not reach a terminal: they become '?'. */
#ifndef TB_MESSAGE_H
#define TB_MESSAGE_H

#include "option.h"

/* "tracebake: path:line:offset: $path: message" on standard error. */
void tb_message_error(const struct tb_error *error);

/* A line on standard error with "tracebake: " in front. */
void tb_message_line(const char *format, ...) TB_PRINTF(1, 2);

/* The message, and where to read more: "tracebake nat --help" for "nat", the
 * overview for NULL. Returns the exit status for wrong usage. */
int tb_message_usage(const struct tb_error *error, const char *command);

/* Many lines on standard output or standard error. TB_ERR_CLOSED when the
 * reader of a pipe went away; TB_ERR_IO, and the system's reason in `error`,
 * when they cannot be written. errno is then that of the failure. */
TB_NODISCARD tb_status tb_message_text(struct tb_span text, bool is_error,
                                       struct tb_error *error);

/* Columns for pictures on standard output: those of the terminal that it is, or
 * what COLUMNS says of it; 0 when it is none. */
unsigned tb_message_picture_width(void);

/* Prints a command's manual on standard output; returns the exit status. */
int tb_message_help(const struct tb_option_table *table);

/* Prints a text that was made with `status` on standard output, or says why
 * it cannot; returns the exit status. */
int tb_message_document(const struct tb_buffer *text, tb_status status);

enum { /* of the program */
       TB_EXIT_DONE = 0,
       TB_EXIT_FAILED = 1,
       TB_EXIT_USAGE = 2,
       TB_EXIT_SIGNAL = 128 /* plus the signal's number */
};

#endif
