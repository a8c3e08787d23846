/* A tokenizer.json (Hugging Face `tokenizers`) to a tokenizer. What is not
 * built here is refused by its name; truncation, padding, post_processor and
 * decoder do not concern ids of plain text and are not read. */
#include "tokenizer_model.h"

#include <stdio.h>
#include <string.h>

#include "json_reader.h"

/* The parts of the file, raw, so that they can be read in an order of ours. */
struct parts {
    struct tb_span json; /* the whole file */
    struct tb_span added_tokens, normalizer, pre_tokenizer, model;
};

static tb_status read_parts(struct tb_json_reader *reader, struct parts *parts)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key, raw;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        TB_TRY(tb_json_read_raw(reader, &raw));
        if (tb_span_equal(key, TB_SPAN("added_tokens")))
            parts->added_tokens = raw;
        else if (tb_span_equal(key, TB_SPAN("normalizer")))
            parts->normalizer = raw;
        else if (tb_span_equal(key, TB_SPAN("pre_tokenizer")))
            parts->pre_tokenizer = raw;
        else if (tb_span_equal(key, TB_SPAN("model")))
            parts->model = raw;
    }
    TB_TRY(tb_json_expect_end(reader));
    if (!parts->model.ptr)
        return tb_json_fail(reader, TB_ERR_VALUE, "the file has no model");
    return TB_OK;
}

static bool is_absent(struct tb_span raw)
{
    return !raw.ptr || tb_span_equal(raw, TB_SPAN("null"));
}

// A reader over one part, with places as they are in the file.
static void open_part(struct tb_json_reader *reader, const struct parts *parts,
                      struct tb_span raw)
{
    uint64_t offset = (uint64_t)(raw.ptr - parts->json.ptr);
    struct tb_span before = {parts->json.ptr, (size_t)offset};
    tb_json_reader_init_span(reader, raw, offset,
                             tb_span_count(before, '\n') + 1);
}

// A string that outlives the file's bytes.
static tb_status keep_string(struct tb_json_reader *reader,
                             struct tb_arena *arena, struct tb_span *text)
{
    TB_TRY(tb_json_read_string(reader, arena, text));
    return tb_arena_copy(arena, *text, text);
}

/* ---- components ------------------------------------------------------------
 */

/* One component such as {"type": "Split", "pattern": {...}, ...}: its members
 * as far as anything here knows them. */
struct component {
    struct tb_span type;
    struct tb_span list;    /* raw: normalizers or pretokenizers */
    struct tb_span literal; /* pattern.String */
    struct tb_span regex;   /* pattern.Regex */
    struct tb_span behavior, content, prepend;
    bool has_prefix_space, uses_regex, is_inverted;
};

static tb_status read_pattern(struct tb_json_reader *reader,
                              struct tb_arena *arena,
                              struct component *component)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        bool is_literal = tb_span_equal(key, TB_SPAN("String"));
        TB_TRY(
            keep_string(reader, arena,
                        is_literal ? &component->literal : &component->regex));
    }
}

static tb_status read_bool(struct tb_json_reader *reader, bool *flag)
{
    struct tb_span raw;
    TB_TRY(tb_json_read_raw(reader, &raw));
    *flag = tb_span_equal(raw, TB_SPAN("true"));
    return TB_OK;
}

static tb_status read_component_member(struct tb_json_reader *reader,
                                       struct tb_arena *arena,
                                       struct tb_span key,
                                       struct component *component)
{
    const struct {
        const char *name;
        struct tb_span *text;
    } texts[] = {{"type", &component->type},
                 {"behavior", &component->behavior},
                 {"content", &component->content},
                 {"prepend", &component->prepend}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (tb_span_equal(key, tb_span_of(texts[i].name)))
            return keep_string(reader, arena, texts[i].text);
    if (tb_span_equal(key, TB_SPAN("pattern")))
        return read_pattern(reader, arena, component);
    if (tb_span_equal(key, TB_SPAN("normalizers")) ||
        tb_span_equal(key, TB_SPAN("pretokenizers")))
        return tb_json_read_raw(reader, &component->list);
    if (tb_span_equal(key, TB_SPAN("add_prefix_space")))
        return read_bool(reader, &component->has_prefix_space);
    if (tb_span_equal(key, TB_SPAN("use_regex")))
        return read_bool(reader, &component->uses_regex);
    if (tb_span_equal(key, TB_SPAN("invert")))
        return read_bool(reader, &component->is_inverted);
    return tb_json_skip(reader);
}

static tb_status read_component(struct tb_json_reader *reader,
                                struct tb_arena *arena,
                                struct component *component)
{
    // What ByteLevel means when the file does not say.
    *component = (struct component){.uses_regex = true};
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        TB_TRY(read_component_member(reader, arena, key, component));
    }
    if (!component->type.ptr)
        return tb_json_fail(reader, TB_ERR_VALUE, "a component has no type");
    return TB_OK;
}

