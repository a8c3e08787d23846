/* A tokenizer.json (Hugging Face `tokenizers`) to a tokenizer. What is not
 * built here is refused by its name; truncation, padding and post_processor do
 * not concern ids of plain text and are not read. */
#include "component.h"
#include "json_place.h"

static tb_status read_parts(struct tb_json_reader *reader,
                            struct tb_file_parts *parts)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key, raw;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        TB_TRY(tb_json_read_raw(reader, &raw));
        if (tb_span_equal(key, TB_SPAN("added_tokens")))
            parts->added_tokens = raw;
        else if (tb_span_equal(key, TB_SPAN("normalizer")))
            parts->normalizer = raw;
        else if (tb_span_equal(key, TB_SPAN("pre_tokenizer")))
            parts->pre_tokenizer = raw;
        else if (tb_span_equal(key, TB_SPAN("model")))
            parts->model = raw;
        else if (tb_span_equal(key, TB_SPAN("decoder")))
            parts->decoder = raw;
    }
    TB_TRY(tb_json_expect_end(reader));
    if (!parts->model.ptr)
        return tb_json_fail(reader, TB_ERR_VALUE, "the file has no model");
    return TB_OK;
}

static bool is_absent(struct tb_span raw)
{
    return !raw.ptr || tb_span_equal(raw, TB_SPAN("null"));
}

/* ---- the model
 * ------------------------------------------------------------------ */

/* Very old files do not say the type; then the members tell. */
static const char *type_of_members(const struct tb_component *model)
{
    if (model->merges.ptr)
        return "BPE";
    if (model->vocab.len && model->vocab.ptr[0] == '[')
        return "Unigram";
    return model->most_characters.text.ptr ? "WordPiece" : "WordLevel";
}

// Does the chain end by spelling bytes in GPT-2's alphabet?
static bool ends_in_byte_level(const struct tb_pretokenizer *chain)
{
    return chain->step_count &&
           chain->steps[chain->step_count - 1].kind == TB_CUT_BYTE_LEVEL;
}

static void forget_bpe(struct tb_tokenizer *tokenizer)
{
    tb_bpe_release(&tokenizer->bpe);
    tokenizer->bpe = (struct tb_bpe){.unknown = TB_NO_TOKEN};
    tb_vocab_init(&tokenizer->bpe.vocab);
    tb_vocab_release(&tokenizer->strings);
    tokenizer->model_count = 0;
}

/* Where a chain ends in the byte alphabet, the model takes the bytes as they
 * are, which is the same and faster. If it cannot, the words are spelled. */
static tb_status read_bpe(struct tb_tokenizer *tokenizer,
                          const struct tb_file_parts *parts,
                          struct tb_json_reader *reader)
{
    struct tb_pretokenizer *chain = &tokenizer->pretokenizer;
    tb_component_open(reader, parts, parts->model);
    if (!ends_in_byte_level(chain))
        return tb_bpe_from_json(tokenizer, reader, false);
    tb_status status = tb_bpe_from_json(tokenizer, reader, true);
    if (status == TB_ERR_UNSUPPORTED) {
        forget_bpe(tokenizer);
        tb_component_open(reader, parts, parts->model);
        return tb_bpe_from_json(tokenizer, reader, false);
    }
    chain->step_count--;
    return status;
}

static tb_status read_model_as(struct tb_tokenizer *tokenizer,
                               const struct tb_file_parts *parts,
                               struct tb_json_reader *reader,
                               struct tb_span type)
{
    if (tb_span_equal(type, TB_SPAN("BPE")))
        return read_bpe(tokenizer, parts, reader);
    tb_component_open(reader, parts, parts->model);
    if (tb_span_equal(type, TB_SPAN("Unigram")))
        return tb_unigram_from_json(tokenizer, reader);
    bool is_whole_words = tb_span_equal(type, TB_SPAN("WordLevel"));
    if (is_whole_words || tb_span_equal(type, TB_SPAN("WordPiece")))
        return tb_word_piece_from_json(tokenizer, reader, is_whole_words);
    return tb_component_refuse(reader, "model", type);
}

