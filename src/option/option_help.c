#include "option.h"

#include <string.h>

enum { LINE_WIDTH = 79, OPTION_INDENT = 2, HELP_INDENT = 8 };

static tb_status append_text(struct tb_buffer *buffer, const char *text)
{
    return tb_buffer_append(buffer, tb_span_of(text));
}

tb_status tb_option_wrap(struct tb_buffer *buffer, const char *text, int indent)
{
    int column = 0;
    while (*text) {
        if (*text == '\n') {
            TB_TRY(append_text(buffer, "\n"));
            column = 0;
            text++;
            continue;
        }
        int len = (int)strcspn(text, " \n");
        if (column > 0 && column + 1 + len > LINE_WIDTH) {
            TB_TRY(append_text(buffer, "\n"));
            column = 0;
        }
        TB_TRY(tb_buffer_printf(buffer, "%*s%.*s", column ? 1 : indent, "", len,
                                text));
        column += (column ? 1 : indent) + len;
        text += len;
        text += strspn(text, " ");
    }
    return column ? append_text(buffer, "\n") : TB_OK;
}

static tb_status append_option(struct tb_buffer *buffer,
                               const struct tb_option *option)
{
    TB_TRY(tb_buffer_printf(buffer, "%*s%s--%s", OPTION_INDENT, "",
                            strcmp(option->name, "help") ? "" : "-h, ",
                            option->name));
    if (option->argument)
        TB_TRY(tb_buffer_printf(buffer, " %s", option->argument));
    TB_TRY(append_text(buffer, "\n"));
    TB_TRY(tb_option_wrap(buffer, option->help, HELP_INDENT));
    if (option->initial)
        TB_TRY(tb_buffer_printf(buffer, "%*sDefault: %s\n", HELP_INDENT, "",
                                option->initial));
    return TB_OK;
}

tb_status tb_option_help(const struct tb_option_table *table,
                         struct tb_buffer *buffer)
{
    TB_TRY(tb_buffer_printf(buffer, "tracebake %s - %s\n\n", table->command,
                            table->purpose));
    TB_TRY(
        tb_buffer_printf(buffer, "Usage:\n  tracebake %s\n\n", table->usage));
    TB_TRY(tb_option_wrap(buffer, table->description, 0));
    for (size_t i = 0; i < table->option_count; i++) {
        const struct tb_option *option = &table->options[i];
        if (option->group)
            TB_TRY(tb_buffer_printf(buffer, "\n%s:\n", option->group));
        TB_TRY(append_option(buffer, option));
    }
    return tb_buffer_printf(buffer, "\nExamples:\n%s", table->examples);
}
