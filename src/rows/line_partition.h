/* Lines of JSON to as many files as one likes, so that all lines of a session
 * are in one of them. Lines go as they are, in their order.
 *
 *     struct tb_line_partition partition = {0};
 *     TB_TRY(tb_line_partition_open(&partition, "parts", 4, ".jsonl.zst", stop,
 *                                   &error));
 *     TB_TRY(tb_line_partition_add(&partition, "log1.jsonl.gz", &error));
 *     TB_TRY(tb_line_partition_commit(&partition, &error));
 *     tb_line_partition_close(&partition);
 *
 * Which file a session goes to hangs on its name and their number alone, so
 * logs may be split apart, and on other machines.
 */
#ifndef TB_LINE_PARTITION_H
#define TB_LINE_PARTITION_H

#include "output.h"
#include "row_input.h"

enum { TB_LINE_PARTS_MAX = 512 };

struct tb_line_part {
    struct tb_output *output;
    struct tb_buffer text; /* that is not written yet */
    uint64_t line_count;
    char *path;
};

/* Memory is that of the longest line and 64 KB a part. One thread at a time;
 * zero-initialised is closed. */
struct tb_line_partition {
    struct tb_line_part *parts;
    uint32_t part_count;
    uint64_t line_count;
    uint64_t nameless_count; /* objects without a session: each goes by its own
                                bytes */
    uint64_t broken_count;   /* no JSON object; go by their bytes too */
    struct tb_arena arena;
    struct tb_buffer name;
    struct tb_row_stop stop;
};

/* Opens `folder`/part-1-of-4 and so on with `extension` behind; the folder is
 * made when it is not there. Statuses of tb_output_open; TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_line_partition_open(
    struct tb_line_partition *partition, const char *folder, uint32_t count,
    const char *extension, struct tb_row_stop stop, struct tb_error *error);

/* TB_ERR_USAGE when a part would replace the file `path`. */
TB_NODISCARD tb_status
tb_line_partition_spare(const struct tb_line_partition *partition,
                        const char *path, struct tb_error *error);

/* Deals out the lines of the file `path`. Empty ones are left out, and a byte
 * order mark in front of the first. */
TB_NODISCARD tb_status
tb_line_partition_add(struct tb_line_partition *partition, const char *path,
                      struct tb_error *error);

/* Puts all parts in place, or none. */
TB_NODISCARD tb_status tb_line_partition_commit(
    struct tb_line_partition *partition, struct tb_error *error);

void tb_line_partition_close(struct tb_line_partition *partition);

#endif
