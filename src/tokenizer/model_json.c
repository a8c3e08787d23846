/* Models other than BPE out of a tokenizer.json, and vocabularies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "json_plain.h"
#include "json_reader.h"
#include "memory.h"
#include "tokenizer_model.h"
#include "utf8.h"

/* ---- vocabularies ----------------------------------------------------------
 */

static tb_status set_token(struct tb_vocab *vocab,
                           struct tb_json_reader *reader, int64_t id,
                           struct tb_span text)
{
    tb_status status = tb_vocab_set(vocab, (tb_token)id, text);
    if (status == TB_ERR_VALUE)
        return tb_json_fail(reader, status,
                            "id %lld belongs to two tokens, or a token is "
                            "longer than %d bytes",
                            (long long)id, TB_VOCAB_MAX_TOKEN_LEN);
    return status;
}

static tb_status read_entry(struct tb_vocab *vocab,
                            struct tb_json_reader *reader,
                            struct tb_arena *scratch, struct tb_span key)
{
    tb_arena_reset(scratch);
    TB_TRY(tb_json_decode_key(reader, scratch, &key));
    struct tb_json_number number;
    TB_TRY(tb_json_read_number(reader, &number));
    if (!number.is_integer || number.integer < 0 ||
        number.integer > TB_VOCAB_MAX_ID)
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "id is no number from 0 to %d", TB_VOCAB_MAX_ID);
    return set_token(vocab, reader, number.integer, key);
}

/* Reads entries behind an earlier one up to the first that is not plain, or
 * that is wrong: that one is for the reader. */
static tb_status read_plain_entries(struct tb_vocab *vocab,
                                    struct tb_json_reader *reader)
{
    struct tb_span rest, key;
    uint32_t id = 0;
    TB_TRY(tb_json_rest(reader, &rest));
    const uint8_t *at = rest.ptr, *end = rest.ptr + rest.len;
    for (;;) {
        const uint8_t *next = tb_json_plain_byte(at, end, ',');
        next = tb_json_plain_string(next, end, &key);
        next = tb_json_plain_byte(next, end, ':');
        next = tb_json_plain_count(next, end, &id);
        if (!next || tb_utf8_valid_len(key) != key.len)
            break;
        tb_status status = tb_vocab_set(vocab, id, key);
        if (status == TB_ERR_VALUE)
            break;
        TB_TRY(status);
        at = next;
    }
    tb_json_skip_known(reader, (size_t)(at - rest.ptr));
    return TB_OK;
}

tb_status tb_vocab_from_json(struct tb_vocab *vocab,
                             struct tb_json_reader *reader)
{
    struct tb_arena scratch = {0};
    tb_status status = tb_json_enter_object(reader);
    while (status == TB_OK) {
        struct tb_span key;
        status = tb_json_next_key(reader, &key);
        if (status != TB_OK || !key.ptr)
            break;
        status = read_entry(vocab, reader, &scratch, key);
        if (status == TB_OK)
            status = read_plain_entries(vocab, reader);
    }
    tb_arena_release(&scratch);
    return status;
}

/* The vocabulary as the file writes it, where added tokens are looked up. */
static tb_status keep_strings(struct tb_tokenizer *tokenizer,
                              const struct tb_vocab *vocab)
{
    for (tb_token id = 0; id < vocab->id_count; id++) {
        struct tb_span text = tb_vocab_bytes(vocab, id);
        if (!text.ptr)
            continue;
        TB_TRY(tb_vocab_set(&tokenizer->strings, id, text));
        tokenizer->model_count++;
    }
    tokenizer->vocab_size = vocab->id_count;
    return tb_vocab_index(&tokenizer->strings, NULL, NULL);
}

static tb_status read_flag(struct tb_json_reader *reader, bool *flag)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    if (type != TB_JSON_TRUE && type != TB_JSON_FALSE)
        return tb_json_fail(reader, TB_ERR_TYPE, "expected true or false");
    *flag = type == TB_JSON_TRUE;
    return tb_json_skip(reader);
}

