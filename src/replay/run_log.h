/* Why a run of aiperf ended before it had results: the first error in its log
 * (logs/aiperf.log beside them). */
#ifndef TB_RUN_LOG_H
#define TB_RUN_LOG_H

#include "status.h"

struct tb_run_log {
    char fault[256];     /* the first error, or "" */
    uint64_t block_size; /* the run's, when that error is that ids do not fit
                            it; else 0 */
};

/* Reads the log at `path`. The statuses of tb_input_open and tb_input_read,
 * TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_run_log_read(const char *path, struct tb_run_log *log,
                                       struct tb_error *error);

#endif
