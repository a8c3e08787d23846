/* Where a text without words can be cut all the same: before a space that no
 * piece of a SentencePiece model has behind the character that stands there.
 */
#ifndef TB_SPACE_BORDER_H
#define TB_SPACE_BORDER_H

#include "span.h"

/* As what a space stands in the tokens of such files. */
#define TB_ESCAPED_SPACE TB_SPAN("\xE2\x96\x81")

/* Zero-initialised: no text may be cut. */
struct tb_space_borders {
    bool is_any;         /* may a text be cut at all? */
    bool is_joined[256]; /* by the last byte before a space: does a piece have
                            the space behind it? */
};

#endif