/* ---- Unigram
 * -------------------------------------------------------------------
 */

static tb_status add_score(struct tb_unigram *unigram, double score)
{
    double *scores = tb_array_grow(unigram->scores, &unigram->scores_capacity,
                                   unigram->score_count + 1, sizeof(*scores));
    if (!scores)
        return TB_ERR_MEMORY;
    unigram->scores = scores;
    scores[unigram->score_count++] = score;
    return TB_OK;
}

// 10 to the power of `exponent`, 0 to 308.
static double power_of_ten(long exponent)
{
    char text[8];
    (void)snprintf(text, sizeof(text), "1e%ld", exponent);
    return strtod(text, NULL);
}

/* A score as the reference reads it, which is not always the nearest double:
 * as many digits as fit into 64 bits, times or by a power of ten. Ties between
 * ways to cut a word depend on it. */
static double read_score(struct tb_span text)
{
    uint64_t digits = 0;
    long exponent = 0;
    bool is_behind_point = false, is_full = false;
    size_t at = text.len && text.ptr[0] == '-';
    for (; at < text.len; at++) {
        uint8_t byte = text.ptr[at];
        if (byte == '.') {
            is_behind_point = true;
            continue;
        }
        if (byte < '0' || byte > '9')
            break;
        unsigned digit = byte - '0';
        is_full |= digits > (UINT64_MAX - digit) / 10;
        if (!is_full)
            digits = digits * 10 + digit;
        exponent += is_full && !is_behind_point;
        exponent -= !is_full && is_behind_point;
    }
    if (at < text.len) // the number's own exponent
        exponent += strtol((const char *)text.ptr + at + 1, NULL, 10);
    double score = (double)digits;
    for (; exponent < -308 && score != 0; exponent += 308)
        score /= power_of_ten(308);
    if (exponent < -308)
        exponent = 0;
    score = exponent < 0
                ? score / power_of_ten(-exponent)
                : score * power_of_ten(exponent < 308 ? exponent : 308);
    return text.len && text.ptr[0] == '-' ? -score : score;
}

// One ["token", score]; its place in the list is its id.
static tb_status read_piece(struct tb_unigram *unigram,
                            struct tb_json_reader *reader,
                            struct tb_arena *scratch)
{
    struct tb_span text;
    struct tb_json_number score;
    bool found;
    tb_arena_reset(scratch);
    TB_TRY(tb_json_enter_array(reader));
    TB_TRY(tb_json_next_item(reader, &found));
    if (found) {
        TB_TRY(tb_json_read_string(reader, scratch, &text));
        TB_TRY(tb_json_next_item(reader, &found));
    }
    if (!found)
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "an entry needs a token and a score");
    TB_TRY(tb_json_read_number(reader, &score));
    TB_TRY(set_token(&unigram->vocab, reader, (int64_t)unigram->score_count,
                     text));
    if (!isfinite(score.value))
        return tb_json_fail(reader, TB_ERR_VALUE, "a score is no number");
    TB_TRY(add_score(unigram, read_score(score.text)));
    TB_TRY(tb_json_next_item(reader, &found));
    if (found)
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "an entry has more than a token and a score");
    return TB_OK;
}

static tb_status read_pieces(struct tb_unigram *unigram,
                             struct tb_json_reader *reader)
{
    struct tb_arena scratch = {0};
    tb_status status = tb_json_enter_array(reader);
    while (status == TB_OK) {
        bool found;
        status = tb_json_next_item(reader, &found);
        if (status != TB_OK || !found)
            break;
        status = read_piece(unigram, reader, &scratch);
    }
    tb_arena_release(&scratch);
    return status;
}

