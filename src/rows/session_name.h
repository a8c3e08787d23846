/* The order of sessions by their names, and which recorded session a row is of.
 */
#ifndef TB_SESSION_NAME_H
#define TB_SESSION_NAME_H

#include "mooncake_record.h"

typedef enum tb_session_order {
    TB_SESSIONS_BY_NUMBER, /* conv_9 before conv_10, as requests are recorded */
    TB_SESSIONS_BY_BYTES,  /* as telemetry is sorted */
} tb_session_order;

/* Negative, 0 (only for equal names) or positive. */
int tb_session_name_compare(struct tb_span a, struct tb_span b,
                            tb_session_order order);

/* The recorded session of a row: what it branched off, else its session.
 * Empty: it has none. Borrows from the record. */
struct tb_span tb_session_name_of(const struct tb_mooncake_record *record);

#endif
