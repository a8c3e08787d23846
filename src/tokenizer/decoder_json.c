/* Decoders out of a tokenizer.json. */
#include "component.h"

#include "utf8.h"

static tb_status add_step(struct tb_tokenizer *tokenizer,
                          struct tb_json_reader *reader,
                          const struct tb_decoder_step *step)
{
    struct tb_decoder *decoder = &tokenizer->decoder;
    if (decoder->step_count == TB_DECODER_MAX_STEPS)
        return tb_json_fail(reader, TB_ERR_LIMIT, "more than %d decoders",
                            TB_DECODER_MAX_STEPS);
    decoder->steps[decoder->step_count++] = *step;
    return TB_OK;
}

// For those that cannot work without their text.
static tb_status add_with_text(struct tb_tokenizer *tokenizer,
                               struct tb_json_reader *reader,
                               const struct tb_component *component,
                               const struct tb_decoder_step *step)
{
    if (step->text.len)
        return add_step(tokenizer, reader, step);
    return tb_json_fail(
        reader, TB_ERR_UNSUPPORTED, "decoder '%.*s' without a text to look for",
        (int)component->type.len, (const char *)component->type.ptr);
}

static bool is_one_character(struct tb_span text)
{
    uint32_t code_point;
    return text.len && tb_utf8_decode(text, 0, &code_point) == text.len;
}

static bool read_count(const struct tb_json_number *number, uint32_t *count)
{
    if (!number->is_integer || number->integer < 0 ||
        number->integer > UINT32_MAX)
        return false;
    *count = (uint32_t)number->integer;
    return true;
}

static tb_status add_strip(struct tb_tokenizer *tokenizer,
                           struct tb_json_reader *reader,
                           const struct tb_component *component)
{
    struct tb_decoder_step step = {.kind = TB_DECODE_STRIP,
                                   .text = component->content};
    if (!is_one_character(component->content) ||
        !read_count(&component->start, &step.start) ||
        !read_count(&component->stop, &step.stop))
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "a Strip needs one character, start and stop");
    return add_step(tokenizer, reader, &step);
}

static tb_status add_metaspace(struct tb_tokenizer *tokenizer,
                               struct tb_json_reader *reader,
                               const struct tb_component *component)
{
    struct tb_decoder_step step = {.kind = TB_DECODE_METASPACE,
                                   .text = component->replacement};
    step.is_first_spaced = tb_span_equal(component->scheme, TB_SPAN("never"));
    if (!is_one_character(component->replacement))
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "the replacement of a Metaspace is no character");
    return add_step(tokenizer, reader, &step);
}

static tb_status decoder_add(struct tb_tokenizer *tokenizer,
                             struct tb_json_reader *reader,
                             const struct tb_component *component)
{
    struct tb_decoder_step step = {.kind = TB_DECODE_BYTE_LEVEL};
    if (tb_component_is(component, "ByteLevel"))
        return add_step(tokenizer, reader, &step);
    step.kind = TB_DECODE_BYTE_FALLBACK;
    if (tb_component_is(component, "ByteFallback"))
        return add_step(tokenizer, reader, &step);
    step.kind = TB_DECODE_FUSE;
    if (tb_component_is(component, "Fuse"))
        return add_step(tokenizer, reader, &step);
    if (tb_component_is(component, "Strip"))
        return add_strip(tokenizer, reader, component);
    if (tb_component_is(component, "Metaspace"))
        return add_metaspace(tokenizer, reader, component);
    if (tb_component_is(component, "WordPiece")) {
        step = (struct tb_decoder_step){.kind = TB_DECODE_WORD_PIECE,
                                        .text = component->prefix};
        step.is_cleaning = component->is_cleaning_up == TB_FLAG_TRUE;
        return add_with_text(tokenizer, reader, component, &step);
    }
    if (tb_component_is(component, "BPEDecoder")) {
        step = (struct tb_decoder_step){.kind = TB_DECODE_SUFFIX,
                                        .text = component->suffix};
        return add_with_text(tokenizer, reader, component, &step);
    }
    if (tb_component_is(component, "Replace")) {
        step = (struct tb_decoder_step){.kind = TB_DECODE_REPLACE,
                                        .text = component->literal,
                                        .into = component->content};
        return add_with_text(tokenizer, reader, component, &step);
    }
    return tb_component_refuse(reader, "decoder", component->type);
}

tb_status tb_decoder_from_json(struct tb_tokenizer *tokenizer,
                               const struct tb_file_parts *parts)
{
    struct tb_decoder *decoder = &tokenizer->decoder;
    struct tb_error error = {0};
    if (!parts->decoder.ptr || tb_span_equal(parts->decoder, TB_SPAN("null"))) {
        decoder->steps[0].kind = TB_DECODE_SPACES;
        decoder->step_count = 1;
        return TB_OK;
    }
    tb_status status = tb_component_read_chain(tokenizer, parts, parts->decoder,
                                               decoder_add, &error);
    if (status == TB_OK || status == TB_ERR_MEMORY)
        return status;
    return tb_arena_copy(&tokenizer->arena, tb_span_of(error.message),
                         &decoder->refusal);
}
