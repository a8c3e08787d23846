/* Options of a command, written down once: parsing and --help come from the
 * same table.
 *
 *     struct arguments arguments = {.block_size = 128};
 *     TB_TRY(tb_option_parse(&table, argc, argv, &arguments, &error));
 *
 * "--name value" and "--name=value" are the same. "--" ends the options.
 * "-" alone is an operand. "-h" is --help. When an option comes twice, the
 * last one counts, unless it is a list.
 */
#ifndef TB_OPTION_H
#define TB_OPTION_H

#include "buffer.h"

/* Texts from the command line, borrowed. Zero-initialised is empty. */
struct tb_text_list {
    const char **items;
    size_t count, capacity;
};

TB_NODISCARD tb_status tb_text_list_add(struct tb_text_list *list,
                                        const char *text);
void tb_text_list_release(struct tb_text_list *list);

typedef enum tb_option_kind {                   /* what the target is: */
                              TB_OPTION_FLAG,   /* bool */
                              TB_OPTION_TEXT,   /* const char * */
                              TB_OPTION_LIST,   /* struct tb_text_list */
                              TB_OPTION_NUMBER, /* uint64_t */
                              TB_OPTION_SIZE,   /* uint64_t, bytes: 512M */
                              TB_OPTION_CHOICE, /* int: which of the words in
                                                   `argument` */
} tb_option_kind;

struct tb_option {
    const char *group; /* heading in the help; NULL: as the one before */
    const char *name;  /* without dashes */
    tb_option_kind kind;
    const char *argument; /* "FILE", or a choice's words: "auto|join" */
    const char *initial;  /* default, as the help shows it, or NULL */
    const char *help;     /* sentences; broken into lines by the help */
    size_t target;        /* offset in the struct that is filled */
    uint64_t min, max;    /* of a number or size */
};

struct tb_option_table {
    const char *command;     /* "nat" */
    const char *purpose;     /* one line, without a full stop */
    const char *usage;       /* behind the program's name */
    const char *description; /* paragraphs, separated by an empty line */
    const char *examples;    /* lines as they are */
    const struct tb_option *options;
    size_t option_count;
    size_t operands; /* offset of a struct tb_text_list */
    size_t operands_max;
};

/* Fills `target` from the arguments behind the command's name. What is not
 * named there stays. Texts borrow from `argv`. TB_ERR_USAGE with a message
 * that says what to type instead, TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_option_parse(const struct tb_option_table *table,
                                       int argc, char *const *argv,
                                       void *target, struct tb_error *error);

/* Appends the manual of the command, up to 79 columns wide. */
TB_NODISCARD tb_status tb_option_help(const struct tb_option_table *table,
                                      struct tb_buffer *buffer);

/* Appends the words of `text`, indented, in lines of up to 79 columns. A line
 * break in it is kept. */
TB_NODISCARD tb_status tb_option_wrap(struct tb_buffer *buffer,
                                      const char *text, int indent);

#endif
