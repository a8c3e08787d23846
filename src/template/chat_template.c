#include "chat_template.h"

#include "jinja_eval.h"
#include "jinja_parser.h"
#include "json_reader.h"
#include "json_value.h"
#include "memory.h"
#include "utf8.h"

struct tb_chat_template {
    struct tb_template_code code;
};

/* ---- compiling -------------------------------------------------------- */

static tb_status find_functions(struct tb_template_code *code,
                                struct tb_error *error)
{
    code->functions = TB_ARENA_NEW(&code->arena, int, code->names.count);
    if (!code->functions)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < code->names.count; i++)
        code->functions[i] =
            tb_function_index(tb_name_table_name(&code->names, i));
    return TB_OK;
}

static tb_status compile(struct tb_template_code *code, struct tb_span source,
                         struct tb_error *error)
{
    struct tb_span clean;
    if (tb_jinja_clean_source(&code->arena, source, &clean) != TB_OK)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    TB_TRY(tb_jinja_parse(code, clean, error));
    return find_functions(code, error);
}

tb_status tb_chat_template_compile(struct tb_span source,
                                   struct tb_chat_template **chat_template,
                                   struct tb_error *error)
{
    *chat_template = NULL;
    size_t valid_len = tb_utf8_valid_len(source);
    if (valid_len < source.len)
        return tb_fail(error, TB_ERR_SYNTAX,
                       "byte %zu of the template is not UTF-8", valid_len);
    struct tb_chat_template *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    tb_status status = compile(&made->code, source, error);
    if (status == TB_OK)
        *chat_template = made;
    else
        tb_chat_template_free(made);
    return status;
}

bool tb_chat_template_mentions(const struct tb_chat_template *chat_template,
                               struct tb_span name)
{
    return tb_name_table_find(&chat_template->code.names, name) != TB_NAME_NONE;
}

void tb_chat_template_free(struct tb_chat_template *chat_template)
{
    if (!chat_template)
        return;
    tb_name_table_release(&chat_template->code.names);
    tb_arena_release(&chat_template->code.arena);
    tb_memory_free(chat_template);
}

/* ---- messages --------------------------------------------------------- */

static tb_status set_text(struct tb_render *run, struct tb_dict *dict,
                          struct tb_span name, const struct tb_value *value)
{
    struct tb_value key = tb_value_text(name);
    return tb_dict_set(run, dict, &key, value);
}

// The first of the names under which reasoning is passed on.
static const struct tb_value *find_reasoning(const struct tb_dict *message)
{
    static const char *const names[] = {"reasoning_content", "thinking",
                                        "reasoning"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct tb_value *found =
            tb_dict_find_text(message, tb_span_of(names[i]));
        if (found && found->kind != TB_VALUE_NONE)
            return found;
    }
    return NULL;
}

/* Nulls go. Reasoning comes under its newest name and the one that gpt-oss
 * reads, which stands first when it is new. */
static tb_status clean_message(struct tb_render *run,
                               const struct tb_dict *message,
                               struct tb_value *value)
{
    const struct tb_value *reasoning = find_reasoning(message);
    TB_TRY(tb_render_dict(run, value));
    struct tb_dict *clean = value->as.dict;
    if (reasoning)
        TB_TRY(set_text(run, clean, TB_SPAN("thinking"), reasoning));
    for (size_t i = 0; i < message->count; i++)
        if (message->pairs[i].value.kind != TB_VALUE_NONE)
            TB_TRY(tb_dict_set(run, clean, &message->pairs[i].key,
                               &message->pairs[i].value));
    if (reasoning)
        TB_TRY(set_text(run, clean, TB_SPAN("reasoning_content"), reasoning));
    return TB_OK;
}

static tb_status read_all_messages(struct tb_render *run, struct tb_span json,
                                   struct tb_value *value)
{
    TB_TRY(tb_json_value_read(run, json, value));
    if (value->kind != TB_VALUE_LIST)
        return tb_render_fail(run, "messages must be a list");
    if (value->as.list->count == 0)
        return tb_render_fail(run, "Cannot apply chat template to an empty "
                                   "conversation. Provide at least one "
                                   "message.");
    for (size_t i = 0; i < value->as.list->count; i++) {
        struct tb_value *message = &value->as.list->items[i];
        if (message->kind != TB_VALUE_DICT)
            return tb_render_fail(run, "Chat messages should be dicts");
        TB_TRY(clean_message(run, message->as.dict, message));
    }
    return TB_OK;
}

static const char message_kind; // for the memo

/* Reads a message into the memo, where its texts may borrow from the copy of
 * its bytes. */
static tb_status read_to_keep(struct tb_render *run, struct tb_memo *memo,
                              struct tb_span json, struct tb_value *message)
{
    struct tb_render keeping = {.arena = tb_memo_arena(memo),
                                .arena_mark = tb_memo_arena(memo)->used_len,
                                .out = run->out};
    struct tb_value read;
    TB_TRY(tb_memo_copy(memo, json, &json));
    TB_TRY(tb_json_value_read(&keeping, json, &read));
    if (read.kind != TB_VALUE_DICT)
        return TB_ERR_VALUE;
    TB_TRY(clean_message(&keeping, read.as.dict, message));
    struct tb_value *made = TB_ARENA_NEW(keeping.arena, struct tb_value, 1);
    if (!made)
        return TB_ERR_MEMORY;
    *made = *message;
    tb_memo_add(memo, &message_kind, json, made);
    return TB_OK;
}

