/* Pre-tokenizers out of a tokenizer.json. */
#include "component.h"

#include "utf8.h"

enum { DEFAULT_LENGTH = 5 }; /* of FixedLength, characters */

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

static tb_status add_step(struct tb_tokenizer *tokenizer,
                          struct tb_json_reader *reader,
                          const struct tb_pretokenizer_step *step)
{
    struct tb_pretokenizer *chain = &tokenizer->pretokenizer;
    if (chain->step_count == TB_PRETOKENIZER_MAX_STEPS) {
        tb_regex_free(step->regex);
        return tb_json_fail(reader, TB_ERR_LIMIT, "more than %d pre_tokenizers",
                            TB_PRETOKENIZER_MAX_STEPS);
    }
    chain->steps[chain->step_count++] = *step;
    return TB_OK;
}

static tb_status add_scan(struct tb_tokenizer *tokenizer,
                          struct tb_json_reader *reader, tb_pattern_scan scan,
                          tb_split_behavior behavior)
{
    return add_step(tokenizer, reader,
                    &(struct tb_pretokenizer_step){
                        .scan = scan, .behavior = behavior, .has_gaps = true});
}

static tb_status add_split(struct tb_tokenizer *tokenizer,
                           struct tb_json_reader *reader,
                           const struct tb_component *component)
{
    struct tb_pretokenizer_step step = {.literal = component->literal,
                                        .is_inverted = component->is_inverted ==
                                                       TB_FLAG_TRUE};
    if (!split_behavior(component->behavior, &step.behavior))
        return tb_component_refuse(reader, "Split behavior",
                                   component->behavior);
    if (step.literal.len == 0) {
        // An empty text is found everywhere, as an empty regex is.
        if (!component->has_pattern)
            return tb_json_fail(reader, TB_ERR_VALUE, "a Split has no pattern");
        step.scan = tb_pattern_find(component->regex);
        if (!step.scan)
            TB_TRY(tb_component_compile(reader, component->regex, &step.regex));
    }
    return add_step(tokenizer, reader, &step);
}

/* A step that cuts and one that spells bytes in GPT-2's alphabet. The second
 * is dropped when it is the last and the model takes bytes as they are. */
static tb_status add_byte_level(struct tb_tokenizer *tokenizer,
                                struct tb_json_reader *reader,
                                const struct tb_component *component)
{
    struct tb_pretokenizer_step step = {
        .behavior = TB_SPLIT_ISOLATED,
        .has_prefix_space = component->has_prefix_space == TB_FLAG_TRUE};
    if (component->uses_regex != TB_FLAG_FALSE)
        step.scan = tb_pattern_scan_gpt2;
    if (step.scan || step.has_prefix_space)
        TB_TRY(add_step(tokenizer, reader, &step));
    return add_step(tokenizer, reader,
                    &(struct tb_pretokenizer_step){.kind = TB_CUT_BYTE_LEVEL});
}

static bool is_one_character(struct tb_span text)
{
    uint32_t code_point;
    return text.len && tb_utf8_decode(text, 0, &code_point) == text.len;
}

static tb_status add_metaspace(struct tb_tokenizer *tokenizer,
                               struct tb_json_reader *reader,
                               const struct tb_component *component)
{
    struct tb_pretokenizer_step step = {
        .kind = TB_CUT_METASPACE,
        .literal = component->replacement,
        .is_splitting = component->is_splitting != TB_FLAG_FALSE};
    if (!is_one_character(component->replacement))
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "the replacement of a Metaspace is no character");
    if (tb_span_equal(component->scheme, TB_SPAN("first")))
        step.scheme = TB_PREPEND_FIRST;
    else if (tb_span_equal(component->scheme, TB_SPAN("never")))
        step.scheme = TB_PREPEND_NEVER;
    else if (component->scheme.ptr &&
             !tb_span_equal(component->scheme, TB_SPAN("always")))
        return tb_component_refuse(reader, "prepend_scheme", component->scheme);
    if (component->has_prefix_space == TB_FLAG_FALSE &&
        step.scheme != TB_PREPEND_NEVER)
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "add_prefix_space does not match prepend_scheme");
    return add_step(tokenizer, reader, &step);
}

