/* tiktoken's rank files: lines of a token in base64, a space and its rank,
 * which is its id. What the text is cut by and which tokens are special they
 * do not say (encoding.h). Private to this layer.
 *
 * Empty lines are skipped, ranks may have gaps and come in any order. Every
 * single byte must be a token, since else there are texts without ids.
 */
#ifndef TB_RANK_FILE_H
#define TB_RANK_FILE_H

#include "vocab.h"

/* Does `content` begin as a rank file does? */
bool tb_rank_file_is(struct tb_span content);

/* Reads `content` into `vocab` (empty), which is indexed then. Failures name
 * line and offset. */
TB_NODISCARD tb_status tb_rank_file_read(struct tb_span content,
                                         struct tb_vocab *vocab,
                                         struct tb_error *error);

#endif
