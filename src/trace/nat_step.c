#include "nat_step.h"

#include <assert.h>
#include <math.h>

#include "answer.h"
#include "hash.h"
#include "message_list.h"
#include "record_fields.h"

/* What a step says, as far as it can be read before its kind is known. Raw
 * values are looked into at the end, and only those that the kind needs. */
struct step {
    struct tb_json_reader reader;
    struct tb_arena *arena;
    struct tb_call *call;
    struct tb_span event_type;
    double event_s;
    struct tb_usage usage;
    struct tb_span chat_inputs;    /* raw */
    struct tb_span tools;          /* raw */
    struct tb_span chat_responses; /* raw */
    struct tb_span output;         /* raw */
};

static tb_status read_invocation(struct step *step)
{
    struct tb_span id = {0};
    TB_TRY(tb_field_id(&step->reader, step->arena, &id));
    if (id.len > 0)
        step->call->invocation = tb_hash64(id, 0) | 1; // 0 is: not known
    return TB_OK;
}

static tb_status read_ancestry(struct step *step)
{
    bool entered;
    TB_TRY(tb_field_enter_object(&step->reader, &entered));
    while (entered) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(&step->reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("function_name")))
            TB_TRY(tb_field_string(&step->reader, step->arena,
                                   &step->call->agent));
        else if (tb_span_equal(key, TB_SPAN("function_id")))
            TB_TRY(read_invocation(step));
        else
            TB_TRY(tb_json_skip(&step->reader));
    }
    return TB_OK;
}

static tb_status read_metadata(struct step *step)
{
    bool entered;
    TB_TRY(tb_field_enter_object(&step->reader, &entered));
    while (entered) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(&step->reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("chat_inputs")))
            TB_TRY(tb_field_raw(&step->reader, &step->chat_inputs));
        else if (tb_span_equal(key, TB_SPAN("tools_schema")))
            TB_TRY(tb_field_raw(&step->reader, &step->tools));
        else if (tb_span_equal(key, TB_SPAN("chat_responses")))
            TB_TRY(tb_field_raw(&step->reader, &step->chat_responses));
        else
            TB_TRY(tb_json_skip(&step->reader));
    }
    return TB_OK;
}

static tb_status read_data(struct step *step)
{
    bool entered;
    TB_TRY(tb_field_enter_object(&step->reader, &entered));
    while (entered) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(&step->reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("output")))
            TB_TRY(tb_field_raw(&step->reader, &step->output));
        else
            TB_TRY(tb_json_skip(&step->reader));
    }
    return TB_OK;
}

static tb_status read_token_usage(struct step *step)
{
    struct tb_usage *usage = &step->usage;
    const struct {
        struct tb_span key;
        uint64_t *count;
        bool *has;
    } fields[] = {
        {TB_SPAN("prompt_tokens"), &usage->prompt, &usage->has_prompt},
        {TB_SPAN("completion_tokens"), &usage->completion,
         &usage->has_completion},
        {TB_SPAN("cached_tokens"), &usage->cached, &usage->has_cached},
        {TB_SPAN("reasoning_tokens"), &usage->reasoning, &usage->has_reasoning},
    };
    enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]) };
    bool entered;
    TB_TRY(tb_field_enter_object(&step->reader, &entered));
    while (entered) {
        struct tb_span key;
        size_t i = 0;
        TB_TRY(tb_json_next_key(&step->reader, &key));
        if (!key.ptr)
            break;
        while (i < FIELD_COUNT && !tb_span_equal(key, fields[i].key))
            i++;
        if (i < FIELD_COUNT)
            TB_TRY(tb_field_count(&step->reader, step->arena, fields[i].count,
                                  fields[i].has));
        else
            TB_TRY(tb_json_skip(&step->reader));
    }
    return TB_OK;
}

static tb_status read_usage_info(struct step *step)
{
    bool entered;
    TB_TRY(tb_field_enter_object(&step->reader, &entered));
    while (entered) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(&step->reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("token_usage")))
            TB_TRY(read_token_usage(step));
        else
            TB_TRY(tb_json_skip(&step->reader));
    }
    return TB_OK;
}

