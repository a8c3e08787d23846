/* Mistral's tekken.json to a tokenizer. The vocabulary is one of bytes with
 * ranks, as tiktoken's are, of which the first so many count; ids begin behind
 * those of the special tokens. The pattern stands in the file. Special tokens
 * are for the templates of mistral-common: text that quotes one is text.
 */
#include <stdio.h>

#include "base64.h"
#include "json_reader.h"
#include "name_table.h"
#include "tokenizer_model.h"

struct tekken {
    struct tb_json_reader reader;
    struct tb_arena arena; /* of what is read and not kept */
    struct tb_tokenizer *tokenizer;
    struct tb_span pattern, version;
    size_t size;          /* ids in all */
    size_t special_count; /* the first of them */
    bool has_size, has_special_count, has_vocab, has_specials;
};

/* ---- config -----------------------------------------------------------------
 */

static tb_status read_count(struct tekken *tekken, size_t *count, bool *is_set)
{
    struct tb_json_number number;
    TB_TRY(tb_json_read_number(&tekken->reader, &number));
    if (!number.is_integer || number.integer < 0 ||
        number.integer > TB_VOCAB_MAX_ID)
        return tb_json_fail(&tekken->reader, TB_ERR_VALUE,
                            "expected a number from 0 to %d", TB_VOCAB_MAX_ID);
    *count = (size_t)number.integer;
    *is_set = true;
    return TB_OK;
}

static tb_status read_config(struct tekken *tekken)
{
    struct tb_json_reader *reader = &tekken->reader;
    struct tb_arena *arena = &tekken->tokenizer->arena;
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        if (tb_span_equal(key, TB_SPAN("pattern")))
            TB_TRY(tb_json_read_string(reader, arena, &tekken->pattern));
        else if (tb_span_equal(key, TB_SPAN("version")))
            TB_TRY(tb_json_read_string(reader, arena, &tekken->version));
        else if (tb_span_equal(key, TB_SPAN("default_vocab_size")))
            TB_TRY(read_count(tekken, &tekken->size, &tekken->has_size));
        else if (tb_span_equal(key, TB_SPAN("default_num_special_tokens")))
            TB_TRY(read_count(tekken, &tekken->special_count,
                              &tekken->has_special_count));
        else
            TB_TRY(tb_json_skip(reader));
    }
}

/* Versions differ in templates only. Those up to v7 may leave the special
 * tokens to the library. */
static bool is_known_version(struct tb_span version, bool *needs_specials)
{
    static const char *const versions[] = {"v1",  "v2",  "v3", "v7",
                                           "v11", "v13", "v15"};
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
        if (tb_span_equal(version, tb_span_of(versions[i]))) {
            *needs_specials = i > 3;
            return true;
        }
    return false;
}

static tb_status check_config(struct tekken *tekken, bool *needs_specials)
{
    struct tb_json_reader *reader = &tekken->reader;
    if (!tekken->pattern.ptr || !tekken->has_size || !tekken->has_special_count)
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "config needs pattern, default_vocab_size and "
                            "default_num_special_tokens");
    if (!is_known_version(tekken->version, needs_specials))
        return tb_json_fail(reader, TB_ERR_UNSUPPORTED,
                            "version '%.*s' of tekken is not known",
                            tb_span_shown(tekken->version, 60),
                            (const char *)tekken->version.ptr);
    if (tekken->size < tekken->special_count + 256)
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "default_vocab_size %zu has no room for %zu "
                            "special tokens and 256 bytes",
                            tekken->size, tekken->special_count);
    tb_pattern_scan scan = tb_pattern_find(tekken->pattern);
    if (!scan || !tb_pattern_is_gapless(scan))
        return tb_json_fail(reader, TB_ERR_UNSUPPORTED,
                            "config.pattern is none of the known ones");
    return TB_OK;
}

/* ---- vocabulary -------------------------------------------------------------
 */

