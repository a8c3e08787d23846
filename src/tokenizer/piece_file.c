/* A model of SentencePiece (a ModelProto in Protocol Buffers) to a tokenizer.
 * Fields that do not concern ids are passed over. */
#include <math.h>

#include "protobuf.h"
#include "tokenizer_model.h"
#include "utf8.h"

/* Numbers of fields in sentencepiece_model.proto. */
enum {
    MODEL_PIECE = 1,
    MODEL_TRAINER = 2,
    MODEL_NORMALIZER = 3,
    PIECE_TEXT = 1,
    PIECE_SCORE = 2,
    PIECE_TYPE = 3,
    TRAINER_METHOD = 3,
    TRAINER_SPACE_BEHIND = 24,
    TRAINER_BYTE_FALLBACK = 35,
    NORMALIZER_CHARSMAP = 2,
    NORMALIZER_DUMMY_SPACE = 3,
    NORMALIZER_DROPPING_SPACES = 4,
    NORMALIZER_ESCAPING_SPACES = 5,
};

struct loader {
    struct tb_sentence_piece *model;
    struct tb_arena *arena;
    struct tb_error *error;
};

/* ---- pieces -----------------------------------------------------------------
 */

struct piece {
    struct tb_span text;
    float score;
    int32_t type;
    size_t offset; /* in the file */
};

static tb_status fail_at(const struct loader *loader, const struct piece *piece,
                         tb_status status, const char *what)
{
    return tb_fail(loader->error, status, "byte %zu: piece %zu: %s",
                   piece->offset, loader->model->count, what);
}

static tb_status read_piece(const struct loader *loader,
                            struct tb_protobuf message, struct piece *piece)
{
    struct tb_protobuf_field field;
    *piece = (struct piece){.type = TB_PIECE_NORMAL, .offset = message.offset};
    for (;;) {
        TB_TRY(tb_protobuf_next(&message, &field, loader->error));
        switch (field.number) {
        case 0:
            return TB_OK;
        case PIECE_TEXT:
            TB_TRY(tb_protobuf_bytes(&field, &piece->text, loader->error));
            break;
        case PIECE_SCORE:
            TB_TRY(tb_protobuf_float(&field, &piece->score, loader->error));
            break;
        case PIECE_TYPE:
            TB_TRY(tb_protobuf_enum(&field, &piece->type, loader->error));
            break;
        default:
            break;
        }
    }
}

/* Bytes from which on the library refuses a piece. */
enum { PIECE_LIMIT = 8000 };

/* A piece that is one zero byte, as some converters write it, is never found
 * where it is not used anyway or bytes have pieces of their own. */
static bool is_zero(const struct piece *piece)
{
    return piece->text.len == 1 && piece->text.ptr[0] == 0;
}

static tb_status check_piece(const struct loader *loader,
                             const struct piece *piece)
{
    if (piece->text.len == 0)
        return fail_at(loader, piece, TB_ERR_VALUE, "its text is empty");
    if (piece->text.len >= PIECE_LIMIT)
        return fail_at(loader, piece, TB_ERR_LIMIT, "its text is too long");
    if (tb_utf8_valid_len(piece->text) != piece->text.len ||
        (tb_span_count(piece->text, 0) && !is_zero(piece)))
        return fail_at(loader, piece, TB_ERR_VALUE,
                       "its text is not UTF-8, or has a zero byte");
    if (!isfinite(piece->score))
        return fail_at(loader, piece, TB_ERR_VALUE, "its score is no number");
    if (piece->type < TB_PIECE_NORMAL || piece->type > TB_PIECE_BYTE)
        return fail_at(loader, piece, TB_ERR_UNSUPPORTED,
                       "its type is not known");
    if (piece->type == TB_PIECE_UNKNOWN &&
        loader->model->unknown != TB_NO_TOKEN)
        return fail_at(loader, piece, TB_ERR_VALUE,
                       "there is an unknown piece already");
    if (loader->model->count > TB_VOCAB_MAX_ID)
        return fail_at(loader, piece, TB_ERR_LIMIT, "there are too many");
    return TB_OK;
}

static tb_status reserve(struct tb_sentence_piece *model)
{
    uint8_t *types = tb_array_grow(model->types, &model->types_capacity,
                                   model->count + 1, sizeof(*types));
    if (!types)
        return TB_ERR_MEMORY;
    model->types = types;
    float *scores = tb_array_grow(model->scores, &model->scores_capacity,
                                  model->count + 1, sizeof(*scores));
    if (!scores)
        return TB_ERR_MEMORY;
    model->scores = scores;
    return TB_OK;
}

static tb_status add_piece(const struct loader *loader,
                           const struct piece *piece)
{
    struct tb_sentence_piece *model = loader->model;
    tb_token id = (tb_token)model->count;
    TB_TRY(check_piece(loader, piece));
    TB_TRY(reserve(model));
    bool is_in_text = piece->type == TB_PIECE_NORMAL ||
                      piece->type == TB_PIECE_USER_DEFINED ||
                      piece->type == TB_PIECE_UNUSED;
    if (is_zero(piece))
        model->has_zero = piece->type != TB_PIECE_UNUSED;
    else
        TB_TRY(tb_vocab_set(is_in_text ? &model->pieces : &model->reserved, id,
                            piece->text));
    if (piece->type == TB_PIECE_USER_DEFINED && !is_zero(piece))
        TB_TRY(tb_vocab_set(&model->symbols, id, piece->text));
    if (piece->type == TB_PIECE_UNKNOWN)
        model->unknown = id;
    model->types[id] = (uint8_t)piece->type;
    model->scores[id] = piece->score;
    model->count++;
    return TB_OK;
}

