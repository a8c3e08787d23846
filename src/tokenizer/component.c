#include "component.h"

#include <stddef.h>

enum { SEQUENCE_MAX_DEPTH = 16 };

/* ---- members
 * -----------------------------------------------------------------
 */

enum member_kind { MEMBER_TEXT, MEMBER_FLAG, MEMBER_RAW, MEMBER_NUMBER };

#define MEMBER(name, kind, field)                                              \
    {                                                                          \
        name, kind, offsetof(struct tb_component, field)                       \
    }

static const struct member {
    const char *name;
    enum member_kind kind;
    size_t place; /* in struct tb_component */
} members[] = {
    MEMBER("type", MEMBER_TEXT, type),
    MEMBER("behavior", MEMBER_TEXT, behavior),
    MEMBER("content", MEMBER_TEXT, content),
    MEMBER("prepend", MEMBER_TEXT, prepend),
    MEMBER("precompiled_charsmap", MEMBER_TEXT, charsmap),
    MEMBER("replacement", MEMBER_TEXT, replacement),
    MEMBER("prepend_scheme", MEMBER_TEXT, scheme),
    MEMBER("delimiter", MEMBER_TEXT, delimiter),
    MEMBER("prefix", MEMBER_TEXT, prefix),
    MEMBER("suffix", MEMBER_TEXT, suffix),
    MEMBER("normalizers", MEMBER_RAW, list),
    MEMBER("pretokenizers", MEMBER_RAW, list),
    MEMBER("decoders", MEMBER_RAW, list),
    MEMBER("merges", MEMBER_RAW, merges),
    MEMBER("vocab", MEMBER_RAW, vocab),
    MEMBER("add_prefix_space", MEMBER_FLAG, has_prefix_space),
    MEMBER("use_regex", MEMBER_FLAG, uses_regex),
    MEMBER("invert", MEMBER_FLAG, is_inverted),
    MEMBER("strip_left", MEMBER_FLAG, is_stripping_left),
    MEMBER("strip_right", MEMBER_FLAG, is_stripping_right),
    MEMBER("clean_text", MEMBER_FLAG, is_cleaning),
    MEMBER("handle_chinese_chars", MEMBER_FLAG, has_chinese),
    MEMBER("strip_accents", MEMBER_FLAG, is_dropping_accents),
    MEMBER("lowercase", MEMBER_FLAG, is_lowering),
    MEMBER("split", MEMBER_FLAG, is_splitting),
    MEMBER("individual_digits", MEMBER_FLAG, has_single_digits),
    MEMBER("cleanup", MEMBER_FLAG, is_cleaning_up),
    MEMBER("length", MEMBER_NUMBER, length),
    MEMBER("start", MEMBER_NUMBER, start),
    MEMBER("stop", MEMBER_NUMBER, stop),
    MEMBER("max_input_chars_per_word", MEMBER_NUMBER, most_characters),
};

tb_status tb_component_keep_string(struct tb_json_reader *reader,
                                   struct tb_arena *arena, struct tb_span *text)
{
    TB_TRY(tb_json_read_string(reader, arena, text));
    return tb_arena_copy(arena, *text, text);
}

static tb_status read_flag(struct tb_json_reader *reader, tb_flag *flag)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    *flag = type == TB_JSON_TRUE    ? TB_FLAG_TRUE
            : type == TB_JSON_FALSE ? TB_FLAG_FALSE
                                    : TB_FLAG_ABSENT;
    if (*flag == TB_FLAG_ABSENT && type != TB_JSON_NULL)
        return tb_json_fail(reader, TB_ERR_TYPE, "expected true or false");
    return tb_json_skip(reader);
}

static tb_status read_member(struct tb_json_reader *reader,
                             struct tb_arena *arena,
                             const struct member *member,
                             struct tb_component *component)
{
    void *place = (char *)component + member->place;
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    switch (member->kind) {
    case MEMBER_FLAG:
        return read_flag(reader, place);
    case MEMBER_RAW:
        return tb_json_read_raw(reader, place);
    case MEMBER_NUMBER:
        return tb_json_read_number(reader, place);
    case MEMBER_TEXT:
    default:
        if (type == TB_JSON_NULL)
            return tb_json_skip(reader);
        return tb_component_keep_string(reader, arena, place);
    }
}

// {"String": ".."} or {"Regex": ".."}
static tb_status read_pattern(struct tb_json_reader *reader,
                              struct tb_arena *arena,
                              struct tb_component *component)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        bool is_literal = tb_span_equal(key, TB_SPAN("String"));
        component->has_pattern = true;
        if (!is_literal && !tb_span_equal(key, TB_SPAN("Regex")))
            return tb_component_refuse(reader, "kind of pattern", key);
        TB_TRY(tb_component_keep_string(reader, arena,
                                        is_literal ? &component->literal
                                                   : &component->regex));
    }
}

