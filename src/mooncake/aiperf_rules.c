/* What aiperf 0.13.0 does with a row of --custom-dataset-type mooncake_trace:
 * its schema, then what its prompts and its schedule need. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "row_check.h"

struct row {
    struct tb_row_figures figures;
    bool has_input, has_text, has_messages, has_payload, has_ids;
    bool is_input_positive;
};

/* ---- kinds of fields ---------------------------------------------------- */

static bool check_kind(struct tb_validator *validator, tb_mooncake_field field,
                       tb_mooncake_kind kind, const char *expected)
{
    if (!tb_row_has(validator, field) ||
        tb_row_field(validator, field)->kind == kind)
        return true;
    tb_row_report_type(validator, field, expected);
    return false;
}

static bool check_integer(struct tb_validator *validator,
                          tb_mooncake_field field,
                          struct tb_mooncake_integer *integer)
{
    *integer = (struct tb_mooncake_integer){0};
    if (!tb_row_has(validator, field))
        return true;
    if (tb_mooncake_value_integer(tb_row_field(validator, field), integer) ==
        TB_MOONCAKE_READ)
        return true;
    tb_row_report_type(validator, field, "a whole number below 2^64");
    return false;
}

static bool check_real(struct tb_validator *validator, tb_mooncake_field field,
                       struct tb_row_figures *figures, int time)
{
    figures->has_times[time] = tb_row_has(validator, field);
    if (!figures->has_times[time] ||
        tb_mooncake_value_real(tb_row_field(validator, field),
                               &figures->times_ms[time]) == TB_MOONCAKE_READ)
        return true;
    tb_row_report_type(validator, field, "a number of milliseconds");
    return false;
}

/* Objects of a list that is good JSON: how many, and the first item that is
 * none, or that has no "role". */
struct objects {
    size_t count, other_item, roleless_item;
};

static tb_status has_role(struct tb_json_reader *reader, struct tb_arena *arena,
                          bool *found)
{
    *found = false;
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        TB_TRY(tb_json_decode_key(reader, arena, &key));
        *found |= tb_span_equal(key, TB_SPAN("role"));
        TB_TRY(tb_json_skip(reader));
    }
}

static tb_status read_objects(struct tb_span list, struct tb_arena *arena,
                              struct objects *objects)
{
    struct tb_json_reader reader;
    *objects = (struct objects){0, TB_MOONCAKE_NO_ITEM, TB_MOONCAKE_NO_ITEM};
    tb_json_reader_init_span(&reader, list, 0, 1);
    TB_TRY(tb_json_enter_array(&reader));
    for (bool found;; objects->count++) {
        tb_json_type type;
        bool is_role;
        TB_TRY(tb_json_next_item(&reader, &found));
        if (!found)
            return TB_OK;
        TB_TRY(tb_json_peek(&reader, &type));
        if (type != TB_JSON_OBJECT) {
            if (objects->other_item == TB_MOONCAKE_NO_ITEM)
                objects->other_item = objects->count;
            TB_TRY(tb_json_skip(&reader));
            continue;
        }
        TB_TRY(has_role(&reader, arena, &is_role));
        if (!is_role && objects->roleless_item == TB_MOONCAKE_NO_ITEM)
            objects->roleless_item = objects->count;
    }
}

/* A list of objects, when it is there. */
static tb_status check_objects(struct tb_validator *validator,
                               tb_mooncake_field field, struct objects *objects,
                               bool *is_good)
{
    char path[64];
    if (!tb_row_has(validator, field))
        return TB_OK;
    if (!check_kind(validator, field, TB_MOONCAKE_LIST, "a list of objects")) {
        *is_good = false;
        return TB_OK;
    }
    TB_TRY(read_objects(tb_row_field(validator, field)->text, &validator->arena,
                        objects));
    if (objects->other_item == TB_MOONCAKE_NO_ITEM)
        return TB_OK;
    (void)snprintf(path, sizeof(path), "$.%s[%zu]",
                   tb_mooncake_field_key(field), objects->other_item);
    tb_row_report(validator, TB_RULE_FIELD_TYPE, path, "expected an object");
    *is_good = false;
    return TB_OK;
}

