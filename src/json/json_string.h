/* The inside of a JSON string to text. Private to this layer. */
#ifndef TB_JSON_STRING_H
#define TB_JSON_STRING_H

#include "span.h"

struct tb_json_decoded {
    size_t len;    /* bytes written */
    size_t bad_at; /* offset of an escape that is none; raw.len: all good */
    uint64_t lone_surrogate_count;
};

/* Resolves the escapes of `raw` (between the quotes, all escapes whole) into
 * `out`, which has room for raw.len bytes; the text never grows. A surrogate
 * without its other half becomes U+FFFD. */
struct tb_json_decoded tb_json_decode(struct tb_span raw, uint8_t *out);

#endif
