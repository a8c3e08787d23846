/* What the name of an input says: what its output and its sessions are called.
 */
#ifndef TB_INPUT_NAME_H
#define TB_INPUT_NAME_H

#include "span.h"

/* Bytes of `path` without .gz or .zst and without its last extension. */
size_t tb_input_name_stem_len(const char *path);

/* That part of the file's name alone, without folders; "stdin" for "-". A part
 * of `path`. */
struct tb_span tb_input_name_stem(const char *path);

#endif
