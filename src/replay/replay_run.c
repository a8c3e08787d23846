#include "replay_run.h"

#include <string.h>

struct places {
    char requests[TB_PATH_SIZE], settings[TB_PATH_SIZE], log[TB_PATH_SIZE];
};

static bool find_in_folder(const char *folder, struct places *places)
{
    return tb_path_format(places->requests, TB_PATH_SIZE,
                          "%s/profile_export.jsonl", folder) &&
           tb_path_format(places->settings, TB_PATH_SIZE,
                          "%s/profile_export_aiperf.json", folder) &&
           tb_path_format(places->log, TB_PATH_SIZE, "%s/logs/aiperf.log",
                          folder);
}

// With --profile-export-prefix files are called otherwise, and alike.
static bool find_beside(const char *path, struct places *places)
{
    const char *slash = strrchr(path, '/');
    size_t len = strlen(path), folder_len = slash ? (size_t)(slash - path) : 0;
    struct tb_span name = tb_span_of(path);
    if (tb_span_ends_with(name, TB_SPAN(".jsonl")))
        len -= strlen(".jsonl");
    return tb_path_format(places->requests, TB_PATH_SIZE, "%s", path) &&
           tb_path_format(places->settings, TB_PATH_SIZE, "%.*s_aiperf.json",
                          (int)len, path) &&
           tb_path_format(places->log, TB_PATH_SIZE, "%.*s/logs/aiperf.log",
                          slash ? (int)folder_len : 1, slash ? path : ".");
}

static tb_status find(const char *path, struct places *places,
                      struct tb_error *error)
{
    bool is_folder = tb_path_is_folder(path);
    bool does_fit =
        is_folder ? find_in_folder(path, places) : find_beside(path, places);
    tb_status status = TB_OK;
    if (!does_fit)
        status = tb_fail(error, TB_ERR_NOT_FOUND, "its path is too long");
    else if (!is_folder && !tb_path_is_file(path))
        status = tb_fail(error, TB_ERR_NOT_FOUND, "there is no such run");
    else if (!tb_path_is_file(places->requests) &&
             !tb_path_is_file(places->log))
        status = tb_fail(error, TB_ERR_NOT_FOUND,
                         "no run of aiperf: neither profile_export.jsonl nor "
                         "logs/aiperf.log is in it");
    if (status != TB_OK)
        tb_error_set_path(error, path);
    return status;
}

// Nothing is lost but causes when they cannot be read.
static tb_status read_settings(struct tb_replay_run *run, const char *path)
{
    if (!tb_path_is_file(path))
        return TB_OK;
    tb_status status =
        tb_run_settings_read(path, &run->settings, &run->settings_error);
    return status == TB_ERR_MEMORY ? status : TB_OK;
}

tb_status tb_replay_run_read(struct tb_replay_run *run, const char *path,
                             bool (*is_stopping)(void *),
                             struct tb_error *error)
{
    struct places places;
    TB_TRY(find(path, &places, error));
    if (tb_path_is_file(places.requests))
        TB_TRY(tb_request_table_read(&run->requests, places.requests,
                                     is_stopping, error));
    tb_status status = read_settings(run, places.settings);
    if (status != TB_OK)
        return tb_fail(error, status, "out of memory");
    if (run->requests.count == 0 && tb_path_is_file(places.log))
        TB_TRY(tb_run_log_read(places.log, &run->log, error));
    return TB_OK;
}

void tb_replay_run_release(struct tb_replay_run *run)
{
    tb_request_table_release(&run->requests);
    *run = (struct tb_replay_run){0};
}