static tb_status read_unknown_id(struct tb_unigram *unigram,
                                 struct tb_json_reader *reader)
{
    tb_json_type type;
    struct tb_json_number number;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_NULL)
        return tb_json_skip(reader);
    TB_TRY(tb_json_read_number(reader, &number));
    if (!number.is_integer || number.integer < 0 ||
        number.integer > TB_VOCAB_MAX_ID)
        return tb_json_fail(reader, TB_ERR_VALUE, "unk_id is no id");
    unigram->unknown = (tb_token)number.integer;
    return TB_OK;
}

tb_status tb_unigram_from_json(struct tb_tokenizer *tokenizer,
                               struct tb_json_reader *reader)
{
    struct tb_unigram *unigram = &tokenizer->unigram;
    tokenizer->model = TB_MODEL_UNIGRAM;
    unigram->unknown = TB_NO_TOKEN;
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        if (tb_span_equal(key, TB_SPAN("vocab")))
            TB_TRY(read_pieces(unigram, reader));
        else if (tb_span_equal(key, TB_SPAN("unk_id")))
            TB_TRY(read_unknown_id(unigram, reader));
        else if (tb_span_equal(key, TB_SPAN("byte_fallback")))
            TB_TRY(read_flag(reader, &unigram->has_byte_fallback));
        else
            TB_TRY(tb_json_skip(reader));
    }
    if (unigram->score_count == 0)
        return tb_json_fail(reader, TB_ERR_VALUE, "the model has no vocab");
    if (unigram->unknown != TB_NO_TOKEN &&
        unigram->unknown >= unigram->score_count)
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "unk_id is not in the vocabulary");
    TB_TRY(tb_unigram_index(unigram));
    return keep_strings(tokenizer, &unigram->vocab);
}

/* ---- WordPiece and WordLevel
 * ---------------------------------------------------
 */

struct piece_members {
    struct tb_span unknown, prefix;
    struct tb_json_number most_characters;
    bool has_vocab, has_unknown;
};

static tb_status read_piece_member(struct tb_tokenizer *tokenizer,
                                   struct tb_json_reader *reader,
                                   struct tb_span key,
                                   struct piece_members *members)
{
    struct tb_arena *arena = &tokenizer->arena;
    if (tb_span_equal(key, TB_SPAN("vocab"))) {
        members->has_vocab = true;
        return tb_vocab_from_json(&tokenizer->pieces.vocab, reader);
    }
    if (tb_span_equal(key, TB_SPAN("unk_token"))) {
        members->has_unknown = true;
        return tb_json_read_string(reader, arena, &members->unknown);
    }
    if (tb_span_equal(key, TB_SPAN("continuing_subword_prefix"))) {
        TB_TRY(tb_json_read_string(reader, arena, &members->prefix));
        return tb_arena_copy(arena, members->prefix, &members->prefix);
    }
    if (tb_span_equal(key, TB_SPAN("max_input_chars_per_word")))
        return tb_json_read_number(reader, &members->most_characters);
    return tb_json_skip(reader);
}

tb_status tb_word_piece_from_json(struct tb_tokenizer *tokenizer,
                                  struct tb_json_reader *reader,
                                  bool is_whole_words)
{
    struct tb_word_piece *pieces = &tokenizer->pieces;
    struct piece_members members = {0};
    tokenizer->model = TB_MODEL_WORD_PIECE;
    pieces->is_whole_words = is_whole_words;
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        TB_TRY(read_piece_member(tokenizer, reader, key, &members));
    }
    if (!members.has_vocab || !members.has_unknown)
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "the model has no vocab or no unk_token");
    if (!is_whole_words && (!members.most_characters.is_integer ||
                            members.most_characters.integer < 0))
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "the model has no max_input_chars_per_word");
    pieces->prefix = members.prefix;
    pieces->max_word_len = (size_t)members.most_characters.integer;
    TB_TRY(tb_vocab_index(&pieces->vocab, NULL, NULL));
    pieces->unknown = tb_vocab_find(&pieces->vocab, members.unknown);
    return keep_strings(tokenizer, &pieces->vocab);
}
