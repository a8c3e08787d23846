/* How SentencePiece normalises a text: step by step from the left, each step
 * takes a symbol as it is, the longest rule of the table, or one character. */
#include "sentence_piece.h"
#include "space_border.h"
#include "utf8.h"

/* What a step takes from the text, and what that becomes. */
struct prefix {
    size_t len; /* bytes of the text */
    struct tb_span becomes;
};

static struct prefix next_prefix(const struct tb_sentence_piece *model,
                                 struct tb_span text, size_t at)
{
    struct prefix prefix = {0};
    uint32_t code_point;
    prefix.len = tb_piece_symbol_len(model, text, at);
    if (prefix.len == 0 &&
        tb_charsmap_find_longest(&model->rules.charsmap, tb_span_from(text, at),
                                 &prefix.len, &prefix.becomes))
        return prefix;
    if (prefix.len == 0)
        prefix.len = tb_utf8_decode(text, at, &code_point);
    prefix.becomes = (struct tb_span){text.ptr + at, prefix.len};
    return prefix;
}

static bool is_space(struct tb_span text)
{
    return tb_span_equal(text, TB_SPAN(" "));
}

static tb_status append(const struct tb_sentence_piece *model,
                        struct tb_span text, struct tb_buffer *out)
{
    if (!model->rules.is_escaping_spaces)
        return tb_buffer_append(out, text);
    for (size_t at = 0; at < text.len;) {
        size_t end = at;
        while (end < text.len && text.ptr[end] != ' ')
            end++;
        TB_TRY(
            tb_buffer_append(out, (struct tb_span){text.ptr + at, end - at}));
        if (end < text.len)
            TB_TRY(tb_buffer_append(out, tb_piece_space(model)));
        at = end + 1;
    }
    return TB_OK;
}

static size_t skip_spaces(const struct tb_sentence_piece *model,
                          struct tb_span text)
{
    for (size_t at = 0; at < text.len;) {
        struct prefix prefix = next_prefix(model, text, at);
        if (!is_space(prefix.becomes))
            return at;
        at += prefix.len;
    }
    return text.len;
}

static tb_status normalize_from(const struct tb_sentence_piece *model,
                                struct tb_span text, size_t at,
                                struct tb_buffer *out)
{
    bool is_dropping = model->rules.is_dropping_spaces;
    bool was_space = is_dropping;
    while (at < text.len) {
        struct prefix prefix = next_prefix(model, text, at);
        struct tb_span becomes = prefix.becomes;
        while (was_space && becomes.len && becomes.ptr[0] == ' ')
            becomes = tb_span_from(becomes, 1);
        if (becomes.len) {
            TB_TRY(append(model, becomes, out));
            was_space = is_dropping && becomes.ptr[becomes.len - 1] == ' ';
        }
        at += prefix.len;
    }
    return TB_OK;
}

// The dummy space goes with them where there is nothing else.
static void drop_last_spaces(const struct tb_sentence_piece *model,
                             size_t start, struct tb_buffer *out)
{
    struct tb_span space = tb_piece_space(model);
    while (out->len - start >= space.len &&
           tb_span_ends_with(tb_buffer_span(out), space))
        out->len -= space.len;
}

tb_status tb_sentence_piece_normalize(const struct tb_sentence_piece *model,
                                      struct tb_span text, bool is_rest,
                                      struct tb_buffer *out)
{
    const struct tb_piece_rules *rules = &model->rules;
    size_t start = out->len;
    size_t at = rules->is_dropping_spaces ? skip_spaces(model, text) : 0;
    if (at == text.len)
        return TB_OK;
    if (rules->has_dummy_space && !rules->is_space_behind && !is_rest)
        TB_TRY(tb_buffer_append(out, tb_piece_space(model)));
    TB_TRY(normalize_from(model, text, at, out));
    if (rules->is_dropping_spaces)
        drop_last_spaces(model, start, out);
    if (rules->has_dummy_space && rules->is_space_behind)
        TB_TRY(tb_buffer_append(out, tb_piece_space(model)));
    return TB_OK;
}

/* One in whose normal form each character is what it was, a space but for its
 * spelling, and no symbol reaches across one. */
static bool is_local(const struct tb_sentence_piece *model)
{
    const struct tb_piece_rules *rules = &model->rules;
    if (rules->charsmap.unit_count || rules->is_dropping_spaces ||
        !rules->is_escaping_spaces || rules->is_space_behind)
        return false;
    for (tb_token id = 0; id < model->symbols.id_count; id++) {
        struct tb_span symbol = tb_vocab_bytes(&model->symbols, id);
        if (tb_span_count(symbol, ' ') ||
            tb_span_contains(symbol, TB_ESCAPED_SPACE))
            return false;
    }
    return true;
}

bool tb_sentence_piece_can_cut(const struct tb_sentence_piece *model)
{
    // A space that is a piece is no part of an unknown one.
    return model->method == TB_PIECE_BPE &&
           tb_vocab_find(&model->pieces, TB_ESCAPED_SPACE) != TB_NO_TOKEN &&
           is_local(model);
}
