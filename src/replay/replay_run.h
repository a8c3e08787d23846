/* A run of aiperf 0.13, from what it left: the folder that its --artifact-dir
 * names, or the file of requests in it.
 *
 *     FOLDER/profile_export.jsonl         a line a request
 *     FOLDER/profile_export_aiperf.json   how it was asked for
 *     FOLDER/logs/aiperf.log              why it ended early
 *
 * Only one of the first and the last must be there.
 */
#ifndef TB_REPLAY_RUN_H
#define TB_REPLAY_RUN_H

#include "request_table.h"
#include "run_log.h"
#include "run_settings.h"

/* Zero-initialised is empty. One thread at a time. */
struct tb_replay_run {
    struct tb_request_table requests;
    struct tb_run_settings settings;
    struct tb_error settings_error; /* why they are not known, when they are
                                       there */
    struct tb_run_log log;          /* read when there are no requests */
};

/* Reads the run at `path`. TB_ERR_NOT_FOUND when none is there, the statuses of
 * tb_line_file_read and tb_run_log_read. */
TB_NODISCARD tb_status tb_replay_run_read(struct tb_replay_run *run,
                                          const char *path,
                                          bool (*is_stopping)(void *),
                                          struct tb_error *error);

void tb_replay_run_release(struct tb_replay_run *run);

#endif
