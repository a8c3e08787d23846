/* SentencePiece's way back: pieces to the text that they stand for, as the
 * library's own Decode gives it. */
#include "sentence_piece.h"
#include "space_border.h"
#include "utf8.h"

struct detokenizer {
    const struct tb_sentence_piece *model;
    struct tb_buffer *out;
    struct tb_buffer *bytes; /* of pieces <0xNN> one behind the other */
    bool is_raw;
    bool is_at_start; /* may a space in front be the dummy one? */
    bool was_dummy;   /* such a space has been dropped */
};

/* Characters as they are, U+FFFD for each byte that is part of none. */
static tb_status end_bytes(struct detokenizer *work)
{
    struct tb_span run = tb_buffer_span(work->bytes);
    if (work->is_raw)
        TB_TRY(tb_buffer_append(work->out, run));
    for (size_t at = 0, len; at < run.len && !work->is_raw; at += len) {
        uint32_t code_point;
        uint8_t character[TB_UTF8_MAX_LEN];
        len = tb_utf8_decode(run, at, &code_point);
        struct tb_span text = {character,
                               tb_utf8_encode(code_point, character)};
        TB_TRY(tb_buffer_append(work->out, text));
    }
    tb_buffer_clear(work->bytes);
    return TB_OK;
}

static tb_status append_spaced(struct tb_buffer *out, struct tb_span piece)
{
    const struct tb_span space = TB_ESCAPED_SPACE;
    while (piece.len) {
        bool is_space = tb_span_starts_with(piece, space);
        size_t len = is_space ? space.len : 1;
        TB_TRY(tb_buffer_append(
            out, is_space ? TB_SPAN(" ") : (struct tb_span){piece.ptr, len}));
        piece = tb_span_from(piece, len);
    }
    return TB_OK;
}

/* The space that was put before the text goes; where spaces at its ends are
 * dropped, so do all before it. */
static struct tb_span without_dummy(struct detokenizer *work,
                                    struct tb_span piece)
{
    const struct tb_piece_rules *rules = &work->model->rules;
    bool is_dropping = rules->has_dummy_space || rules->is_dropping_spaces;
    if (!work->is_at_start || !is_dropping ||
        !tb_span_starts_with(piece, TB_ESCAPED_SPACE))
        return piece;
    work->was_dummy = !rules->is_dropping_spaces;
    return tb_span_from(piece, TB_ESCAPED_SPACE.len);
}

static tb_status add_piece(struct detokenizer *work, tb_token id)
{
    const struct tb_sentence_piece *model = work->model;
    if (work->was_dummy || work->out->len > 0)
        work->is_at_start = false;
    work->was_dummy = false;
    if (model->types[id] == TB_PIECE_CONTROL)
        return TB_OK;
    if (model->types[id] == TB_PIECE_UNKNOWN)
        return tb_buffer_append(work->out, model->unknown_text);
    struct tb_span piece = tb_vocab_bytes(&model->pieces, id);
    return append_spaced(work->out, without_dummy(work, piece));
}

static tb_status add_byte(struct detokenizer *work, tb_token id)
{
    for (unsigned byte = 0; byte < 256; byte++)
        if (work->model->byte_tokens[byte] == id)
            return tb_buffer_append_byte(work->bytes, (uint8_t)byte);
    return TB_OK;
}

tb_status tb_sentence_piece_decode(const struct tb_sentence_piece *model,
                                   const tb_token *ids, size_t count,
                                   bool is_raw, struct tb_buffer scratch[2])
{
    struct detokenizer work = {
        .model = model,
        .out = &scratch[0],
        .bytes = &scratch[1],
        .is_raw = is_raw,
        .is_at_start = true,
    };
    tb_buffer_clear(work.out);
    tb_buffer_clear(work.bytes);
    for (size_t i = 0; i < count; i++) {
        if (ids[i] >= model->count)
            continue;
        if (model->types[ids[i]] == TB_PIECE_BYTE) {
            TB_TRY(add_byte(&work, ids[i]));
            continue;
        }
        TB_TRY(end_bytes(&work));
        TB_TRY(add_piece(&work, ids[i]));
    }
    return end_bytes(&work);
}
