/* Small pictures in text, where a terminal shows them: bars of plain
 * characters, so that no colour and no font is asked for.
 *
 *     struct tb_histogram histogram = {0};
 *     tb_histogram_add(&histogram, 120, 1);          // for each value
 *     tb_histogram_put(&page, width, "prompt tokens", "rows", &histogram);
 */
#ifndef TB_TEXT_HISTOGRAM_H
#define TB_TEXT_HISTOGRAM_H

#include "tally.h"
#include "text_page.h"

/* A bar for a part of a whole, 0..1, when there is room in `width` columns:
 * `taken` of them stand before it. 0 columns: no pictures. */
void tb_page_bar(struct tb_page *page, unsigned width, double part,
                 unsigned taken);

/* How many values lie up to each power of two. */
struct tb_histogram {
    uint64_t counts[65];
};

void tb_histogram_add(struct tb_histogram *histogram, uint64_t value,
                      uint64_t count);

/* Nothing when `width` is 0. `title` says what is counted, `noun` of what. */
void tb_histogram_put(struct tb_page *page, unsigned width, const char *title,
                      const char *noun, const struct tb_histogram *histogram);

/* The same of a tally that has two values at least. */
void tb_tally_histogram(struct tb_page *page, unsigned width, const char *title,
                        const char *noun, const struct tb_tally *tally);

#endif
