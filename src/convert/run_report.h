/* The page of a run (analysis_page.h): rows and calls go in as they are made,
 * so that nothing has to be read again. Costs what `analyze` costs, in time and
 * in memory for the distinct blocks, and is therefore made only where it is
 * asked for.
 *
 *     struct tb_run_report *report;
 *     TB_TRY(tb_run_report_new(block_size, is_delta, &report));
 *     TB_TRY(tb_run_report_add_row(report, &row, number));    // for each row
 *     TB_TRY(tb_run_report_add_call(report, &entry));         // for each call
 *     TB_TRY(tb_run_report_write(report, path, stats, output, error));
 *
 * One thread at a time.
 */
#ifndef TB_RUN_REPORT_H
#define TB_RUN_REPORT_H

#include "call_log.h"

struct tb_run_report;

/* TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_run_report_new(uint32_t block_size, bool is_delta,
                                         struct tb_run_report **report);

/* `number` is the row's line, from 1. TB_ERR_MEMORY; TB_ERR_LIMIT beyond
 * 2^32 - 2 blocks. */
TB_NODISCARD tb_status tb_run_report_add_row(struct tb_run_report *report,
                                             const struct tb_mooncake_row *row,
                                             uint64_t number);

/* A call, with a row or without. TB_ERR_MEMORY, TB_ERR_LIMIT. */
TB_NODISCARD tb_status tb_run_report_add_call(
    struct tb_run_report *report, const struct tb_call_entry *entry);

/* After the last: writes the page to `output`, and gives `stats` what caches of
 * some sizes serve. `path` is where the rows go; there may be none of them. The
 * statuses of tb_output_write, TB_ERR_MEMORY, TB_ERR_LIMIT. */
TB_NODISCARD tb_status tb_run_report_write(struct tb_run_report *report,
                                           const char *path,
                                           struct tb_stats *stats,
                                           struct tb_output *output,
                                           struct tb_error *error);

/* NULL is accepted. */
void tb_run_report_free(struct tb_run_report *report);

#endif
