/* A value of a row as it is written, and what number it stands for.
 *
 * Consumers differ in what they take for a number: 4, 4.0, "4" and true are
 * one to aiperf (pydantic), 4 alone is one to Dynamo (serde). So a row keeps
 * what was written, and whoever knows the consumer asks.
 */
#ifndef TB_MOONCAKE_VALUE_H
#define TB_MOONCAKE_VALUE_H

#include "json_reader.h"

typedef enum tb_mooncake_kind {
    TB_MOONCAKE_ABSENT, /* no such key */
    TB_MOONCAKE_NULL,
    TB_MOONCAKE_FALSE,
    TB_MOONCAKE_TRUE,
    TB_MOONCAKE_NUMBER,
    TB_MOONCAKE_TEXT,
    TB_MOONCAKE_LIST,
    TB_MOONCAKE_OBJECT,
} tb_mooncake_kind;

struct tb_mooncake_value {
    tb_mooncake_kind kind;
    uint32_t key_count; /* how often the row has the key; the last one counts */
    bool is_repaired;   /* a text with half a surrogate pair in it */
    struct tb_span text; /* of a text its content, else as written */
};

/* "an object", "a text", ...; never NULL. */
const char *tb_mooncake_kind_text(tb_mooncake_kind kind);

/* Reads the next value. `text` borrows from what `reader` reads, or is in
 * `arena`. */
TB_NODISCARD tb_status tb_mooncake_value_read(struct tb_json_reader *reader,
                                              struct tb_arena *arena,
                                              struct tb_mooncake_value *value);

/* Is it there, and not null? */
bool tb_mooncake_value_is_set(const struct tb_mooncake_value *value);

struct tb_mooncake_integer {
    uint64_t magnitude;
    bool is_negative; /* and not zero */
    bool is_odd;      /* not written as plain digits: 4.0, "4", true, -4 */
    bool is_beyond;   /* a text of digits beyond 2^64 - 1; `magnitude` is then a
                         hash of them */
};

typedef enum tb_mooncake_reading {
    TB_MOONCAKE_READ,
    TB_MOONCAKE_FRACTION,     /* a number, but no whole one */
    TB_MOONCAKE_OUT_OF_RANGE, /* below -2^63 or above 2^64 - 1 */
    TB_MOONCAKE_NO_NUMBER,
} tb_mooncake_reading;

/* The whole number that pydantic 2 makes of `value` for an int: a number
 * without a fraction however written, a text of such digits, true and false. */
tb_mooncake_reading
tb_mooncake_value_integer(const struct tb_mooncake_value *value,
                          struct tb_mooncake_integer *integer);

/* The number that pydantic 2 makes of `value` for an int or float. May be
 * infinite or NaN: texts can say so. */
tb_mooncake_reading
tb_mooncake_value_real(const struct tb_mooncake_value *value, double *real);

#endif
