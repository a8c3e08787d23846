/* What consumers of whole prompts need, which take numbers for numbers only:
 * Dynamo 1.4.0's replay, and the form that Mooncake published. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "row_check.h"

struct row {
    struct tb_row_figures figures;
    bool has_input, has_ids;
};

static bool is_for_dynamo(const struct tb_validator *validator)
{
    return validator->options.consumer == TB_MOONCAKE_FOR_DYNAMO;
}

/* Dynamo has a second name for some fields; the one that is there. */
static tb_mooncake_field named(const struct tb_validator *validator,
                               tb_mooncake_field field, tb_mooncake_field other)
{
    bool is_other =
        is_for_dynamo(validator) &&
        tb_row_field(validator, field)->kind == TB_MOONCAKE_ABSENT &&
        tb_row_field(validator, other)->kind != TB_MOONCAKE_ABSENT;
    return is_other ? other : field;
}

static bool check_keys(struct tb_validator *validator)
{
    static const tb_mooncake_field pairs[][2] = {
        {TB_MOONCAKE_INPUT_LENGTH, TB_MOONCAKE_INPUT_TOKENS},
        {TB_MOONCAKE_OUTPUT_LENGTH, TB_MOONCAKE_OUTPUT_TOKENS},
        {TB_MOONCAKE_TIMESTAMP, TB_MOONCAKE_CREATED_TIME},
        {TB_MOONCAKE_DELAY, TB_MOONCAKE_DELAY_MS},
        {TB_MOONCAKE_HASH_IDS, TB_MOONCAKE_HASH_IDS},
        {TB_MOONCAKE_SESSION_ID, TB_MOONCAKE_SESSION_ID},
        {TB_MOONCAKE_PRIORITY, TB_MOONCAKE_PRIORITY},
    };
    bool is_good = true;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        uint32_t count = tb_row_field(validator, pairs[i][0])->key_count;
        char path[64];
        if (pairs[i][0] != pairs[i][1])
            count += tb_row_field(validator, pairs[i][1])->key_count;
        if (count < 2)
            continue;
        (void)snprintf(path, sizeof(path), "$.%s",
                       tb_mooncake_field_key(pairs[i][0]));
        tb_row_report(validator, TB_RULE_KEY_TWICE, path,
                      "the field is there twice");
        is_good = false;
    }
    return is_good || !is_for_dynamo(validator);
}

/* A whole number from `min` to `max` of plain digits. */
static bool check_integer(struct tb_validator *validator,
                          tb_mooncake_field field, int64_t min, uint64_t max,
                          uint64_t *number)
{
    const struct tb_mooncake_value *value = tb_row_field(validator, field);
    struct tb_mooncake_integer integer = {0};
    *number = 0;
    if (!tb_mooncake_value_is_set(value))
        return true;
    bool is_digits =
        value->kind == TB_MOONCAKE_NUMBER &&
        tb_mooncake_value_integer(value, &integer) == TB_MOONCAKE_READ &&
        (!integer.is_odd || integer.is_negative);
    uint64_t most = integer.is_negative ? (uint64_t)-min : max;
    for (size_t i = 0; i < value->text.len && is_digits; i++)
        is_digits = value->text.ptr[i] != '.' && value->text.ptr[i] != 'e' &&
                    value->text.ptr[i] != 'E';
    *number = integer.magnitude;
    if (is_digits && integer.magnitude <= most)
        return true;
    tb_row_report_type(validator, field,
                       min < 0 ? "a whole number" : "a whole number from 0 on");
    return false;
}

static bool check_real(struct tb_validator *validator, tb_mooncake_field field,
                       struct tb_row_figures *figures, int time)
{
    const struct tb_mooncake_value *value = tb_row_field(validator, field);
    figures->has_times[time] = tb_mooncake_value_is_set(value);
    if (!figures->has_times[time])
        return true;
    if (value->kind == TB_MOONCAKE_NUMBER &&
        tb_mooncake_value_real(value, &figures->times_ms[time]) ==
            TB_MOONCAKE_READ &&
        isfinite(figures->times_ms[time]))
        return true;
    tb_row_report_type(validator, field, "a number of milliseconds");
    return false;
}

