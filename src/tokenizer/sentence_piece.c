#include "sentence_piece.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "space_border.h"
#include "utf8.h"

void tb_sentence_piece_init(struct tb_sentence_piece *model)
{
    *model = (struct tb_sentence_piece){.unknown = TB_NO_TOKEN};
    tb_vocab_init(&model->pieces);
    tb_vocab_init(&model->reserved);
    tb_vocab_init(&model->symbols);
}

void tb_sentence_piece_release(struct tb_sentence_piece *model)
{
    tb_vocab_release(&model->pieces);
    tb_vocab_release(&model->reserved);
    tb_vocab_release(&model->symbols);
    tb_trie_release(&model->piece_trie);
    tb_trie_release(&model->symbol_trie);
    tb_memory_free(model->types);
    tb_memory_free(model->scores);
}

struct tb_span tb_piece_space(const struct tb_sentence_piece *model)
{
    if (!model->rules.is_escaping_spaces)
        return TB_SPAN(" ");
    return TB_ESCAPED_SPACE;
}

/* ---- index ------------------------------------------------------------------
 */

static tb_status check_twins(const struct tb_vocab *vocab,
                             struct tb_error *error)
{
    tb_token id, twin;
    if (!tb_vocab_find_twins(vocab, &id, &twin))
        return TB_OK;
    return tb_fail(error, TB_ERR_VALUE, "pieces %u and %u are the same", id,
                   twin);
}

// For byte pair encoding the library keeps all pieces in one table.
static tb_status check_reserved(const struct tb_sentence_piece *model,
                                struct tb_error *error)
{
    for (tb_token id = 0; id < model->reserved.id_count; id++) {
        struct tb_span text = tb_vocab_bytes(&model->reserved, id);
        tb_token twin =
            text.len ? tb_vocab_find(&model->pieces, text) : TB_NO_TOKEN;
        if (twin != TB_NO_TOKEN)
            return tb_fail(error, TB_ERR_VALUE, "pieces %u and %u are the same",
                           id, twin);
    }
    return TB_OK;
}

// The names of all bytes, if there is byte fallback; else of none.
static tb_status find_bytes(struct tb_sentence_piece *model,
                            struct tb_error *error)
{
    size_t wanted = model->has_byte_fallback ? 256 : 0, count = 0;
    for (size_t id = 0; id < model->count; id++)
        count += model->types[id] == TB_PIECE_BYTE;
    if (count != wanted)
        return tb_fail(error, TB_ERR_VALUE,
                       "%zu pieces are bytes, but byte_fallback is %s", count,
                       wanted ? "set" : "not set");
    for (unsigned byte = 0; byte < wanted; byte++) {
        char name[8];
        int len = snprintf(name, sizeof(name), "<0x%02X>", byte);
        struct tb_span text = {(const uint8_t *)name, (size_t)len};
        tb_token id = tb_vocab_find(&model->reserved, text);
        if (id == TB_NO_TOKEN || model->types[id] != TB_PIECE_BYTE)
            return tb_fail(error, TB_ERR_VALUE,
                           "byte_fallback is set, but there is no piece %s",
                           name);
        model->byte_tokens[byte] = id;
    }
    return TB_OK;
}

static void look_at_types(struct tb_sentence_piece *model)
{
    model->least_score = FLT_MAX;
    for (size_t id = 0; id < model->count; id++) {
        bool is_in_text = tb_vocab_bytes(&model->pieces, (tb_token)id).ptr;
        if (model->types[id] == TB_PIECE_UNUSED && is_in_text)
            model->has_unused = true;
        if (model->types[id] == TB_PIECE_NORMAL &&
            model->scores[id] < model->least_score)
            model->least_score = model->scores[id];
    }
}

/* Notes where a piece has a space behind another character, and says whether it
 * has one before another. What no piece has, no merge can make, so that a text
 * may be cut there. */
