/* One row of mooncake JSONL as it is read: anybody's, ours or not.
 *
 * Nothing is refused that JSON allows: a row keeps which fields it has and how
 * they are written. What a consumer makes of it is told by validator.h; the
 * figures take the numbers from tb_mooncake_value_integer.
 */
#ifndef TB_MOONCAKE_RECORD_H
#define TB_MOONCAKE_RECORD_H

#include "mooncake_value.h"

typedef enum tb_mooncake_field {
    TB_MOONCAKE_SESSION_ID,
    TB_MOONCAKE_INPUT_LENGTH,
    TB_MOONCAKE_OUTPUT_LENGTH,
    TB_MOONCAKE_HASH_IDS,
    TB_MOONCAKE_TIMESTAMP,
    TB_MOONCAKE_DELAY,
    TB_MOONCAKE_AGENT_TYPE,
    TB_MOONCAKE_PRIORITY,
    TB_MOONCAKE_TYPE,
    TB_MOONCAKE_EXTRA,
    TB_MOONCAKE_TEXT_INPUT,
    TB_MOONCAKE_MESSAGES,
    TB_MOONCAKE_TOOLS,
    TB_MOONCAKE_PAYLOAD,
    TB_MOONCAKE_PARENT_SESSION_ID,
    /* Dynamo's own, and its other names for those above */
    TB_MOONCAKE_REQUEST_ID,
    TB_MOONCAKE_STRICT_PRIORITY,
    TB_MOONCAKE_POLICY_CLASS,
    TB_MOONCAKE_INPUT_TOKENS,
    TB_MOONCAKE_OUTPUT_TOKENS,
    TB_MOONCAKE_CREATED_TIME,
    TB_MOONCAKE_DELAY_MS,
    TB_MOONCAKE_FIELD_COUNT,
} tb_mooncake_field;

/* The key, such as "session_id". */
const char *tb_mooncake_field_key(tb_mooncake_field field);

/* The field of a key, TB_MOONCAKE_FIELD_COUNT for any other. */
size_t tb_mooncake_field_of(struct tb_span key);

#define TB_MOONCAKE_NO_ITEM SIZE_MAX

/* Zero-initialised is empty and ready to be read into; used again for the next
 * row, with its memory. */
struct tb_mooncake_record {
    struct tb_mooncake_value fields[TB_MOONCAKE_FIELD_COUNT];
    /* hash_ids, when it is a list. An id that is no number of 64 bits has
     * something in its place that equals it alone, as far as 64 bits go. */
    uint64_t *ids;
    size_t id_count, id_capacity;
    size_t
        odd_item; /* first that is not plain digits, or TB_MOONCAKE_NO_ITEM */
    size_t bad_item; /* first that is no whole number, or out of range */
    tb_mooncake_reading bad_reading; /* why */
};

/* Makes room for `count` ids. TB_ERR_MEMORY. */
TB_NODISCARD tb_status
tb_mooncake_record_reserve(struct tb_mooncake_record *record, size_t count);

/* Reads the object in `line`. Texts and raw values borrow from `line` or from
 * `arena`, which is not reset. On failure (TB_ERR_SYNTAX, TB_ERR_CUT,
 * TB_ERR_TYPE when it is no object, TB_ERR_MEMORY) the record holds nothing
 * of use; place and path are in `error`. */
TB_NODISCARD tb_status tb_mooncake_record_read(
    struct tb_mooncake_record *record, struct tb_span line, uint64_t offset,
    uint64_t line_number, struct tb_arena *arena, struct tb_error *error);

/* What a figure takes a field for, or `other`, its second name, where it is not
 * set (the same twice where it has none).
 *
 * A length is a whole number from 0 on, UINT64_MAX for those beyond; what else
 * may be there is none, and 0. A time may be infinite or NaN. A name is a text
 * as it is or a number as it is written, else empty; it borrows. */
bool tb_mooncake_record_length(const struct tb_mooncake_record *record,
                               tb_mooncake_field field, tb_mooncake_field other,
                               uint64_t *length);
bool tb_mooncake_record_time(const struct tb_mooncake_record *record,
                             tb_mooncake_field field, tb_mooncake_field other,
                             double *ms);
struct tb_span tb_mooncake_record_name(const struct tb_mooncake_record *record,
                                       tb_mooncake_field field);

void tb_mooncake_record_release(struct tb_mooncake_record *record);

#endif
