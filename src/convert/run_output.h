/* The files of a run: rows, their meta file, and the calls and the page where
 * they are wanted. They belong together, so they are put in place together.
 *
 *     struct tb_run_output output = {0};
 *     TB_TRY(tb_run_output_open(&output, options, is_stopping, context,
 * error));
 *     ... write to output.rows, output.calls, output.page ...
 *     TB_TRY(tb_run_output_commit(&output, &meta, stats, error));
 *     tb_run_output_close(&output);
 */
#ifndef TB_RUN_OUTPUT_H
#define TB_RUN_OUTPUT_H

#include "convert.h"
#include "meta.h"
#include "output.h"

struct tb_run_output {
    struct tb_output *rows;  /* NULL in a dry run */
    struct tb_output *calls; /* NULL: not wanted */
    struct tb_output *page;  /* NULL: not wanted */
    char path[4096];         /* of the rows */
    const char *calls_path;  /* borrowed from the options */
    const char *page_path;   /* borrowed from the options */
};

/* Decides where things go and opens them, but in a dry run. TB_ERR_USAGE when
 * one would replace an input or another. `is_stopping` is asked while a pipe
 * takes no more. */
TB_NODISCARD tb_status tb_run_output_open(
    struct tb_run_output *output, const struct tb_convert_options *options,
    bool (*is_stopping)(void *context), void *context, struct tb_error *error);

/* TB_ERR_USAGE when a file of the run would replace this one, which it reads.
 * Nothing is lost yet: what is opened gets its name at the end. */
TB_NODISCARD tb_status tb_run_output_spare(const struct tb_run_output *output,
                                           const char *path,
                                           struct tb_error *error);

/* All files are wholly on the disk before any gets its name, and the rows get
 * it last: rows without what stands beside them would be the worse half. When
 * one cannot follow, what was there before those before it comes back. Rows
 * that are written through have no meta file. */
TB_NODISCARD tb_status tb_run_output_commit(struct tb_run_output *output,
                                            const struct tb_meta *meta,
                                            const struct tb_stats *stats,
                                            struct tb_error *error);

void tb_run_output_close(struct tb_run_output *output);

#endif
