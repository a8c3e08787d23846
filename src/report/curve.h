/* How values are spread, as a curve for a chart: how many are at least as large
 * as each of some points, few however many values there are. Every point is
 * exact, and points lie closer than 1/32 of their value.
 *
 *     struct tb_curve_grid grid = {0};
 *     tb_curve_grid_include(&grid, &tally);           // all that share it
 *     tb_curve_put_grid(form, &grid);
 *     tb_curve_put(form, TB_SPAN("a"), &tally, &grid);
 */
#ifndef TB_CURVE_H
#define TB_CURVE_H

#include "json_form.h"
#include "tally.h"

/* 1, 2, 3, ... 64, 66, ..., 128, 132, ...; 0 at the end of numbers. */
uint64_t tb_curve_next(uint64_t point);

/* The points that several tallies are told at; zero-initialised is none. */
struct tb_curve_grid {
    uint64_t first, last;
};

/* Sorts the tally, as does tb_curve_put, whose tally is included. */
void tb_curve_grid_include(struct tb_curve_grid *grid, struct tb_tally *tally);

/* The list of points, "at". */
void tb_curve_put_grid(struct tb_json_form *form,
                       const struct tb_curve_grid *grid);

/* {name, count, rows: [values that are at least as large as each point]} */
void tb_curve_put(struct tb_json_form *form, struct tb_span name,
                  struct tb_tally *tally, const struct tb_curve_grid *grid);

#endif
