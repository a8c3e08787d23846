/* JSON text as Python's json.dumps writes it with its defaults: ", " and
 * ": " between, ASCII only, other characters as \uXXXX in lower-case hex,
 * code points above U+FFFF as a surrogate pair.
 *
 * The pieces are few, so there is no writer object: whoever writes a row
 * knows its keys. */
#ifndef TB_JSON_WRITER_H
#define TB_JSON_WRITER_H

#include "buffer.h"

/* Appends `text` (UTF-8) as a JSON string with its quotes. A byte that is not
 * valid UTF-8 becomes \ufffd. */
TB_NODISCARD tb_status tb_json_write_string(struct tb_buffer *buffer,
                                            struct tb_span text);

/* The same with ensure_ascii=False: only quotes, backslashes and control
 * characters are escaped. `text` must be valid UTF-8. */
TB_NODISCARD tb_status tb_json_write_utf8_string(struct tb_buffer *buffer,
                                                 struct tb_span text);

#endif
