#include "tally_form.h"

#include <stdio.h>

void tb_tally_put_json(struct tb_json_form *form, const char *key,
                       struct tb_tally *tally)
{
    tb_json_form_open(form, key, '{');
    tb_json_form_number(form, "count", tally->count);
    tb_json_form_number(form, "min", tb_tally_percentile(tally, 0));
    tb_json_form_real(form, "mean", tb_tally_mean(tally));
    tb_json_form_number(form, "p50", tb_tally_percentile(tally, 0.5));
    tb_json_form_number(form, "p90", tb_tally_percentile(tally, 0.9));
    tb_json_form_number(form, "p99", tb_tally_percentile(tally, 0.99));
    tb_json_form_number(form, "max", tb_tally_percentile(tally, 1));
    tb_json_form_close(form, '}');
}

void tb_tally_put_columns(struct tb_page *page, const char *title)
{
    tb_page_put(page, "%-18s%8s%8s%9s%8s%9s%9s%9s\n", title, "count", "min",
                "mean", "p50", "p90", "p99", "max");
}

static void put_figures(struct tb_page *page, uint64_t count,
                        const struct tb_figure figures[6])
{
    tb_page_put(page, " %7s %7s %8s %7s %8s %8s %8s\n", tb_grouped(count).text,
                figures[0].text, figures[1].text, figures[2].text,
                figures[3].text, figures[4].text, figures[5].text);
}

void tb_tally_put_line(struct tb_page *page, const char *name,
                       struct tb_tally *tally)
{
    if (tally->count == 0)
        return;
    const struct tb_figure figures[] = {
        tb_grouped(tb_tally_percentile(tally, 0)),
        tb_grouped_real(tb_tally_mean(tally)),
        tb_grouped(tb_tally_percentile(tally, 0.5)),
        tb_grouped(tb_tally_percentile(tally, 0.9)),
        tb_grouped(tb_tally_percentile(tally, 0.99)),
        tb_grouped(tb_tally_percentile(tally, 1))};
    tb_page_put(page, "%-18s", name);
    put_figures(page, tally->count, figures);
}

static struct tb_figure seconds_at(struct tb_tally *tally, double fraction)
{
    return tb_grouped_real((double)tb_tally_percentile(tally, fraction) / 1000);
}

void tb_tally_put_times(struct tb_page *page, const char *name,
                        struct tb_tally *tally)
{
    char label[64];
    bool is_short = tb_tally_percentile(tally, 1) < 1000000;
    (void)snprintf(label, sizeof(label), "%s, %s", name, is_short ? "ms" : "s");
    if (is_short) {
        tb_tally_put_line(page, label, tally);
        return;
    }
    const struct tb_figure figures[] = {
        seconds_at(tally, 0),    tb_grouped_real(tb_tally_mean(tally) / 1000),
        seconds_at(tally, 0.5),  seconds_at(tally, 0.9),
        seconds_at(tally, 0.99), seconds_at(tally, 1)};
    tb_page_put(page, "%-18s", label);
    put_figures(page, tally->count, figures);
}
