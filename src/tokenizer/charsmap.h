/* SentencePiece's compiled table of replacements, normalizer "Precompiled": a
 * trie in a double array (Aoe, 1989, in the layout of darts-clone) whose
 * values are places in a list of texts that end with a zero byte.
 *
 * Read-only once it is read, shared by threads.
 */
#ifndef TB_CHARSMAP_H
#define TB_CHARSMAP_H

#include "arena.h"
#include "buffer.h"

struct tb_charsmap {
    const uint32_t *units;
    size_t unit_count;
    struct tb_span texts;
};

/* Reads the base64 of a tokenizer.json; memory comes from `arena`.
 * TB_ERR_SYNTAX when it is no such table. */
TB_NODISCARD tb_status tb_charsmap_read(struct tb_charsmap *map,
                                        struct tb_arena *arena,
                                        struct tb_span base64);

/* Appends `text` with its replacements. `*origin_len` is the length of the
 * part of `text` that stands for the first character of the whole text, and
 * becomes that of what is appended. */
TB_NODISCARD tb_status tb_charsmap_apply(const struct tb_charsmap *map,
                                         struct tb_span text,
                                         struct tb_buffer *out,
                                         size_t *origin_len);

#endif
