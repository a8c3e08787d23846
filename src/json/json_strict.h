/* Is a text JSON, and nothing but JSON? What RFC 8259 says, in valid UTF-8:
 * json_reader.h accepts more, since toolkits write it; this tells what a
 * strict reader (orjson, serde) refuses.
 *
 * Beyond the grammar: half a surrogate pair is refused, and a number that no
 * double holds; a key may come twice.
 */
#ifndef TB_JSON_STRICT_H
#define TB_JSON_STRICT_H

#include "status.h"

enum { TB_JSON_STRICT_DEPTH = 1024 }; /* levels that orjson accepts */

struct tb_json_fault {
    size_t at;        /* byte where it is */
    const char *text; /* constant: "a control character in a string" */
    bool is_value;    /* by the grammar it is JSON, but what it stands for does
                         not exist: a reader that skips it need not see that */
};

/* TB_OK when `json` is one value with white space around it at most;
 * TB_ERR_CUT when it ends in the middle of one, TB_ERR_SYNTAX when it is none,
 * both with `fault` filled. Allocates nothing. */
TB_NODISCARD tb_status tb_json_check(struct tb_span json,
                                     struct tb_json_fault *fault);

#endif
