/* The blocks of a row and their numbers. What a row shares with one that was
 * made a moment ago is taken over, not hashed and looked up again.
 */
#ifndef TB_ROW_BLOCKS_H
#define TB_ROW_BLOCKS_H

#include "content_id.h"
#include "row_tokens.h"

enum { TB_ROW_BLOCKS_RECENT = 8 };

/* One row's blocks; valid until TB_ROW_BLOCKS_RECENT more were made. */
struct tb_row_blocks {
    uint64_t *ids;
    uint64_t count;
    struct tb_hash128 last; /* of the chain: the parent of what continues it */
    uint64_t new_tokens;    /* in blocks that were not seen before */
    /* private */
    bool is_used;
    uint64_t prompt;
    uint32_t group;
    uint64_t front;
    uint64_t valid_count; /* tokens up to here are front and text alone */
    struct tb_hash128 *blocks;
    size_t blocks_capacity, ids_capacity;
};

struct tb_row_numbering {
    uint64_t block_size; /* tokens; set before use */
    /* Ids are these, not numbers by first appearance; borrowed, NULL: not. */
    const struct tb_content_ids *content;
    struct tb_block_table table;
    struct tb_row_blocks recent[TB_ROW_BLOCKS_RECENT];
    size_t next;
    tb_token *block; /* the tokens of one block */
};

/* Sets up an empty numbering; TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_row_numbering_init(struct tb_row_numbering *numbering,
                                             uint32_t block_size);
void tb_row_numbering_release(struct tb_row_numbering *numbering);

/* Prompt numbers mean those of another session from here on. */
void tb_row_numbering_forget(struct tb_row_numbering *numbering);

/* Numbers the blocks of a whole prompt. TB_ERR_MEMORY, TB_ERR_LIMIT. */
TB_NODISCARD tb_status tb_row_numbering_add(
    struct tb_row_numbering *numbering, const struct tb_row_tokens *tokens,
    const struct tb_row_blocks **blocks);

/* Numbers the blocks of the tokens from `from` on alone, as a continuation of
 * `parent`. */
TB_NODISCARD tb_status tb_row_numbering_add_part(
    struct tb_row_numbering *numbering, const struct tb_row_tokens *tokens,
    uint64_t from, struct tb_hash128 parent,
    const struct tb_row_blocks **blocks);

#endif