static tb_status read_any_member(struct tb_json_reader *reader,
                                 struct tb_arena *arena, struct tb_span key,
                                 struct tb_component *component)
{
    if (tb_span_equal(key, TB_SPAN("pattern")))
        return read_pattern(reader, arena, component);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (tb_span_equal(key, tb_span_of(members[i].name)))
            return read_member(reader, arena, &members[i], component);
    return tb_json_skip(reader);
}

tb_status tb_component_read(struct tb_json_reader *reader,
                            struct tb_arena *arena,
                            struct tb_component *component)
{
    *component = (struct tb_component){0};
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        TB_TRY(read_any_member(reader, arena, key, component));
    }
}

bool tb_component_is(const struct tb_component *component, const char *type)
{
    return tb_span_equal(component->type, tb_span_of(type));
}

tb_status tb_component_refuse(struct tb_json_reader *reader, const char *kind,
                              struct tb_span name)
{
    int len = tb_span_shown(name, 100);
    return tb_json_fail(reader, TB_ERR_UNSUPPORTED,
                        "%s '%.*s' is not supported", kind, len,
                        (const char *)name.ptr);
}

void tb_component_open(struct tb_json_reader *reader,
                       const struct tb_file_parts *parts, struct tb_span raw)
{
    uint64_t offset = (uint64_t)(raw.ptr - parts->json.ptr);
    struct tb_span before = {parts->json.ptr, (size_t)offset};
    tb_json_reader_init_span(reader, raw, offset,
                             tb_span_count(before, '\n') + 1);
}

tb_status tb_component_compile(struct tb_json_reader *reader,
                               struct tb_span pattern, struct tb_regex **regex)
{
    struct tb_error error = {0};
    tb_status status = tb_regex_new(pattern, regex, &error);
    if (status == TB_OK || status == TB_ERR_MEMORY)
        return status;
    return tb_json_fail(reader, status, "%s", error.message);
}

/* ---- chains
 * --------------------------------------------------------------------
 */

struct chain {
    struct tb_tokenizer *tokenizer;
    const struct tb_file_parts *parts;
    tb_component_fn add;
};

static tb_status read_one(struct chain *chain, struct tb_json_reader *reader,
                          int depth);

static tb_status read_list(struct chain *chain, struct tb_json_reader *reader,
                           int depth)
{
    TB_TRY(tb_json_enter_array(reader));
    for (;;) {
        bool found;
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            return TB_OK;
        TB_TRY(read_one(chain, reader, depth));
    }
}

// Members may stand in any order, so a list is read once all are known.
static tb_status read_sequence(struct chain *chain,
                               struct tb_json_reader *reader,
                               const struct tb_component *component, int depth)
{
    if (depth == SEQUENCE_MAX_DEPTH)
        return tb_json_fail(reader, TB_ERR_LIMIT,
                            "more than %d sequences in each other", depth);
    if (!component->list.ptr)
        return tb_json_fail(reader, TB_ERR_VALUE, "a Sequence has no list");
    struct tb_json_reader inner;
    tb_component_open(&inner, chain->parts, component->list);
    tb_status status = read_list(chain, &inner, depth + 1);
    if (status != TB_OK)
        reader->error = inner.error;
    return status;
}

static tb_status read_one(struct chain *chain, struct tb_json_reader *reader,
                          int depth)
{
    struct tb_component component;
    TB_TRY(tb_component_read(reader, &chain->tokenizer->arena, &component));
    if (!component.type.ptr)
        return tb_json_fail(reader, TB_ERR_VALUE, "a component has no type");
    if (tb_component_is(&component, "Sequence"))
        return read_sequence(chain, reader, &component, depth);
    return chain->add(chain->tokenizer, reader, &component);
}

tb_status tb_component_read_chain(struct tb_tokenizer *tokenizer,
                                  const struct tb_file_parts *parts,
                                  struct tb_span raw, tb_component_fn add,
                                  struct tb_error *error)
{
    if (!raw.ptr || tb_span_equal(raw, TB_SPAN("null")))
        return TB_OK;
    struct chain chain = {tokenizer, parts, add};
    struct tb_json_reader reader;
    tb_component_open(&reader, parts, raw);
    tb_status status = read_one(&chain, &reader, 0);
    if (status != TB_OK && error)
        *error = reader.error;
    return status;
}
