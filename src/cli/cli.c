#include "cli.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
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
    {"analyze", "lengths, sessions and prefix cache of rows",
     tb_command_analyze},
    {"validate", "check rows against the rules of who will replay them",
     tb_command_validate},
    {"verify", "compare what a load tester sent with what was recorded",
     tb_command_verify},
    {"reblock", "give rows a larger block size", tb_command_reblock},
    {"rewrite", "give rows another consumer's form", tb_command_rewrite},
    {"share", "make rows that can be given away", tb_command_share},
    {"sample", "keep some of the sessions, with their mix", tb_command_sample},
    {"partition", "deal out lines so that sessions are whole",
     tb_command_partition},
    {"merge", "make rows that were converted apart those of one run",
     tb_command_merge},
    {"tokenizer list", "list the tokenizers on this machine",
     tb_command_tokenizer_list},
    {"tokenizer pull", "fetch a tokenizer from the Hugging Face hub",
     tb_command_tokenizer_pull},
    {"tokenizer show", "say what a tokenizer consists of",
     tb_command_tokenizer_show},
    {"tokenizer clear", "remove compiled forms of tokenizers",
     tb_command_tokenizer_clear},
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

static tb_status append_help(struct tb_buffer *text)
{
    TB_TRY(tb_buffer_append(text, tb_span_of(help_head)));
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        TB_TRY(tb_buffer_printf(text, "  %-16s %s\n", commands[i].name,
                                commands[i].purpose));
    return tb_buffer_append(text, tb_span_of(help_tail));
}

static int print_help(void)
{
    struct tb_buffer text = TB_BUFFER(HELP_MAX);
    int result = tb_message_document(&text, append_help(&text));
    tb_buffer_release(&text);
    return result;
}

static int print_version(void)
{
    struct tb_buffer text = TB_BUFFER(HELP_MAX);
    int result = tb_message_document(
        &text, tb_buffer_append(&text, TB_SPAN("tracebake " TB_VERSION "\n")));
    tb_buffer_release(&text);
    return result;
}

/* A command of one word, or of two: how many of `words` its name takes is said
 * in `*word_count`. */
static const struct command *find_command(int count, char *const *words,
                                          int *word_count)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        const char *name = commands[i].name;
        size_t len = strcspn(name, " ");
        *word_count = name[len] ? 2 : 1;
        if (count >= *word_count && strlen(words[0]) == len &&
            strncmp(words[0], name, len) == 0 &&
            (*word_count == 1 || strcmp(words[1], name + len + 1) == 0))
            return &commands[i];
    }
    return NULL;
}

// Is it the first of two words?
static bool is_group(const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strncmp(commands[i].name, word, len) == 0 &&
            commands[i].name[len] == ' ')
            return true;
    return false;
}

static int fail_unknown(int count, char *const *words)
{
    struct tb_error error;
    char name[128];
    bool is_pair = count > 1 && is_group(words[0]);
    (void)snprintf(name, sizeof(name), "%.60s%s%.60s", words[0],
                   is_pair ? " " : "", is_pair ? words[1] : "");
    struct tb_nearest nearest = tb_nearest_to(name);
    bool is_option = name[0] == '-';
    const char *kind = is_option ? "option" : "command";
    for (size_t i = 0; i < COMMAND_COUNT && !is_option; i++)
        tb_nearest_offer(&nearest, commands[i].name);
    if (is_option) {
        tb_nearest_offer(&nearest, "--help");
        tb_nearest_offer(&nearest, "--version");
    }
    if (is_group(words[0]) && !is_pair)
        tb_fail(&error, TB_ERR_USAGE, "'%s' is half of a command", name);
    else if (nearest.name)
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

static bool is_help_word(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
           strcmp(word, "help") == 0;
}

// `words` is what stands behind the program's name, at least one.
static int run(int count, char *const *words)
{
    bool is_help = is_help_word(words[0]);
    bool is_page = (is_help && count == 1) ||
                   (count > 1 && is_group(words[0]) && is_help_word(words[1]));
    if (is_page)
        return print_help();
    if (is_help) {
        count--;
        words++;
    }
    int word_count;
    const struct command *command = find_command(count, words, &word_count);
    if (!command)
        return fail_unknown(count, words);
    char help[] = "--help";
    char *const help_only[] = {help, NULL};
    return is_help ? command->run(1, help_only)
                   : command->run(count - word_count, words + word_count);
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
    if (strcmp(argv[1], "--version") == 0)
        return print_version();
    return run(argc - 1, argv + 1);
}