static tb_status read_message(struct tb_render *run, struct tb_memo *memo,
                              struct tb_json_reader *reader,
                              struct tb_value *message)
{
    struct tb_span json;
    size_t len;
    TB_TRY(tb_json_rest(reader, &json));
    const struct tb_value *known =
        tb_memo_find(memo, &message_kind, json, &len);
    if (known) {
        tb_json_skip_known(reader, len);
        *message = *known;
        return TB_OK;
    }
    TB_TRY(tb_json_read_raw(reader, &json));
    if (tb_memo_takes(json))
        return read_to_keep(run, memo, json, message);
    struct tb_value read;
    TB_TRY(tb_json_value_read(run, json, &read));
    if (read.kind != TB_VALUE_DICT)
        return TB_ERR_VALUE;
    return clean_message(run, read.as.dict, message);
}

static tb_status read_known_messages(struct tb_render *run,
                                     struct tb_memo *memo, struct tb_span json,
                                     struct tb_value *value)
{
    struct tb_json_reader reader;
    tb_json_reader_init_span(&reader, json, 0, 1);
    TB_TRY(tb_render_list(run, TB_VALUE_LIST, 0, value));
    TB_TRY(tb_json_enter_array(&reader));
    for (;;) {
        bool found;
        struct tb_value message;
        TB_TRY(tb_json_next_item(&reader, &found));
        if (!found)
            break;
        TB_TRY(read_message(run, memo, &reader, &message));
        TB_TRY(tb_list_append(run, value->as.list, &message));
    }
    return value->as.list->count > 0 ? tb_json_expect_end(&reader)
                                     : TB_ERR_VALUE;
}

/* With a memo, message by message. Whatever is wrong is found again without
 * it, which knows how to say it. */
static tb_status read_messages(struct tb_render *run,
                               const struct tb_chat_input *input,
                               struct tb_value *value)
{
    if (input->memo &&
        read_known_messages(run, input->memo, input->messages, value) == TB_OK)
        return TB_OK;
    return read_all_messages(run, input->messages, value);
}

static tb_status read_tools(struct tb_render *run, struct tb_span json,
                            struct tb_value *value)
{
    *value = tb_value_none();
    if (json.len == 0)
        return TB_OK;
    TB_TRY(tb_json_value_read(run, json, value));
    if (value->kind == TB_VALUE_NONE)
        return TB_OK;
    if (value->kind != TB_VALUE_LIST)
        return tb_render_fail(run, "tools must be a list");
    for (size_t i = 0; i < value->as.list->count; i++)
        if (value->as.list->items[i].kind != TB_VALUE_DICT)
            return tb_render_fail(run, "Tools should either be a JSON schema, "
                                       "or a callable function");
    return TB_OK;
}

/* ---- rendering -------------------------------------------------------- */

// A variable that the template does not mention needs no place.
static tb_status set_variable(struct tb_render *run, struct tb_span name,
                              const struct tb_value *value)
{
    uint32_t number = tb_name_table_find(&run->code->names, name);
    if (number == TB_NAME_NONE)
        return TB_OK;
    return tb_scope_set(run, run->scope, number, value);
}

static tb_status set_kwargs(struct tb_render *run, struct tb_span json)
{
    struct tb_value kwargs;
    if (json.len == 0)
        return TB_OK;
    TB_TRY(tb_json_value_read(run, json, &kwargs));
    if (kwargs.kind == TB_VALUE_NONE)
        return TB_OK;
    if (kwargs.kind != TB_VALUE_DICT)
        return tb_render_fail(run, "template arguments must be an object");
    for (size_t i = 0; i < kwargs.as.dict->count; i++)
        TB_TRY(set_variable(run, kwargs.as.dict->pairs[i].key.as.text,
                            &kwargs.as.dict->pairs[i].value));
    return TB_OK;
}

static tb_status set_variables(struct tb_render *run,
                               const struct tb_chat_input *input)
{
    struct tb_value messages, tools, none = tb_value_none();
    struct tb_value prompt = tb_value_bool(!input->has_no_generation_prompt);
    TB_TRY(read_messages(run, input, &messages));
    TB_TRY(read_tools(run, input->tools, &tools));
    TB_TRY(set_variable(run, TB_SPAN("messages"), &messages));
    TB_TRY(set_variable(run, TB_SPAN("tools"), &tools));
    TB_TRY(set_variable(run, TB_SPAN("documents"), &none));
    TB_TRY(set_variable(run, TB_SPAN("add_generation_prompt"), &prompt));
    for (size_t i = 0; i < input->special_count; i++) {
        struct tb_value text = tb_value_text(input->special[i].text);
        TB_TRY(set_variable(run, input->special[i].name, &text));
    }
    return set_kwargs(run, input->kwargs);
}

static tb_status render(struct tb_render *run,
                        const struct tb_chat_input *input)
{
    struct tb_scope *variables;
    TB_TRY(tb_scope_new(run, NULL, &variables));
    run->scope = variables;
    TB_TRY(set_variables(run, input));
    TB_TRY(tb_scope_new(run, variables, &run->scope));
    return tb_eval_body(run, run->code->body);
}

tb_status tb_chat_template_render(const struct tb_chat_template *chat_template,
                                  const struct tb_chat_input *input,
                                  struct tb_arena *arena, struct tb_buffer *out,
                                  struct tb_error *error)
{
    struct tb_render run = {
        .arena = arena,
        .arena_mark = arena->used_len,
        .out = out,
        .out_mark = out->len,
        .code = &chat_template->code,
        .now_s = input->now_s,
    };
    tb_status status = render(&run, input);
    if (status == TB_OK)
        return TB_OK;
    out->len = run.out_mark;
    if (run.error.status != status)
        tb_render_fail_as(&run, status, "cannot render: %s",
                          tb_status_name(status));
    if (error)
        *error = run.error;
    return status;
}
