#include "message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20 };

static bool is_control(uint8_t byte)
{
    return (byte < ' ' && byte != '\n' && byte != '\t') || byte == 0x7F;
}

// C1 controls (U+0080 to U+009F) are two bytes in UTF-8; some terminals obey
// them too.
static bool is_control_pair(struct tb_span text, size_t at)
{
    return text.ptr[at] == 0xC2 && at + 1 < text.len &&
           text.ptr[at + 1] >= 0x80 && text.ptr[at + 1] <= 0x9F;
}

static void write_clean(FILE *file, struct tb_span text)
{
    size_t begin = 0;
    for (size_t at = 0; at < text.len; at++) {
        bool is_pair = is_control_pair(text, at);
        if (!is_pair && !is_control(text.ptr[at]))
            continue;
        (void)fwrite(text.ptr + begin, 1, at - begin, file);
        (void)fputc('?', file);
        at += is_pair;
        begin = at + 1;
    }
    (void)fwrite(text.ptr + begin, 1, text.len - begin, file);
}

tb_status tb_message_text(struct tb_span text, bool is_error,
                          struct tb_error *error)
{
    FILE *file = is_error ? stderr : stdout;
    if (text.len > 0)
        write_clean(file, text);
    if (fflush(file) == 0 && !ferror(file))
        return TB_OK;
    tb_status status = errno == EPIPE   ? TB_ERR_CLOSED
                       : errno == EINTR ? TB_ERR_INTERRUPTED
                                        : TB_ERR_IO;
    tb_fail_errno(error, status, "cannot write");
    tb_error_set_path(error, is_error ? "standard error" : "standard output");
    return status;
}

void tb_message_line(const char *format, ...)
{
    char text[1200];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    write_clean(stderr, TB_SPAN("tracebake: "));
    write_clean(stderr, tb_span_of(text));
    (void)fputc('\n', stderr);
}

void tb_message_error(const struct tb_error *error)
{
    struct tb_error shown = *error;
    char text[1024];
    // Outputs name themselves; where only "-" is known it was the input.
    if (strcmp(shown.path, "-") == 0)
        (void)snprintf(shown.path, sizeof(shown.path), "standard input");
    tb_error_format(&shown, text, sizeof(text));
    tb_message_line("%s", text);
}

int tb_message_usage(const struct tb_error *error, const char *command)
{
    tb_message_error(error);
    if (error->status != TB_ERR_USAGE)
        return TB_EXIT_FAILED; // no help page helps against that
    if (command)
        tb_message_line("'tracebake %s --help' shows all options", command);
    else
        tb_message_line("'tracebake --help' shows all commands");
    return TB_EXIT_USAGE;
}

int tb_message_document(const struct tb_buffer *text, tb_status status)
{
    struct tb_error error;
    if (status != TB_OK)
        tb_fail(&error, status, "cannot print: %s", tb_status_name(status));
    else
        status = tb_message_text(tb_buffer_span(text), false, &error);
    if (status == TB_OK || status == TB_ERR_CLOSED)
        return TB_EXIT_DONE;
    tb_message_error(&error);
    return TB_EXIT_FAILED;
}

int tb_message_help(const struct tb_option_table *table)
{
    struct tb_buffer text = TB_BUFFER(TEXT_MAX);
    int result = tb_message_document(&text, tb_option_help(table, &text));
    tb_buffer_release(&text);
    return result;
}

// Pictures are plain characters, so that NO_COLOR has nothing to forbid.
unsigned tb_message_picture_width(void)
{
    enum { LEAST = 20, MOST = 1000, USUAL = 80 };
    struct winsize size = {0};
    const char *columns = getenv("COLUMNS");
    unsigned long width = columns ? strtoul(columns, NULL, 10) : 0;
    if (!isatty(STDOUT_FILENO))
        return 0;
    if (!columns && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    return width >= LEAST && width <= MOST ? (unsigned)width : USUAL;
}
