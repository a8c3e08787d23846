/* The plain way to make one text of a call's messages: their contents, one
 * below the other. It knows no roles and no tools; the Python converters do it
 * so, and so do we when no chat template applies.
 *
 * What counts as content differs between the two converters and between their
 * rules and ours:
 *
 *                        NAT                     telemetry
 *   string               skipped when empty      kept
 *   bare string          kept                    skipped (ours: kept)
 *   list                 Python's str() of it    its texts, empty ones skipped
 *                        (ours: as telemetry)
 *   number, object, ...  Python's str() of it    skipped
 *                        (ours: skipped)
 *   null, absent         skipped                 skipped
 *
 * The texts of a list are its strings and the `text` of its objects. Pure: any
 * thread.
 */
#ifndef TB_JOIN_H
#define TB_JOIN_H

#include "buffer.h"
#include "session.h"

typedef enum tb_join_rule {
    TB_JOIN_NAT,
    TB_JOIN_TELEMETRY,
} tb_join_rule;

/* Appends the contents of the call's messages to `text`, with a newline
 * between each two; `is_compat` takes the Python converters' rule. `error` may
 * be NULL. TB_ERR_TYPE where Python would stop (a part whose text is no
 * string), TB_ERR_SYNTAX, TB_ERR_CUT, TB_ERR_LIMIT or TB_ERR_MEMORY leave a
 * part of the text behind. */
TB_NODISCARD tb_status tb_join_messages(const struct tb_call *call,
                                        tb_join_rule rule, bool is_compat,
                                        struct tb_buffer *text,
                                        struct tb_error *error);

#endif