static bool is_type(const struct component *component, struct tb_span type)
{
    return tb_span_equal(component->type, type);
}

static tb_status refuse(struct tb_json_reader *reader, const char *kind,
                        struct tb_span name)
{
    return tb_json_fail(reader, TB_ERR_UNSUPPORTED,
                        "%s '%.*s' is not supported yet", kind, (int)name.len,
                        (const char *)name.ptr);
}

/* Gives every component of a part to `add`, those of a Sequence one by one;
 * sequences do not nest deeper than one in any file that was seen. */
typedef tb_status (*add_component)(struct tb_tokenizer *tokenizer,
                                   struct tb_json_reader *reader,
                                   const struct component *component);

static tb_status read_sequence(struct tb_tokenizer *tokenizer,
                               const struct parts *parts, struct tb_span list,
                               add_component add, struct tb_error *error)
{
    struct tb_json_reader reader;
    open_part(&reader, parts, list);
    tb_status status = tb_json_enter_array(&reader);
    while (status == TB_OK) {
        bool found;
        struct component component;
        status = tb_json_next_item(&reader, &found);
        if (status != TB_OK || !found)
            break;
        status = read_component(&reader, &tokenizer->arena, &component);
        if (status == TB_OK)
            status = is_type(&component, TB_SPAN("Sequence"))
                         ? refuse(&reader, "a sequence in a", component.type)
                         : add(tokenizer, &reader, &component);
    }
    if (status != TB_OK && error)
        *error = reader.error;
    return status;
}

static tb_status read_chain(struct tb_tokenizer *tokenizer,
                            const struct parts *parts, struct tb_span raw,
                            add_component add, struct tb_error *error)
{
    if (is_absent(raw))
        return TB_OK;
    struct tb_json_reader reader;
    struct component component;
    open_part(&reader, parts, raw);
    tb_status status = read_component(&reader, &tokenizer->arena, &component);
    if (status == TB_OK && is_type(&component, TB_SPAN("Sequence")) &&
        component.list.ptr)
        return read_sequence(tokenizer, parts, component.list, add, error);
    if (status == TB_OK)
        status = add(tokenizer, &reader, &component);
    if (status != TB_OK && error)
        *error = reader.error;
    return status;
}

/* ---- normalizers ------------------------------------------------------------
 */

static bool normal_form(struct tb_span type, enum tb_normal_form *form)
{
    static const struct {
        const char *name;
        enum tb_normal_form form;
    } forms[] = {
        {"NFC", TB_NFC}, {"NFD", TB_NFD}, {"NFKC", TB_NFKC}, {"NFKD", TB_NFKD}};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (tb_span_equal(type, tb_span_of(forms[i].name))) {
            *form = forms[i].form;
            return true;
        }
    }
    return false;
}

static tb_status add_normalizer(struct tb_tokenizer *tokenizer,
                                struct tb_json_reader *reader,
                                const struct component *component)
{
    struct tb_normalizer *normalizer = &tokenizer->normalizer;
    if (normalizer->step_count == TB_NORMALIZER_MAX_STEPS)
        return tb_json_fail(reader, TB_ERR_LIMIT, "more than %d normalizers",
                            TB_NORMALIZER_MAX_STEPS);
    struct tb_normalizer_step step = {0};
    if (normal_form(component->type, &step.form)) {
        step.kind = TB_NORMALIZER_FORM;
    } else if (is_type(component, TB_SPAN("Prepend"))) {
        step.kind = TB_NORMALIZER_PREPEND;
        step.content = component->prepend;
    } else if (is_type(component, TB_SPAN("Replace"))) {
        step.kind = TB_NORMALIZER_REPLACE;
        step.pattern = component->literal;
        step.content = component->content;
        if (component->literal.len == 0)
            return tb_json_fail(reader, TB_ERR_UNSUPPORTED,
                                "normalizer 'Replace' with a regular "
                                "expression is not supported yet");
    } else {
        return refuse(reader, "normalizer", component->type);
    }
    normalizer->steps[normalizer->step_count++] = step;
    return TB_OK;
}

