#include "fetch.h"

#include <stdio.h>

#include "stop_signal.h"
#include "tokenizer.h"

static bool show(void *context, const struct tb_hub_progress *state)
{
    char line[160];
    double done = (double)state->bytes_done, total = (double)state->bytes_total;
    if (tb_stop_signal())
        return false;
    if (state->is_waiting)
        (void)snprintf(line, sizeof(line), "%.60s: waiting", state->repo);
    else if (total > 0)
        (void)snprintf(line, sizeof(line), "%.40s: %.20s  %.1f of %.1f MB",
                       state->repo, state->file, done / 1e6, total / 1e6);
    else
        (void)snprintf(line, sizeof(line), "%.40s: %.20s  %.1f MB", state->repo,
                       *state->file ? state->file : "asking", done / 1e6);
    tb_progress_show_line(context, line);
    return true;
}

struct tb_hub_access tb_fetch_access(struct tb_progress *progress)
{
    return (struct tb_hub_access){.on_progress = show, .context = progress};
}

tb_status tb_fetch_locate(const char *name, bool is_quiet, char *path,
                          size_t size, struct tb_error *error)
{
    struct tb_progress progress = tb_progress_start(is_quiet);
    struct tb_hub_access access = tb_fetch_access(&progress);
    tb_status status = tb_tokenizer_locate(name, &access, path, size, error);
    tb_progress_clear(&progress);
    return status;
}
