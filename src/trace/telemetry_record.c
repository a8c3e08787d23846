#include "telemetry_record.h"

#include <assert.h>
#include <math.h>

#include "agent_type.h"
#include "answer.h"
#include "hash.h"
#include "message_list.h"
#include "record_fields.h"
#include "timestamp.h"

struct record {
    struct tb_json_reader reader;
    struct tb_arena *arena;
    bool is_compat;
    struct tb_part *part;
    double latency_ms;
};

/* ---- request ---------------------------------------------------------- */

static tb_status read_messages(struct record *record)
{
    struct tb_call *call = &record->part->call;
    struct tb_message_list list = {.arena = record->arena,
                                   .is_compat = record->is_compat};
    tb_json_type type;
    TB_TRY(tb_json_peek(&record->reader, &type));
    bool is_iterable = type == TB_JSON_ARRAY || type == TB_JSON_OBJECT ||
                       type == TB_JSON_STRING;
    if (record->is_compat && !is_iterable) // Python stops here
        return tb_json_fail(&record->reader, TB_ERR_TYPE,
                            "'messages' is no list");
    TB_TRY(tb_message_list_read(&list, &record->reader));
    call->messages = list.items;
    call->message_count = list.count;
    call->image_count = list.image_count;
    call->lone_surrogate_count = (uint32_t)list.lone_surrogate_count;
    call->bad_utf8_count = (uint32_t)list.bad_utf8_count;
    return TB_OK;
}

static tb_status read_tools(struct record *record)
{
    struct tb_call *call = &record->part->call;
    struct tb_span tools;
    TB_TRY(tb_field_raw(&record->reader, &tools));
    if (!tb_field_is_filled(tools, '['))
        return TB_OK;
    call->tools = tools;
    call->tools_hash = tb_hash64(tools, 0);
    if (call->tools_hash == 0)
        call->tools_hash = 1;
    return TB_OK;
}

static tb_status read_request(struct record *record)
{
    bool entered;
    TB_TRY(tb_field_enter_object(&record->reader, &entered));
    while (entered) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(&record->reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("messages")))
            TB_TRY(read_messages(record));
        else if (tb_span_equal(key, TB_SPAN("model")))
            TB_TRY(tb_field_string(&record->reader, record->arena,
                                   &record->part->call.model));
        else if (tb_span_equal(key, TB_SPAN("tools")))
            TB_TRY(read_tools(record));
        else
            TB_TRY(tb_json_skip(&record->reader));
    }
    return TB_OK;
}

/* ---- response --------------------------------------------------------- */

// A count inside an object such as `prompt_tokens_details`.
static tb_status read_detail(struct record *record, struct tb_span wanted,
                             uint64_t *count, bool *has)
{
    bool entered;
    TB_TRY(tb_field_enter_object(&record->reader, &entered));
    while (entered) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(&record->reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, wanted))
            TB_TRY(tb_field_count(&record->reader, record->arena, count, has));
        else
            TB_TRY(tb_json_skip(&record->reader));
    }
    return TB_OK;
}

static tb_status read_usage_field(struct record *record, struct tb_span key)
{
    struct tb_json_reader *reader = &record->reader;
    struct tb_usage *usage = &record->part->call.usage;
    if (tb_span_equal(key, TB_SPAN("prompt_tokens")))
        return tb_field_count(reader, record->arena, &usage->prompt,
                              &usage->has_prompt);
    if (tb_span_equal(key, TB_SPAN("completion_tokens")))
        return tb_field_count(reader, record->arena, &usage->completion,
                              &usage->has_completion);
    if (tb_span_equal(key, TB_SPAN("prompt_tokens_details")))
        return read_detail(record, TB_SPAN("cached_tokens"), &usage->cached,
                           &usage->has_cached);
    if (tb_span_equal(key, TB_SPAN("completion_tokens_details")))
        return read_detail(record, TB_SPAN("reasoning_tokens"),
                           &usage->reasoning, &usage->has_reasoning);
    return tb_json_skip(reader);
}

static tb_status read_usage(struct record *record)
{
    bool entered;
    TB_TRY(tb_field_enter_object(&record->reader, &entered));
    while (entered) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(&record->reader, &key));
        if (!key.ptr)
            break;
        TB_TRY(read_usage_field(record, key));
    }
    return TB_OK;
}

