#include "curve.h"

enum { STEPS = 32 }; // in each doubling

uint64_t tb_curve_next(uint64_t point)
{
    uint64_t step = 1;
    while (point / step >= 2 * STEPS)
        step *= 2;
    return point <= UINT64_MAX - step ? point + step : 0;
}

void tb_curve_grid_include(struct tb_curve_grid *grid, struct tb_tally *tally)
{
    if (tally->count == 0)
        return;
    uint64_t least = tb_tally_percentile(tally, 0);
    uint64_t most = tb_tally_percentile(tally, 1);
    uint64_t point = 1, before = 1;
    for (; point && point <= least; point = tb_curve_next(point))
        before = point;
    if (grid->first == 0 || before < grid->first)
        grid->first = before;
    // The first point behind all, where no row is left.
    for (; point && point <= most; point = tb_curve_next(point))
        before = point;
    if (point > grid->last || point == 0)
        grid->last = point ? point : before;
}

void tb_curve_put_grid(struct tb_json_form *form,
                       const struct tb_curve_grid *grid)
{
    tb_json_form_open(form, "at", '[');
    for (uint64_t point = grid->first; point && point <= grid->last;
         point = tb_curve_next(point))
        tb_json_form_number(form, NULL, point);
    tb_json_form_close(form, ']');
}

void tb_curve_put(struct tb_json_form *form, struct tb_span name,
                  struct tb_tally *tally, const struct tb_curve_grid *grid)
{
    uint64_t left = tally->count;
    size_t at = 0;
    struct tb_tally_entry entry = tb_tally_next(tally, &at);
    tb_json_form_open(form, NULL, '{');
    tb_json_form_text(form, "name", name);
    tb_json_form_number(form, "count", tally->count);
    tb_json_form_open(form, "rows", '[');
    for (uint64_t point = grid->first; point && point <= grid->last;
         point = tb_curve_next(point)) {
        for (; entry.count && entry.value < point;
             entry = tb_tally_next(tally, &at))
            left -= entry.count;
        tb_json_form_number(form, NULL, left);
    }
    tb_json_form_close(form, ']');
    tb_json_form_close(form, '}');
}
