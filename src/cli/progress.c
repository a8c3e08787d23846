#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

// Seconds. A short job shows nothing, since a line that flickers helps nobody.
static const double show_after = 0.5;
static const double show_every = 0.1;

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct tb_progress tb_progress_start(bool is_quiet)
{
    return (struct tb_progress){
        .is_wanted = !is_quiet && isatty(STDERR_FILENO) == 1,
        .next_at_s = now_s() + show_after,
    };
}

static bool is_due(const struct tb_progress *progress)
{
    return progress->is_wanted && now_s() >= progress->next_at_s;
}

void tb_progress_show_line(struct tb_progress *progress, const char *line)
{
    if (!is_due(progress))
        return;
    (void)fprintf(stderr, "\r\033[K%.78s", line);
    (void)fflush(stderr);
    progress->is_shown = true;
    progress->next_at_s = now_s() + show_every;
}

static void format_time(double seconds, char *text, size_t size)
{
    unsigned whole = seconds < 359999 ? (unsigned)(seconds + 0.5) : 359999;
    if (whole < 3600)
        (void)snprintf(text, size, "%u:%02u", whole / 60, whole % 60);
    else
        (void)snprintf(text, size, "%u:%02u:%02u", whole / 3600,
                       whole / 60 % 60, whole % 60);
}

void tb_progress_show(struct tb_progress *progress,
                      const struct tb_convert_progress *state)
{
    if (!is_due(progress))
        return;
    double done = (double)state->bytes_done, total = (double)state->bytes_total;
    double rate = done / state->seconds;
    char line[160];
    if (total > 0 && done > 0 && done <= total) {
        char left[16];
        format_time((total - done) / rate, left, sizeof(left));
        (void)snprintf(
            line, sizeof(line), "%3.0f %%  %.1f of %.1f MB  %.0f MB/s  %s left",
            100 * done / total, done / 1e6, total / 1e6, rate / 1e6, left);
    } else {
        (void)snprintf(line, sizeof(line), "%.1f MB  %.0f MB/s", done / 1e6,
                       rate / 1e6);
    }
    tb_progress_show_line(progress, line);
}

void tb_progress_clear(struct tb_progress *progress)
{
    if (!progress->is_shown)
        return;
    (void)fputs("\r\033[K", stderr);
    (void)fflush(stderr);
    progress->is_shown = false;
}
