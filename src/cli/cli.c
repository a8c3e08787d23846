#include "cli.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "message.h"
#include "nearest.h"

static const struct command {
    const char *name;
    const char *purpose;
    int (*run)(int argc, char *const *argv);
} commands[] = {
    {"nat", "convert a NeMo Agent Toolkit profiler trace", tb_command_nat},
    {"telemetry", "convert telemetry JSONL with llm_call events",
     tb_command_telemetry},
    {"render", "turn messages and tools into prompts by a chat template",
     tb_command_render},
    {"tokenize", "turn JSON strings into lists of token ids",
     tb_command_tokenize},
    {"validate", "check rows against the rules of who will replay them",
     tb_command_validate},
};

enum {
    COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]),
    HELP_MAX = 1 << 16
};

static const char help_head[] =
    "tracebake - recorded agent traces to mooncake JSONL, for load testers\n"
    "\n"
    "Usage:\n"
    "  tracebake COMMAND [OPTION...] [FILE...]\n"
    "\n"
    "Commands:\n";

static const char help_tail[] =
    "\n"
    "Options:\n"
    "  -h, --help   this page; behind a command: the command's options\n"
    "  --version    the version\n"
    "\n"
    "A file may be '-' for standard input or output. What is compressed with\n"
    "gzip or zstd is read as it is; an output is compressed when its name "
    "ends\n"
    "in .gz or .zst.\n"
    "\n"
    "Exit status: 0 done; 1 failed, and no output written unless the message\n"
    "says so; 2 wrong usage; 128 + N stopped by signal N, nothing written.\n"
    "\n"
    "Example:\n"
    "  tracebake nat trace.json --tokenizer builtin\n";

static int print(const struct tb_buffer *text, tb_status status)
{
    if (status == TB_OK)
        status = tb_message_text(tb_buffer_span(text), false);
    bool is_done = status == TB_OK || status == TB_ERR_CLOSED;
    return is_done ? TB_EXIT_DONE : TB_EXIT_FAILED;
}

static tb_status append_help(struct tb_buffer *text)
{
    TB_TRY(tb_buffer_append(text, tb_span_of(help_head)));
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        TB_TRY(tb_buffer_printf(text, "  %-12s %s\n", commands[i].name,
                                commands[i].purpose));
    return tb_buffer_append(text, tb_span_of(help_tail));
}

static int print_help(void)
{
    struct tb_buffer text = TB_BUFFER(HELP_MAX);
    int result = print(&text, append_help(&text));
    tb_buffer_release(&text);
    return result;
}

static int print_version(void)
{
    struct tb_buffer text = TB_BUFFER(HELP_MAX);
    int result = print(
        &text, tb_buffer_append(&text, TB_SPAN("tracebake " TB_VERSION "\n")));
    tb_buffer_release(&text);
    return result;
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int fail_unknown(const char *name)
{
    struct tb_error error;
    struct tb_nearest nearest = tb_nearest_to(name);
    bool is_option = name[0] == '-';
    const char *kind = is_option ? "option" : "command";
    for (size_t i = 0; i < COMMAND_COUNT && !is_option; i++)
        tb_nearest_offer(&nearest, commands[i].name);
    if (is_option) {
        tb_nearest_offer(&nearest, "--help");
        tb_nearest_offer(&nearest, "--version");
    }
    if (nearest.name)
        tb_fail(&error, TB_ERR_USAGE, "unknown %s '%s', did you mean '%s'?",
                kind, name, nearest.name);
    else
        tb_fail(&error, TB_ERR_USAGE, "unknown %s '%s'", kind, name);
    return tb_message_usage(&error, NULL);
}

/* When standard input, output or error is closed, the next file that is
 * opened gets its number, and messages would go into the rows. So the number
 * is taken by a file that refuses what is asked of it. */
static bool occupy_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) != -1)
            continue;
        int flags = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (open("/dev/null", flags) != fd)
            return false;
    }
    return true;
}

int tb_cli_main(int argc, char **argv)
{
    // A reader that goes away, and a limit on the size of files, are a status
    // of the write, not the end.
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    if (!occupy_standard_files())
        return TB_EXIT_FAILED;
    if (argc < 2) {
        struct tb_error error;
        tb_fail(&error, TB_ERR_USAGE, "no command given");
        return tb_message_usage(&error, NULL);
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0)
        return print_version();
    bool is_help = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
                   strcmp(name, "help") == 0;
    if (is_help && argc == 2)
        return print_help();
    const struct command *command = find_command(is_help ? argv[2] : name);
    if (!command)
        return fail_unknown(is_help ? argv[2] : name);
    char help[] = "--help";
    char *const help_only[] = {help, NULL};
    return is_help ? command->run(1, help_only)
                   : command->run(argc - 2, argv + 2);
}
