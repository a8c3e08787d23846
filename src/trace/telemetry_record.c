#include "telemetry_record.h"

#include <assert.h>
#include <math.h>

#include "agent_type.h"
#include "answer.h"
#include "call_tools.h"
#include "message_list.h"
#include "record_fields.h"
#include "timestamp.h"
#include "usage_record.h"

struct record {
    struct tb_json_reader reader;
    struct tb_arena *arena;
    bool is_compat;
    struct tb_memo *memo;
    struct tb_part *part;
    struct tb_span event_type;
    struct tb_span tools; /* raw */
    int64_t start_ns; /* if call->start_s is known */
    double latency_ms;
};

static tb_status read_messages(struct tb_json_reader *reader, void *context)
{
    struct record *record = context;
    struct tb_message_list list = {.arena = record->arena,
                                   .memo = record->memo,
                                   .is_compat = record->is_compat};
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    bool is_iterable = type == TB_JSON_ARRAY || type == TB_JSON_OBJECT ||
                       type == TB_JSON_STRING;
    if (record->is_compat && !is_iterable) // Python stops here
        return tb_json_fail(reader, TB_ERR_TYPE, "'messages' is no list");
    TB_TRY(tb_message_list_read(&list, reader));
    tb_message_list_give(&list, &record->part->call);
    return TB_OK;
}

static tb_status read_answer(struct tb_json_reader *reader, void *context)
{
    struct record *record = context;
    return tb_answer_read(reader, record->arena, &record->part->call.answer);
}

// The first choice; the others are skipped.
static tb_status read_choices(struct tb_json_reader *reader, void *context)
{
    struct record *record = context;
    struct tb_call *call = &record->part->call;
    struct tb_span text = {0};
    const struct tb_field choice[] = {
        TB_FIELD_READ("message", read_answer, record),
        TB_FIELD_TEXT("text", &text),
    };
    uint32_t depth = tb_json_depth(reader);
    bool entered, found;
    // Python never looks at the answer: nothing in it may stop us either.
    if (record->is_compat)
        return tb_json_skip(reader);
    TB_TRY(tb_field_enter_array(reader, &entered));
    if (!entered)
        return TB_OK;
    TB_TRY(tb_json_next_item(reader, &found));
    if (found)
        TB_TRY(TB_FIELDS_READ(reader, record->arena, choice));
    if (call->answer.len == 0)
        call->answer = text;
    return tb_json_depth(reader) > depth ? tb_json_leave_to(reader, depth)
                                         : TB_OK;
}

static tb_status read_priority(struct tb_json_reader *reader, void *context)
{
    struct record *record = context;
    struct tb_call *call = &record->part->call;
    tb_json_type type;
    call->has_priority = true;
    call->priority = (struct tb_span){0};
    TB_TRY(tb_json_peek(reader, &type));
    call->is_priority_null = type == TB_JSON_NULL;
    if (type == TB_JSON_STRING)
        return tb_json_read_string(reader, record->arena, &call->priority);
    return tb_field_raw(reader, &call->priority);
}

static tb_status read_timestamp(struct tb_json_reader *reader, void *context)
{
    struct record *record = context;
    bool is_known;
    TB_TRY(tb_timestamp_read(reader, record->arena, &record->start_ns,
                             &is_known));
    record->part->call.start_s =
        is_known ? tb_timestamp_seconds(record->start_ns) : NAN;
    return TB_OK;
}

static tb_status read_usage(struct tb_json_reader *reader, void *context)
{
    struct record *record = context;
    return tb_usage_record_read(reader, record->arena, record->is_compat,
                                &record->part->call.usage);
}

// The record's shape.
static tb_status read_fields(struct record *record)
{
    struct tb_call *call = &record->part->call;
    const struct tb_field request[] = {
        TB_FIELD_READ("messages", read_messages, record),
        TB_FIELD_TEXT("model", &call->model),
        TB_FIELD_RAW("tools", &record->tools),
    };
    const struct tb_field response[] = {
        TB_FIELD_READ("usage", read_usage, record),
        TB_FIELD_READ("choices", read_choices, record),
    };
    const struct tb_field fields[] = {
        TB_FIELD_TEXT("event_type", &record->event_type),
        TB_FIELD_READ("timestamp", read_timestamp, record),
        TB_FIELD_READ("latency_priority", read_priority, record),
        TB_FIELD_NUMBER("latency_ms", &record->latency_ms),
        TB_FIELD_OBJECT("request_payload", request),
        TB_FIELD_OBJECT("response_payload", response),
    };
    TB_TRY(tb_field_expect_object(&record->reader));
    TB_TRY(TB_FIELDS_READ(&record->reader, record->arena, fields));
    return tb_json_expect_end(&record->reader);
}

/* In whole nanoseconds: a call that starts just when this one ends has the same
 * double then, and is none that overlaps. */
static double end_of(const struct record *record)
{
    double start_s = record->part->call.start_s;
    double latency_ms = record->latency_ms;
    if (!isfinite(start_s) || !(latency_ms >= 0))
        return NAN;
    if (latency_ms > 1e12) // 30 years: it would not fit
        return start_s + latency_ms / 1000;
    int64_t latency_ns = (int64_t)llround(latency_ms * 1e6);
    return record->start_ns < INT64_MAX - latency_ns
               ? tb_timestamp_seconds(record->start_ns + latency_ns)
               : start_s + latency_ms / 1000;
}

static tb_status read_record(struct record *record)
{
    struct tb_call *call = &record->part->call;
    TB_TRY(read_fields(record));
    if (tb_span_equal(record->event_type, TB_SPAN("llm_call")))
        record->part->kind = TB_PART_WHOLE;
    tb_call_tools_set(call, record->tools);
    call->end_s = end_of(record);
    call->lone_surrogate_count += (uint32_t)record->reader.lone_surrogate_count;
    call->bad_utf8_count += (uint32_t)record->reader.bad_utf8_count;
    return tb_agent_type_find(call->messages, call->message_count,
                              record->is_compat, record->arena, &call->agent);
}

tb_status tb_telemetry_record_parse(const struct tb_trace_parser *parser,
                                    struct tb_span json, uint64_t offset,
                                    uint64_t line, struct tb_arena *arena,
                                    struct tb_part *part,
                                    struct tb_error *error)
{
    struct record record = {.arena = arena,
                            .is_compat = parser->is_compat,
                            .memo = parser->memo,
                            .part = part,
                            .latency_ms = NAN};
    tb_json_reader_init_span(&record.reader, json, offset, line);
    tb_status status = read_record(&record);
    if (status == TB_OK)
        return TB_OK;
    part->kind = TB_PART_NONE;
    if (record.reader.error.status != status)
        return tb_fail(error, status, "cannot read a call");
    *error = record.reader.error;
    return status;
}

tb_status tb_telemetry_record_peek_model(struct tb_span json,
                                         struct tb_arena *arena,
                                         struct tb_span *model)
{
    return tb_field_find(json, TB_SPAN("request_payload"), TB_SPAN("model"),
                         arena, model);
}
