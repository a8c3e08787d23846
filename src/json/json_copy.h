/* A JSON value again, as Python's json.dumps writes it: strict JSON, whatever
 * the reader accepted beyond the standard. NaN and the infinities, which JSON
 * has not, become null; half a surrogate pair and broken UTF-8 become U+FFFD.
 */
#ifndef TB_JSON_COPY_H
#define TB_JSON_COPY_H

#include "json_reader.h"

/* Appends the next value of `reader`, which is consumed, with what is not ASCII
 * escaped when `is_ascii`. `arena` holds strings meanwhile. Statuses and places
 * are the reader's; after a failure `out` may hold a part. */
TB_NODISCARD tb_status tb_json_copy(struct tb_json_reader *reader,
                                    struct tb_arena *arena, bool is_ascii,
                                    struct tb_buffer *out);

#endif