static tb_status read_payload_field(struct step *step, struct tb_span key)
{
    struct tb_json_reader *reader = &step->reader;
    struct tb_call *call = step->call;
    if (tb_span_equal(key, TB_SPAN("event_type")))
        return tb_field_string(reader, step->arena, &step->event_type);
    if (tb_span_equal(key, TB_SPAN("event_timestamp")))
        return tb_field_number(reader, &step->event_s);
    if (tb_span_equal(key, TB_SPAN("name")))
        return tb_field_string(reader, step->arena, &call->model);
    if (tb_span_equal(key, TB_SPAN("UUID")))
        return tb_field_id(reader, step->arena, &call->key);
    if (tb_span_equal(key, TB_SPAN("metadata")))
        return read_metadata(step);
    if (tb_span_equal(key, TB_SPAN("data")))
        return read_data(step);
    if (tb_span_equal(key, TB_SPAN("usage_info")))
        return read_usage_info(step);
    return tb_json_skip(reader);
}

static tb_status read_payload(struct step *step)
{
    bool entered;
    TB_TRY(tb_field_enter_object(&step->reader, &entered));
    while (entered) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(&step->reader, &key));
        if (!key.ptr)
            break;
        TB_TRY(read_payload_field(step, key));
    }
    return TB_OK;
}

static tb_status read_step(struct step *step)
{
    TB_TRY(tb_json_enter_object(&step->reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(&step->reader, &key));
        if (!key.ptr)
            return tb_json_expect_end(&step->reader);
        if (tb_span_equal(key, TB_SPAN("payload")))
            TB_TRY(read_payload(step));
        else if (tb_span_equal(key, TB_SPAN("function_ancestry")))
            TB_TRY(read_ancestry(step));
        else
            TB_TRY(tb_json_skip(&step->reader));
    }
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
                              uint64_t offset, bool is_compat)
{
    struct tb_call *call = step->call;
    call->start_s = step->event_s;
    if (tb_field_is_filled(step->tools, '[')) {
        call->tools = step->tools;
        call->tools_hash = tb_hash64(step->tools, 0);
        if (call->tools_hash == 0)
            call->tools_hash = 1;
    }
    if (step->chat_inputs.len == 0)
        return TB_OK;
    struct tb_message_list list = {.arena = step->arena,
                                   .is_compat = is_compat,
                                   .is_shown_by_repr = is_compat};
    look_into(step, step->chat_inputs, json, offset);
    TB_TRY(tb_message_list_read(&list, &step->reader));
    call->messages = list.items;
    call->message_count = list.count;
    call->image_count = list.image_count;
    call->lone_surrogate_count = (uint32_t)list.lone_surrogate_count;
    call->bad_utf8_count = (uint32_t)list.bad_utf8_count;
    return TB_OK;
}

// The message of LangChain's first response: [{"text", "message": {..}}].
static tb_status read_first_response(struct step *step)
{
    struct tb_span *answer = &step->call->answer;
    bool found, entered;
    TB_TRY(tb_json_enter_array(&step->reader));
    TB_TRY(tb_json_next_item(&step->reader, &found));
    if (!found)
        return TB_OK;
    TB_TRY(tb_field_enter_object(&step->reader, &entered));
    while (entered) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(&step->reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("message")))
            TB_TRY(tb_answer_read(&step->reader, step->arena, answer));
        else
            TB_TRY(tb_json_skip(&step->reader));
    }
    return TB_OK;
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
        return read_first_response(step);
    return tb_answer_read(&step->reader, step->arena, &call->answer);
}

static tb_status parse(struct step *step, struct tb_span json, uint64_t offset,
                       bool is_compat, struct tb_part *part)
{
    TB_TRY(read_step(step));
    if (tb_span_equal(step->event_type, TB_SPAN("LLM_START"))) {
        part->kind = TB_PART_START;
        TB_TRY(finish_start(step, json, offset, is_compat));
    } else if (tb_span_equal(step->event_type, TB_SPAN("LLM_END"))) {
        part->kind = TB_PART_END;
        TB_TRY(finish_end(step, json, offset, is_compat));
    } else if (tb_span_equal(step->event_type, TB_SPAN("LLM_NEW_TOKEN"))) {
        part->kind = TB_PART_TOKEN;
        step->call->start_s = step->event_s;
    }
    part->call.lone_surrogate_count +=
        (uint32_t)step->reader.lone_surrogate_count;
    part->call.bad_utf8_count += (uint32_t)step->reader.bad_utf8_count;
    return TB_OK;
}

tb_status tb_nat_step_parse(struct tb_span json, uint64_t offset, uint64_t line,
                            bool is_compat, struct tb_arena *arena,
                            struct tb_part *part, struct tb_error *error)
{
    struct step step = {.arena = arena, .call = &part->call, .event_s = NAN};
    tb_json_reader_init_span(&step.reader, json, offset, line);
    tb_status status = parse(&step, json, offset, is_compat, part);
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
