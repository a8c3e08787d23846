/* The inside of a JSON string to text. Private to this layer. */
#ifndef TB_JSON_STRING_H
#define TB_JSON_STRING_H

#include "span.h"

struct tb_json_decoded {
    size_t used;    /* bytes of the input, up to the closing quote or the end */
    size_t len;     /* bytes written */
    bool is_closed; /* stopped at a quote */
    bool is_bad;    /* stopped at an escape that is none, or is cut off */
    bool has_high;  /* a byte above 127 was copied */
    uint64_t lone_surrogate_count;
};

/* Bytes behind the room for the text that may be written over. */
enum { TB_JSON_DECODE_SLACK = 16 };

/* Resolves the escapes of `raw`, the inside of a string, up to a quote or the
 * end, into `out`, which has room for raw.len + TB_JSON_DECODE_SLACK bytes:
 * the text never grows. A surrogate without its other half becomes U+FFFD. */
struct tb_json_decoded tb_json_decode(struct tb_span raw, uint8_t *out);

#endif
