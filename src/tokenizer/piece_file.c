/* A model of SentencePiece (a ModelProto in Protocol Buffers) to a tokenizer.
 * Fields that do not concern ids are passed over. */
#include <math.h>
#include <stddef.h>

#include "protobuf.h"
#include "tokenizer_model.h"
#include "utf8.h"

/* Numbers of fields in sentencepiece_model.proto. */
enum {
    MODEL_PIECE = 1,
    MODEL_TRAINER = 2,
    MODEL_NORMALIZER = 3,
    MODEL_DENORMALIZER = 5,
};

struct piece {
    struct tb_span text;
    float score;
    int32_t type;
    size_t offset; /* in the file */
};

static const struct tb_protobuf_member piece_members[] = {
    {1, TB_PROTOBUF_TEXT, offsetof(struct piece, text)},
    {2, TB_PROTOBUF_FLOAT, offsetof(struct piece, score)},
    {3, TB_PROTOBUF_ENUM, offsetof(struct piece, type)},
};

struct trainer {
    int32_t method;
    bool is_space_behind; /* treat_whitespace_as_suffix */
    bool has_byte_fallback;
    struct tb_span unknown_text;
    size_t offset; /* in the file */
};

static const struct tb_protobuf_member trainer_members[] = {
    {3, TB_PROTOBUF_ENUM, offsetof(struct trainer, method)},
    {24, TB_PROTOBUF_FLAG, offsetof(struct trainer, is_space_behind)},
    {35, TB_PROTOBUF_FLAG, offsetof(struct trainer, has_byte_fallback)},
    {44, TB_PROTOBUF_TEXT, offsetof(struct trainer, unknown_text)},
};

struct normalizer {
    struct tb_span charsmap;
    bool has_dummy_space, is_dropping_spaces, is_escaping_spaces;
};

static const struct tb_protobuf_member normalizer_members[] = {
    {2, TB_PROTOBUF_TEXT, offsetof(struct normalizer, charsmap)},
    {3, TB_PROTOBUF_FLAG, offsetof(struct normalizer, has_dummy_space)},
    {4, TB_PROTOBUF_FLAG, offsetof(struct normalizer, is_dropping_spaces)},
    {5, TB_PROTOBUF_FLAG, offsetof(struct normalizer, is_escaping_spaces)},
};

#define READ(message, members, record, error)                                  \
    tb_protobuf_read(message, members, sizeof(members) / sizeof((members)[0]), \
                     record, error)

struct loader {
    struct tb_sentence_piece *model;
    struct tb_arena *arena;
    struct tb_span content;
    struct trainer trainer;
    struct normalizer normalizer, denormalizer;
    struct tb_error *error;
};

/* ---- pieces -----------------------------------------------------------------
 */

static tb_status fail_at(const struct loader *loader, const struct piece *piece,
                         tb_status status, const char *what)
{
    return tb_fail(loader->error, status, "byte %zu: piece %zu: %s",
                   piece->offset, loader->model->count, what);
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

static tb_status take_trainer(const struct loader *loader)
{
    const struct trainer *trainer = &loader->trainer;
    if (trainer->method < TB_PIECE_UNIGRAM || trainer->method > TB_PIECE_CHAR)
        return tb_fail(loader->error, TB_ERR_UNSUPPORTED,
                       "byte %zu: model_type %d is not known", trainer->offset,
                       (int)trainer->method);
    loader->model->method = (tb_piece_method)trainer->method;
    loader->model->rules.is_space_behind = trainer->is_space_behind;
    loader->model->has_byte_fallback = trainer->has_byte_fallback;
    return tb_arena_copy(loader->arena, trainer->unknown_text,
                         &loader->model->unknown_text);
}

static tb_status take_charsmap(const struct loader *loader)
{
    struct tb_charsmap *map = &loader->model->rules.charsmap;
    struct tb_span bytes = loader->normalizer.charsmap;
    if (bytes.len == 0)
        return TB_OK;
    tb_status status = tb_charsmap_read_bytes(map, loader->arena, bytes);
    if (status == TB_OK && !tb_charsmap_is_sound(map))
        status = TB_ERR_SYNTAX;
    if (status == TB_ERR_SYNTAX)
        return tb_fail(loader->error, status,
                       "byte %zu: precompiled_charsmap is damaged",
                       (size_t)(bytes.ptr - loader->content.ptr));
    return status;
}

static tb_status take_normalizer(const struct loader *loader)
{
    const struct normalizer *normalizer = &loader->normalizer;
    struct tb_piece_rules *rules = &loader->model->rules;
    rules->has_dummy_space = normalizer->has_dummy_space;
    rules->is_dropping_spaces = normalizer->is_dropping_spaces;
    rules->is_escaping_spaces = normalizer->is_escaping_spaces;
    return take_charsmap(loader);
}

static tb_status read_part(struct loader *loader,
                           const struct tb_protobuf *message,
                           const struct tb_protobuf_field *field)
{
    struct tb_span bytes;
    struct piece piece = {.type = TB_PIECE_NORMAL};
    if (field->number > MODEL_NORMALIZER && field->number != MODEL_DENORMALIZER)
        return TB_OK;
    TB_TRY(tb_protobuf_bytes(field, &bytes, loader->error));
    struct tb_protobuf inside = tb_protobuf_inside(message, field);
    switch (field->number) {
    case MODEL_TRAINER:
        loader->trainer.offset = inside.offset;
        return READ(inside, trainer_members, &loader->trainer, loader->error);
    case MODEL_NORMALIZER:
        return READ(inside, normalizer_members, &loader->normalizer,
                    loader->error);
    case MODEL_DENORMALIZER:
        return READ(inside, normalizer_members, &loader->denormalizer,
                    loader->error);
    case MODEL_PIECE:
    default:
        piece.offset = inside.offset;
        TB_TRY(READ(inside, piece_members, &piece, loader->error));
        return add_piece(loader, &piece);
    }
}

static tb_status load(struct loader *loader)
{
    struct tb_protobuf message = {.bytes = loader->content};
    struct tb_protobuf_field field;
    if (loader->content.len == 0)
        return tb_fail(loader->error, TB_ERR_CUT, "the file is empty");
    TB_TRY(tb_protobuf_next(&message, &field, loader->error));
    while (field.number) {
        TB_TRY(read_part(loader, &message, &field));
        TB_TRY(tb_protobuf_next(&message, &field, loader->error));
    }
    TB_TRY(take_trainer(loader));
    TB_TRY(take_normalizer(loader));
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
    // What the file does not say is as the library has it by default.
    struct loader loader = {
        .model = &made->sentence_piece,
        .arena = &made->arena,
        .content = content,
        .trainer = {.method = TB_PIECE_UNIGRAM,
                    .unknown_text = TB_SPAN(" \xE2\x81\x87 ")},
        .normalizer = {.has_dummy_space = true,
                       .is_dropping_spaces = true,
                       .is_escaping_spaces = true},
        .error = error,
    };
    tb_status status = load(&loader);
    made->model = TB_MODEL_SENTENCE_PIECE;
    made->vocab_size = (uint32_t)made->sentence_piece.count;
    if (loader.denormalizer.charsmap.len)
        made->decoder.refusal = TB_SPAN("the model has a denormalizer_spec");
    return tb_tokenizer_finish(made, content, status, tokenizer, error);
}
