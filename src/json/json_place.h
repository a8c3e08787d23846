/* Where a byte of a document stands, as a path. For errors of parts that were
 * read alone and know their offset only. */
#ifndef TB_JSON_PLACE_H
#define TB_JSON_PLACE_H

#include "json_reader.h"

/* Gives `error`, whose offset is one in `json`, the path of the innermost
 * value that the byte there is part of or ends. As far as that can be read:
 * where the document is broken, it is the path of what is. Reads everything
 * before that byte again, once for each level. */
void tb_json_name_place(struct tb_span json, struct tb_error *error);

#endif
