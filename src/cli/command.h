/* The commands of the program, one file each. All take the arguments behind
 * their own name and return the exit status. */
#ifndef TB_COMMAND_H
#define TB_COMMAND_H

int tb_command_nat(int argc, char *const *argv);
int tb_command_telemetry(int argc, char *const *argv);
int tb_command_render(int argc, char *const *argv);
int tb_command_tokenize(int argc, char *const *argv);
int tb_command_analyze(int argc, char *const *argv);
int tb_command_validate(int argc, char *const *argv);
int tb_command_verify(int argc, char *const *argv);
int tb_command_tokenizer_list(int argc, char *const *argv);
int tb_command_tokenizer_pull(int argc, char *const *argv);
int tb_command_tokenizer_show(int argc, char *const *argv);
int tb_command_tokenizer_clear(int argc, char *const *argv);

#endif
