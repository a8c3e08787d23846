#include "safe_cut.h"

#include <string.h>

#include "tokenizer_model.h"

static bool is_safe_before(uint8_t byte)
{
    uint8_t lower = byte | 0x20;
    return (byte >= '0' && byte <= '9') || (lower >= 'a' && lower <= 'z') ||
           byte == '.' || byte == ',' || byte == ';' || byte == ')';
}

size_t tb_safe_cut_after(struct tb_span text, size_t from)
{
    for (size_t at = from + 1; at + 1 < text.len; at++) {
        const uint8_t *space = memchr(text.ptr + at, ' ', text.len - 1 - at);
        if (!space)
            break;
        at = (size_t)(space - text.ptr);
        uint8_t behind = text.ptr[at + 1];
        if (behind >= 'a' && behind <= 'z' && is_safe_before(text.ptr[at - 1]))
            return at;
    }
    return text.len;
}

/* ---- whose texts can be cut -------------------------------------------------
 */

// Does a token reach or look across a place between x and a space?
static bool is_any_across(const struct tb_added_tokens *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct tb_added_token *token = &set->tokens[i];
        if (token->is_left_strip || token->is_right_strip ||
            token->is_single_word ||
            memchr(token->content.ptr, ' ', token->content.len))
            return true;
    }
    return false;
}

// Behind such a token a text begins anew, with what is put before one.
static bool is_any_before_cut(const struct tb_added_tokens *set)
{
    for (size_t i = 0; i < set->count; i++) {
        struct tb_span content = set->tokens[i].content;
        if (is_safe_before(content.ptr[content.len - 1]))
            return true;
    }
    return false;
}

static bool is_any_spaced(const struct tb_added_tokens *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (tb_span_contains(set->tokens[i].content, TB_ESCAPED_SPACE))
            return true;
    return false;
}

// Is there a border between every x and the space behind it?
static bool has_piece_borders(const struct tb_space_borders *borders)
{
    for (unsigned byte = 0; byte < 128; byte++)
        if (is_safe_before((uint8_t)byte) && borders->is_joined[byte])
            return false;
    return borders->is_any;
}

static bool has_merge_borders(const struct tb_merge_borders *borders)
{
    for (unsigned byte = 0; byte < 128; byte++)
        if (is_safe_before((uint8_t)byte) &&
            !tb_merge_is_border(borders, (uint8_t)byte, TB_BORDER_SPACE))
            return false;
    return borders->is_any;
}

/* Is a text one word with U+2581 for each space, that the model can cut? The
 * normalizer makes it so, or Metaspace. */
static bool is_cut_by_model(const struct tb_tokenizer *tokenizer)
{
    bool is_prepending;
    if (tokenizer->model != TB_MODEL_BPE ||
        !has_merge_borders(&tokenizer->bpe.borders))
        return false;
    if (tb_normalizer_is_local(&tokenizer->normalizer))
        return tb_pretokenizer_escapes_spaces(&tokenizer->pretokenizer,
                                              TB_ESCAPED_SPACE);
    return tb_normalizer_escapes_spaces(&tokenizer->normalizer,
                                        TB_ESCAPED_SPACE, &is_prepending) &&
           tb_pretokenizer_cuts_at_spaces_only(&tokenizer->pretokenizer) &&
           !is_any_spaced(&tokenizer->normalized_tokens) &&
           !(is_prepending && is_any_before_cut(&tokenizer->raw_tokens));
}

/* Is there a cut before every space, whatever a normalizer makes of what stands
 * beside it? */
static bool is_cut_before_spaces(const struct tb_tokenizer *tokenizer)
{
    bool is_escaping;
    return tb_normalizer_keeps_words(&tokenizer->normalizer, TB_ESCAPED_SPACE,
                                     &is_escaping) &&
           tb_pretokenizer_cuts_before_spaces(
               &tokenizer->pretokenizer,
               is_escaping ? TB_ESCAPED_SPACE : (struct tb_span){0}) &&
           !(is_escaping && is_any_spaced(&tokenizer->normalized_tokens));
}

/* A place x|_y with x a letter, digit or one of .,;) and y a lower-case letter
 * is a border for added tokens that neither contain a space nor look around,
 * and for those chains that say so. */
bool tb_tokenizer_can_cut(const struct tb_tokenizer *tokenizer)
{
    if (tokenizer->model == TB_MODEL_SENTENCE_PIECE)
        return has_piece_borders(&tokenizer->sentence_piece.borders) &&
               tb_sentence_piece_can_cut(&tokenizer->sentence_piece);
    if (is_any_across(&tokenizer->raw_tokens) ||
        is_any_across(&tokenizer->normalized_tokens))
        return false;
    bool is_cut_by_words = tb_normalizer_is_local(&tokenizer->normalizer) &&
                           tb_pretokenizer_is_local(&tokenizer->pretokenizer);
    return is_cut_by_words || is_cut_before_spaces(tokenizer) ||
           is_cut_by_model(tokenizer);
}
