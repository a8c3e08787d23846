/* Text for people: lines that follow each other without a look at each step,
 * since the page remembers the first failure; numbers with commas; a label
 * with a sentence beside it.
 *
 *     struct tb_page page = {.buffer = &buffer};
 *     tb_page_put(&page, "%s\n", tb_counted(3, "row").text);
 *     return page.status;
 */
#ifndef TB_TEXT_PAGE_H
#define TB_TEXT_PAGE_H

#include "buffer.h"

enum {
    TB_PAGE_LABEL_WIDTH = 15,
    TB_PAGE_LINE_WIDTH = 79,
    TB_PAGE_NAME_WIDTH = 22 /* bytes of a name at the head of a line */
};

struct tb_page {
    struct tb_buffer *buffer; /* borrowed */
    tb_status status;         /* the first failure, or TB_OK */
};

/* Appends up to 1,023 bytes. */
void tb_page_put(struct tb_page *page, const char *format, ...) TB_PRINTF(2, 3);

/* A label and a sentence beside it, broken between words. An empty label
 * continues what stands above. A word longer than a line stays whole. */
void tb_page_entry(struct tb_page *page, const char *label, const char *format,
                   ...) TB_PRINTF(3, 4);

struct tb_figure {
    char text[28]; /* 20 digits and their commas */
};

/* "1,234" */
struct tb_figure tb_grouped(uint64_t value);
/* "0.5", "1,234" */
struct tb_figure tb_grouped_real(double value);

struct tb_counted {
    char text[80];
};

/* "1 call", "2,000 calls" */
struct tb_counted tb_counted(uint64_t count, const char *noun);

/* The beginning of a name, up to so many bytes; no character is cut in two. */
struct tb_span tb_page_shortened(struct tb_span name, size_t most);

/* A name at the head of a line of a table: TB_PAGE_NAME_WIDTH columns behind
 * two, where its characters are ASCII. */
void tb_page_name(struct tb_page *page, struct tb_span name);

#endif
