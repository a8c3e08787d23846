/* The meta files of rows that were converted apart, and the one of what they
 * are together.
 *
 *     struct tb_meta_merge merge = {0};
 *     TB_TRY(tb_meta_merge_add(&merge, path, content, &error));  // each file
 *     TB_TRY(tb_meta_merge_json(&merge, &result, &text));
 *     tb_meta_merge_release(&merge);
 */
#ifndef TB_META_MERGE_H
#define TB_META_MERGE_H

#include "arena.h"
#include "buffer.h"

struct tb_merged_meta; /* private */

/* One thread at a time; zero-initialised is empty. */
struct tb_meta_merge {
    struct tb_merged_meta *items; /* in the order in which they were added */
    size_t count, capacity;
    struct tb_arena arena;
    bool is_telemetry;
    bool has_timestamps; /* since 1970 */
};

/* What a meta file says: of the rows at `path` (borrowed), `content` as
 * tb_meta_content gives it. TB_ERR_VALUE when there is none, when its ids are
 * not made of content, and when it is not what the first one is: by its block
 * size, tokenizer, secret, kind of rows or options. */
TB_NODISCARD tb_status tb_meta_merge_add(struct tb_meta_merge *merge,
                                         const char *path,
                                         struct tb_span content,
                                         struct tb_error *error);

/* Timestamp 0 of the merged rows, ms since 1970: of telemetry the first call of
 * all files, of others that of the first file that has one, in `order` (of the
 * files, by number). */
uint64_t tb_meta_merge_origin(const struct tb_meta_merge *merge,
                              const size_t *order);

/* What the files do not say. All borrowed. */
struct tb_meta_merge_result {
    const char *version; /* of tracebake */
    const char *command;
    const size_t *order; /* of the files, by number, as many as there are */
};

/* Appends one JSON object, as tb_meta_json. TB_ERR_LIMIT, TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_meta_merge_json(
    struct tb_meta_merge *merge, const struct tb_meta_merge_result *result,
    struct tb_buffer *buffer);

void tb_meta_merge_release(struct tb_meta_merge *merge);

#endif
