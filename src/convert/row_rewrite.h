/* Rows in the form that another consumer wants, without their trace: out of the
 * rows and the calls that were written with them.
 *
 *     TB_TRY(tb_row_rewrite_new(&options, &rewrite));
 *     for all calls:  tb_row_rewrite_look(rewrite, &call);
 *     for all rows:   TB_TRY(tb_row_rewrite_add(rewrite, &input, &call, &text,
 *                                               &error));
 *
 * What comes out is what the conversion writes, to the byte, or a failure: what
 * rows and calls do not carry is not guessed. The delicate part is from whole
 * prompts to increments. Which row goes on which is written in the calls; what
 * a turn adds begins in the middle of a block, whose ids are not in the rows.
 * But ids are only names: the blocks of an increment are new ones, unless
 * another conversation had the same turns before it, with answers of the same
 * lengths. Then they are equal where the whole prompts are equal; where these
 * differ, that may be because of the answers alone, and nobody can tell.
 *
 * One thread. Memory: 24 bytes for each block of a first turn, and the ids of
 * all further turns.
 */
#ifndef TB_ROW_REWRITE_H
#define TB_ROW_REWRITE_H

#include "call_line.h"
#include "convert.h"
#include "meta.h"
#include "row_input.h"

struct tb_row_rewrite;

struct tb_rewrite_options {
    struct tb_row_form form; /* that is wanted */
    bool is_delta;           /* what the rows are now */
    bool is_telemetry;
    uint32_t block_size; /* tokens */
};

/* For rows that `meta` says what they are, in `form`. TB_ERR_USAGE with the
 * reason when they do not have what is wanted. */
TB_NODISCARD tb_status tb_rewrite_options_choose(
    const struct tb_meta_reading *meta, const struct tb_row_form *form,
    struct tb_rewrite_options *options, struct tb_error *error);

/* TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_row_rewrite_new(
    const struct tb_rewrite_options *options, struct tb_row_rewrite **rewrite);

/* Takes a call into account, before the first row: when does the trace begin?
 * TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_row_rewrite_look(struct tb_row_rewrite *rewrite,
                                           const struct tb_call_line *call);

/* Appends the current row of `input`, which `call` is the call of. TB_ERR_VALUE
 * with its place: the two do not fit, or do not carry what is wanted;
 * TB_ERR_MEMORY, TB_ERR_LIMIT. */
TB_NODISCARD tb_status tb_row_rewrite_add(struct tb_row_rewrite *rewrite,
                                          const struct tb_row_input *input,
                                          const struct tb_call_line *call,
                                          struct tb_buffer *text,
                                          struct tb_error *error);

/* Sessions and tokens of the rows that were made. */
struct tb_meta_counts
tb_row_rewrite_counts(const struct tb_row_rewrite *rewrite);

/* NULL is accepted. */
void tb_row_rewrite_free(struct tb_row_rewrite *rewrite);

#endif
