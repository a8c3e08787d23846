/* UTF-8: one code point out of bytes, or into them; which bytes are UTF-8 at
 * all; and replacing those that are not.
 *
 * Well-formed is what the Unicode standard says in table 3-7: no overlong
 * forms, no surrogates, nothing above U+10FFFF. Leaves out what code points
 * mean (unicode.h). All functions are pure.
 *
 *     for (size_t at = 0; at < text.len;) {
 *         uint32_t cp;
 *         at += tb_utf8_decode(text, at, &cp);
 *         ...
 *     }
 */
#ifndef TB_UTF8_H
#define TB_UTF8_H

#include <assert.h>

#include "buffer.h"
#include "span.h"
#include "status.h"

#define TB_UTF8_MAX_LEN 4                    /* bytes of one code point */
#define TB_UTF8_REPLACEMENT UINT32_C(0xFFFD) /* stands for what is broken */

/* The part of tb_utf8_decode for what is not ASCII. */
size_t tb_utf8_decode_long(struct tb_span text, size_t at,
                           uint32_t *code_point);

/* Reads the code point that begins at byte `at` < `text.len`. Returns how many
 * bytes it takes, 1 to 4; for a byte that begins no well-formed sequence
 * within `text` gives U+FFFD and returns 1. */
static inline size_t tb_utf8_decode(struct tb_span text, size_t at,
                                    uint32_t *code_point)
{
    assert(at < text.len);
    if (text.ptr[at] < 0x80) {
        *code_point = text.ptr[at];
        return 1;
    }
    return tb_utf8_decode_long(text, at, code_point);
}

/* Writes `code_point` and returns how many bytes it took, 1 to 4; a surrogate
 * or a value above U+10FFFF becomes U+FFFD. */
size_t tb_utf8_encode(uint32_t code_point, uint8_t out[TB_UTF8_MAX_LEN]);

/* Returns the length in bytes of the longest prefix that is ASCII. */
size_t tb_utf8_ascii_len(struct tb_span text);

/* Returns the length in bytes of the longest prefix that is well-formed; all
 * of `text` is when this is `text.len`. */
size_t tb_utf8_valid_len(struct tb_span text);

/* Appends `text` with U+FFFD for each maximal ill-formed subpart, exactly as
 * Python's bytes.decode("utf-8", "replace"), and adds the number of these to
 * `*replaced_count`. `text` must not lie in `out`. TB_ERR_LIMIT or
 * TB_ERR_MEMORY leave the content of `out` and the count as they were. */
TB_NODISCARD tb_status tb_utf8_repair(struct tb_span text,
                                      struct tb_buffer *out,
                                      uint64_t *replaced_count);

#endif
