/* Proves: any words behind `nat` or `telemetry` are refused with a message, or
 * give numbers within their bounds and at least one input; "--name value" is
 * "--name=value"; the command line that is kept gives a shell the same words;
 * and help is no wider than it says.
 *
 * The first byte is the dialect, then come words, each with a zero behind it;
 * behind an empty one stands what --files-from reads. */
#include "fuzz.h"

#include <string.h>

#include "convert_request.h"
#include "nearest.h"

enum { WORDS_MAX = 64, WIDTH = 79, INDENT = 8, BLOCK_SIZE_MAX = 1 << 20 };

struct words {
    char *items[WORDS_MAX + 1];
    int count;
};

static const char *list_path; // of what --files-from reads

static void add_word(struct words *words, const char *text, size_t len)
{
    char *word = malloc(len + 1);
    FUZZ_CHECK(word);
    memcpy(word, text, len);
    word[len] = '\0';
    words->items[words->count++] = word;
}

static void release(struct words *words)
{
    for (int i = 0; i < words->count; i++)
        free(words->items[i]);
}

// No file is read but ours.
static void add_safe_word(struct words *words, const char *text, size_t len)
{
    static const char name[] = "--files-from";
    char given[300];
    const char *before = words->count ? words->items[words->count - 1] : "";
    if (len > strlen(name) && memcmp(text, name, strlen(name)) == 0 &&
        text[strlen(name)] == '=')
        (void)snprintf(given, sizeof(given), "%s=%s", name, list_path);
    else if (strcmp(before, name) == 0)
        (void)snprintf(given, sizeof(given), "%s", list_path);
    else
        given[0] = '\0';
    add_word(words, given[0] ? given : text, given[0] ? strlen(given) : len);
}

// Where the word that begins at `at` ends.
static size_t end_of(const uint8_t *data, size_t size, size_t at)
{
    const uint8_t *zero = at < size ? memchr(data + at, 0, size - at) : NULL;
    return zero ? (size_t)(zero - data) : size;
}

static void take_words(struct words *words, const uint8_t *data, size_t size)
{
    size_t at = 0, end;
    while ((end = end_of(data, size, at)) > at && end < size)
        at = end + 1;
    end += end < size;
    list_path = fuzz_file(data + end, size - end);
    for (at = 0; words->count < WORDS_MAX; at = end + 1) {
        end = end_of(data, size, at);
        if (end <= at)
            break;
        add_safe_word(words, (const char *)data + at, end - at);
    }
}

/* ---- two ways to say it ----------------------------------------------- */

static bool takes_value(const struct tb_option_table *table, const char *word)
{
    for (size_t i = 0; i < table->option_count; i++)
        if (strncmp(word, "--", 2) == 0 &&
            strcmp(word + 2, table->options[i].name) == 0)
            return table->options[i].kind != TB_OPTION_FLAG;
    return false;
}

static void join_words(const struct tb_option_table *table,
                       const struct words *words, struct words *joined)
{
    bool is_option_possible = true;
    for (int i = 0; i < words->count; i++) {
        const char *word = words->items[i];
        const char *next = i + 1 < words->count ? words->items[i + 1] : "--";
        is_option_possible &= strcmp(word, "--") != 0;
        if (!is_option_possible || !takes_value(table, word) ||
            strncmp(next, "--", 2) == 0) {
            add_word(joined, word, strlen(word));
            continue;
        }
        char text[1 << 14];
        int len = snprintf(text, sizeof(text), "%s=%s", word, next);
        FUZZ_CHECK(len > 0 && (size_t)len < sizeof(text));
        add_word(joined, text, (size_t)len);
        i++;
    }
}

static void check_text(const char *a, const char *b)
{
    FUZZ_CHECK(!a == !b && (!a || strcmp(a, b) == 0));
}

static void check_lists(const struct tb_text_list *a,
                        const struct tb_text_list *b)
{
    FUZZ_CHECK(a->count == b->count);
    for (size_t i = 0; i < a->count; i++)
        check_text(a->items[i], b->items[i]);
}

static void check_field(const struct tb_option *option, const void *a,
                        const void *b)
{
    const void *x = (const char *)a + option->target;
    const void *y = (const char *)b + option->target;
    if (option->kind == TB_OPTION_FLAG)
        FUZZ_CHECK(*(const bool *)x == *(const bool *)y);
    else if (option->kind == TB_OPTION_TEXT)
        check_text(*(const char *const *)x, *(const char *const *)y);
    else if (option->kind == TB_OPTION_LIST)
        check_lists(x, y);
    else if (option->kind == TB_OPTION_CHOICE)
        FUZZ_CHECK(*(const int *)x == *(const int *)y);
    else
        FUZZ_CHECK(*(const uint64_t *)x == *(const uint64_t *)y);
}

