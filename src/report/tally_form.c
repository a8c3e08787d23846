#include "tally_form.h"

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

void tb_tally_put_line(struct tb_page *page, const char *name,
                       struct tb_tally *tally)
{
    if (tally->count == 0)
        return;
    tb_page_put(page, "%-18s %7s", name, tb_grouped(tally->count).text);
    tb_page_put(page, " %7s", tb_grouped(tb_tally_percentile(tally, 0)).text);
    tb_page_put(page, " %8s", tb_grouped_real(tb_tally_mean(tally)).text);
    tb_page_put(page, " %7s", tb_grouped(tb_tally_percentile(tally, 0.5)).text);
    static const double fractions[] = {0.9, 0.99, 1};
    for (size_t i = 0; i < 3; i++)
        tb_page_put(page, " %8s",
                    tb_grouped(tb_tally_percentile(tally, fractions[i])).text);
    tb_page_put(page, "\n");
}
