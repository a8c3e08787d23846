#include "text_histogram.h"

void tb_page_bar(struct tb_page *page, unsigned width, double part,
                 unsigned taken)
{
    enum { LEAST = 10, MOST = 60, GAP = 2 };
    if (width < taken + GAP + LEAST)
        return;
    unsigned room = width - taken - GAP;
    unsigned count = (unsigned)(part * (room < MOST ? room : MOST) + 0.5);
    if (count > 0)
        tb_page_put(page, "%*s", GAP, "");
    for (unsigned i = 0; i < count; i++)
        tb_page_put(page, "#");
}

void tb_histogram_add(struct tb_histogram *histogram, uint64_t value,
                      uint64_t count)
{
    size_t group = 0;
    while (group < 64 && UINT64_C(1) << group < value)
        group++;
    histogram->counts[group] += count;
}

void tb_histogram_put(struct tb_page *page, unsigned width, const char *title,
                      const char *noun, const struct tb_histogram *histogram)
{
    enum { TAKEN = 24 + 9 };
    uint64_t most = 0;
    size_t first = 65, last = 0;
    for (size_t group = 0; group < 65; group++) {
        uint64_t count = histogram->counts[group];
        most = count > most ? count : most;
        first = count && first == 65 ? group : first;
        last = count ? group : last;
    }
    if (width == 0 || most == 0)
        return;
    tb_page_put(page, "\n%-24s%9s\n", title, noun);
    for (size_t group = first; group <= last; group++) {
        uint64_t count = histogram->counts[group];
        uint64_t limit = group < 64 ? UINT64_C(1) << group : UINT64_MAX;
        tb_page_put(page, "  up to %-16s %8s", tb_grouped(limit).text,
                    tb_grouped(count).text);
        tb_page_bar(page, width, (double)count / (double)most, TAKEN);
        tb_page_put(page, "\n");
    }
}

void tb_tally_histogram(struct tb_page *page, unsigned width, const char *title,
                        const char *noun, const struct tb_tally *tally)
{
    struct tb_histogram histogram = {0};
    size_t at = 0;
    if (tally->value_count < 2)
        return;
    for (struct tb_tally_entry entry = tb_tally_next(tally, &at); entry.count;
         entry = tb_tally_next(tally, &at))
        tb_histogram_add(&histogram, entry.value, entry.count);
    tb_histogram_put(page, width, title, noun, &histogram);
}
