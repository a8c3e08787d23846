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

/* Is the file itself at fault, rather than the machine or the person? */
static bool is_content(tb_status status)
{
    return status == TB_ERR_SYNTAX || status == TB_ERR_CUT ||
           status == TB_ERR_TYPE || status == TB_ERR_LIMIT;
}

// Nothing is lost but causes when they are not what they should be.
static tb_status read_settings(struct tb_replay_run *run, const char *path,
                               struct tb_error *error)
{
    struct tb_error fault = {0};
    tb_status status = tb_run_settings_read(path, &run->settings, &fault);
    if (is_content(status))
        run->settings_error = fault;
    if (status == TB_ERR_NOT_FOUND || is_content(status))
        return TB_OK;
    if (status != TB_OK && error)
        *error = fault;
    return status;
}

/* A file that is not there is no failure; one that cannot be opened is: to
 * take it for absent would make another answer of it. */
static tb_status read_if_there(tb_status status, bool *is_there)
{
    *is_there = status != TB_ERR_NOT_FOUND;
    return *is_there ? status : TB_OK;
}

static tb_status read_files(struct tb_replay_run *run,
                            const struct places *places, bool is_folder,
                            bool (*is_stopping)(void *), bool *is_found,
                            struct tb_error *error)
{
    bool has_requests, has_log = false;
    TB_TRY(read_if_there(tb_request_table_read(&run->requests, places->requests,
                                               is_stopping, error),
                         &has_requests));
    TB_TRY(read_settings(run, places->settings, error));
    if (run->requests.count == 0)
        TB_TRY(read_if_there(tb_run_log_read(places->log, &run->log, error),
                             &has_log));
    // Beside a file that is not there may lie the log of another run.
    *is_found = has_requests || (is_folder && has_log);
    return TB_OK;
}

tb_status tb_replay_run_read(struct tb_replay_run *run, const char *path,
                             bool (*is_stopping)(void *),
                             struct tb_error *error)
{
    struct places places;
    bool is_folder = tb_path_is_folder(path), is_found = false;
    bool does_fit =
        is_folder ? find_in_folder(path, &places) : find_beside(path, &places);
    if (does_fit)
        TB_TRY(
            read_files(run, &places, is_folder, is_stopping, &is_found, error));
    if (is_found)
        return TB_OK;
    tb_fail(error, TB_ERR_NOT_FOUND,
            !does_fit   ? "its path is too long"
            : is_folder ? "no run of aiperf: neither profile_export.jsonl nor "
                          "logs/aiperf.log is in it"
                        : "there is no such run");
    tb_error_set_path(error, path);
    return TB_ERR_NOT_FOUND;
}

void tb_replay_run_release(struct tb_replay_run *run)
{
    tb_request_table_release(&run->requests);
    *run = (struct tb_replay_run){0};
}
