#include "text_page.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "c_locale.h"

void tb_page_put(struct tb_page *page, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)tb_format_text(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (page->status == TB_OK)
        page->status = tb_buffer_append(page->buffer, tb_span_of(line));
}

struct tb_figure tb_grouped(uint64_t value)
{
    char digits[24];
    int count = snprintf(digits, sizeof(digits), "%" PRIu64, value);
    struct tb_figure figure;
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            figure.text[at++] = ',';
        figure.text[at++] = digits[i];
    }
    figure.text[at] = '\0';
    return figure;
}

struct tb_figure tb_grouped_real(double value)
{
    if (value >= 1000)
        return tb_grouped((uint64_t)(value + 0.5));
    struct tb_figure figure;
    tb_real_to_text(figure.text, sizeof(figure.text), 1, 'f', value);
    return figure;
}

void tb_page_entry(struct tb_page *page, const char *label, const char *format,
                   ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)tb_format_text(text, sizeof(text), format, arguments);
    va_end(arguments);
    tb_page_put(page, "%-*s", TB_PAGE_LABEL_WIDTH, label);
    size_t column = TB_PAGE_LABEL_WIDTH;
    for (const char *word = text; *word;) {
        size_t len = strcspn(word, " ");
        if (column > TB_PAGE_LABEL_WIDTH &&
            column + 1 + len > TB_PAGE_LINE_WIDTH) {
            tb_page_put(page, "\n%*s", TB_PAGE_LABEL_WIDTH, "");
            column = TB_PAGE_LABEL_WIDTH;
        }
        tb_page_put(page, "%s%.*s", column > TB_PAGE_LABEL_WIDTH ? " " : "",
                    (int)len, word);
        column += len + (column > TB_PAGE_LABEL_WIDTH);
        word += len;
        word += *word == ' ';
    }
    tb_page_put(page, "\n");
}

struct tb_counted tb_counted(uint64_t count, const char *noun)
{
    struct tb_counted result;
    (void)snprintf(result.text, sizeof(result.text), "%s %s%s",
                   tb_grouped(count).text, noun, count == 1 ? "" : "s");
    return result;
}

struct tb_span tb_page_shortened(struct tb_span name, size_t most)
{
    if (name.len <= most)
        return name;
    size_t len = most;
    while (len > 0 && (name.ptr[len] & 0xC0) == 0x80)
        len--;
    return (struct tb_span){name.ptr, len};
}

void tb_page_name(struct tb_page *page, struct tb_span name)
{
    struct tb_span shown = tb_page_shortened(name, TB_PAGE_NAME_WIDTH);
    tb_page_put(page, "  %.*s%*s", (int)shown.len, (const char *)shown.ptr,
                (int)(TB_PAGE_NAME_WIDTH - shown.len), "");
}
