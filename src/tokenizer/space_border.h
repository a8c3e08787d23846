/* Where a text without words can be cut all the same: before a space that no
 * token has behind the character that stands there. Files in SentencePiece's
 * manner make one word of a whole text, spaces and all; but all of their tokens
 * save a few have spaces at the beginning only. A place that no merge crosses
 * may be cut, and the parts be encoded apart (docs/TOKENIZER.md).
 */
#ifndef TB_SPACE_BORDER_H
#define TB_SPACE_BORDER_H

#include "span.h"

/* As what a space stands in the tokens of such files. */
#define TB_ESCAPED_SPACE TB_SPAN("\xE2\x96\x81")

/* Zero-initialised: no text may be cut. */
struct tb_space_borders {
    bool is_any;         /* may a text be cut at all? */
    bool is_joined[256]; /* by the last byte before a space: does a token have
                            the space behind it? */
};

/* The end of the part that begins at `from`, where a character begins: the next
 * border, or the end of the text. */
size_t tb_space_borders_next(const struct tb_space_borders *borders,
                             struct tb_span text, size_t from);

#endif
