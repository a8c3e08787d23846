/* The program: which command, and what is common to all. */
#ifndef TB_CLI_H
#define TB_CLI_H

/* Returns the exit status: 0 done, 1 failed and nothing written, 2 wrong
 * usage, 128 + n stopped by signal n. */
int tb_cli_main(int argc, char **argv);

#endif
