/* One line on the terminal that says how far something is. */
#ifndef TB_PROGRESS_H
#define TB_PROGRESS_H

#include "convert.h"

struct tb_progress {
    bool is_wanted;   /* a terminal is there, and nobody said --quiet */
    bool is_shown;    /* there is a line to clear */
    double next_at_s; /* when a line may be shown, on the monotonic clock */
};

struct tb_progress tb_progress_start(bool is_quiet);

/* Shows or renews the line, ten times a second at most. */
void tb_progress_show_line(struct tb_progress *progress, const char *line);

/* The same for a conversion. */
void tb_progress_show(struct tb_progress *progress,
                      const struct tb_convert_progress *state);

/* Takes the line away. */
void tb_progress_clear(struct tb_progress *progress);

#endif