static bool mark_borders(struct tb_sentence_piece *model, struct tb_span piece,
                         struct tb_span space)
{
    bool was_space = false, is_behind = false;
    for (size_t at = 0, len; at < piece.len; at += len) {
        bool is_space = tb_span_starts_with(tb_span_from(piece, at), space);
        uint32_t code_point;
        len = is_space ? space.len : tb_utf8_decode(piece, at, &code_point);
        if (at > 0 && is_space && !was_space)
            model->borders.is_joined[piece.ptr[at - 1]] = true;
        is_behind |= was_space && !is_space;
        was_space = is_space;
    }
    return is_behind;
}

static void find_cuts(struct tb_sentence_piece *model)
{
    struct tb_span space = tb_piece_space(model);
    model->borders.is_any = model->is_cut_behind_space = !model->has_unused;
    for (tb_token id = 0; id < model->pieces.id_count; id++)
        if (mark_borders(model, tb_vocab_bytes(&model->pieces, id), space))
            model->is_cut_behind_space = false;
}

tb_status tb_sentence_piece_index(struct tb_sentence_piece *model,
                                  struct tb_error *error)
{
    TB_TRY(tb_vocab_index(&model->pieces, NULL, NULL));
    TB_TRY(tb_vocab_index(&model->reserved, NULL, NULL));
    TB_TRY(tb_vocab_index(&model->symbols, NULL, NULL));
    TB_TRY(check_twins(&model->pieces, error));
    TB_TRY(check_twins(&model->reserved, error));
    if (model->method == TB_PIECE_BPE)
        TB_TRY(check_reserved(model, error));
    if (model->unknown == TB_NO_TOKEN && !model->has_byte_fallback)
        return tb_fail(error, TB_ERR_VALUE, "no piece is the unknown one");
    TB_TRY(find_bytes(model, error));
    look_at_types(model);
    find_cuts(model);
    for (tb_token id = 0; id < model->symbols.id_count; id++) {
        struct tb_span symbol = tb_vocab_bytes(&model->symbols, id);
        if (symbol.len)
            model->is_symbol_start[symbol.ptr[0]] = true;
    }
    TB_TRY(tb_trie_build(&model->symbol_trie, &model->symbols));
    if (model->method != TB_PIECE_UNIGRAM)
        return TB_OK;
    if (model->pieces.id_count == 0)
        return tb_fail(error, TB_ERR_VALUE, "no piece can be found in a text");
    return tb_trie_build(&model->piece_trie, &model->pieces);
}

/* ---- pieces -----------------------------------------------------------------
 */

size_t tb_piece_symbol_len(const struct tb_sentence_piece *model,
                           struct tb_span text, size_t at)
{
    size_t found = 0;
    if (!model->is_symbol_start[text.ptr[at]])
        return 0;
    uint32_t node = 0;
    for (size_t end = at; end < text.len;) {
        node = tb_trie_step(&model->symbol_trie, node, text.ptr[end++]);
        if (node == 0)
            break;
        if (model->symbol_trie.nodes[node].id != TB_NO_TOKEN)
            found = end - at;
    }
    return found;
}

tb_token tb_piece_find(const struct tb_sentence_piece *model,
                       struct tb_span text)
{
    tb_token id = tb_vocab_find(&model->pieces, text);
    return id == TB_NO_TOKEN ? model->unknown : id;
}

tb_status tb_piece_append(const struct tb_sentence_piece *model,
                          struct tb_span text, tb_token id,
                          struct tb_tokens *tokens, size_t start)
{
    if (id != model->unknown)
        return tb_tokens_append(tokens, &id, 1);
    if (!model->has_byte_fallback) {
        bool is_going_on =
            tokens->count > start && tokens->ids[tokens->count - 1] == id;
        return is_going_on ? TB_OK : tb_tokens_append(tokens, &id, 1);
    }
    for (size_t i = 0; i < text.len; i++)
        TB_TRY(tb_tokens_append(tokens, &model->byte_tokens[text.ptr[i]], 1));
    return TB_OK;
}

void tb_sentence_piece_join(const struct tb_sentence_piece *model,
                            struct tb_tokens *tokens, size_t border)
{
    if (border == 0 || border >= tokens->count ||
        tokens->ids[border] != model->unknown ||
        tokens->ids[border - 1] != model->unknown)
        return;
    tokens->count--;
    memmove(tokens->ids + border, tokens->ids + border + 1,
            (tokens->count - border) * sizeof(*tokens->ids));
}