static bool check_text(struct tb_validator *validator, tb_mooncake_field field)
{
    if (!tb_row_has(validator, field) ||
        (tb_row_field(validator, field)->kind == TB_MOONCAKE_TEXT &&
         !tb_row_field(validator, field)->is_repaired))
        return true;
    tb_row_report_type(validator, field, "a text");
    return false;
}

static bool check_ids_kind(struct tb_validator *validator)
{
    const struct tb_mooncake_record *record = &validator->record;
    char path[64];
    if (!tb_row_has(validator, TB_MOONCAKE_HASH_IDS))
        return true;
    if (tb_row_field(validator, TB_MOONCAKE_HASH_IDS)->kind !=
        TB_MOONCAKE_LIST) {
        tb_row_report_type(validator, TB_MOONCAKE_HASH_IDS,
                           "a list of whole numbers from 0 on");
        return false;
    }
    size_t item = record->bad_item < record->odd_item ? record->bad_item
                                                      : record->odd_item;
    if (item == TB_MOONCAKE_NO_ITEM)
        return true;
    (void)snprintf(path, sizeof(path), "$.hash_ids[%zu]", item);
    tb_row_report(validator, TB_RULE_FIELD_TYPE, path,
                  "expected a whole number from 0 to 2^64 - 1");
    return false;
}

static bool check_dynamo_fields(struct tb_validator *validator)
{
    uint64_t unused;
    bool is_good = check_integer(validator, TB_MOONCAKE_PRIORITY, INT32_MIN,
                                 INT32_MAX, &unused);
    is_good &= check_integer(validator, TB_MOONCAKE_STRICT_PRIORITY, 0,
                             UINT32_MAX, &unused);
    is_good &= check_text(validator, TB_MOONCAKE_POLICY_CLASS);
    return is_good & check_text(validator, TB_MOONCAKE_REQUEST_ID);
}

static bool check_fields(struct tb_validator *validator, struct row *row)
{
    uint64_t output;
    tb_mooncake_field input_field =
        named(validator, TB_MOONCAKE_INPUT_LENGTH, TB_MOONCAKE_INPUT_TOKENS);
    tb_mooncake_field output_field =
        named(validator, TB_MOONCAKE_OUTPUT_LENGTH, TB_MOONCAKE_OUTPUT_TOKENS);
    bool is_good = check_integer(validator, input_field, 0, UINT64_MAX,
                                 &row->figures.input_length);
    is_good &= check_integer(validator, output_field, 0, UINT64_MAX, &output);
    is_good &= check_text(validator, TB_MOONCAKE_SESSION_ID);
    is_good &= check_real(
        validator,
        named(validator, TB_MOONCAKE_TIMESTAMP, TB_MOONCAKE_CREATED_TIME),
        &row->figures, TB_ROW_TIMESTAMP);
    is_good &= check_real(
        validator, named(validator, TB_MOONCAKE_DELAY, TB_MOONCAKE_DELAY_MS),
        &row->figures, TB_ROW_DELAY);
    is_good &= check_ids_kind(validator);
    if (is_for_dynamo(validator))
        is_good &= check_dynamo_fields(validator);
    row->has_input = tb_row_has(validator, input_field);
    row->has_ids = tb_row_has(validator, TB_MOONCAKE_HASH_IDS);
    if (is_good && !tb_row_has(validator, output_field)) {
        tb_row_report(validator, TB_RULE_MISSING, "$.output_length",
                      "no output_length");
        is_good = false;
    }
    return is_good;
}