static tb_status read_choice(struct record *record)
{
    struct tb_call *call = &record->part->call;
    bool entered;
    TB_TRY(tb_field_enter_object(&record->reader, &entered));
    while (entered) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(&record->reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("message")))
            TB_TRY(
                tb_answer_read(&record->reader, record->arena, &call->answer));
        else if (tb_span_equal(key, TB_SPAN("text")) && call->answer.len == 0)
            TB_TRY(
                tb_field_string(&record->reader, record->arena, &call->answer));
        else
            TB_TRY(tb_json_skip(&record->reader));
    }
    return TB_OK;
}

// The first choice; the others are skipped.
static tb_status read_choices(struct record *record)
{
    uint32_t depth = tb_json_depth(&record->reader);
    bool entered, found;
    TB_TRY(tb_field_enter_array(&record->reader, &entered));
    if (!entered)
        return TB_OK;
    TB_TRY(tb_json_next_item(&record->reader, &found));
    if (found)
        TB_TRY(read_choice(record));
    return tb_json_depth(&record->reader) > depth
               ? tb_json_leave_to(&record->reader, depth)
               : TB_OK;
}

static tb_status read_response(struct record *record)
{
    bool entered;
    TB_TRY(tb_field_enter_object(&record->reader, &entered));
    while (entered) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(&record->reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("usage")))
            TB_TRY(read_usage(record));
        // Python never looks at the answer: nothing in it may stop us either.
        else if (tb_span_equal(key, TB_SPAN("choices")) && !record->is_compat)
            TB_TRY(read_choices(record));
        else
            TB_TRY(tb_json_skip(&record->reader));
    }
    return TB_OK;
}

/* ---- record ----------------------------------------------------------- */

static tb_status read_priority(struct record *record)
{
    struct tb_call *call = &record->part->call;
    tb_json_type type;
    call->has_priority = true;
    call->priority = (struct tb_span){0};
    TB_TRY(tb_json_peek(&record->reader, &type));
    call->is_priority_null = type == TB_JSON_NULL;
    if (type == TB_JSON_STRING)
        return tb_json_read_string(&record->reader, record->arena,
                                   &call->priority);
    return tb_field_raw(&record->reader, &call->priority);
}

static tb_status read_timestamp(struct record *record)
{
    int64_t ns;
    bool is_known;
    TB_TRY(tb_timestamp_read(&record->reader, record->arena, &ns, &is_known));
    record->part->call.start_s = is_known ? tb_timestamp_seconds(ns) : NAN;
    return TB_OK;
}

static tb_status read_event_type(struct record *record)
{
    struct tb_span text = {0};
    TB_TRY(tb_field_string(&record->reader, record->arena, &text));
    record->part->kind =
        tb_span_equal(text, TB_SPAN("llm_call")) ? TB_PART_WHOLE : TB_PART_NONE;
    return TB_OK;
}

static tb_status read_field(struct record *record, struct tb_span key)
{
    if (tb_span_equal(key, TB_SPAN("event_type")))
        return read_event_type(record);
    if (tb_span_equal(key, TB_SPAN("timestamp")))
        return read_timestamp(record);
    if (tb_span_equal(key, TB_SPAN("latency_priority")))
        return read_priority(record);
    if (tb_span_equal(key, TB_SPAN("latency_ms")))
        return tb_field_number(&record->reader, &record->latency_ms);
    if (tb_span_equal(key, TB_SPAN("request_payload")))
        return read_request(record);
    if (tb_span_equal(key, TB_SPAN("response_payload")))
        return read_response(record);
    return tb_json_skip(&record->reader);
}

static tb_status read_record(struct record *record)
{
    struct tb_call *call = &record->part->call;
    TB_TRY(tb_json_enter_object(&record->reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(&record->reader, &key));
        if (!key.ptr)
            break;
        TB_TRY(read_field(record, key));
    }
    TB_TRY(tb_json_expect_end(&record->reader));
    if (record->latency_ms >= 0) // not when it is NAN
        call->end_s = call->start_s + record->latency_ms / 1000;
    call->lone_surrogate_count += (uint32_t)record->reader.lone_surrogate_count;
    call->bad_utf8_count += (uint32_t)record->reader.bad_utf8_count;
    return tb_agent_type_find(call->messages, call->message_count,
                              record->is_compat, record->arena, &call->agent);
}

tb_status tb_telemetry_record_parse(struct tb_span json, uint64_t offset,
                                    uint64_t line, bool is_compat,
                                    struct tb_arena *arena,
                                    struct tb_part *part,
                                    struct tb_error *error)
{
    struct record record = {.arena = arena,
                            .is_compat = is_compat,
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
