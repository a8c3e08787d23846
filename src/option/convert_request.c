#include "convert_request.h"

#include <string.h>

#include "command_text.h"
#include "path_list.h"

enum { COMMAND_MAX = 1 << 16 }; // bytes

void tb_convert_request_init(struct tb_convert_request *request,
                             tb_dialect_id dialect)
{
    *request = (struct tb_convert_request){
        .arguments = tb_convert_arguments_none(),
        .options = {.dialect = dialect},
        .command = TB_BUFFER(COMMAND_MAX),
    };
}

void tb_convert_request_release(struct tb_convert_request *request)
{
    tb_text_list_release(&request->arguments.inputs);
    tb_arena_release(&request->arena);
    tb_buffer_release(&request->command);
}

static tb_status check_inputs(const struct tb_convert_arguments *arguments,
                              struct tb_error *error)
{
    size_t stdin_count =
        arguments->files_from && strcmp(arguments->files_from, "-") == 0;
    for (size_t i = 0; i < arguments->inputs.count; i++)
        stdin_count += strcmp(arguments->inputs.items[i], "-") == 0;
    if (stdin_count > 1)
        return tb_fail(error, TB_ERR_USAGE,
                       "standard input can be read only once");
    if (arguments->inputs.count == 0 && !arguments->files_from)
        return tb_fail(error, TB_ERR_USAGE,
                       "no input given; name a trace, or - for standard input");
    return TB_OK;
}

tb_status tb_convert_request_read(struct tb_convert_request *request, int argc,
                                  char *const *argv, struct tb_error *error)
{
    struct tb_convert_arguments *arguments = &request->arguments;
    struct tb_convert_options *options = &request->options;
    const struct tb_option_table *table =
        tb_convert_option_table(options->dialect);
    // A command line that is too long for the meta file is left out there.
    if (tb_command_text(&request->command, table->command, argc, argv) == TB_OK)
        options->command = (const char *)request->command.ptr;
    TB_TRY(tb_option_parse(table, argc, argv, arguments, error));
    if (arguments->is_help)
        return TB_OK;
    TB_TRY(check_inputs(arguments, error));
    TB_TRY(tb_convert_arguments_apply(arguments, options, error));
    if (arguments->files_from)
        TB_TRY(tb_path_list_read(arguments->files_from, &request->arena,
                                 &arguments->inputs, error));
    options->inputs = arguments->inputs.items;
    options->input_count = arguments->inputs.count;
    return TB_OK;
}
