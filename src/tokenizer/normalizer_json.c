/* Normalizers out of a tokenizer.json. */
#include "component.h"

static bool normal_form(const struct tb_component *component,
                        enum tb_normal_form *form)
{
    static const struct {
        const char *name;
        enum tb_normal_form form;
    } forms[] = {
        {"NFC", TB_NFC}, {"NFD", TB_NFD}, {"NFKC", TB_NFKC}, {"NFKD", TB_NFKD}};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (tb_component_is(component, forms[i].name)) {
            *form = forms[i].form;
            return true;
        }
    }
    return false;
}

static bool simple_kind(const struct tb_component *component,
                        tb_normalizer_kind *kind)
{
    static const struct {
        const char *name;
        tb_normalizer_kind kind;
    } kinds[] = {{"Nmt", TB_NORMALIZER_NMT},
                 {"Lowercase", TB_NORMALIZER_LOWERCASE},
                 {"StripAccents", TB_NORMALIZER_STRIP_ACCENTS},
                 {"ByteLevel", TB_NORMALIZER_BYTE_LEVEL}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (tb_component_is(component, kinds[i].name)) {
            *kind = kinds[i].kind;
            return true;
        }
    }
    return false;
}

static tb_status add_step(struct tb_tokenizer *tokenizer,
                          struct tb_json_reader *reader,
                          const struct tb_normalizer_step *step)
{
    struct tb_normalizer *normalizer = &tokenizer->normalizer;
    if (normalizer->step_count == TB_NORMALIZER_MAX_STEPS) {
        tb_regex_free(step->regex);
        return tb_json_fail(reader, TB_ERR_LIMIT, "more than %d normalizers",
                            TB_NORMALIZER_MAX_STEPS);
    }
    normalizer->steps[normalizer->step_count++] = *step;
    return TB_OK;
}

static tb_status add_kind(struct tb_tokenizer *tokenizer,
                          struct tb_json_reader *reader,
                          tb_normalizer_kind kind)
{
    return add_step(tokenizer, reader,
                    &(struct tb_normalizer_step){.kind = kind});
}

// In the order in which the reference does it.
static tb_status add_bert(struct tb_tokenizer *tokenizer,
                          struct tb_json_reader *reader,
                          const struct tb_component *component)
{
    bool is_lowering = component->is_lowering == TB_FLAG_TRUE;
    bool is_dropping = component->is_dropping_accents == TB_FLAG_ABSENT
                           ? is_lowering
                           : component->is_dropping_accents == TB_FLAG_TRUE;
    if (component->is_cleaning == TB_FLAG_TRUE)
        TB_TRY(add_kind(tokenizer, reader, TB_NORMALIZER_BERT_CLEAN));
    if (component->has_chinese == TB_FLAG_TRUE)
        TB_TRY(add_kind(tokenizer, reader, TB_NORMALIZER_BERT_CHINESE));
    if (is_dropping) {
        TB_TRY(add_step(tokenizer, reader,
                        &(struct tb_normalizer_step){.kind = TB_NORMALIZER_FORM,
                                                     .form = TB_NFD}));
        TB_TRY(add_kind(tokenizer, reader, TB_NORMALIZER_BERT_ACCENTS));
    }
    if (!is_lowering)
        return TB_OK;
    return add_kind(tokenizer, reader, TB_NORMALIZER_LOWERCASE);
}

static tb_status add_replace(struct tb_tokenizer *tokenizer,
                             struct tb_json_reader *reader,
                             const struct tb_component *component)
{
    struct tb_normalizer_step step = {.kind = TB_NORMALIZER_REPLACE,
                                      .pattern = component->literal,
                                      .content = component->content};
    // An empty text is found everywhere, as an empty regex is.
    if (component->literal.len == 0) {
        if (!component->has_pattern)
            return tb_json_fail(reader, TB_ERR_VALUE,
                                "a Replace has no pattern");
        TB_TRY(tb_component_compile(reader, component->regex, &step.regex));
    }
    return add_step(tokenizer, reader, &step);
}

static tb_status add_charsmap(struct tb_tokenizer *tokenizer,
                              struct tb_json_reader *reader,
                              const struct tb_component *component)
{
    struct tb_normalizer_step step = {.kind = TB_NORMALIZER_CHARSMAP};
    tb_status status = tb_charsmap_read(&step.charsmap, &tokenizer->arena,
                                        component->charsmap);
    if (status == TB_ERR_SYNTAX)
        return tb_json_fail(reader, status,
                            "precompiled_charsmap is damaged or missing");
    TB_TRY(status);
    return add_step(tokenizer, reader, &step);
}

tb_status tb_normalizer_add(struct tb_tokenizer *tokenizer,
                            struct tb_json_reader *reader,
                            const struct tb_component *component)
{
    struct tb_normalizer_step step = {0};
    if (normal_form(component, &step.form))
        return add_step(tokenizer, reader, &step);
    if (simple_kind(component, &step.kind))
        return add_step(tokenizer, reader, &step);
    if (tb_component_is(component, "BertNormalizer"))
        return add_bert(tokenizer, reader, component);
    if (tb_component_is(component, "Replace"))
        return add_replace(tokenizer, reader, component);
    if (tb_component_is(component, "Precompiled"))
        return add_charsmap(tokenizer, reader, component);
    if (tb_component_is(component, "Prepend")) {
        step.kind = TB_NORMALIZER_PREPEND;
        step.content = component->prepend;
        return add_step(tokenizer, reader, &step);
    }
    if (tb_component_is(component, "Strip")) {
        step.kind = TB_NORMALIZER_STRIP;
        step.is_stripping_left = component->is_stripping_left == TB_FLAG_TRUE;
        step.is_stripping_right = component->is_stripping_right == TB_FLAG_TRUE;
        return add_step(tokenizer, reader, &step);
    }
    return tb_component_refuse(reader, "normalizer", component->type);
}
