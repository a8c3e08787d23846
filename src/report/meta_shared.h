/* The meta file of rows that are given away: what a reader of the rows must
 * know, and no text that came from anywhere else. */
#ifndef TB_META_SHARED_H
#define TB_META_SHARED_H

#include "arena.h"
#include "keyed_hash.h"
#include "meta_rows.h"

/* Texts are borrowed. */
struct tb_meta_shared {
    const char *version; /* of tracebake */
    bool has_rows;       /* what a row holds is known: */
    tb_rows rows;        /* ... this */
    uint32_t block_size; /* tokens; 0: not known */
    struct tb_meta_counts counts;
    /* read from the rows' own meta file: */
    char fingerprint[33]; /* of the tokenizer, hex digits; "": not known */
    bool has_content_ids; /* ids that are the same in every run, ... */
    struct tb_span salt;  /* made with a secret of this name; or empty */
    bool has_first_ms;    /* ... and timestamps since 1970 */
    char shared_salt[33]; /* name of the secrets of the new ids; "": none */
};

/* Reads what `content`, a meta file, says of that; what it does not, or not in
 * the form that it has, is not known. `arena` holds texts. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_meta_shared_read(struct tb_meta_shared *shared,
                                           struct tb_span content,
                                           struct tb_arena *arena);

/* The new ids are made with `secret`: sets `shared_salt`, of which files have
 * the same only when their old ids were made with the same secret too. */
void tb_meta_shared_set_secret(struct tb_meta_shared *shared,
                               const struct tb_keyed_hash *secret);

/* Appends one JSON object. TB_ERR_LIMIT, TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_meta_shared_json(const struct tb_meta_shared *shared,
                                           struct tb_buffer *buffer);

#endif
