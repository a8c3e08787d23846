#include "call_line.h"

#include "record_fields.h"

struct reading {
    struct tb_json_reader reader;
    struct tb_arena *arena;
    struct tb_span skipped; /* why there is no row */
    struct tb_span prompt;  /* how its text was made */
    bool has_turn, has_input, has_output, has_prompt;
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
        TB_FIELD_TEXT("skipped", &reading->skipped),
        TB_FIELD_OBJECT("recorded", recorded),
    };
    TB_TRY(tb_field_expect_object(&reading->reader));
    TB_TRY(TB_FIELDS_READ(&reading->reader, reading->arena, fields));
    return tb_json_expect_end(&reading->reader);
}

static tb_status check(struct reading *reading, const struct tb_call_line *call)
{
    const char *missing = NULL;
    if (!call->has_row && reading->skipped.len > 0)
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
    *call = (struct tb_call_line){0};
    tb_json_reader_init_span(&reading.reader, line, offset, number);
    tb_status status = read_fields(&reading, call);
    if (status == TB_OK)
        status = check(&reading, call);
    call->is_joined = reading.prompt.len > 0 &&
                      !tb_span_equal(reading.prompt, TB_SPAN("template"));
    if (status != TB_OK && error) {
        *error = reading.reader.error;
        error->status = status;
    }
    return status;
}
