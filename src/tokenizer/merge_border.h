/* Where a word of a BPE may be cut: between two characters that no merge joins.
 * Files in SentencePiece's manner make one word of a whole text, spaces and
 * all; but hardly any of their tokens has letters beside a sign, or a space
 * anywhere but at its beginning. A place that no merge crosses may be cut, and
 * the parts be encoded apart (docs/TOKENIZER.md).
 */
#ifndef TB_MERGE_BORDER_H
#define TB_MERGE_BORDER_H

#include "space_border.h"

/* What stands for TB_ESCAPED_SPACE; no byte of UTF-8. */
enum { TB_BORDER_SPACE = 0xFF };

/* Zero-initialised: no word may be cut. */
struct tb_merge_borders {
    bool is_any;             /* may a word be cut at all? */
    uint32_t joined[256][8]; /* by the last byte of a character, bit by bit by
                                the first byte of the next one: may a merge
                                join them? Set for what begins none. */
};

static inline bool tb_merge_is_border(const struct tb_merge_borders *borders,
                                      uint8_t before, uint8_t behind)
{
    return !(borders->joined[before][behind / 32] >> behind % 32 & 1);
}

static inline void tb_merge_join(struct tb_merge_borders *borders,
                                 uint8_t before, uint8_t behind)
{
    borders->joined[before][behind / 32] |= UINT32_C(1) << behind % 32;
}

/* The ends of up to `most` parts one behind the other, from `at` on, where a
 * character begins. Returns how many. Each is a border or the end of `text`,
 * which is valid UTF-8; not every border is found. */
size_t tb_merge_borders_cut(const struct tb_merge_borders *borders,
                            struct tb_span text, size_t at, size_t *ends,
                            size_t most);

#endif
