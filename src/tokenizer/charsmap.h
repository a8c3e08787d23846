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

/* The same from the bytes that the base64 stands for. */
TB_NODISCARD tb_status tb_charsmap_read_bytes(struct tb_charsmap *map,
                                              struct tb_arena *arena,
                                              struct tb_span bytes);

/* Does every place in the table lead to another in it, or to a replacement?
 * The library asks for that; walking needs it not. */
bool tb_charsmap_is_sound(const struct tb_charsmap *map);

/* The longest beginning of `text` that has a replacement, as SentencePiece
 * itself looks it up; false when there is none. */
bool tb_charsmap_find_longest(const struct tb_charsmap *map,
                              struct tb_span text, size_t *len,
                              struct tb_span *replacement);

/* Appends `text` with its replacements, as Hugging Face's Precompiled does.
 * `*origin_len` is the length of the part of `text` that stands for the first
 * character of the whole text, and becomes that of what is appended. */
TB_NODISCARD tb_status tb_charsmap_apply(const struct tb_charsmap *map,
                                         struct tb_span text,
                                         struct tb_buffer *out,
                                         size_t *origin_len);

/* Is a place between an ASCII sign and a space one that no replacement looks
 * across, with a sign before it and a space behind it afterwards too? True when
 * nothing that begins with a space is replaced, every sign becomes one, if
 * anything, and no sign is part of a cluster that is replaced as a whole. */
bool tb_charsmap_keeps_words(const struct tb_charsmap *map);

#endif
