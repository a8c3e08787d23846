#include "command.h"

#include <stdio.h>
#include <string.h>

#include "message.h"
#include "stop_signal.h"

// Every command has the option; it stands in the table like the others.
static bool is_help_asked(const struct tb_option_table *table,
                          const void *target)
{
    for (size_t i = 0; i < table->option_count; i++) {
        const struct tb_option *option = &table->options[i];
        if (strcmp(option->name, "help") == 0)
            return *(const bool *)((const char *)target + option->target);
    }
    return false;
}

static int
run_parsed(const struct tb_option_table *table, const void *arguments,
           tb_status (*check)(const void *arguments, struct tb_error *error),
           int (*run)(const void *arguments))
{
    struct tb_error error = {0};
    tb_status status = check ? check(arguments, &error) : TB_OK;
    return status == TB_OK ? run(arguments)
                           : tb_message_usage(&error, table->command);
}

int tb_command_run(const struct tb_option_table *table, int argc,
                   char *const *argv, void *arguments,
                   tb_status (*check)(const void *arguments,
                                      struct tb_error *error),
                   int (*run)(const void *arguments))
{
    struct tb_error error = {0};
    int result;
    tb_status status = tb_option_parse(table, argc, argv, arguments, &error);
    if (is_help_asked(table, arguments))
        result = tb_message_help(table);
    else if (status != TB_OK)
        result = tb_message_usage(&error, table->command);
    else
        result = run_parsed(table, arguments, check, run);
    tb_text_list_release(
        (struct tb_text_list *)(void *)((char *)arguments + table->operands));
    return result;
}

tb_status tb_command_told(tb_status told, const struct tb_error *error)
{
    char why[1024];
    if (told == TB_OK || told == TB_ERR_CLOSED)
        return TB_OK;
    if (error->status == told)
        tb_error_format(error, why, sizeof(why));
    else
        (void)snprintf(why, sizeof(why), "%s", tb_status_name(told));
    tb_message_line("warning: the figures cannot be printed (all files are "
                    "written): %s",
                    why);
    return TB_OK;
}

int tb_command_end(tb_status status, struct tb_error *error, const char *doing,
                   const char *command)
{
    // One that came when all was done has stopped nothing.
    if (status == TB_ERR_INTERRUPTED && tb_stop_signal())
        return TB_EXIT_SIGNAL + tb_stop_signal();
    if (status == TB_OK || status == TB_ERR_CLOSED)
        return TB_EXIT_DONE;
    if (error->status != status)
        tb_fail(error, status, "cannot %s: %s", doing, tb_status_name(status));
    if (status == TB_ERR_USAGE)
        return tb_message_usage(error, command);
    tb_message_error(error);
    return TB_EXIT_FAILED;
}