/* ---- what comes of them ----------------------------------------------- */

static void check_options(const struct tb_convert_options *options,
                          const struct tb_convert_arguments *arguments)
{
    FUZZ_CHECK(options->input_count > 0);
    for (size_t i = 0; i < options->input_count; i++)
        FUZZ_CHECK(options->inputs[i] && strlen(options->inputs[i]) < 1 << 16);
    FUZZ_CHECK(options->block_size <= BLOCK_SIZE_MAX);
    FUZZ_CHECK(options->form.speedup > 0 && options->form.speedup <= 1e6);
    FUZZ_CHECK(options->threads <= 1024);
    FUZZ_CHECK(!arguments->max_memory || arguments->max_memory >= 16 << 20);
}

/* A shell's word, of letters, 'quoted' and \' parts. */
static void check_word(const char **text, const char *wanted)
{
    bool is_quoted = false;
    FUZZ_CHECK(*(*text)++ == ' ');
    for (; **text && (is_quoted || **text != ' '); ++*text) {
        if (**text == '\'') {
            is_quoted = !is_quoted;
            continue;
        }
        *text += !is_quoted && **text == '\\';
        FUZZ_CHECK(is_quoted || **text == '\'' || !strchr("\n\t*$", **text));
        FUZZ_CHECK(**text == *wanted++);
    }
    FUZZ_CHECK(!is_quoted && *wanted == '\0');
}

static void check_command(const struct tb_convert_request *request,
                          const struct words *words)
{
    const char *text = request->options.command;
    FUZZ_CHECK(text && strncmp(text, "tracebake ", 10) == 0);
    text = strchr(text + 10, ' ');
    for (int i = 0; i < words->count; i++)
        check_word(&text, words->items[i]);
    FUZZ_CHECK(words->count == 0 || *text == '\0');
}

static void check_width(const char *word)
{
    struct tb_buffer lines = TB_BUFFER(1 << 20);
    FUZZ_CHECK(tb_option_wrap(&lines, word, INDENT) == TB_OK);
    FUZZ_CHECK(tb_buffer_append_byte(&lines, 0) == TB_OK);
    for (const char *line = (const char *)lines.ptr; *line;) {
        size_t len = strcspn(line, "\n"), indent = strspn(line, " ");
        bool is_one_word =
            len <= indent || !memchr(line + indent, ' ', len - indent);
        FUZZ_CHECK(len <= WIDTH || is_one_word);
        line += len + (line[len] == '\n');
    }
    tb_buffer_release(&lines);
}

static void check_nearest(const struct tb_option_table *table, const char *word)
{
    struct tb_nearest nearest = tb_nearest_to(word);
    bool is_known = false;
    for (size_t i = 0; i < table->option_count; i++) {
        tb_nearest_offer(&nearest, table->options[i].name);
        is_known |= strcmp(word, table->options[i].name) == 0;
    }
    FUZZ_CHECK(!is_known || (nearest.name && strcmp(nearest.name, word) == 0));
}

static tb_status read_words(struct tb_convert_request *request,
                            tb_dialect_id dialect, const struct words *words,
                            struct tb_error *error)
{
    tb_convert_request_init(request, dialect);
    tb_status status =
        tb_convert_request_read(request, words->count, words->items, error);
    FUZZ_CHECK(status == TB_OK ||
               (error->status == status && error->message[0]));
    if (status == TB_OK && !request->arguments.is_help)
        check_options(&request->options, &request->arguments);
    check_command(request, words);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tb_dialect_id dialect =
        fuzz_take(&data, &size, 1) & 1 ? TB_DIALECT_TELEMETRY : TB_DIALECT_NAT;
    const struct tb_option_table *table = tb_convert_option_table(dialect);
    struct words words = {0}, joined = {0};
    struct tb_convert_request first, second;
    struct tb_error error = {0}, other = {0};
    take_words(&words, data, size);
    join_words(table, &words, &joined);
    tb_status status = read_words(&first, dialect, &words, &error);
    FUZZ_CHECK(read_words(&second, dialect, &joined, &other) == status);
    check_text(error.message, other.message);
    for (size_t i = 0; i < table->option_count; i++)
        check_field(&table->options[i], &first.arguments, &second.arguments);
    check_lists(&first.arguments.inputs, &second.arguments.inputs);
    for (int i = 0; i < words.count; i++) {
        check_width(words.items[i]);
        check_nearest(table, words.items[i]);
    }
    tb_convert_request_release(&first);
    tb_convert_request_release(&second);
    release(&words);
    release(&joined);
    return 0;
}
