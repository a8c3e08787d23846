/* Times as traces write them, to nanoseconds since 1970 UTC.
 *
 * Text is ISO 8601 as loggers use it: "2026-01-01T09:00:00.010+09:00", with a
 * space for the T, no zone for UTC, "Z", "UTC", offsets with or without a
 * colon or minutes, seconds and fraction optional, a date alone; or a number
 * in decimal. A number is taken by its size for seconds, milliseconds,
 * microseconds or nanoseconds: below 1e11 it is seconds (until the year 5138),
 * below 1e14 milliseconds (from 1973), below 1e17 microseconds, else
 * nanoseconds.
 *
 * All functions are pure. What cannot be read, or is not within the years 1678
 * to 2262, is not known: false.
 */
#ifndef TB_TIMESTAMP_H
#define TB_TIMESTAMP_H

#include "json_reader.h"

/* Fraction digits beyond nanoseconds are dropped. */
bool tb_timestamp_of_text(struct tb_span text, int64_t *ns);

/* Integers are taken exactly; NaN and the infinities are not known. */
bool tb_timestamp_of_number(const struct tb_json_number *number, int64_t *ns);

/* Reads the next value whatever it is: a string, a number, or anything else,
 * which is not known (`*is_known` false). `arena` is for strings. */
TB_NODISCARD tb_status tb_timestamp_read(struct tb_json_reader *reader,
                                         struct tb_arena *arena, int64_t *ns,
                                         bool *is_known);

/* The same instant in seconds, as near as a double comes. */
double tb_timestamp_seconds(int64_t ns);

#endif