/* ---- parts ------------------------------------------------------------------
 */

static bool can_cut_behind(const struct tb_sentence_piece *model, uint8_t byte)
{
    return model->borders.is_any && !model->borders.is_joined[byte];
}

/* Where the part that begins at `start` ends. A symbol is a part of its own.
 * A word begins at each space, or where spaces begin, or where they end. */
static size_t part_end(const struct tb_sentence_piece *model,
                       struct tb_span text, struct tb_span space, size_t start)
{
    bool is_word = model->method == TB_PIECE_WORD;
    bool was_space = false;
    for (size_t at = start, len; at < text.len; at += len) {
        size_t symbol_len = is_word ? 0 : tb_piece_symbol_len(model, text, at);
        if (symbol_len)
            return at == start ? at + symbol_len : at;
        bool is_space = tb_span_starts_with(tb_span_from(text, at), space);
        uint32_t code_point;
        len = is_space ? space.len : tb_utf8_decode(text, at, &code_point);
        bool is_border = is_word ? is_space
                         : is_space
                             ? !was_space && at > start &&
                                   can_cut_behind(model, text.ptr[at - 1])
                             : was_space && model->is_cut_behind_space;
        if (at > start && is_border)
            return at;
        was_space = is_space;
    }
    return text.len;
}

tb_status tb_sentence_piece_split(
    const struct tb_sentence_piece *model, struct tb_span text,
    tb_status (*on_part)(void *context, struct tb_span part), void *context)
{
    struct tb_span space = tb_piece_space(model);
    bool is_whole = model->method == TB_PIECE_UNIGRAM || model->has_unused;
    if (is_whole && model->method != TB_PIECE_WORD)
        return text.len ? on_part(context, text) : TB_OK;
    if (model->method == TB_PIECE_WORD)
        space = TB_ESCAPED_SPACE;
    for (size_t at = 0, end; at < text.len; at = end) {
        end = part_end(model, text, space, at);
        struct tb_span part = {text.ptr + at, end - at};
        TB_TRY(on_part(context, part));
    }
    return TB_OK;
}

// A character or a word as it is; what is unused is not known.
static tb_status append_whole(const struct tb_sentence_piece *model,
                              struct tb_span text, struct tb_tokens *tokens,
                              size_t start)
{
    tb_token id = tb_piece_find(model, text);
    if (id != model->unknown && model->types[id] == TB_PIECE_UNUSED)
        id = model->unknown;
    return tb_piece_append(model, text, id, tokens, start);
}

static tb_status encode_characters(const struct tb_sentence_piece *model,
                                   struct tb_span part,
                                   struct tb_tokens *tokens)
{
    size_t start = tokens->count;
    for (size_t at = 0, len; at < part.len; at += len) {
        uint32_t code_point;
        len = tb_piece_symbol_len(model, part, at);
        if (len == 0)
            len = tb_utf8_decode(part, at, &code_point);
        TB_TRY(append_whole(model, (struct tb_span){part.ptr + at, len}, tokens,
                            start));
    }
    return TB_OK;
}

tb_status tb_sentence_piece_encode(const struct tb_sentence_piece *model,
                                   struct tb_piece_work *work,
                                   struct tb_span part,
                                   struct tb_tokens *tokens)
{
    switch (model->method) {
    case TB_PIECE_BPE:
        return tb_piece_encode_bpe(model, work, part, tokens);
    case TB_PIECE_WORD:
        return append_whole(model, part, tokens, tokens->count);
    case TB_PIECE_CHAR:
        return encode_characters(model, part, tokens);
    case TB_PIECE_UNIGRAM:
    default:
        return tb_piece_encode_unigram(model, work, part, tokens);
    }
}

void tb_piece_work_release(struct tb_piece_work *work)
{
    tb_memory_free(work->symbols);
    tb_memory_free(work->heap);
    tb_memory_free(work->steps);
    tb_memory_free(work->pending);
    tb_memory_free(work->left_lens);
    *work = (struct tb_piece_work){0};
}
