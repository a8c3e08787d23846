/* The commands of the program, one file each. All take the arguments behind
 * their own name and return the exit status. */
#ifndef TB_COMMAND_H
#define TB_COMMAND_H

#include "option.h"

/* The frame of a command: fills `arguments` with what was typed (option.h),
 * then shows its manual, or says what is wrong, or runs it. `check` (may be
 * NULL) looks at what was typed, once it is known to be none of the first.
 * The list of operands, which is in `arguments`, is released. Returns the exit
 * status. */
int tb_command_run(const struct tb_option_table *table, int argc,
                   char *const *argv, void *arguments,
                   tb_status (*check)(const void *arguments,
                                      struct tb_error *error),
                   int (*run)(const void *arguments));

/* How a command that ran ends: says why it failed, unless it was stopped or the
 * reader of its output went away. `doing` is what it could not do, "analyze";
 * for errors that have no words of their own. Returns the exit status. */
int tb_command_end(tb_status status, struct tb_error *error, const char *doing,
                   const char *command);

/* What a command made is in place, and `told` came of saying so: figures that
 * nobody asked for are no failure, or whoever sees one would take the files for
 * old ones. Says what the matter is and returns TB_OK. */
TB_NODISCARD tb_status tb_command_told(tb_status told,
                                       const struct tb_error *error);

int tb_command_nat(int argc, char *const *argv);
int tb_command_telemetry(int argc, char *const *argv);
int tb_command_render(int argc, char *const *argv);
int tb_command_tokenize(int argc, char *const *argv);
int tb_command_analyze(int argc, char *const *argv);
int tb_command_validate(int argc, char *const *argv);
int tb_command_verify(int argc, char *const *argv);
int tb_command_reblock(int argc, char *const *argv);
int tb_command_rewrite(int argc, char *const *argv);
int tb_command_share(int argc, char *const *argv);
int tb_command_sample(int argc, char *const *argv);
int tb_command_partition(int argc, char *const *argv);
int tb_command_merge(int argc, char *const *argv);
int tb_command_tokenizer_list(int argc, char *const *argv);
int tb_command_tokenizer_pull(int argc, char *const *argv);
int tb_command_tokenizer_show(int argc, char *const *argv);
int tb_command_tokenizer_clear(int argc, char *const *argv);

#endif