/* ---- pre-tokenizers
 * ----------------------------------------------------------- */

static bool split_behavior(struct tb_span name, tb_split_behavior *behavior)
{
    static const struct {
        const char *name;
        tb_split_behavior behavior;
    } behaviors[] = {{"Isolated", TB_SPLIT_ISOLATED},
                     {"Removed", TB_SPLIT_REMOVED},
                     {"MergedWithPrevious", TB_SPLIT_MERGED_WITH_PREVIOUS},
                     {"MergedWithNext", TB_SPLIT_MERGED_WITH_NEXT},
                     {"Contiguous", TB_SPLIT_CONTIGUOUS}};
    for (size_t i = 0; i < sizeof(behaviors) / sizeof(behaviors[0]); i++) {
        if (tb_span_equal(name, tb_span_of(behaviors[i].name))) {
            *behavior = behaviors[i].behavior;
            return true;
        }
    }
    return false;
}

static tb_status make_split(struct tb_json_reader *reader,
                            const struct component *component,
                            struct tb_pretokenizer_step *step)
{
    step->is_inverted = component->is_inverted;
    if (!split_behavior(component->behavior, &step->behavior))
        return refuse(reader, "Split behavior", component->behavior);
    if (component->literal.len) {
        step->literal = component->literal;
        return TB_OK;
    }
    step->scan = tb_pattern_find(component->regex);
    if (!step->scan)
        return refuse(reader, "pattern", component->regex);
    return TB_OK;
}

static tb_status add_pretokenizer(struct tb_tokenizer *tokenizer,
                                  struct tb_json_reader *reader,
                                  const struct component *component)
{
    struct tb_pretokenizer *chain = &tokenizer->pretokenizer;
    if (tokenizer->bpe.is_byte_level)
        return tb_json_fail(reader, TB_ERR_UNSUPPORTED,
                            "pre_tokenizer behind ByteLevel is not supported "
                            "yet");
    if (chain->step_count == TB_PRETOKENIZER_MAX_STEPS)
        return tb_json_fail(reader, TB_ERR_LIMIT, "more than %d pre_tokenizers",
                            TB_PRETOKENIZER_MAX_STEPS);
    struct tb_pretokenizer_step step = {.behavior = TB_SPLIT_ISOLATED};
    if (is_type(component, TB_SPAN("ByteLevel"))) {
        tokenizer->bpe.is_byte_level = true;
        step.has_prefix_space = component->has_prefix_space;
        if (component->uses_regex)
            step.scan = tb_pattern_scan_gpt2;
        else if (!step.has_prefix_space)
            return TB_OK;
    } else if (is_type(component, TB_SPAN("Split"))) {
        TB_TRY(make_split(reader, component, &step));
    } else {
        return refuse(reader, "pre_tokenizer", component->type);
    }
    chain->steps[chain->step_count++] = step;
    return TB_OK;
}

/* ---- the model
 * ------------------------------------------------------------------ */

static tb_status read_model(struct tb_tokenizer *tokenizer,
                            const struct parts *parts, struct tb_error *error)
{
    struct tb_json_reader reader;
    struct component component;
    open_part(&reader, parts, parts->model);
    tb_status status = read_component(&reader, &tokenizer->arena, &component);
    // Very old files do not say the type; they are BPE when they have merges.
    if (status == TB_ERR_VALUE)
        status = TB_OK;
    else if (status == TB_OK && !is_type(&component, TB_SPAN("BPE")))
        status = refuse(&reader, "model", component.type);
    if (status == TB_OK) {
        open_part(&reader, parts, parts->model);
        status =
            tb_bpe_from_json(tokenizer, &reader, tokenizer->bpe.is_byte_level);
    }
    if (status != TB_OK && error)
        *error = reader.error;
    return status;
}

/* ---- added tokens
 * ----------------------------------------------------------------- */

static tb_status read_added_token(struct tb_json_reader *reader,
                                  struct tb_arena *arena,
                                  struct tb_added_token *token)
{
    *token = (struct tb_added_token){0};
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        if (tb_span_equal(key, TB_SPAN("content")))
            TB_TRY(keep_string(reader, arena, &token->content));
        else if (tb_span_equal(key, TB_SPAN("single_word")))
            TB_TRY(read_bool(reader, &token->is_single_word));
        else if (tb_span_equal(key, TB_SPAN("lstrip")))
            TB_TRY(read_bool(reader, &token->is_left_strip));
        else if (tb_span_equal(key, TB_SPAN("rstrip")))
            TB_TRY(read_bool(reader, &token->is_right_strip));
        else if (tb_span_equal(key, TB_SPAN("normalized")))
            TB_TRY(read_bool(reader, &token->is_normalized));
        else
            TB_TRY(tb_json_skip(reader));
    }
}