static tb_status add_punctuation(struct tb_tokenizer *tokenizer,
                                 struct tb_json_reader *reader,
                                 const struct tb_component *component)
{
    tb_split_behavior behavior = TB_SPLIT_ISOLATED;
    if (component->behavior.ptr &&
        !split_behavior(component->behavior, &behavior))
        return tb_component_refuse(reader, "Punctuation behavior",
                                   component->behavior);
    return add_scan(tokenizer, reader, tb_scan_punctuation, behavior);
}

static tb_status add_delimiter(struct tb_tokenizer *tokenizer,
                               struct tb_json_reader *reader,
                               const struct tb_component *component)
{
    if (!is_one_character(component->delimiter))
        return tb_json_fail(
            reader, TB_ERR_VALUE,
            "the delimiter of a CharDelimiterSplit is no character");
    return add_step(
        tokenizer, reader,
        &(struct tb_pretokenizer_step){.literal = component->delimiter,
                                       .behavior = TB_SPLIT_REMOVED});
}

static tb_status add_fixed_length(struct tb_tokenizer *tokenizer,
                                  struct tb_json_reader *reader,
                                  const struct tb_component *component)
{
    struct tb_pretokenizer_step step = {.kind = TB_CUT_LENGTH,
                                        .length = DEFAULT_LENGTH};
    if (component->length.text.ptr) {
        if (!component->length.is_integer || component->length.integer < 1)
            return tb_json_fail(reader, TB_ERR_VALUE,
                                "the length of a FixedLength is below 1");
        step.length = (size_t)component->length.integer;
    }
    return add_step(tokenizer, reader, &step);
}

static tb_status add_whitespace(struct tb_tokenizer *tokenizer,
                                struct tb_json_reader *reader)
{
    return add_step(tokenizer, reader,
                    &(struct tb_pretokenizer_step){.scan = tb_scan_words,
                                                   .behavior = TB_SPLIT_REMOVED,
                                                   .is_inverted = true,
                                                   .has_gaps = true});
}

tb_status tb_pretokenizer_add(struct tb_tokenizer *tokenizer,
                              struct tb_json_reader *reader,
                              const struct tb_component *component)
{
    if (tb_component_is(component, "ByteLevel"))
        return add_byte_level(tokenizer, reader, component);
    if (tb_component_is(component, "Split"))
        return add_split(tokenizer, reader, component);
    if (tb_component_is(component, "Metaspace"))
        return add_metaspace(tokenizer, reader, component);
    if (tb_component_is(component, "Whitespace"))
        return add_whitespace(tokenizer, reader);
    if (tb_component_is(component, "WhitespaceSplit"))
        return add_scan(tokenizer, reader, tb_scan_white_space,
                        TB_SPLIT_REMOVED);
    if (tb_component_is(component, "Punctuation"))
        return add_punctuation(tokenizer, reader, component);
    if (tb_component_is(component, "Digits"))
        return add_scan(tokenizer, reader, tb_scan_numeric,
                        component->has_single_digits == TB_FLAG_TRUE
                            ? TB_SPLIT_ISOLATED
                            : TB_SPLIT_CONTIGUOUS);
    if (tb_component_is(component, "BertPreTokenizer")) {
        TB_TRY(
            add_scan(tokenizer, reader, tb_scan_white_space, TB_SPLIT_REMOVED));
        return add_scan(tokenizer, reader, tb_scan_punctuation,
                        TB_SPLIT_ISOLATED);
    }
    if (tb_component_is(component, "CharDelimiterSplit"))
        return add_delimiter(tokenizer, reader, component);
    if (tb_component_is(component, "UnicodeScripts"))
        return add_step(tokenizer, reader,
                        &(struct tb_pretokenizer_step){.kind = TB_CUT_SCRIPTS});
    if (tb_component_is(component, "FixedLength"))
        return add_fixed_length(tokenizer, reader, component);
    return tb_component_refuse(reader, "pre_tokenizer", component->type);
}
