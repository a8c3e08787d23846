#include "call_line.h"

#include <math.h>

#include "record_fields.h"

struct reading {
    struct tb_json_reader reader;
    struct tb_arena *arena;
    struct tb_span prompt;              /* how its text was made */
    struct tb_span failed, tried_again; /* raw */
    bool has_turn, has_input, has_output, has_prompt, has_counted;
};

static tb_status read_fields(struct reading *reading, struct tb_call_line *call)
{
    const struct tb_field recorded[] = {
        TB_FIELD_COUNT("prompt_tokens", &call->usage_tokens, &call->has_usage),
        TB_FIELD_COUNT("cached_tokens", &call->cached_tokens,
                       &call->has_cached),
    };
    const struct tb_field fields[] = {
        TB_FIELD_COUNT("row", &call->row, &call->has_row),
        TB_FIELD_TEXT("session_id", &call->session_id),
        TB_FIELD_COUNT("turn", &call->turn, &reading->has_turn),
        TB_FIELD_COUNT("input_length", &call->input_length,
                       &reading->has_input),
        TB_FIELD_COUNT("output_length", &call->output_length,
                       &reading->has_output),
        TB_FIELD_COUNT("prompt_tokens", &call->prompt_tokens,
                       &reading->has_prompt),
        TB_FIELD_TEXT("prompt", &reading->prompt),
        TB_FIELD_COUNT("delay", &call->delay_ms, &call->has_delay),
        TB_FIELD_COUNT("timestamp", &call->timestamp_ms, &call->has_timestamp),
        TB_FIELD_COUNT("counted_tokens", &call->counted_tokens,
                       &reading->has_counted),
        TB_FIELD_TEXT("skipped", &call->skipped),
        TB_FIELD_TEXT("recorded_session", &call->recorded_session),
        TB_FIELD_TEXT("agent", &call->agent),
        TB_FIELD_TEXT("model", &call->model),
        TB_FIELD_NUMBER("start", &call->start_s),
        TB_FIELD_NUMBER("first_token", &call->first_token_s),
        TB_FIELD_NUMBER("end", &call->end_s),
        TB_FIELD_RAW("failed", &reading->failed),
        TB_FIELD_RAW("tried_again", &reading->tried_again),
        TB_FIELD_COUNT("continues", &call->continued_row, &call->has_continued),
        TB_FIELD_TEXT("priority", &call->priority),
        TB_FIELD_TEXT("trace", &call->trace),
        TB_FIELD_OBJECT("recorded", recorded),
    };
    TB_TRY(tb_field_expect_object(&reading->reader));
    TB_TRY(TB_FIELDS_READ(&reading->reader, reading->arena, fields));
    return tb_json_expect_end(&reading->reader);
}

static tb_status check(struct reading *reading, const struct tb_call_line *call)
{
    const char *missing = NULL;
    if (!call->has_row && call->skipped.len > 0)
        return TB_OK;
    if (!call->has_row)
        missing = "row";
    else if (!call->session_id.ptr)
        missing = "session_id";
    else if (!reading->has_turn || call->turn > UINT32_MAX)
        missing = "turn";
    else if (!reading->has_output)
        missing = "output_length";
    else if (!reading->has_prompt)
        missing = "prompt_tokens";
    if (!missing)
        return TB_OK;
    return tb_json_fail(&reading->reader, TB_ERR_TYPE,
                        "no '%s', as calls of --calls have it", missing);
}

tb_status tb_call_line_read(struct tb_span line, uint64_t offset,
                            uint64_t number, struct tb_arena *arena,
                            struct tb_call_line *call, struct tb_error *error)
{
    struct reading reading = {.arena = arena};
    *call = (struct tb_call_line){
        .start_s = NAN, .first_token_s = NAN, .end_s = NAN};
    tb_json_reader_init_span(&reading.reader, line, offset, number);
    tb_status status = read_fields(&reading, call);
    if (status == TB_OK)
        status = check(&reading, call);
    call->is_failed = tb_span_equal(reading.failed, TB_SPAN("true"));
    call->is_tried_again = tb_span_equal(reading.tried_again, TB_SPAN("true"));
    call->is_joined = reading.prompt.len > 0 &&
                      !tb_span_equal(reading.prompt, TB_SPAN("template"));
    if (status != TB_OK && error) {
        *error = reading.reader.error;
        error->status = status;
    }
    return status;
}

struct tb_call_record tb_call_line_record(const struct tb_call_line *call)
{
    return (struct tb_call_record){
        .session = call->recorded_session,
        .agent = call->agent,
        .model = call->model,
        .start_s = call->start_s,
        .first_token_s = call->first_token_s,
        .end_s = call->end_s,
        .has_row = call->has_row,
        .row = call->row,
        .input_length = call->input_length,
        .counted_tokens = call->counted_tokens,
        .skipped = call->skipped,
        .is_failed = call->is_failed,
        .is_tried_again = call->is_tried_again,
        .has_usage = call->has_usage,
        .has_cached = call->has_cached,
        .usage_tokens = call->usage_tokens,
        .cached_tokens = call->cached_tokens,
    };
}