// What the token looks like in normalised text.
static tb_status normalize_content(struct tb_tokenizer *tokenizer,
                                   struct tb_span *content)
{
    struct tb_buffer scratch[2] = {TB_BUFFER(1 << 20), TB_BUFFER(1 << 20)};
    struct tb_span text = *content;
    tb_status status =
        tb_normalizer_apply(&tokenizer->normalizer, scratch, &text);
    if (status == TB_OK)
        status = tb_arena_copy(&tokenizer->arena, text, content);
    tb_buffer_release(&scratch[0]);
    tb_buffer_release(&scratch[1]);
    return status;
}

/* Ids are given as the reference does when it loads the file: that of the
 * model's vocabulary, else the next free one; what the file says is not
 * looked at. */
static tb_status add_added_token(struct tb_tokenizer *tokenizer,
                                 struct tb_added_token *token,
                                 uint32_t *next_id)
{
    if (token->content.len == 0)
        return TB_OK;
    token->id = tb_vocab_find(&tokenizer->strings, token->content);
    if (token->id == TB_NO_TOKEN)
        token->id = (*next_id)++;
    if (token->id >= tokenizer->vocab_size)
        tokenizer->vocab_size = token->id + 1;
    if (!token->is_normalized)
        return tb_added_tokens_add(&tokenizer->raw_tokens, token);
    TB_TRY(normalize_content(tokenizer, &token->content));
    if (token->content.len == 0)
        return TB_OK;
    return tb_added_tokens_add(&tokenizer->normalized_tokens, token);
}

static tb_status read_added_tokens(struct tb_tokenizer *tokenizer,
                                   struct tb_json_reader *reader)
{
    uint32_t next_id = tokenizer->model_count;
    TB_TRY(tb_json_enter_array(reader));
    for (;;) {
        bool found;
        struct tb_added_token token;
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            break;
        TB_TRY(read_added_token(reader, &tokenizer->arena, &token));
        TB_TRY(add_added_token(tokenizer, &token, &next_id));
    }
    return TB_OK;
}

static tb_status load_added_tokens(struct tb_tokenizer *tokenizer,
                                   const struct parts *parts,
                                   struct tb_error *error)
{
    if (is_absent(parts->added_tokens))
        return TB_OK;
    struct tb_json_reader reader;
    open_part(&reader, parts, parts->added_tokens);
    tb_status status = read_added_tokens(tokenizer, &reader);
    if (status != TB_OK && error)
        *error = reader.error;
    tb_added_tokens_index(&tokenizer->raw_tokens);
    tb_added_tokens_index(&tokenizer->normalized_tokens);
    return status;
}

static tb_status load(struct tb_tokenizer *tokenizer, struct parts *parts,
                      struct tb_error *error)
{
    struct tb_json_reader reader;
    tb_json_reader_init_span(&reader, parts->json, 0, 1);
    tb_status status = read_parts(&reader, parts);
    if (status != TB_OK) {
        if (error)
            *error = reader.error;
        return status;
    }
    TB_TRY(
        read_chain(tokenizer, parts, parts->normalizer, add_normalizer, error));
    TB_TRY(read_chain(tokenizer, parts, parts->pre_tokenizer, add_pretokenizer,
                      error));
    TB_TRY(read_model(tokenizer, parts, error));
    TB_TRY(load_added_tokens(tokenizer, parts, error));
    tb_vocab_release(&tokenizer->strings);
    return TB_OK;
}

tb_status tb_tokenizer_from_json(struct tb_span json,
                                 struct tb_tokenizer **tokenizer,
                                 struct tb_error *error)
{
    struct tb_tokenizer *made;
    TB_TRY(tb_tokenizer_new(&made));
    struct parts parts = {.json = json};
    tb_status status = load(made, &parts, error);
    if (status != TB_OK) {
        if (error && error->status == TB_OK)
            tb_fail(error, status, "%s", tb_status_name(status));
        tb_tokenizer_free(made);
        return status;
    }
    struct tb_hash128 hash = tb_hash128(json, 0);
    (void)snprintf(made->fingerprint, sizeof(made->fingerprint),
                   "%016llx%016llx", (unsigned long long)hash.high,
                   (unsigned long long)hash.low);
    *tokenizer = made;
    return TB_OK;
}