static bool check_ids_kind(struct tb_validator *validator)
{
    const struct tb_mooncake_record *record = &validator->record;
    char path[64];
    if (!check_kind(validator, TB_MOONCAKE_HASH_IDS, TB_MOONCAKE_LIST,
                    "a list of whole numbers"))
        return false;
    if (record->bad_item == TB_MOONCAKE_NO_ITEM)
        return true;
    (void)snprintf(path, sizeof(path), "$.hash_ids[%zu]", record->bad_item);
    tb_row_report(validator, TB_RULE_FIELD_TYPE, path, "%s",
                  record->bad_reading == TB_MOONCAKE_FRACTION
                      ? "expected a whole number, found a fraction"
                  : record->bad_reading == TB_MOONCAKE_OUT_OF_RANGE
                      ? "expected a number from -2^63 to 2^64 - 1"
                      : "expected a whole number");
    return false;
}

static bool check_type(struct tb_validator *validator)
{
    const struct tb_mooncake_value *type =
        tb_row_field(validator, TB_MOONCAKE_TYPE);
    if (type->kind == TB_MOONCAKE_ABSENT ||
        (type->kind == TB_MOONCAKE_TEXT &&
         tb_span_equal(type->text, TB_SPAN("mooncake_trace"))))
        return true;
    tb_row_report_type(validator, TB_MOONCAKE_TYPE,
                       "nothing, or \"mooncake_trace\"");
    return false;
}

static bool check_output(struct tb_validator *validator)
{
    struct tb_mooncake_integer output;
    if (!check_integer(validator, TB_MOONCAKE_OUTPUT_LENGTH, &output))
        return false;
    if (tb_row_has(validator, TB_MOONCAKE_OUTPUT_LENGTH) &&
        (output.is_negative || output.magnitude == 0))
        tb_row_report(validator, TB_RULE_OUTPUT_LENGTH, "$.output_length",
                      "no output token is asked for");
    return true;
}

static bool check_scalars(struct tb_validator *validator, struct row *row)
{
    struct tb_mooncake_integer input;
    bool is_good = check_integer(validator, TB_MOONCAKE_INPUT_LENGTH, &input);
    is_good &= check_output(validator);
    is_good &= check_type(validator);
    is_good &= check_kind(validator, TB_MOONCAKE_TEXT_INPUT, TB_MOONCAKE_TEXT,
                          "a text");
    is_good &= check_kind(validator, TB_MOONCAKE_SESSION_ID, TB_MOONCAKE_TEXT,
                          "a text");
    is_good &= check_kind(validator, TB_MOONCAKE_PAYLOAD, TB_MOONCAKE_OBJECT,
                          "an object");
    is_good &= check_kind(validator, TB_MOONCAKE_EXTRA, TB_MOONCAKE_OBJECT,
                          "an object");
    is_good &= check_real(validator, TB_MOONCAKE_TIMESTAMP, &row->figures,
                          TB_ROW_TIMESTAMP);
    is_good &=
        check_real(validator, TB_MOONCAKE_DELAY, &row->figures, TB_ROW_DELAY);
    row->is_input_positive = !input.is_negative && input.magnitude > 0;
    row->figures.input_length = row->is_input_positive ? input.magnitude : 0;
    return is_good & check_ids_kind(validator);
}

/* ---- fields together ---------------------------------------------------- */

static void read_modes(const struct tb_validator *validator, struct row *row)
{
    row->has_input = tb_row_has(validator, TB_MOONCAKE_INPUT_LENGTH);
    row->has_text = tb_row_has(validator, TB_MOONCAKE_TEXT_INPUT);
    row->has_messages = tb_row_has(validator, TB_MOONCAKE_MESSAGES);
    row->has_payload = tb_row_has(validator, TB_MOONCAKE_PAYLOAD);
    row->has_ids = tb_row_has(validator, TB_MOONCAKE_HASH_IDS);
}

