/* cli: options from one table, nearest names, lines, lists of files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "line_reader.h"
#include "memory.h"
#include "nearest.h"
#include "option.h"
#include "path_list.h"

struct arguments {
    struct tb_text_list files, inputs;
    const char *name;
    uint64_t size;
    int choice;
    bool is_quiet, is_help;
};

#define AT(member) offsetof(struct arguments, member)

static const struct tb_option options[] = {
    {"First", "input", TB_OPTION_LIST, "FILE", NULL, "A file.", AT(inputs), 0,
     0},
    {NULL, "name", TB_OPTION_TEXT, "NAME", "none", "A name.", AT(name), 0, 0},
    {"Second", "block-size", TB_OPTION_NUMBER, "N", "128", "A size.", AT(size),
     1, 1000},
    {NULL, "huge", TB_OPTION_NUMBER, "N", NULL, "A number.", AT(size), 0,
     UINT64_MAX},
    {NULL, "prompt", TB_OPTION_CHOICE, "auto|join|template", "auto", "A word.",
     AT(choice), 0, 0},
    {NULL, "quiet", TB_OPTION_FLAG, NULL, NULL, "A flag.", AT(is_quiet), 0, 0},
    {NULL, "help", TB_OPTION_FLAG, NULL, NULL, "This.", AT(is_help), 0, 0},
};

static const struct tb_option_table table = {
    .command = "try",
    .purpose = "a test",
    .usage = "try FILE...",
    .description = "What it does.\n",
    .examples = "  tracebake try\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = AT(files),
    .operands_max = 2,
};

enum { WORDS_MAX = 10 };

/* Parses words that are separated by single spaces; `line` is changed. */
static tb_status parse(char *line, struct arguments *arguments,
                       struct tb_error *error)
{
    char *words[WORDS_MAX] = {0};
    int count = 0;
    for (char *word = line; *word && count < WORDS_MAX;) {
        words[count++] = word;
        word += strcspn(word, " ");
        if (*word)
            *word++ = '\0';
    }
    return tb_option_parse(&table, count, words, arguments, error);
}

static void release(struct arguments *arguments)
{
    tb_text_list_release(&arguments->files);
    tb_text_list_release(&arguments->inputs);
}

static void test_parse(void **state)
{
    (void)state;
    struct arguments arguments = {.size = 7};
    struct tb_error error;
    char line[] = "a --name=x=y --block-size 12 --prompt join --quiet "
                  "--input=b --input - --";
    assert_int_equal(parse(line, &arguments, &error), TB_OK);
    assert_int_equal(arguments.files.count, 1);
    assert_string_equal(arguments.files.items[0], "a");
    assert_string_equal(arguments.name, "x=y");
    assert_int_equal(arguments.size, 12);
    assert_int_equal(arguments.choice, 1);
    assert_true(arguments.is_quiet);
    assert_int_equal(arguments.inputs.count, 2);
    assert_string_equal(arguments.inputs.items[1], "-");
    release(&arguments);
}

static void test_parse_keeps_defaults(void **state)
{
    (void)state;
    struct arguments arguments = {.size = 7, .choice = -1};
    char line[] = "";
    assert_int_equal(parse(line, &arguments, NULL), TB_OK);
    assert_int_equal(arguments.size, 7);
    assert_int_equal(arguments.choice, -1);
    assert_int_equal(arguments.files.count, 0);
}

static void test_parse_ends_options(void **state)
{
    (void)state;
    struct arguments arguments = {0};
    char line[] = "- -- --quiet";
    assert_int_equal(parse(line, &arguments, NULL), TB_OK);
    assert_false(arguments.is_quiet);
    assert_int_equal(arguments.files.count, 2);
    assert_string_equal(arguments.files.items[1], "--quiet");
    release(&arguments);
}

static void test_parse_short_help(void **state)
{
    (void)state;
    struct arguments arguments = {0};
    char line[] = "-h";
    assert_int_equal(parse(line, &arguments, NULL), TB_OK);
    assert_true(arguments.is_help);
}