/* Dynamo takes what the ids cover for a length that is missing. */
static bool check_prompt(struct tb_validator *validator, struct row *row)
{
    const struct tb_mooncake_record *record = &validator->record;
    if (!row->has_ids || (!row->has_input && !is_for_dynamo(validator))) {
        tb_row_report(validator, TB_RULE_MISSING,
                      row->has_ids ? "$.input_length" : "$.hash_ids",
                      row->has_ids ? "no input_length" : "no hash_ids");
        return false;
    }
    if (!row->has_input)
        row->figures.input_length =
            record->id_count * (uint64_t)validator->options.block_size;
    if (row->figures.input_length > 0 && record->id_count > 0)
        return true;
    tb_row_report(validator, TB_RULE_INPUT_LENGTH,
                  row->figures.input_length ? "$.hash_ids" : "$.input_length",
                  row->figures.input_length ? "no ids" : "no tokens");
    return false;
}

/* ---- times --------------------------------------------------------------- */

static void check_dynamo_times(struct tb_validator *validator,
                               const struct tb_row_figures *figures,
                               const struct tb_mooncake_session *session)
{
    bool is_first = session->row_count == 0;
    bool has_time = figures->has_times[TB_ROW_TIMESTAMP];
    bool has_delay = figures->has_times[TB_ROW_DELAY];
    double time = figures->times_ms[TB_ROW_TIMESTAMP];
    double delay = figures->times_ms[TB_ROW_DELAY];
    if (is_first && has_delay && delay != 0)
        tb_row_report(validator, TB_RULE_FIRST_DELAY, "$.delay",
                      "a delay on a session's first row");
    if (is_first && !has_time)
        tb_row_report(validator, TB_RULE_FIRST_TIME, NULL,
                      "a session's first row without a timestamp");
    if (!is_first && has_delay && delay < 0)
        tb_row_report(validator, TB_RULE_TIME_VALUE, "$.delay", "negative");
    if (is_first || has_delay || !has_time)
        return;
    if (!session->has_time || time < session->time_ms)
        tb_row_report(validator, TB_RULE_TIME_ORDER, "$.timestamp",
                      session->has_time
                          ? "earlier than the row before in its session"
                          : "no row before in its session has a timestamp, so "
                            "that there is no gap between them");
}

static void check_file_times(struct tb_validator *validator,
                             const struct tb_row_figures *figures)
{
    bool has_time = figures->has_times[TB_ROW_TIMESTAMP];
    double time = figures->times_ms[TB_ROW_TIMESTAMP];
    if (!validator->has_first)
        validator->is_timed = has_time;
    validator->has_first = true;
    if (validator->is_timed && !has_time)
        tb_row_report(validator, TB_RULE_FIRST_TIME, NULL,
                      "a row without a timestamp");
    if (has_time && time < 0)
        tb_row_report(validator, TB_RULE_TIME_VALUE, "$.timestamp", "negative");
    if (has_time && validator->has_time && time < validator->time_ms)
        tb_row_report(validator, TB_RULE_TIME_ORDER, "$.timestamp",
                      "earlier than the row before");
    if (has_time) {
        validator->has_time = true;
        validator->time_ms = time;
    }
}

static void check_times(struct tb_validator *validator,
                        const struct tb_row_figures *figures,
                        struct tb_mooncake_session *session)
{
    if (is_for_dynamo(validator))
        check_dynamo_times(validator, figures, session);
    else
        check_file_times(validator, figures);
    if (figures->has_times[TB_ROW_TIMESTAMP]) {
        session->has_time = true;
        session->time_ms = figures->times_ms[TB_ROW_TIMESTAMP];
    }
}

tb_status tb_plain_check(struct tb_validator *validator)
{
    struct row row = {0};
    if (!check_keys(validator) || !check_fields(validator, &row) ||
        !check_prompt(validator, &row))
        return TB_OK;
    struct tb_mooncake_session alone = {0}, *session = &alone;
    if (tb_row_has(validator, TB_MOONCAKE_SESSION_ID))
        TB_TRY(tb_mooncake_sessions_find(
            &validator->sessions,
            tb_row_field(validator, TB_MOONCAKE_SESSION_ID)->text, &session));
    else
        validator->alone_count++;
    check_times(validator, &row.figures, session);
    tb_row_check_meaning(validator, session, row.figures.input_length);
    session->row_count++;
    return tb_row_check_ids(validator, session, row.figures.input_length);
}
