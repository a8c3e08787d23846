/* Rows that can be given away: lengths, times and which blocks are the same,
 * and no text that came from anywhere else.
 *
 * Each row is written anew out of what is known of a row's structure; so what
 * is not known is not in it. Sessions and agents have new names, ids new
 * numbers: by first appearance, or made with a secret, so that files that are
 * shared apart still fit together. Times are those since the earliest.
 *
 *     for all rows:  TB_TRY(tb_row_share_look(&share, &input, &error));
 *     and again:     TB_TRY(tb_row_share_add(&share, &input, &text, &error));
 *
 * About 24 bytes for each block, and each session's name. One thread at a time;
 * zero-initialised is empty and ready.
 */
#ifndef TB_ROW_SHARE_H
#define TB_ROW_SHARE_H

#include "block_table.h"
#include "keyed_hash.h"
#include "meta_rows.h"
#include "name_table.h"
#include "row_input.h"

struct tb_row_share {
    const struct tb_keyed_hash *secret; /* borrowed; NULL: none */
    struct tb_name_table sessions, agents;
    struct tb_block_table blocks;
    uint64_t seed;  /* of their hashes, since ids are anybody's; 0: none yet */
    uint64_t *made; /* by number of a block, with a secret: its id */
    size_t made_capacity, made_count;
    uint64_t *ids; /* of the current row */
    size_t id_capacity;
    bool has_time;
    double first_ms; /* the earliest */
    struct tb_meta_counts counts;
    uint64_t nameless_count;   /* rows without a session */
    uint64_t dropped_priority; /* priorities of no known name */
};

/* Takes a row into account before any is written. TB_ERR_VALUE, with its place,
 * for one that holds a text, neither length nor ids, or an `extra` that is no
 * JSON; TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_row_share_look(struct tb_row_share *share,
                                         const struct tb_row_input *input,
                                         struct tb_error *error);

/* Appends the row as it can be shared. TB_ERR_LIMIT, TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_row_share_add(struct tb_row_share *share,
                                        const struct tb_row_input *input,
                                        struct tb_buffer *text,
                                        struct tb_error *error);

void tb_row_share_release(struct tb_row_share *share);

#endif