/* ---- the rest ---------------------------------------------------------------
 */

static tb_status read_method(const struct loader *loader,
                             const struct tb_protobuf_field *field)
{
    int32_t method;
    TB_TRY(tb_protobuf_enum(field, &method, loader->error));
    if (method < TB_PIECE_UNIGRAM || method > TB_PIECE_CHAR)
        return tb_fail(loader->error, TB_ERR_UNSUPPORTED,
                       "byte %zu: model_type %d is not known", field->offset,
                       (int)method);
    loader->model->method = (tb_piece_method)method;
    return TB_OK;
}

static tb_status read_trainer(const struct loader *loader,
                              struct tb_protobuf message)
{
    struct tb_protobuf_field field;
    for (;;) {
        TB_TRY(tb_protobuf_next(&message, &field, loader->error));
        switch (field.number) {
        case 0:
            return TB_OK;
        case TRAINER_METHOD:
            TB_TRY(read_method(loader, &field));
            break;
        case TRAINER_SPACE_BEHIND:
            TB_TRY(tb_protobuf_bool(
                &field, &loader->model->rules.is_space_behind, loader->error));
            break;
        case TRAINER_BYTE_FALLBACK:
            TB_TRY(tb_protobuf_bool(&field, &loader->model->has_byte_fallback,
                                    loader->error));
            break;
        default:
            break;
        }
    }
}

static tb_status read_charsmap(const struct loader *loader,
                               const struct tb_protobuf_field *field)
{
    struct tb_span bytes;
    TB_TRY(tb_protobuf_bytes(field, &bytes, loader->error));
    loader->model->rules.charsmap = (struct tb_charsmap){0};
    if (bytes.len == 0)
        return TB_OK;
    struct tb_charsmap *map = &loader->model->rules.charsmap;
    tb_status status = tb_charsmap_read_bytes(map, loader->arena, bytes);
    if (status == TB_OK && !tb_charsmap_is_sound(map))
        status = TB_ERR_SYNTAX;
    if (status == TB_ERR_SYNTAX)
        return tb_fail(loader->error, status,
                       "byte %zu: precompiled_charsmap is damaged",
                       field->offset);
    return status;
}

static tb_status read_rules(const struct loader *loader,
                            struct tb_protobuf message)
{
    struct tb_piece_rules *rules = &loader->model->rules;
    struct tb_protobuf_field field;
    for (;;) {
        TB_TRY(tb_protobuf_next(&message, &field, loader->error));
        switch (field.number) {
        case 0:
            return TB_OK;
        case NORMALIZER_CHARSMAP:
            TB_TRY(read_charsmap(loader, &field));
            break;
        case NORMALIZER_DUMMY_SPACE:
            TB_TRY(tb_protobuf_bool(&field, &rules->has_dummy_space,
                                    loader->error));
            break;
        case NORMALIZER_DROPPING_SPACES:
            TB_TRY(tb_protobuf_bool(&field, &rules->is_dropping_spaces,
                                    loader->error));
            break;
        case NORMALIZER_ESCAPING_SPACES:
            TB_TRY(tb_protobuf_bool(&field, &rules->is_escaping_spaces,
                                    loader->error));
            break;
        default:
            break;
        }
    }
}

static tb_status read_part(const struct loader *loader,
                           const struct tb_protobuf *message,
                           const struct tb_protobuf_field *field)
{
    struct tb_span bytes;
    if (field->number > MODEL_NORMALIZER)
        return TB_OK;
    TB_TRY(tb_protobuf_bytes(field, &bytes, loader->error));
    struct tb_protobuf inside = tb_protobuf_inside(message, field);
    if (field->number == MODEL_TRAINER)
        return read_trainer(loader, inside);
    if (field->number == MODEL_NORMALIZER)
        return read_rules(loader, inside);
    struct piece piece;
    TB_TRY(read_piece(loader, inside, &piece));
    return add_piece(loader, &piece);
}

/* What the file does not say is as the library has it by default. */
static tb_status load(const struct loader *loader, struct tb_span content)
{
    struct tb_protobuf message = {.bytes = content};
    struct tb_protobuf_field field;
    loader->model->method = TB_PIECE_UNIGRAM;
    loader->model->rules = (struct tb_piece_rules){.has_dummy_space = true,
                                                   .is_dropping_spaces = true,
                                                   .is_escaping_spaces = true};
    if (content.len == 0)
        return tb_fail(loader->error, TB_ERR_CUT, "the file is empty");
    TB_TRY(tb_protobuf_next(&message, &field, loader->error));
    while (field.number) {
        TB_TRY(read_part(loader, &message, &field));
        TB_TRY(tb_protobuf_next(&message, &field, loader->error));
    }
    if (loader->model->has_zero && !loader->model->has_byte_fallback)
        return tb_fail(loader->error, TB_ERR_VALUE,
                       "a piece is a zero byte, but byte_fallback is not set");
    return tb_sentence_piece_index(loader->model, loader->error);
}

tb_status tb_tokenizer_from_sentence_piece(struct tb_span content,
                                           struct tb_tokenizer **tokenizer,
                                           struct tb_error *error)
{
    struct tb_tokenizer *made;
    if (tb_tokenizer_new(&made) != TB_OK)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    struct loader loader = {&made->sentence_piece, &made->arena, error};
    tb_status status = load(&loader, content);
    made->model = TB_MODEL_SENTENCE_PIECE;
    made->vocab_size = (uint32_t)made->sentence_piece.count;
    made->decoder.refusal = TB_SPAN("SentencePiece models are read one way only");
    return tb_tokenizer_finish(made, content, status, tokenizer, error);
}
