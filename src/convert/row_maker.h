/* From the calls of a session to rows: which length leads, what stands for
 * tokens that the server counted and we do not have, blocks, ids, figures.
 *
 * A row's tokens are
 *
 *     [front placeholders][tokens of the text][end placeholders]
 *
 * cut or filled to the row's length. The server counted more than the text has
 * because of tool schemas and the chat template, which stand in front and are
 * shared by all calls of an agent. So the surplus of the first call of a
 * model, agent and tool list goes in front of all calls of these, as
 * placeholders that depend on them and on the position alone; what a later
 * call has beyond that goes to its end and is shared with nobody.
 *
 * One thread, sessions in the order of the output.
 */
#ifndef TB_ROW_MAKER_H
#define TB_ROW_MAKER_H

#include "block_table.h"
#include "convert.h"
#include "output.h"
#include "prompt_store.h"

struct tb_row_maker;

struct tb_row_options {
    tb_dialect_id dialect;
    uint32_t block_size;
    bool is_compat;
    bool does_usage_lead;
    bool has_delay;
    uint64_t delay_ms;
};

/* `output` may be NULL (nothing is written); it and `stats` are borrowed. */
TB_NODISCARD tb_status tb_row_maker_new(const struct tb_row_options *options,
                                        struct tb_output *output,
                                        struct tb_stats *stats,
                                        struct tb_row_maker **maker);

/* Makes the rows of one finished session and counts what has none. `name` is
 * its session id, `path` its trace. */
TB_NODISCARD tb_status tb_row_maker_add(struct tb_row_maker *maker,
                                        struct tb_span name, const char *path,
                                        const struct tb_session *session,
                                        const struct tb_prompt_store *prompts,
                                        struct tb_error *error);

/* Writes what is still in the buffer. */
TB_NODISCARD tb_status tb_row_maker_flush(struct tb_row_maker *maker,
                                          struct tb_error *error);

void tb_row_maker_free(struct tb_row_maker *maker);

#endif
