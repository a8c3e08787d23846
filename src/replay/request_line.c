#include "request_line.h"

#include <math.h>

#include "record_fields.h"

#define NS_PER_MS 1e6

struct metric {
    uint64_t value;
    bool is_there;
};

struct reading {
    struct tb_json_reader reader;
    struct tb_arena *arena;
    struct tb_request_line *request;
    bool has_turn;
    struct tb_span phase, was_cancelled; /* the second is raw JSON */
    double start_ns, end_ns;
    struct metric prompt, text, completion, output, cached;
};

// A failed request has an object there, any other null or nothing.
static tb_status read_error(struct tb_json_reader *reader, void *context)
{
    struct reading *reading = context;
    const struct tb_field fields[] = {
        TB_FIELD_TEXT("message", &reading->request->fault)};
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    reading->request->is_failed = type != TB_JSON_NULL;
    return TB_FIELDS_READ(reader, reading->arena, fields);
}

#define METRIC(name, metric)                                                   \
    const struct tb_field name[] = {                                           \
        TB_FIELD_COUNT("value", &(metric).value, &(metric).is_there)}

static tb_status read_fields(struct reading *reading)
{
    struct tb_request_line *request = reading->request;
    METRIC(prompt, reading->prompt);
    METRIC(text, reading->text);
    METRIC(completion, reading->completion);
    METRIC(output, reading->output);
    METRIC(cached, reading->cached);
    const struct tb_field metrics[] = {
        TB_FIELD_OBJECT("usage_prompt_tokens", prompt),
        TB_FIELD_OBJECT("input_sequence_length", text),
        TB_FIELD_OBJECT("usage_completion_tokens", completion),
        TB_FIELD_OBJECT("output_sequence_length", output),
        TB_FIELD_OBJECT("usage_prompt_cache_read_tokens", cached),
    };
    const struct tb_field metadata[] = {
        TB_FIELD_TEXT("conversation_id", &request->session_id),
        TB_FIELD_TEXT("x_correlation_id", &request->conversation),
        TB_FIELD_COUNT("turn_index", &request->turn, &reading->has_turn),
        TB_FIELD_NUMBER("request_start_ns", &reading->start_ns),
        TB_FIELD_NUMBER("request_end_ns", &reading->end_ns),
        TB_FIELD_TEXT("benchmark_phase", &reading->phase),
        TB_FIELD_RAW("was_cancelled", &reading->was_cancelled),
    };
    const struct tb_field fields[] = {
        TB_FIELD_OBJECT("metadata", metadata),
        TB_FIELD_OBJECT("metrics", metrics),
        TB_FIELD_READ("error", read_error, reading),
    };
    TB_TRY(tb_field_expect_object(&reading->reader));
    TB_TRY(TB_FIELDS_READ(&reading->reader, reading->arena, fields));
    return tb_json_expect_end(&reading->reader);
}

static tb_status check(struct reading *reading)
{
    const char *missing = NULL;
    if (!reading->request->session_id.ptr)
        missing = "conversation_id";
    else if (!reading->has_turn || reading->request->turn > UINT32_MAX)
        missing = "turn_index";
    if (!missing)
        return TB_OK;
    return tb_json_fail(&reading->reader, TB_ERR_TYPE,
                        "no 'metadata.%s', as requests of aiperf have it",
                        missing);
}

static void take(const struct metric *metric, uint64_t *count, bool *has)
{
    *has = metric->is_there;
    *count = metric->is_there ? metric->value : 0;
}

// Up to the year 2286, so that differences can be counted.
static double time_ms(double time_ns)
{
    return time_ns >= 0 && time_ns < 1e19 ? time_ns / NS_PER_MS : NAN;
}

static void finish(struct reading *reading)
{
    struct tb_request_line *request = reading->request;
    request->is_warmup = tb_span_equal(reading->phase, TB_SPAN("warmup"));
    request->is_failed |=
        tb_span_equal(reading->was_cancelled, TB_SPAN("true"));
    request->start_ms = time_ms(reading->start_ns);
    request->end_ms = time_ms(reading->end_ns);
    take(&reading->prompt, &request->prompt_tokens, &request->has_prompt);
    take(&reading->text, &request->text_tokens, &request->has_text);
    take(&reading->cached, &request->cached_tokens, &request->has_cached);
    take(reading->completion.is_there ? &reading->completion : &reading->output,
         &request->output_tokens, &request->has_output);
}

tb_status tb_request_line_read(struct tb_span line, uint64_t offset,
                               uint64_t number, struct tb_arena *arena,
                               struct tb_request_line *request,
                               struct tb_error *error)
{
    struct reading reading = {
        .arena = arena, .request = request, .start_ns = NAN, .end_ns = NAN};
    *request = (struct tb_request_line){0};
    tb_json_reader_init_span(&reading.reader, line, offset, number);
    tb_status status = read_fields(&reading);
    if (status == TB_OK)
        status = check(&reading);
    if (status == TB_OK)
        finish(&reading);
    else if (error) {
        *error = reading.reader.error;
        error->status = status;
    }
    return status;
}
