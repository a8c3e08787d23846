/* Every text that stands in JSON documents, once: for a person to look at
 * before a file is given away. Knows nothing of who wrote them.
 *
 * Memory is that of the distinct texts; zero-initialised is empty and ready. */
#ifndef TB_TEXT_CENSUS_H
#define TB_TEXT_CENSUS_H

#include "json_reader.h"
#include "name_table.h"

struct tb_text_census {
    struct tb_name_table keys, texts;
    struct tb_arena arena; /* of a document */
};

/* Takes a document's keys and texts, at any depth, as they read once their
 * escapes are resolved. Statuses of json_reader.h. */
TB_NODISCARD tb_status tb_text_census_add(struct tb_text_census *census,
                                          struct tb_span json,
                                          struct tb_error *error);

void tb_text_census_release(struct tb_text_census *census);

#endif