static tb_status read_bytes(struct tekken *tekken, struct tb_span *bytes)
{
    struct tb_span text;
    TB_TRY(tb_json_read_string(&tekken->reader, &tekken->arena, &text));
    uint8_t *room = tb_arena_alloc(&tekken->arena, TB_BASE64_ROOM(text.len));
    if (!room)
        return TB_ERR_MEMORY;
    if (!tb_base64_decode(text, room, &bytes->len) || bytes->len == 0)
        return tb_json_fail(&tekken->reader, TB_ERR_SYNTAX,
                            "no token in base64");
    bytes->ptr = room;
    return TB_OK;
}

static tb_status read_rank(struct tekken *tekken, size_t rank)
{
    struct tb_json_number number;
    TB_TRY(tb_json_read_number(&tekken->reader, &number));
    if (!number.is_integer || number.integer != (int64_t)rank)
        return tb_json_fail(&tekken->reader, TB_ERR_VALUE,
                            "rank is not %zu, the token's place", rank);
    return TB_OK;
}

static tb_status read_token(struct tekken *tekken, size_t rank)
{
    struct tb_json_reader *reader = &tekken->reader;
    struct tb_span bytes = {0};
    bool has_rank = false;
    tb_arena_reset(&tekken->arena);
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("token_bytes"))) {
            TB_TRY(read_bytes(tekken, &bytes));
        } else if (tb_span_equal(key, TB_SPAN("rank"))) {
            TB_TRY(read_rank(tekken, rank));
            has_rank = true;
        } else {
            TB_TRY(tb_json_skip(reader));
        }
    }
    if (!bytes.ptr || !has_rank)
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "a token needs rank and token_bytes");
    if (rank < 256 && (bytes.len != 1 || bytes.ptr[0] != rank))
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "the first 256 tokens are not the bytes in order");
    tb_status status =
        tb_vocab_set(&tekken->tokenizer->bpe.vocab,
                     (tb_token)(rank + tekken->special_count), bytes);
    return status == TB_ERR_VALUE
               ? tb_json_fail(reader, status, "a token is longer than %d bytes",
                              TB_VOCAB_MAX_TOKEN_LEN)
               : status;
}

// What stands behind the last one that counts is not looked at.
static tb_status read_vocab(struct tekken *tekken)
{
    size_t count = tekken->size - tekken->special_count;
    size_t rank = 0;
    TB_TRY(tb_json_enter_array(&tekken->reader));
    for (;; rank++) {
        bool found;
        TB_TRY(tb_json_next_item(&tekken->reader, &found));
        if (!found)
            break;
        if (rank < count)
            TB_TRY(read_token(tekken, rank));
        else
            TB_TRY(tb_json_skip(&tekken->reader));
    }
    tekken->has_vocab = true;
    if (rank < count)
        return tb_json_fail(&tekken->reader, TB_ERR_VALUE,
                            "%zu tokens, where config asks for %zu", rank,
                            count);
    return TB_OK;
}

static tb_status check_twins(struct tekken *tekken)
{
    struct tb_vocab *vocab = &tekken->tokenizer->bpe.vocab;
    tb_token id, twin;
    TB_TRY(tb_vocab_index(vocab, NULL, NULL));
    if (!tb_vocab_find_twins(vocab, &id, &twin))
        return TB_OK;
    size_t rank = id - tekken->special_count;
    size_t twin_rank = twin - tekken->special_count;
    return tb_fail(&tekken->reader.error, TB_ERR_VALUE,
                   "$.vocab[%zu] is the same token as $.vocab[%zu]", twin_rank,
                   rank);
}

/* ---- special tokens ---------------------------------------------------------
 */