static bool check_modes(struct tb_validator *validator, const struct row *row)
{
    int count =
        row->has_input + row->has_text + row->has_messages + row->has_payload;
    if (count != 1)
        tb_row_report(validator, TB_RULE_PROMPT, NULL,
                      count == 0 ? "the row has no input_length, text_input, "
                                   "messages or payload"
                                 : "the row has more than one of input_length, "
                                   "text_input, messages and payload");
    if (row->has_ids && !row->has_input)
        tb_row_report(validator, TB_RULE_IDS_ALONE, "$.hash_ids",
                      "ids without an input_length");
    return count == 1 && (!row->has_ids || row->has_input);
}

static bool check_chat(struct tb_validator *validator, const struct row *row,
                       const struct objects *messages,
                       const struct objects *tools)
{
    char path[64];
    bool has_tools = tb_row_has(validator, TB_MOONCAKE_TOOLS);
    bool is_good = true;
    if (has_tools && (!row->has_messages || tools->count == 0)) {
        tb_row_report(validator, TB_RULE_TOOLS, "$.tools",
                      row->has_messages ? "the list is empty"
                                        : "tools without messages");
        is_good = false;
    }
    if (!row->has_messages)
        return is_good;
    if (messages->count == 0) {
        tb_row_report(validator, TB_RULE_MESSAGES, "$.messages",
                      "the list is empty");
        return false;
    }
    if (messages->roleless_item == TB_MOONCAKE_NO_ITEM)
        return is_good;
    (void)snprintf(path, sizeof(path), "$.messages[%zu]",
                   messages->roleless_item);
    tb_row_report(validator, TB_RULE_MESSAGES, path, "the message has no role");
    return false;
}

static bool check_payload(struct tb_validator *validator, const struct row *row)
{
    struct tb_span text = tb_row_field(validator, TB_MOONCAKE_PAYLOAD)->text;
    bool is_empty = true;
    for (size_t i = 1; i + 1 < text.len; i++)
        is_empty &= text.ptr[i] <= ' ';
    if (!row->has_payload || !is_empty)
        return true;
    tb_row_report(validator, TB_RULE_MESSAGES, "$.payload",
                  "the object is empty");
    return false;
}

static tb_status check_prompt(struct tb_validator *validator,
                              const struct row *row,
                              struct tb_mooncake_session *session)
{
    bool is_text_empty =
        row->has_text &&
        tb_row_field(validator, TB_MOONCAKE_TEXT_INPUT)->text.len == 0;
    if (row->has_ids && validator->record.id_count > 0) {
        if (row->is_input_positive)
            return tb_row_check_ids(validator, session,
                                    row->figures.input_length);
        tb_row_report(validator, TB_RULE_INPUT_LENGTH, "$.input_length",
                      "not above 0, and there are ids");
    } else if ((row->has_input && !row->is_input_positive) || is_text_empty) {
        tb_row_report(validator, TB_RULE_EMPTY_PROMPT,
                      is_text_empty ? "$.text_input" : "$.input_length",
                      "the prompt has no tokens");
    }
    return TB_OK;
}

/* ---- sessions and times -------------------------------------------------- */

