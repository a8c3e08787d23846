/* Finding the next request of a NAT trace behind a place where it is broken.
 *
 * One quote too few or too many turns strings into structure and structure
 * into strings, up to the end of the file: nothing behind it can be read by
 * reading on. But
 *
 *     {"request_number": 7, "intermediate_steps": [
 *
 * cannot stand inside a string, where its quotes would have a backslash in
 * front. So requests are found by it, wherever the quotes stood before. From
 * then on each one is cut out of the file and read alone, so that another
 * broken one costs itself only, and the file is read once more and no more.
 * Private to this layer. */
#ifndef TB_NAT_SALVAGE_H
#define TB_NAT_SALVAGE_H

#include "buffer.h"
#include "input.h"

struct tb_nat_salvage {
    /* private */
    struct tb_input *input; /* the same file, opened again */
    struct tb_buffer window;
    size_t at;              /* of the request, or of where it is looked for */
    uint64_t window_offset; /* of the window, in the file */
    uint64_t line;          /* of `at` */
    bool has_request;       /* `at` is the beginning of one */
    bool is_at_end;
};

/* Opens `path` again and looks for the first request behind `offset`, which is
 * on `line`. `*found`: there is one, at `*next`. */
TB_NODISCARD tb_status tb_nat_salvage_begin(struct tb_nat_salvage *salvage,
                                            const char *path, uint64_t offset,
                                            uint64_t line, bool *found,
                                            uint64_t *next,
                                            struct tb_error *error);

/* The next request: its bytes up to the one behind it, without the comma or
 * bracket between them; they live until the next call. `request->ptr` is NULL
 * at the end. */
TB_NODISCARD tb_status tb_nat_salvage_next(struct tb_nat_salvage *salvage,
                                           struct tb_span *request,
                                           uint64_t *offset, uint64_t *line,
                                           struct tb_error *error);

void tb_nat_salvage_release(struct tb_nat_salvage *salvage);

#endif