static void test_parse_says_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"--nam x", "unknown option '--nam', did you mean '--name'?"},
        {"--blok_size=3",
         "unknown option '--blok_size', did you mean '--block-size'?"},
        {"--completely-else", "unknown option '--completely-else'"},
        {"-q", "unknown option '-q'"},
        {"--name", "'--name' needs a value: --name NAME"},
        {"--name --quiet", "'--name' needs a value: --name NAME"},
        {"--quiet=yes", "'--quiet' takes no value"},
        {"--block-size 0",
         "'--block-size' needs a whole number from 1 to 1000, not '0'"},
        {"--block-size=1001",
         "'--block-size' needs a whole number from 1 to 1000, not '1001'"},
        {"--block-size -1",
         "'--block-size' needs a whole number from 1 to 1000, not '-1'"},
        {"--block-size=",
         "'--block-size' needs a whole number from 1 to 1000, not ''"},
        {"--huge 18446744073709551616",
         "'--huge' needs a whole number from 0 on, not "
         "'18446744073709551616'"},
        {"--prompt joi", "'--prompt' is one of auto|join|template, not 'joi'"},
        {"--prompt auto|join",
         "'--prompt' is one of auto|join|template, not 'auto|join'"},
        {"a b c", "unexpected argument 'c'"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arguments arguments = {0};
        struct tb_error error;
        char line[100];
        (void)snprintf(line, sizeof(line), "%s", cases[i].line);
        assert_int_equal(parse(line, &arguments, &error), TB_ERR_USAGE);
        assert_string_equal(error.message, cases[i].message);
        release(&arguments);
    }
}

static void test_largest_number(void **state)
{
    (void)state;
    struct arguments arguments = {0};
    char line[] = "--huge 18446744073709551615";
    assert_int_equal(parse(line, &arguments, NULL), TB_OK);
    assert_true(arguments.size == UINT64_MAX);
}

static void test_help(void **state)
{
    (void)state;
    struct tb_buffer text = TB_BUFFER(1 << 16);
    assert_int_equal(tb_option_help(&table, &text), TB_OK);
    assert_int_equal(tb_buffer_append_byte(&text, 0), TB_OK);
    assert_string_equal((const char *)text.ptr,
                        "tracebake try - a test\n"
                        "\n"
                        "Usage:\n"
                        "  tracebake try FILE...\n"
                        "\n"
                        "What it does.\n"
                        "\n"
                        "First:\n"
                        "  --input FILE\n"
                        "        A file.\n"
                        "  --name NAME\n"
                        "        A name.\n"
                        "        Default: none\n"
                        "\n"
                        "Second:\n"
                        "  --block-size N\n"
                        "        A size.\n"
                        "        Default: 128\n"
                        "  --huge N\n"
                        "        A number.\n"
                        "  --prompt auto|join|template\n"
                        "        A word.\n"
                        "        Default: auto\n"
                        "  --quiet\n"
                        "        A flag.\n"
                        "  -h, --help\n"
                        "        This.\n"
                        "\n"
                        "Examples:\n"
                        "  tracebake try\n");
    tb_buffer_release(&text);
}

static void test_wrap(void **state)
{
    (void)state;
    struct tb_buffer text = TB_BUFFER(1 << 16);
    char words[601] = "";
    for (int i = 0; i < 100; i++)
        (void)snprintf(words + 6 * i, 7, "word%c ", 'a' + i % 26);
    assert_int_equal(tb_option_wrap(&text, words, 8), TB_OK);
    size_t column = 0, longest = 0;
    for (size_t i = 0; i < text.len; i++) {
        column = text.ptr[i] == '\n' ? 0 : column + 1;
        longest = column > longest ? column : longest;
    }
    assert_int_equal(longest, 8 + 12 * 6 - 1);
    assert_int_equal(column, 0);
    assert_int_equal(tb_span_count(tb_buffer_span(&text), '\n'), 9);
    tb_buffer_release(&text);
}

