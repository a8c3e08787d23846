/* The meta file of rows that were made of other rows: what their meta file
 * said, but for what was changed. */
#ifndef TB_META_CHANGE_H
#define TB_META_CHANGE_H

#include "meta_rows.h"

/* All borrowed. */
struct tb_meta_change {
    const char *version;                 /* of tracebake */
    const char *command;                 /* NULL: left out */
    bool has_rows;                       /* what a row holds is known: */
    tb_rows rows;                        /* ... this */
    uint32_t block_size;                 /* tokens; 0: as it was */
    bool has_new_ids;                    /* ids are not by content any more */
    const struct tb_meta_counts *counts; /* NULL: as they were */
    bool keeps_losses; /* of the same calls: what else was counted stays */
};

/* Appends one JSON object. `old` is a meta file's content, or empty when there
 * is none; what cannot be read in it is TB_ERR_SYNTAX and the like. Commands by
 * which the old rows were made are kept as "earlier_commands".
 * TB_ERR_LIMIT, TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_meta_change(const struct tb_meta_change *change,
                                      struct tb_span old,
                                      struct tb_buffer *buffer);

#endif
