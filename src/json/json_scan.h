/* Finding the end of a JSON value without parsing it: the two hot loops of
 * the reader. Private to this layer. */
#ifndef TB_JSON_SCAN_H
#define TB_JSON_SCAN_H

#include "span.h"

/* Where a scan stands between two pieces of input. */
struct tb_json_scan {
    uint64_t depth;  /* brackets that are open; 0: the value has ended */
    bool in_string;  /* the next byte stands inside a string */
    bool is_escaped; /* a backslash stood before the next byte */
};

/* Scans on through `bytes` until the bracket that takes `depth` to 0, or the
 * end. Returns how many bytes were consumed. Vector code is chosen at run
 * time; tb_json_scan_portable is its twin. */
size_t tb_json_scan_container(struct tb_json_scan *scan, struct tb_span bytes);
size_t tb_json_scan_portable(struct tb_json_scan *scan, struct tb_span bytes);

struct tb_json_string_scan {
    size_t len; /* bytes before the closing quote, or all of them */
    bool is_closed;
    bool has_escape;
    bool has_high;     /* a byte above 127 */
    bool ends_escaped; /* not closed, and a backslash was the last byte */
};

/* Scans the inside of a string, from behind its opening quote. */
struct tb_json_string_scan tb_json_scan_string(struct tb_span bytes);

#endif
