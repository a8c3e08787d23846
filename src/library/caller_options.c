#include "caller_options.h"

#include <string.h>

tb_status tb_caller_options_copy(void *to, size_t size, size_t first_size,
                                 const void *from, struct tb_error *error)
{
    size_t given;
    memcpy(&given, from, sizeof(given));
    if (given < first_size || given > size)
        return tb_fail(error, TB_ERR_USAGE,
                       "options with size %zu are of no version up to %s",
                       given, tb_version());
    memcpy(to, from, given);
    return TB_OK;
}

static bool on_fetch(void *context, const struct tb_hub_progress *state)
{
    const struct tb_fetch_watch *watch = context;
    const struct tb_load_progress progress = {
        .repo = state->repo,
        .file = state->file,
        .bytes_done = state->bytes_done,
        .bytes_total = state->bytes_total,
        .is_waiting = state->is_waiting,
    };
    return !watch->on_progress || watch->on_progress(watch->context, &progress);
}

struct tb_hub_access tb_fetch_watch_access(struct tb_fetch_watch *watch)
{
    return (struct tb_hub_access){.on_progress = on_fetch, .context = watch};
}

tb_status tb_caller_fail(struct tb_error *error, tb_status status,
                         struct tb_error *detail)
{
    if (status == TB_OK || !error)
        return status;
    if (detail->status != status)
        tb_fail(detail, status, "%s", tb_status_name(status));
    *error = *detail;
    return status;
}
