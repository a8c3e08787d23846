#include "normalizer.h"

#include <string.h>

static tb_status prepend(const struct tb_normalizer_step *step,
                         struct tb_span text, struct tb_buffer *out)
{
    TB_TRY(tb_buffer_append(out, step->content));
    return tb_buffer_append(out, text);
}

static tb_status replace(const struct tb_normalizer_step *step,
                         struct tb_span text, struct tb_buffer *out)
{
    TB_TRY(tb_buffer_reserve(out, text.len));
    while (text.len) {
        const uint8_t *hit =
            memmem(text.ptr, text.len, step->pattern.ptr, step->pattern.len);
        size_t before = hit ? (size_t)(hit - text.ptr) : text.len;
        TB_TRY(tb_buffer_append(out, (struct tb_span){text.ptr, before}));
        if (!hit)
            break;
        TB_TRY(tb_buffer_append(out, step->content));
        text = tb_span_from(text, before + step->pattern.len);
    }
    return TB_OK;
}

// Does the step leave this text as it is?
static bool is_idle(const struct tb_normalizer_step *step, struct tb_span text)
{
    if (text.len == 0)
        return true;
    if (step->kind == TB_NORMALIZER_FORM)
        return tb_normalize_is_inert(text, step->form);
    if (step->kind == TB_NORMALIZER_REPLACE)
        return !memmem(text.ptr, text.len, step->pattern.ptr,
                       step->pattern.len);
    return false;
}

static tb_status apply(const struct tb_normalizer_step *step,
                       struct tb_span text, struct tb_buffer *out)
{
    switch (step->kind) {
    case TB_NORMALIZER_PREPEND:
        return prepend(step, text, out);
    case TB_NORMALIZER_REPLACE:
        return replace(step, text, out);
    case TB_NORMALIZER_FORM:
    default:
        return tb_normalize(text, step->form, out);
    }
}

tb_status tb_normalizer_apply(const struct tb_normalizer *normalizer,
                              struct tb_buffer scratch[2], struct tb_span *text)
{
    size_t into = 0;
    for (size_t i = 0; i < normalizer->step_count; i++) {
        const struct tb_normalizer_step *step = &normalizer->steps[i];
        if (is_idle(step, *text))
            continue;
        struct tb_buffer *out = &scratch[into];
        tb_buffer_clear(out);
        TB_TRY(apply(step, *text, out));
        *text = tb_buffer_span(out);
        into ^= 1;
    }
    return TB_OK;
}