/* The type stands first in nearly every file; where it does not, the megabytes
 * behind it are gone through once more than need be. */
static tb_status read_type(struct tb_tokenizer *tokenizer,
                           const struct tb_file_parts *parts,
                           struct tb_json_reader *reader, struct tb_span *type)
{
    struct tb_component model;
    struct tb_span key;
    tb_json_type kind;
    tb_component_open(reader, parts, parts->model);
    TB_TRY(tb_json_enter_object(reader));
    TB_TRY(tb_json_next_key(reader, &key));
    if (key.ptr && tb_span_equal(key, TB_SPAN("type"))) {
        TB_TRY(tb_json_peek(reader, &kind));
        if (kind == TB_JSON_STRING)
            return tb_component_keep_string(reader, &tokenizer->arena, type);
    }
    tb_component_open(reader, parts, parts->model);
    TB_TRY(tb_component_read(reader, &tokenizer->arena, &model));
    *type = model.type.ptr ? model.type : tb_span_of(type_of_members(&model));
    return TB_OK;
}

static tb_status read_model(struct tb_tokenizer *tokenizer,
                            const struct tb_file_parts *parts,
                            struct tb_error *error)
{
    struct tb_json_reader reader;
    struct tb_span type;
    tb_status status = read_type(tokenizer, parts, &reader, &type);
    if (status == TB_OK)
        status = read_model_as(tokenizer, parts, &reader, type);
    if (status != TB_OK && error)
        *error = reader.error;
    return status;
}

/* ---- added tokens
 * ----------------------------------------------------------------- */

static tb_status read_bool(struct tb_json_reader *reader, bool *flag)
{
    struct tb_span raw;
    TB_TRY(tb_json_read_raw(reader, &raw));
    *flag = tb_span_equal(raw, TB_SPAN("true"));
    return TB_OK;
}

tb_status tb_added_token_from_json(struct tb_json_reader *reader,
                                   struct tb_arena *arena,
                                   struct tb_added_token *token)
{
    *token = (struct tb_added_token){0};
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        if (tb_span_equal(key, TB_SPAN("content")))
            TB_TRY(tb_component_keep_string(reader, arena, &token->content));
        else if (tb_span_equal(key, TB_SPAN("single_word")))
            TB_TRY(read_bool(reader, &token->is_single_word));
        else if (tb_span_equal(key, TB_SPAN("lstrip")))
            TB_TRY(read_bool(reader, &token->is_left_strip));
        else if (tb_span_equal(key, TB_SPAN("rstrip")))
            TB_TRY(read_bool(reader, &token->is_right_strip));
        else if (tb_span_equal(key, TB_SPAN("normalized")))
            TB_TRY(read_bool(reader, &token->is_normalized));
        else if (tb_span_equal(key, TB_SPAN("special")))
            TB_TRY(read_bool(reader, &token->is_special));
        else
            TB_TRY(tb_json_skip(reader));
    }
}

// What the token looks like in normalised text.
static tb_status normalize_content(struct tb_tokenizer *tokenizer,
                                   struct tb_span *content)
{
    struct tb_buffer scratch[2] = {TB_BUFFER(1 << 20), TB_BUFFER(1 << 20)};
    struct tb_regex_region *region = NULL;
    struct tb_span text = *content;
    size_t origin_len = 0; // nobody asks
    tb_status status = TB_OK;
    if (tb_normalizer_has_regex(&tokenizer->normalizer))
        status = tb_regex_region_new(&region);
    if (status == TB_OK)
        status = tb_normalizer_apply(&tokenizer->normalizer, region, false,
                                     scratch, &text, &origin_len);
    if (status == TB_OK)
        status = tb_arena_copy(&tokenizer->arena, text, content);
    tb_regex_region_free(region);
    tb_buffer_release(&scratch[0]);
    tb_buffer_release(&scratch[1]);
    return status;
}

