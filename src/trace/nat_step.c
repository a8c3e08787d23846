#include "nat_step.h"

#include <assert.h>
#include <math.h>

#include "answer.h"
#include "call_tools.h"
#include "hash.h"
#include "message_list.h"
#include "record_fields.h"
#include "usage_record.h"

/* What a step says, as far as it can be read before its kind is known. Raw
 * values are looked into at the end, and only those that the kind needs. */
struct step {
    struct tb_json_reader reader;
    struct tb_arena *arena;
    struct tb_call *call;
    struct tb_span event_type;
    double event_s;
    bool is_compat;
    struct tb_usage usage;
    struct tb_span invocation;     /* function_id */
    struct tb_span chat_inputs;    /* raw */
    struct tb_span tools;          /* raw */
    struct tb_span chat_responses; /* raw */
    struct tb_span output;         /* raw */
};

static tb_status read_usage(struct tb_json_reader *reader, void *context)
{
    struct step *step = context;
    return tb_usage_record_read(reader, step->arena, step->is_compat,
                                &step->usage);
}

/* The record's shape. What a table does not name is left unread; so is what
 * could be of any length, but as raw bytes. */
static tb_status read_step(struct step *step)
{
    struct tb_call *call = step->call;
    const struct tb_field ancestry[] = {
        TB_FIELD_TEXT("function_name", &call->agent),
        TB_FIELD_ID("function_id", &step->invocation),
    };
    const struct tb_field metadata[] = {
        TB_FIELD_RAW("chat_inputs", &step->chat_inputs),
        TB_FIELD_RAW("tools_schema", &step->tools),
        TB_FIELD_RAW("chat_responses", &step->chat_responses),
    };
    const struct tb_field data[] = {TB_FIELD_RAW("output", &step->output)};
    const struct tb_field usage_info[] = {
        TB_FIELD_READ("token_usage", read_usage, step)};
    const struct tb_field payload[] = {
        TB_FIELD_TEXT("event_type", &step->event_type),
        TB_FIELD_NUMBER("event_timestamp", &step->event_s),
        TB_FIELD_TEXT("name", &call->model),
        TB_FIELD_ID("UUID", &call->key),
        TB_FIELD_OBJECT("metadata", metadata),
        TB_FIELD_OBJECT("data", data),
        TB_FIELD_OBJECT("usage_info", usage_info),
    };
    const struct tb_field record[] = {
        TB_FIELD_OBJECT("payload", payload),
        TB_FIELD_OBJECT("function_ancestry", ancestry),
    };
    TB_TRY(tb_field_expect_object(&step->reader));
    TB_TRY(TB_FIELDS_READ(&step->reader, step->arena, record));
    if (step->invocation.len > 0)
        call->invocation = tb_hash64(step->invocation, 0) | 1; // 0: not known
    return tb_json_expect_end(&step->reader);
}

/* ---- raw values ------------------------------------------------------- */

/* Goes on with `raw`, a value of the record, keeping what was counted: the
 * record itself has been read to its end. */
static void look_into(struct step *step, struct tb_span raw,
                      struct tb_span json, uint64_t offset)
{
    struct tb_json_reader before = step->reader;
    tb_json_reader_init_span(&step->reader, raw,
                             offset + (uint64_t)(raw.ptr - json.ptr), 1);
    step->reader.lone_surrogate_count = before.lone_surrogate_count;
    step->reader.bad_utf8_count = before.bad_utf8_count;
}

static tb_status finish_start(struct step *step, struct tb_span json,
                              uint64_t offset,
                              const struct tb_trace_parser *parser)
{
    struct tb_call *call = step->call;
    call->start_s = step->event_s;
    tb_call_tools_set(call, step->tools);
    if (step->chat_inputs.len == 0)
        return TB_OK;
    struct tb_message_list list = {.arena = step->arena,
                                   .memo = parser->memo,
                                   .is_compat = parser->is_compat,
                                   .is_shown_by_repr = parser->is_compat};
    look_into(step, step->chat_inputs, json, offset);
    TB_TRY(tb_message_list_read(&list, &step->reader));
    tb_message_list_give(&list, call);
    return TB_OK;
}

