#include "word_piece.h"

static bool is_inside_character(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

static size_t count_characters(struct tb_span text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += !is_inside_character(text.ptr[i]);
    return count;
}

/* The longest token that the rest of a word begins with. `rest` has room for
 * the prefix before it, which is there when the rest is not the whole. */
static tb_token find_longest(const struct tb_word_piece *model,
                             struct tb_span rest, size_t prefix_len,
                             size_t *len)
{
    size_t most = model->vocab.max_len;
    most = most > prefix_len ? most - prefix_len : 0;
    for (*len = rest.len < most ? rest.len : most; *len > 0; (*len)--) {
        if (*len < rest.len && is_inside_character(rest.ptr[*len]))
            continue;
        struct tb_span candidate = {rest.ptr - prefix_len, prefix_len + *len};
        tb_token id = tb_vocab_find(&model->vocab, candidate);
        if (id != TB_NO_TOKEN)
            return id;
    }
    return TB_NO_TOKEN;
}

static tb_status append_unknown(const struct tb_word_piece *model,
                                struct tb_tokens *tokens)
{
    if (model->unknown == TB_NO_TOKEN)
        return TB_ERR_VALUE;
    return tb_tokens_append(tokens, &model->unknown, 1);
}

tb_status tb_word_piece_encode(const struct tb_word_piece *model,
                               struct tb_buffer *text, struct tb_span word,
                               struct tb_tokens *tokens)
{
    if (model->is_whole_words) {
        tb_token id = tb_vocab_find(&model->vocab, word);
        return id == TB_NO_TOKEN ? append_unknown(model, tokens)
                                 : tb_tokens_append(tokens, &id, 1);
    }
    if (count_characters(word) > model->max_word_len)
        return append_unknown(model, tokens);
    size_t before = tokens->count;
    size_t prefix_len = model->prefix.len;
    tb_buffer_clear(text);
    TB_TRY(tb_buffer_append(text, model->prefix));
    TB_TRY(tb_buffer_append(text, word));
    for (size_t at = 0, len; at < word.len; at += len) {
        // The prefix goes over what was used up; at the start it is no part.
        for (size_t i = 0; i < prefix_len && at > 0; i++)
            text->ptr[at + i] = model->prefix.ptr[i];
        struct tb_span rest = {text->ptr + prefix_len + at, word.len - at};
        tb_token id = find_longest(model, rest, at ? prefix_len : 0, &len);
        if (id == TB_NO_TOKEN) {
            tokens->count = before;
            return append_unknown(model, tokens);
        }
        TB_TRY(tb_tokens_append(tokens, &id, 1));
    }
    return TB_OK;
}

void tb_word_piece_release(struct tb_word_piece *model)
{
    tb_vocab_release(&model->vocab);
}