static void test_nearest(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *name;
    } cases[] = {
        {"nta", "nat"},
        {"tokenise", "tokenize"},
        {"tele", "telemetry"},
        {"telemetry", "telemetry"},
        {"x", NULL},
        {"", NULL},
        {"something-else", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tb_nearest nearest = tb_nearest_to(cases[i].typed);
        tb_nearest_offer(&nearest, "nat");
        tb_nearest_offer(&nearest, "telemetry");
        tb_nearest_offer(&nearest, "tokenize");
        if (cases[i].name)
            assert_string_equal(nearest.name, cases[i].name);
        else
            assert_null(nearest.name);
    }
}

/* A file that lasts until the test ends. */
static void put_file(char path[64], struct tb_span bytes)
{
    (void)snprintf(path, 64, "tb_cli_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.ptr, 1, bytes.len, file), bytes.len);
    assert_int_equal(fclose(file), 0);
}

static void test_lines(void **state)
{
    (void)state;
    char path[64];
    struct tb_input *input;
    struct tb_buffer content = TB_BUFFER(1 << 22);
    assert_int_equal(tb_buffer_append(&content, TB_SPAN("a\r\n\nb\rc\n")),
                     TB_OK);
    for (int i = 0; i < 1000000; i++)
        assert_int_equal(tb_buffer_append_byte(&content, 'x'), TB_OK);
    assert_int_equal(tb_buffer_append(&content, TB_SPAN("\nlast")), TB_OK);
    put_file(path, tb_buffer_span(&content));
    assert_int_equal(tb_input_open(path, &input, NULL), TB_OK);
    struct tb_line_reader reader = tb_line_reader_on(input);
    static const size_t lens[] = {1, 0, 3, 1000000, 4};
    static const uint64_t offsets[] = {0, 3, 4, 8, 1000009};
    struct tb_span line;
    assert_true(tb_line_reader_must_read(&reader));
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(tb_line_reader_next(&reader, &line, NULL), TB_OK);
        assert_non_null(line.ptr);
        assert_int_equal(line.len, lens[i]);
        assert_int_equal(reader.line, i + 1);
        assert_int_equal(reader.offset, offsets[i]);
    }
    assert_true(tb_span_equal(line, TB_SPAN("last")));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tb_line_reader_next(&reader, &line, NULL), TB_OK);
        assert_null(line.ptr);
    }
    tb_line_reader_release(&reader);
    tb_input_close(input);
    tb_buffer_release(&content);
    assert_int_equal(unlink(path), 0);
}

static void test_path_list(void **state)
{
    (void)state;
    char path[64];
    struct tb_arena arena = {0};
    struct tb_text_list list = {0};
    struct tb_error error;
    put_file(path, TB_SPAN("a b.json\r\n\nc.json"));
    assert_int_equal(tb_text_list_add(&list, "first"), TB_OK);
    assert_int_equal(tb_path_list_read(path, &arena, &list, &error), TB_OK);
    assert_int_equal(list.count, 3);
    assert_string_equal(list.items[1], "a b.json");
    assert_string_equal(list.items[2], "c.json");
    assert_int_equal(unlink(path), 0);
    put_file(path, TB_SPAN("\n\n"));
    assert_int_equal(tb_path_list_read(path, &arena, &list, &error),
                     TB_ERR_USAGE);
    assert_string_equal(error.path, path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(tb_path_list_read(path, &arena, &list, &error),
                     TB_ERR_NOT_FOUND);
    tb_text_list_release(&list);
    tb_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_parse_keeps_defaults),
        cmocka_unit_test(test_parse_ends_options),
        cmocka_unit_test(test_parse_short_help),
        cmocka_unit_test(test_parse_says_what_is_wrong),
        cmocka_unit_test(test_largest_number),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_path_list),
    };
    return cmocka_run_group_tests_name("cli", tests, NULL, NULL);
}
