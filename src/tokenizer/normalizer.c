#include "normalizer.h"

#include <string.h>

#include "byte_level.h"
#include "character.h"
#include "unicode.h"
#include "utf8.h"

static tb_status append_code(struct tb_buffer *out, uint32_t code_point)
{
    uint8_t bytes[TB_UTF8_MAX_LEN];
    size_t len = tb_utf8_encode(code_point, bytes);
    return tb_buffer_append(out, (struct tb_span){bytes, len});
}

/* ---- character by character ------------------------------------------------
 */

static bool is_nmt_removed(uint32_t c)
{
    return (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) ||
           c == 0x7F || c == 0x8F || c == 0x9F;
}

static bool is_nmt_space(uint32_t c)
{
    return c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
           (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 ||
           c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
}

// The blocks of ideographs that BertNormalizer counts as Chinese.
static bool is_chinese(uint32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
           (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
           (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

static tb_status clean(uint32_t c, struct tb_span same, struct tb_buffer *out)
{
    if (tb_character_in(c, TB_CHARACTERS_BERT_CONTROL))
        return TB_OK;
    return tb_buffer_append(out,
                            tb_unicode_is_white_space(c) ? TB_SPAN(" ") : same);
}

static tb_status lower(uint32_t c, struct tb_buffer *out)
{
    TB_TRY(append_code(out, tb_character_lower(c)));
    return c == 0x130 ? append_code(out, 0x307) : TB_OK;
}

static tb_status nmt(uint32_t c, struct tb_span same, struct tb_buffer *out)
{
    if (is_nmt_removed(c))
        return TB_OK;
    return tb_buffer_append(out, is_nmt_space(c) ? TB_SPAN(" ") : same);
}

static tb_status spell_bytes(struct tb_span character, struct tb_buffer *out)
{
    for (size_t i = 0; i < character.len; i++)
        TB_TRY(append_code(out, tb_code_point_of_byte(character.ptr[i])));
    return TB_OK;
}

static tb_status space_out(uint32_t c, struct tb_span same,
                           struct tb_buffer *out)
{
    bool is_spaced = is_chinese(c);
    if (is_spaced)
        TB_TRY(tb_buffer_append_byte(out, ' '));
    TB_TRY(tb_buffer_append(out, same));
    return is_spaced ? tb_buffer_append_byte(out, ' ') : TB_OK;
}

static tb_status drop(enum tb_characters set, uint32_t c, struct tb_span same,
                      struct tb_buffer *out)
{
    return tb_character_in(c, set) ? TB_OK : tb_buffer_append(out, same);
}

// Appends what the character `c`, written `same`, becomes.
static tb_status change(tb_normalizer_kind kind, uint32_t c,
                        struct tb_span same, struct tb_buffer *out)
{
    switch (kind) {
    case TB_NORMALIZER_NMT:
        return nmt(c, same, out);
    case TB_NORMALIZER_LOWERCASE:
        return lower(c, out);
    case TB_NORMALIZER_STRIP_ACCENTS:
        return drop(TB_CHARACTERS_STRIPPED_ACCENT, c, same, out);
    case TB_NORMALIZER_BERT_CLEAN:
        return clean(c, same, out);
    case TB_NORMALIZER_BERT_CHINESE:
        return space_out(c, same, out);
    case TB_NORMALIZER_BERT_ACCENTS:
        return drop(TB_CHARACTERS_BERT_ACCENT, c, same, out);
    case TB_NORMALIZER_BYTE_LEVEL:
        return spell_bytes(same, out);
    default:
        return tb_buffer_append(out, same);
    }
}

static tb_status change_each(tb_normalizer_kind kind, struct tb_span text,
                             struct tb_buffer *out, size_t *origin_len)
{
    size_t origin_end = out->len;
    size_t start = out->len;
    for (size_t at = 0, len; at < text.len; at += len) {
        uint32_t code_point;
        len = tb_utf8_decode(text, at, &code_point);
        struct tb_span same = {text.ptr + at, len};
        TB_TRY(change(kind, code_point, same, out));
        if (at < *origin_len)
            origin_end = out->len;
    }
    *origin_len = origin_end - start;
    return TB_OK;
}

/* ---- the whole text --------------------------------------------------------
 */

static tb_status prepend(const struct tb_normalizer_step *step,
                         struct tb_span text, struct tb_buffer *out,
                         size_t *origin_len)
{
    if (*origin_len)
        *origin_len += step->content.len;
    TB_TRY(tb_buffer_append(out, step->content));
    return tb_buffer_append(out, text);
}

/* Matches one after the other, of a text or of a regex. */
static tb_status next_match(const struct tb_normalizer_step *step,
                            struct tb_regex_region *region, struct tb_span text,
                            struct tb_regex_walk *walk)
{
    if (step->regex)
        return tb_regex_next(step->regex, region, text, walk);
    struct tb_span rest = tb_span_from(text, walk->from);
    const uint8_t *hit =
        memmem(rest.ptr, rest.len, step->pattern.ptr, step->pattern.len);
    walk->found = hit != NULL;
    if (hit) {
        walk->start = (size_t)(hit - text.ptr);
        walk->end = walk->from = walk->start + step->pattern.len;
    }
    return TB_OK;
}

static bool is_byte_for_short(const struct tb_normalizer_step *step)
{
    return !step->regex && step->pattern.len == 1 && step->content.len > 0 &&
           step->content.len <= TB_REPLACEMENT_MAX;
}

static tb_status replace_byte(const struct tb_normalizer_step *step,
                              struct tb_span text, struct tb_buffer *out,
                              size_t *origin_len)
{
    const uint8_t byte = step->pattern.ptr[0];
    struct tb_span origin = {text.ptr, *origin_len};
    *origin_len += (step->content.len - 1) * tb_span_count(origin, byte);
    return tb_buffer_append_replacing(out, text, byte, step->content);
}

static tb_status replace(const struct tb_normalizer_step *step,
                         struct tb_regex_region *region, struct tb_span text,
                         struct tb_buffer *out, size_t *origin_len)
{
    struct tb_regex_walk walk = {0};
    size_t done = 0, start = out->len, origin_end = out->len;
    for (;;) {
        TB_TRY(next_match(step, region, text, &walk));
        size_t end = walk.found ? walk.start : text.len;
        struct tb_span between = {text.ptr + done, end - done};
        TB_TRY(tb_buffer_append(out, between));
        if (done < *origin_len) {
            size_t len = *origin_len - done;
            origin_end = out->len - between.len +
                         (len < between.len ? len : between.len);
        }
        if (!walk.found)
            break;
        TB_TRY(tb_buffer_append(out, step->content));
        if (walk.end <= *origin_len && *origin_len)
            origin_end = out->len;
        done = walk.end;
    }
    *origin_len = origin_end - start;
    return TB_OK;
}

static tb_status normalize(enum tb_normal_form form, struct tb_span text,
                           struct tb_buffer *out, size_t *origin_len)
{
    if (*origin_len)
        TB_TRY(tb_normalize_origin(text, *origin_len, form, origin_len));
    return tb_normalize(text, form, out);
}

static void strip(const struct tb_normalizer_step *step, struct tb_span *text,
                  size_t *origin_len)
{
    uint32_t code_point;
    while (step->is_stripping_left && text->len) {
        size_t len = tb_utf8_decode(*text, 0, &code_point);
        if (!tb_unicode_is_white_space(code_point))
            break;
        *text = tb_span_from(*text, len);
        *origin_len -= *origin_len < len ? *origin_len : len;
    }
    while (step->is_stripping_right && text->len) {
        size_t at = text->len - 1;
        while (at > 0 && (text->ptr[at] & 0xC0) == 0x80)
            at--;
        tb_utf8_decode(*text, at, &code_point);
        if (!tb_unicode_is_white_space(code_point))
            break;
        text->len = at;
    }
    if (*origin_len > text->len)
        *origin_len = text->len;
}

/* ---- steps ------------------------------------------------------------------
 */

// Does the step leave this text as it is?
static bool is_idle(const struct tb_normalizer_step *step, struct tb_span text)
{
    if (text.len == 0)
        return true;
    if (step->kind == TB_NORMALIZER_FORM)
        return tb_normalize_is_inert(text, step->form);
    if (step->kind == TB_NORMALIZER_REPLACE && !step->regex)
        return !memmem(text.ptr, text.len, step->pattern.ptr,
                       step->pattern.len);
    return false;
}

static tb_status apply(const struct tb_normalizer_step *step,
                       struct tb_regex_region *region, struct tb_span text,
                       struct tb_buffer *out, size_t *origin_len)
{
    switch (step->kind) {
    case TB_NORMALIZER_PREPEND:
        return prepend(step, text, out, origin_len);
    case TB_NORMALIZER_REPLACE:
        return is_byte_for_short(step)
                   ? replace_byte(step, text, out, origin_len)
                   : replace(step, region, text, out, origin_len);
    case TB_NORMALIZER_CHARSMAP:
        return tb_charsmap_apply(&step->charsmap, text, out, origin_len);
    case TB_NORMALIZER_FORM:
        return normalize(step->form, text, out, origin_len);
    default:
        return change_each(step->kind, text, out, origin_len);
    }
}

tb_status tb_normalizer_apply(const struct tb_normalizer *normalizer,
                              struct tb_regex_region *region, bool is_rest,
                              struct tb_buffer scratch[2], struct tb_span *text,
                              size_t *origin_len)
{
    size_t into = 0;
    for (size_t i = 0; i < normalizer->step_count; i++) {
        const struct tb_normalizer_step *step = &normalizer->steps[i];
        if (is_idle(step, *text) ||
            (is_rest && step->kind == TB_NORMALIZER_PREPEND))
            continue;
        if (step->kind == TB_NORMALIZER_STRIP) {
            strip(step, text, origin_len);
            continue;
        }
        struct tb_buffer *out = &scratch[into];
        tb_buffer_clear(out);
        TB_TRY(apply(step, region, *text, out, origin_len));
        *text = tb_buffer_span(out);
        into ^= 1;
    }
    return TB_OK;
}

// One character at a time, or what can join it.
static bool is_by_characters(const struct tb_normalizer_step *step)
{
    switch (step->kind) {
    case TB_NORMALIZER_FORM:
    case TB_NORMALIZER_NMT:
    case TB_NORMALIZER_LOWERCASE:
    case TB_NORMALIZER_STRIP_ACCENTS:
    case TB_NORMALIZER_BERT_CLEAN:
    case TB_NORMALIZER_BERT_CHINESE:
    case TB_NORMALIZER_BERT_ACCENTS:
        return true;
    default:
        return false;
    }
}

bool tb_normalizer_is_local(const struct tb_normalizer *normalizer)
{
    for (size_t i = 0; i < normalizer->step_count; i++)
        if (!is_by_characters(&normalizer->steps[i]))
            return false;
    return true;
}

static bool is_of_signs(struct tb_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] >= 0x7F)
            return false;
    return text.len > 0;
}

// Is `content` what several spaces become?
static bool is_of_spaces(const struct tb_normalizer_step *step,
                         struct tb_span content)
{
    return step->kind == TB_NORMALIZER_REPLACE && step->regex &&
           tb_span_equal(tb_regex_pattern(step->regex), TB_SPAN(" {2,}")) &&
           tb_span_equal(step->content, content);
}

static bool keeps_words(const struct tb_normalizer_step *step)
{
    switch (step->kind) {
    case TB_NORMALIZER_CHARSMAP:
        return tb_charsmap_keeps_words(&step->charsmap);
    case TB_NORMALIZER_STRIP:
        return !step->is_stripping_left;
    case TB_NORMALIZER_REPLACE:
        if (step->regex)
            return is_of_spaces(step, TB_SPAN(" "));
        return tb_span_count(step->pattern, ' ') == 0 &&
               is_of_signs(step->content);
    default:
        return is_by_characters(step);
    }
}

bool tb_normalizer_keeps_words(const struct tb_normalizer *normalizer,
                               struct tb_span escaped, bool *is_escaping)
{
    size_t count = normalizer->step_count;
    *is_escaping =
        count > 0 && is_of_spaces(&normalizer->steps[count - 1], escaped);
    for (size_t i = 0; i + *is_escaping < count; i++)
        if (!keeps_words(&normalizer->steps[i]))
            return false;
    return true;
}

bool tb_normalizer_escapes_spaces(const struct tb_normalizer *normalizer,
                                  struct tb_span escaped, bool *is_prepending)
{
    bool is_escaping = false;
    *is_prepending = false;
    for (size_t i = 0; i < normalizer->step_count; i++) {
        const struct tb_normalizer_step *step = &normalizer->steps[i];
        bool is_escape = step->kind == TB_NORMALIZER_REPLACE && !step->regex &&
                         tb_span_equal(step->pattern, TB_SPAN(" ")) &&
                         tb_span_equal(step->content, escaped);
        bool is_prepend = step->kind == TB_NORMALIZER_PREPEND &&
                          !tb_span_contains(step->content, TB_SPAN(" "));
        if (!is_escape && !is_prepend && step->kind != TB_NORMALIZER_FORM)
            return false;
        is_escaping |= is_escape;
        *is_prepending |= is_prepend;
    }
    return is_escaping;
}

bool tb_normalizer_has_regex(const struct tb_normalizer *normalizer)
{
    for (size_t i = 0; i < normalizer->step_count; i++)
        if (normalizer->steps[i].regex)
            return true;
    return false;
}

void tb_normalizer_release(struct tb_normalizer *normalizer)
{
    for (size_t i = 0; i < normalizer->step_count; i++)
        tb_regex_free(normalizer->steps[i].regex);
    normalizer->step_count = 0;
}