/* Ids are given as the reference does when it loads the file: that of the
 * model's vocabulary, else the next free one; what the file says is not
 * looked at. */
static tb_status add_added_token(struct tb_tokenizer *tokenizer,
                                 struct tb_added_token *token,
                                 uint32_t *next_id)
{
    if (token->content.len == 0)
        return TB_OK;
    token->id = tb_vocab_find(&tokenizer->strings, token->content);
    if (token->id == TB_NO_TOKEN)
        token->id = (*next_id)++;
    if (token->id >= tokenizer->vocab_size)
        tokenizer->vocab_size = token->id + 1;
    const struct tb_added_text text = {.text = token->content,
                                       .id = token->id,
                                       .is_special = token->is_special};
    TB_TRY(tb_decoder_add_text(&tokenizer->decoder, &text));
    if (!token->is_normalized)
        return tb_added_tokens_add(&tokenizer->raw_tokens, token);
    TB_TRY(normalize_content(tokenizer, &token->content));
    if (token->content.len == 0)
        return TB_OK;
    return tb_added_tokens_add(&tokenizer->normalized_tokens, token);
}

static tb_status read_added_tokens(struct tb_tokenizer *tokenizer,
                                   struct tb_json_reader *reader)
{
    uint32_t next_id = tokenizer->model_count;
    TB_TRY(tb_json_enter_array(reader));
    for (;;) {
        bool found;
        struct tb_added_token token;
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            break;
        TB_TRY(tb_added_token_from_json(reader, &tokenizer->arena, &token));
        TB_TRY(add_added_token(tokenizer, &token, &next_id));
    }
    return TB_OK;
}

static tb_status load_added_tokens(struct tb_tokenizer *tokenizer,
                                   const struct tb_file_parts *parts,
                                   struct tb_error *error)
{
    if (is_absent(parts->added_tokens))
        return TB_OK;
    struct tb_json_reader reader;
    tb_component_open(&reader, parts, parts->added_tokens);
    tb_status status = read_added_tokens(tokenizer, &reader);
    if (status != TB_OK && error)
        *error = reader.error;
    tb_added_tokens_index(&tokenizer->raw_tokens);
    tb_added_tokens_index(&tokenizer->normalized_tokens);
    tb_decoder_index(&tokenizer->decoder);
    return status;
}

static tb_status load(struct tb_tokenizer *tokenizer,
                      struct tb_file_parts *parts, struct tb_error *error)
{
    struct tb_json_reader reader;
    tb_json_reader_init_span(&reader, parts->json, 0, 1);
    tb_status status = read_parts(&reader, parts);
    if (status != TB_OK) {
        if (error)
            *error = reader.error;
        return status;
    }
    TB_TRY(tb_component_read_chain(tokenizer, parts, parts->normalizer,
                                   tb_normalizer_add, error));
    TB_TRY(tb_component_read_chain(tokenizer, parts, parts->pre_tokenizer,
                                   tb_pretokenizer_add, error));
    TB_TRY(read_model(tokenizer, parts, error));
    TB_TRY(load_added_tokens(tokenizer, parts, error));
    TB_TRY(tb_decoder_from_json(tokenizer, parts));
    tb_vocab_release(&tokenizer->strings);
    return TB_OK;
}

tb_status tb_tokenizer_from_json(struct tb_span json,
                                 struct tb_tokenizer **tokenizer,
                                 struct tb_error *error)
{
    struct tb_tokenizer *made;
    if (tb_tokenizer_new(&made) != TB_OK)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    struct tb_file_parts parts = {.json = json};
    tb_status status = load(made, &parts, error);
    if (status != TB_OK && error && error->json_path[0])
        tb_json_name_place(json, error); // parts are read one by one
    return tb_tokenizer_finish(made, json, status, tokenizer, error);
}
