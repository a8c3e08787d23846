#include "agent_type.h"

#include "json_reader.h"
#include "python_repr.h"
#include "record_fields.h"

struct rule {
    const char *role; /* of the message that is looked at */
    bool is_prefix;   /* the text begins with it, or has it anywhere */
    const char *text;
    const char *compat_text; /* what the Python converter looks for */
    const char *agent;
};

static const struct rule rules[] = {
    {"system", true, "You are a Deep Research agent",
     "You are a Deep Research agent", "deep_coordinator"},
    {"system", true, "Gather and synthesize comprehe",
     "Gather and synthesize comprehe", "research_worker"},
    {"system", true, "For the given task, generate a",
     "For the given task, generate a", "research_planner"},
    {"system", true,
     "Current date and time:", "Current date and time:", "shallow_agent"},
    {"user", false, "Classify", "Classify the user message", "classifier"},
    {"user", false, "complexity analyzer", "complexity analyzer",
     "complexity_analyzer"},
};

static struct tb_span apply(const char *role, struct tb_span text,
                            bool is_compat)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        const struct rule *rule = &rules[i];
        struct tb_span wanted =
            tb_span_of(is_compat ? rule->compat_text : rule->text);
        if (!tb_span_equal(tb_span_of(rule->role), tb_span_of(role)))
            continue;
        if (rule->is_prefix ? tb_span_starts_with(text, wanted)
                            : tb_span_contains(text, wanted))
            return tb_span_of(rule->agent);
    }
    return TB_SPAN("unknown");
}

// The `text` of a part, if the next value is an object that has one.
static tb_status read_part(struct tb_json_reader *reader,
                           struct tb_arena *arena, struct tb_span *text)
{
    bool entered;
    TB_TRY(tb_field_enter_object(reader, &entered));
    while (entered) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("text")))
            TB_TRY(tb_field_string(reader, arena, text));
        else
            TB_TRY(tb_json_skip(reader));
    }
    return TB_OK;
}

// The first text among the parts of a content.
static tb_status read_first_text(struct tb_span json, struct tb_arena *arena,
                                 struct tb_span *text)
{
    struct tb_json_reader reader;
    bool found;
    tb_json_reader_init_span(&reader, json, 0, 1);
    TB_TRY(tb_field_enter_array(&reader, &found));
    while (found && text->len == 0) {
        TB_TRY(tb_json_next_item(&reader, &found));
        if (found)
            TB_TRY(read_part(&reader, arena, text));
    }
    return TB_OK;
}

static const struct tb_message *find_role(const struct tb_message *messages,
                                          size_t count, struct tb_span role)
{
    for (size_t i = 0; i < count; i++) {
        if (tb_span_equal(messages[i].role, role))
            return &messages[i];
    }
    return NULL;
}

static tb_status apply_to_repr(struct tb_span json, bool is_compat,
                               struct tb_span *agent)
{
    struct tb_buffer repr = TB_BUFFER(TB_JSON_MAX_VALUE_LEN);
    tb_status status = tb_python_repr(json, &repr, NULL);
    if (status == TB_OK)
        *agent = apply("user", tb_buffer_span(&repr), is_compat);
    tb_buffer_release(&repr);
    return status;
}

// By the first user message that is a text or a list.
static tb_status find_by_user(const struct tb_message *messages, size_t count,
                              bool is_compat, struct tb_span *agent)
{
    for (size_t i = 0; i < count; i++) {
        const struct tb_message *message = &messages[i];
        if (!tb_span_equal(message->role, TB_SPAN("user")))
            continue;
        if (message->content == TB_CONTENT_TEXT) {
            *agent = apply("user", message->text, is_compat);
            return TB_OK;
        }
        if (message->content == TB_CONTENT_JSON &&
            message->content_json.ptr[0] == '[')
            return apply_to_repr(message->content_json, is_compat, agent);
    }
    return TB_OK;
}

tb_status tb_agent_type_find(const struct tb_message *messages,
                             size_t message_count, bool is_compat,
                             struct tb_arena *arena, struct tb_span *agent)
{
    struct tb_span prompt = {0};
    *agent = TB_SPAN("unknown");
    const struct tb_message *system =
        find_role(messages, message_count, TB_SPAN("system"));
    if (system && system->content == TB_CONTENT_TEXT)
        prompt = system->text;
    else if (system && system->content == TB_CONTENT_JSON)
        TB_TRY(read_first_text(system->content_json, arena, &prompt));
    if (prompt.len == 0)
        return find_by_user(messages, message_count, is_compat, agent);
    *agent = apply("system", prompt, is_compat);
    return TB_OK;
}
