/* What the checks of a row share. Private to this layer. */
#ifndef TB_ROW_CHECK_H
#define TB_ROW_CHECK_H

#include "block_size_range.h"
#include "id_sizes.h"
#include "mooncake_session.h"
#include "validator.h"

enum { TB_RECENT_ROWS = 64 };

/* Ids that were checked with a row of a session not long ago. */
struct tb_recent_row {
    uint32_t session; /* its number */
    uint64_t *ids;
    size_t count, capacity;
};

struct tb_validator {
    struct tb_validator_options options;
    struct tb_validation_counts counts;
    struct tb_mooncake_record record;
    struct tb_arena arena; /* of a line */
    uint64_t line, offset;
    struct tb_mooncake_sessions sessions;
    uint64_t alone_count; /* rows without a session */
    struct tb_id_sizes sizes;
    struct tb_block_size_range block_sizes; /* that fit all rows */
    struct tb_recent_row recent[TB_RECENT_ROWS];
    uint32_t next_recent; /* to be given to another session */
    bool has_first;       /* a row was there ... */
    bool is_timed;        /* ... and the first had a timestamp */
    bool has_time; /* of the row before: mooncake's order is the file's */
    double time_ms;
};

/* A field of the current row, and whether it is there and not null. */
const struct tb_mooncake_value *
tb_row_field(const struct tb_validator *validator, tb_mooncake_field field);
bool tb_row_has(const struct tb_validator *validator, tb_mooncake_field field);

/* A rule that the current row breaks. `path` is where in the row, such as
 * "$.hash_ids[3]", or NULL. */
void tb_row_report(struct tb_validator *validator, tb_mooncake_rule rule,
                   const char *path, const char *format, ...) TB_PRINTF(4, 5);

/* TB_RULE_FIELD_TYPE at `field`. */
void tb_row_report_type(struct tb_validator *validator, tb_mooncake_field field,
                        const char *expected);

/* What the row's numbers are, once its fields are of the right kinds. */
struct tb_row_figures {
    uint64_t input_length; /* 0 when it is not above 0 */
    bool has_times[2];     /* timestamp, delay */
    double times_ms[2];
};
enum { TB_ROW_TIMESTAMP, TB_ROW_DELAY };

/* Number, size and order of ids; `input_length` is above 0. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_row_check_ids(struct tb_validator *validator,
                                        struct tb_mooncake_session *session,
                                        uint64_t input_length);

/* TB_RULE_WHOLE_ROWS and TB_RULE_DELTA_ROWS, for a later row of `session`. */
void tb_row_check_meaning(struct tb_validator *validator,
                          const struct tb_mooncake_session *session,
                          uint64_t input_length);

/* All rules of a row that is JSON. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_aiperf_check(struct tb_validator *validator);
TB_NODISCARD tb_status tb_plain_check(struct tb_validator *validator);

#endif