static void check_times(struct tb_validator *validator,
                        const struct tb_row_figures *figures,
                        const struct tb_mooncake_session *session)
{
    bool is_first = session->row_count == 0;
    bool has_time = figures->has_times[TB_ROW_TIMESTAMP];
    bool has_delay = figures->has_times[TB_ROW_DELAY];
    double time = figures->times_ms[TB_ROW_TIMESTAMP];
    double delay = figures->times_ms[TB_ROW_DELAY];
    if (has_time && !isfinite(time))
        tb_row_report(validator, TB_RULE_TIME_VALUE, "$.timestamp",
                      "not a finite number");
    if (has_delay && !is_first && (!isfinite(delay) || delay < 0))
        tb_row_report(validator, TB_RULE_TIME_VALUE, "$.delay",
                      isfinite(delay) ? "negative" : "not a finite number");
    if (has_delay && is_first && delay != 0)
        tb_row_report(validator, TB_RULE_FIRST_DELAY, "$.delay",
                      "a delay on a session's first row");
    if (!validator->is_timed) {
        if (has_time)
            tb_row_report(validator, TB_RULE_UNUSED_TIMES, "$.timestamp",
                          "a timestamp, and the file's first row has none");
        return;
    }
    if (is_first && !has_time)
        tb_row_report(validator, TB_RULE_FIRST_TIME, NULL,
                      "a session's first row without a timestamp");
    if (!is_first && has_time && has_delay)
        tb_row_report(validator, TB_RULE_DELAY_UNUSED, "$.delay",
                      "a delay beside a timestamp");
    if (!is_first && has_time && session->has_time && time < session->time_ms)
        tb_row_report(validator, TB_RULE_TIME_ORDER, "$.timestamp",
                      "earlier than the row before in its session");
}

static void check_kinds(struct tb_validator *validator,
                        const struct tb_mooncake_session *session,
                        unsigned kind)
{
    if (session->row_count > 0 && session->kinds != kind &&
        (session->kinds & kind) == 0)
        tb_row_report(validator, TB_RULE_SESSION_KINDS, NULL,
                      "another kind of prompt than the rows before in its "
                      "session");
}

static void check_session(struct tb_validator *validator, const struct row *row,
                          struct tb_mooncake_session *session)
{
    unsigned kind = row->has_messages  ? TB_SESSION_MESSAGES
                    : row->has_payload ? TB_SESSION_PAYLOAD
                                       : TB_SESSION_LENGTHS;
    uint64_t input_length = row->figures.input_length;
    check_kinds(validator, session, kind);
    check_times(validator, &row->figures, session);
    if (row->has_input) {
        tb_row_check_meaning(validator, session, input_length);
        tb_mooncake_session_keep(session, &validator->record, input_length,
                                 validator->options.block_size);
    }
    session->kinds |= kind;
    if (row->figures.has_times[TB_ROW_TIMESTAMP]) {
        session->has_time = true;
        session->time_ms = row->figures.times_ms[TB_ROW_TIMESTAMP];
    }
    session->row_count++;
}

static tb_status check_good_row(struct tb_validator *validator,
                                const struct row *row)
{
    struct tb_span name = tb_row_field(validator, TB_MOONCAKE_SESSION_ID)->text;
    struct tb_mooncake_session alone = {0}, *session = &alone;
    // An empty name is none: aiperf makes one up.
    if (tb_row_has(validator, TB_MOONCAKE_SESSION_ID) && name.len > 0)
        TB_TRY(tb_mooncake_sessions_find(&validator->sessions, name, &session));
    else
        validator->alone_count++;
    check_session(validator, row, session);
    return check_prompt(validator, row, session);
}

tb_status tb_aiperf_check(struct tb_validator *validator)
{
    struct row row = {0};
    struct objects messages = {0}, tools = {0};
    if (!validator->has_first) {
        validator->has_first = true;
        validator->is_timed = tb_row_has(validator, TB_MOONCAKE_TIMESTAMP);
    }
    bool is_good = check_scalars(validator, &row);
    TB_TRY(check_objects(validator, TB_MOONCAKE_MESSAGES, &messages, &is_good));
    TB_TRY(check_objects(validator, TB_MOONCAKE_TOOLS, &tools, &is_good));
    if (!is_good)
        return TB_OK;
    read_modes(validator, &row);
    is_good = check_modes(validator, &row);
    is_good &= check_payload(validator, &row);
    is_good &= check_chat(validator, &row, &messages, &tools);
    return is_good ? check_good_row(validator, &row) : TB_OK;
}
