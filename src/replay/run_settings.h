/* How a run was asked for, as aiperf wrote it down beside its results
 * (profile_export_aiperf.json). */
#ifndef TB_RUN_SETTINGS_H
#define TB_RUN_SETTINGS_H

#include "path.h"

/* What was not said is "" or 0. */
struct tb_run_settings {
    bool is_found;           /* the file is there and could be read */
    char rows[TB_PATH_SIZE]; /* the rows that were replayed */
    char endpoint[64];       /* "chat", "completions", ... */
    char tokenizer[256];
    char version[32];       /* of aiperf */
    uint64_t block_size;    /* tokens */
    uint64_t session_count; /* conversations it was asked to play */
    uint64_t request_count; /* requests it meant to send */
    bool was_cancelled;     /* the run, by its user */
};

/* Reads the file at `path`, which exists. TB_ERR_SYNTAX, TB_ERR_CUT and
 * TB_ERR_TYPE when it is not what aiperf writes; the statuses of tb_input_open;
 * TB_ERR_MEMORY. After a failure nothing was said. */
TB_NODISCARD tb_status tb_run_settings_read(const char *path,
                                            struct tb_run_settings *settings,
                                            struct tb_error *error);

#endif