// The message of LangChain's first response: [{"text", "message": {..}}].
static tb_status read_first_response(struct step *step, struct tb_span json,
                                     uint64_t offset)
{
    struct tb_span message = {0};
    const struct tb_field response[] = {TB_FIELD_RAW("message", &message)};
    bool found;
    TB_TRY(tb_json_enter_array(&step->reader));
    TB_TRY(tb_json_next_item(&step->reader, &found));
    if (found)
        TB_TRY(TB_FIELDS_READ(&step->reader, step->arena, response));
    if (!message.ptr)
        return TB_OK;
    look_into(step, message, json, offset);
    return tb_answer_read(&step->reader, step->arena, &step->call->answer);
}

static tb_status finish_end(struct step *step, struct tb_span json,
                            uint64_t offset, bool is_compat)
{
    struct tb_call *call = step->call;
    call->end_s = step->event_s;
    call->usage = step->usage;
    // Python never looks at the answer, so nothing in it may stop us either.
    if (is_compat)
        return TB_OK;
    if (step->output.len > 0) {
        look_into(step, step->output, json, offset);
        TB_TRY(tb_field_string(&step->reader, step->arena, &call->answer));
    }
    // LlamaIndex writes an empty output when there are only tool calls.
    if (call->answer.len > 0 || step->chat_responses.len == 0)
        return TB_OK;
    look_into(step, step->chat_responses, json, offset);
    if (step->chat_responses.ptr[0] == '[')
        return read_first_response(step, json, offset);
    return tb_answer_read(&step->reader, step->arena, &call->answer);
}

static tb_status parse(struct step *step, struct tb_span json, uint64_t offset,
                       const struct tb_trace_parser *parser,
                       struct tb_part *part)
{
    TB_TRY(read_step(step));
    if (tb_span_equal(step->event_type, TB_SPAN("LLM_START"))) {
        part->kind = TB_PART_START;
        TB_TRY(finish_start(step, json, offset, parser));
    } else if (tb_span_equal(step->event_type, TB_SPAN("LLM_END"))) {
        part->kind = TB_PART_END;
        TB_TRY(finish_end(step, json, offset, parser->is_compat));
    } else if (tb_span_equal(step->event_type, TB_SPAN("LLM_NEW_TOKEN"))) {
        part->kind = TB_PART_TOKEN;
        step->call->start_s = step->event_s;
    }
    part->call.lone_surrogate_count +=
        (uint32_t)step->reader.lone_surrogate_count;
    part->call.bad_utf8_count += (uint32_t)step->reader.bad_utf8_count;
    return TB_OK;
}

tb_status tb_nat_step_parse(const struct tb_trace_parser *parser,
                            struct tb_span json, uint64_t offset, uint64_t line,
                            struct tb_arena *arena, struct tb_part *part,
                            struct tb_error *error)
{
    struct step step = {.arena = arena,
                        .call = &part->call,
                        .event_s = NAN,
                        .is_compat = parser->is_compat};
    tb_json_reader_init_span(&step.reader, json, offset, line);
    tb_status status = parse(&step, json, offset, parser, part);
    if (status == TB_OK)
        return TB_OK;
    part->kind = TB_PART_NONE;
    if (step.reader.error.status != status)
        return tb_fail(error, status, "cannot read a step");
    *error = step.reader.error;
    assert(error->offset >= offset && error->offset - offset <= json.len);
    struct tb_span before = {json.ptr, (size_t)(error->offset - offset)};
    error->line = line + tb_span_count(before, '\n');
    return status;
}

tb_status tb_nat_step_peek_model(struct tb_span json, struct tb_arena *arena,
                                 struct tb_span *model)
{
    return tb_field_find(json, TB_SPAN("payload"), TB_SPAN("name"), arena,
                         model);
}