static tb_status read_special(struct tekken *tekken,
                              struct tb_name_table *names)
{
    struct tb_json_reader *reader = &tekken->reader;
    struct tb_span text = {0};
    uint32_t before = names->count, number;
    tb_arena_reset(&tekken->arena);
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("token_str")))
            TB_TRY(tb_json_read_string(reader, &tekken->arena, &text));
        else
            TB_TRY(tb_json_skip(reader));
    }
    TB_TRY(tb_name_table_add(names, text, &number));
    if (number != before)
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "a special token is there twice");
    return TB_OK;
}

static tb_status read_special_list(struct tekken *tekken,
                                   struct tb_name_table *names)
{
    TB_TRY(tb_json_enter_array(&tekken->reader));
    for (;;) {
        bool found;
        TB_TRY(tb_json_next_item(&tekken->reader, &found));
        if (!found)
            break;
        TB_TRY(read_special(tekken, names));
    }
    tekken->has_specials = true;
    if (names->count > tekken->special_count)
        return tb_json_fail(&tekken->reader, TB_ERR_VALUE,
                            "more special tokens than the %zu that config has "
                            "room for",
                            tekken->special_count);
    return TB_OK;
}

/* Their number alone decides about ids; the rest is checked, since a file that
 * contradicts itself is damaged. */
static tb_status read_specials(struct tekken *tekken)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(&tekken->reader, &type));
    if (type == TB_JSON_NULL)
        return tb_json_skip(&tekken->reader);
    struct tb_name_table names = {0};
    tb_status status = read_special_list(tekken, &names);
    tb_name_table_release(&names);
    return status;
}

/* ---- the file ---------------------------------------------------------------
 */

/* Members may come in any order, but the vocabulary is read by what config
 * says: so that is looked for first. In real files it is the first member. */
static tb_status find_config(struct tekken *tekken)
{
    struct tb_json_reader *reader = &tekken->reader;
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return tb_json_fail(reader, TB_ERR_VALUE, "the file has no config");
        if (tb_span_equal(key, TB_SPAN("config")))
            return read_config(tekken);
        TB_TRY(tb_json_skip(reader));
    }
}

static tb_status read_members(struct tekken *tekken)
{
    struct tb_json_reader *reader = &tekken->reader;
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return tb_json_expect_end(reader);
        if (tb_span_equal(key, TB_SPAN("vocab")) && !tekken->has_vocab)
            TB_TRY(read_vocab(tekken));
        else if (tb_span_equal(key, TB_SPAN("special_tokens")))
            TB_TRY(read_specials(tekken));
        else
            TB_TRY(tb_json_skip(reader));
    }
}

static tb_status load(struct tekken *tekken, struct tb_span json)
{
    bool needs_specials = false;
    tb_json_reader_init_span(&tekken->reader, json, 0, 1);
    TB_TRY(find_config(tekken));
    TB_TRY(check_config(tekken, &needs_specials));
    tb_json_reader_init_span(&tekken->reader, json, 0, 1);
    TB_TRY(read_members(tekken));
    if (!tekken->has_vocab)
        return tb_json_fail(&tekken->reader, TB_ERR_VALUE,
                            "the file has no vocab");
    if (needs_specials && !tekken->has_specials)
        return tb_json_fail(&tekken->reader, TB_ERR_VALUE,
                            "a file of version %.*s needs special_tokens",
                            (int)tekken->version.len,
                            (const char *)tekken->version.ptr);
    TB_TRY(check_twins(tekken));
    tb_tokenizer_set_ranks(tekken->tokenizer, tb_pattern_find(tekken->pattern));
    return TB_OK;
}

tb_status tb_tokenizer_from_tekken(struct tb_span json,
                                   struct tb_tokenizer **tokenizer,
                                   struct tb_error *error)
{
    struct tekken tekken = {0};
    if (tb_tokenizer_new(&tekken.tokenizer) != TB_OK)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    tb_status status = load(&tekken, json);
    if (status != TB_OK && error)
        *error = tekken.reader.error;
    tb_arena_release(&tekken.arena);
    return tb_tokenizer_finish(tekken.tokenizer, json, status, tokenizer,
                               error);
}
