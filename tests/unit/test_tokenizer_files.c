/* Tokenizer files other than tokenizer.json, small ones made here: what is
 * accepted, what is refused and with which words and place. Ids are compared
 * with the originals in tests/oracle/files_oracle.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "memory.h"
#include "tokenizer.h"
#include "tokenizer_kind.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- what all of them need --------------------------------------------------
 */

static void put(struct tb_buffer *file, const char *text)
{
    assert_int_equal(tb_buffer_append(file, tb_span_of(text)), TB_OK);
}

/* Base64 of one byte. */
static const char *spelled(unsigned byte)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrs"
                                 "tuvwxyz0123456789+/";
    static char text[5];
    (void)snprintf(text, sizeof(text), "%c%c==", digits[byte >> 2],
                   digits[(byte & 3) << 4]);
    return text;
}

static void expect_ids(struct tb_tokenizer *tokenizer, const char *text,
                       const tb_token *ids, size_t count)
{
    struct tb_encoder *encoder;
    struct tb_tokens tokens = {0};
    assert_int_equal(tb_encoder_new(tokenizer, &encoder), TB_OK);
    assert_int_equal(tb_encoder_encode(encoder, tb_span_of(text), &tokens),
                     TB_OK);
    assert_int_equal(tokens.count, count);
    if (count)
        assert_memory_equal(tokens.ids, ids, count * sizeof(*ids));
    tb_tokens_release(&tokens);
    tb_encoder_free(encoder);
}

#define EXPECT_IDS(tokenizer, text, ...)                                       \
    expect_ids(tokenizer, text, (const tb_token[]){__VA_ARGS__},               \
               sizeof((const tb_token[]){__VA_ARGS__}) / sizeof(tb_token))

/* ---- rank files -------------------------------------------------------------
 */

/* The bytes 0 to 255 but those from `first_missing` on, one a line, and then
 * `tail`. */
static void put_ranks(struct tb_buffer *file, unsigned first_missing,
                      const char *tail)
{
    for (unsigned byte = 0; byte < 256 && byte < first_missing; byte++)
        assert_int_equal(tb_buffer_printf(file, "%s %u\n", spelled(byte), byte),
                         TB_OK);
    put(file, tail);
}

static tb_status load_ranks(const char *tail, unsigned first_missing,
                            const char *path, struct tb_tokenizer **tokenizer,
                            struct tb_error *error)
{
    struct tb_buffer file = TB_BUFFER(1 << 20);
    struct tb_rank_source source = {.path = path};
    put_ranks(&file, first_missing, tail);
    tb_status status = tb_tokenizer_from_ranks(tb_buffer_span(&file), &source,
                                               tokenizer, error);
    tb_buffer_release(&file);
    return status;
}

#define AB "YWI= 256\n"
#define NAMED "/no/such/cl100k_base.tiktoken"

static void test_ranks(void **state)
{
    (void)state;
    struct tb_tokenizer *tokenizer;
    // Ranks may have gaps, lines may be empty or end as on Windows.
    assert_int_equal(
        load_ranks("\n" AB "\r\nYWJj 300\r\n", 256, NAMED, &tokenizer, NULL),
        TB_OK);
    EXPECT_IDS(tokenizer, "abc ab", 300, ' ', 256);
    EXPECT_IDS(tokenizer, "x<|fim_suffix|><|fim_suffix", 'x', 100260, '<', '|',
               'f', 'i', 'm', '_', 's', 'u', 'f', 'f', 'i', 'x');
    assert_int_equal(tb_tokenizer_vocab_size(tokenizer), 100277);
    tb_tokenizer_free(tokenizer);
}

static void test_refused_ranks(void **state)
{
    (void)state;
    static const struct {
        const char *tail;
        unsigned first_missing;
        const char *path;
        tb_status status;
        uint64_t line;
        const char *message;
    } cases[] = {
        {"YWI=\n", 256, NAMED, TB_ERR_SYNTAX, 257, "expected a token"},
        {"YW I=\n", 256, NAMED, TB_ERR_SYNTAX, 257, "'YW' is no token"},
        {"Y*I= 256\n", 256, NAMED, TB_ERR_SYNTAX, 257, "'Y*I=' is no token"},
        {"YWI 256\n", 256, NAMED, TB_ERR_SYNTAX, 257, "'YWI' is no token"},
        {" 256\n", 256, NAMED, TB_ERR_SYNTAX, 257, "'' is no token"},
        {AB "YWJj 256\n", 256, NAMED, TB_ERR_VALUE, 258, "256 is there twice"},
        {AB "YWI= 257\n", 256, NAMED, TB_ERR_VALUE, 258, "256 and 257 are"},
        {"YWI= -1\n", 256, NAMED, TB_ERR_VALUE, 257, "'-1' is no rank"},
        {"YWI= 2 6\n", 256, NAMED, TB_ERR_VALUE, 257, "'2 6' is no rank"},
        {"YWI= \n", 256, NAMED, TB_ERR_VALUE, 257, "'' is no rank"},
        {"YWI= 16777217\n", 256, NAMED, TB_ERR_VALUE, 257, "is no rank"},
        {"YWI= 99999999999999999999\n", 256, NAMED, TB_ERR_VALUE, 257,
         "is no rank"},
        {"", 255, NAMED, TB_ERR_VALUE, 0, "byte 0xFF is no token"},
        {"YWI= 100260\n", 256, NAMED, TB_ERR_VALUE, 0, "<|fim_suffix|>"},
        {AB, 256, "/no/such/tokenizer.model", TB_ERR_UNSUPPORTED, 0,
         "does not say how text is cut"},
        {AB, 256, "/no/such/other.tiktoken", TB_ERR_UNSUPPORTED, 0,
         "does not say how text is cut"},
        {AB, 256, NULL, TB_ERR_UNSUPPORTED, 0, "does not say"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tb_tokenizer *tokenizer;
        struct tb_error error = {0};
        assert_int_equal(load_ranks(cases[i].tail, cases[i].first_missing,
                                    cases[i].path, &tokenizer, &error),
                         cases[i].status);
        assert_int_equal(error.status, cases[i].status);
        assert_int_equal(error.line, cases[i].line);
        assert_non_null(strstr(error.message, cases[i].message));
    }
}

static void test_ranks_by_name(void **state)
{
    (void)state;
    struct tb_tokenizer *tokenizer;
    struct tb_error error = {0};
    struct tb_buffer file = TB_BUFFER(1 << 20);
    struct tb_rank_source source = {.name = "cl100k_base"};
    put_ranks(&file, 256, AB);
    // Asked for by tiktoken's name, it must be tiktoken's file.
    assert_int_equal(tb_tokenizer_from_ranks(tb_buffer_span(&file), &source,
                                             &tokenizer, &error),
                     TB_ERR_VALUE);
    assert_non_null(strstr(error.message, "not the tokens of cl100k_base"));
    tb_buffer_release(&file);
}

static void test_ranks_without_memory(void **state)
{
    (void)state;
    tb_status status = TB_ERR_MEMORY;
    struct tb_buffer file = TB_BUFFER(1 << 20);
    struct tb_rank_source source = {.path = NAMED};
    put_ranks(&file, 256, AB);
    for (long count = 0; status != TB_OK; count++) {
        struct tb_tokenizer *tokenizer = NULL;
        assert_in_range(count, 0, 10000);
        tb_memory_fail_after(count);
        status = tb_tokenizer_from_ranks(tb_buffer_span(&file), &source,
                                         &tokenizer, NULL);
        tb_memory_fail_after(-1);
        assert_true(status == TB_OK || status == TB_ERR_MEMORY);
        tb_tokenizer_free(tokenizer);
    }
    tb_buffer_release(&file);
}

/* ---- tekken -----------------------------------------------------------------
 */

#define TEKKEN_PATTERN                                                         \
    "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}"      \
    "\\\\p{M}]*[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]+|"                        \
    "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}"      \
    "\\\\p{M}]+[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]*|\\\\p{N}| "              \
    "?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n/]*|\\\\s*[\\\\r\\\\n]+|"            \
    "\\\\s+(?!\\\\S)|\\\\s+"
#define CONFIG(pattern, size, specials, version)                               \
    "\"config\":{\"pattern\":\"" pattern                                       \
    "\",\"num_vocab_tokens\":9,\"default_vocab_size\":" size                   \
    ",\"default_num_special_tokens\":" specials ",\"version\":\"" version      \
    "\"}"
#define USUAL CONFIG(TEKKEN_PATTERN, "260", "2", "v3")
#define TOKEN(rank, base64)                                                    \
    "{\"rank\":" rank ",\"token_bytes\":\"" base64 "\",\"token_str\":null}"

/* A file with `head`, the 256 bytes and `tail` in its vocabulary, and `end`. */
static void put_tekken(struct tb_buffer *file, const char *head,
                       const char *tail, const char *end)
{
    assert_int_equal(tb_buffer_printf(file, "{%s,\n\"vocab\":[", head), TB_OK);
    for (unsigned byte = 0; byte < 256; byte++)
        assert_int_equal(
            tb_buffer_printf(file, "%s{\"rank\":%u,\"token_bytes\":\"%s\"}",
                             byte ? "," : "", byte, spelled(byte)),
            TB_OK);
    assert_int_equal(tb_buffer_printf(file, "%s]%s}", tail, end), TB_OK);
}

static tb_status load_tekken(const char *head, const char *tail,
                             const char *end, struct tb_tokenizer **tokenizer,
                             struct tb_error *error)
{
    struct tb_buffer file = TB_BUFFER(1 << 20);
    put_tekken(&file, head, tail, end);
    tb_status status =
        tb_tokenizer_from_tekken(tb_buffer_span(&file), tokenizer, error);
    tb_buffer_release(&file);
    return status;
}

#define TWO_TOKENS "," TOKEN("256", "YWI=") "," TOKEN("257", "YWJj")

static void test_tekken(void **state)
{
    (void)state;
    struct tb_tokenizer *tokenizer;
    // What stands behind the tokens that count is not looked at.
    assert_int_equal(load_tekken(USUAL, TWO_TOKENS ",{\"rank\":9}",
                                 ",\"special_tokens\":null,\"image\":{}",
                                 &tokenizer, NULL),
                     TB_OK);
    EXPECT_IDS(tokenizer, "abc", 259);
    EXPECT_IDS(tokenizer, "ab12", 258, '1' + 2, '2' + 2);
    EXPECT_IDS(tokenizer, "<s>", '<' + 2, 's' + 2, '>' + 2);
    assert_int_equal(tb_tokenizer_vocab_size(tokenizer), 260);
    tb_tokenizer_free(tokenizer);
}

static void test_refused_tekken(void **state)
{
    (void)state;
    static const char specials[] = ",\"special_tokens\":[{\"token_str\":\"a\"}";
    static const struct {
        const char *head, *tail, *end;
        tb_status status;
        const char *json_path, *message;
    } cases[] = {
        {"\"model\":{}", "", "", TB_ERR_VALUE, "", "no config"},
        {"\"config\":{\"pattern\":\"x\"}", "", "", TB_ERR_VALUE, "",
         "config needs"},
        {CONFIG("\\\\w+", "260", "2", "v3"), "", "", TB_ERR_UNSUPPORTED, "",
         "config.pattern"},
        {CONFIG(TEKKEN_PATTERN, "260", "2", "v99"), "", "", TB_ERR_UNSUPPORTED,
         "", "version 'v99'"},
        {CONFIG(TEKKEN_PATTERN, "257", "2", "v3"), "", "", TB_ERR_VALUE, "",
         "no room"},
        {CONFIG(TEKKEN_PATTERN, "99999999", "2", "v3"), "", "", TB_ERR_VALUE,
         "$.config.default_vocab_size", "0 to 16777216"},
        {CONFIG(TEKKEN_PATTERN, "260", "-2", "v3"), "", "", TB_ERR_VALUE,
         "$.config.default_num_spec", "0 to 16777216"},
        {USUAL, "", "", TB_ERR_VALUE, "$.vocab", "256 tokens, where"},
        {USUAL, "," TOKEN("257", "YWI="), "", TB_ERR_VALUE, "$.vocab[256].rank",
         "rank is not 256"},
        {USUAL, "," TOKEN("256", "YWI"), "", TB_ERR_SYNTAX,
         "$.vocab[256].token_bytes", "base64"},
        {USUAL, "," TOKEN("256", ""), "", TB_ERR_SYNTAX,
         "$.vocab[256].token_bytes", "base64"},
        {USUAL, ",{\"rank\":256}", "", TB_ERR_VALUE, "$.vocab[256]",
         "needs rank and"},
        {USUAL, ",{\"token_bytes\":\"YWI=\"}", "", TB_ERR_VALUE, "$.vocab[256]",
         "needs rank and"},
        {USUAL, ",7", "", TB_ERR_TYPE, "$.vocab[256]", "expected an object"},
        {USUAL, "," TOKEN("256", "YWI=") "," TOKEN("257", "YWI="), "",
         TB_ERR_VALUE, "", "$.vocab[257] is the same token as $.vocab[256]"},
        {USUAL, TWO_TOKENS,
         ",\"special_tokens\":[{\"token_str\":\"a\"},"
         "{\"token_str\":\"a\"}]",
         TB_ERR_VALUE, "$.special_tokens[1]", "there twice"},
        {USUAL, TWO_TOKENS,
         ",\"special_tokens\":[{\"token_str\":\"a\"},"
         "{\"token_str\":\"b\"},{\"token_str\":\"c\"}]",
         TB_ERR_VALUE, "$.special_tokens", "more special tokens"},
        {CONFIG(TEKKEN_PATTERN, "260", "2", "v11"), TWO_TOKENS, "",
         TB_ERR_VALUE, "", "needs special_tokens"},
        {USUAL, TWO_TOKENS, specials, TB_ERR_SYNTAX, "$.special_tokens", ""},
        {USUAL, TWO_TOKENS, "}{", TB_ERR_SYNTAX, "", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tb_tokenizer *tokenizer;
        struct tb_error error = {0};
        assert_int_equal(load_tekken(cases[i].head, cases[i].tail, cases[i].end,
                                     &tokenizer, &error),
                         cases[i].status);
        assert_int_equal(error.status, cases[i].status);
        assert_non_null(strstr(error.json_path, cases[i].json_path));
        assert_non_null(strstr(error.message, cases[i].message));
    }
}

static void test_tekken_without_memory(void **state)
{
    (void)state;
    tb_status status = TB_ERR_MEMORY;
    struct tb_buffer file = TB_BUFFER(1 << 20);
    put_tekken(&file, USUAL, TWO_TOKENS,
               ",\"special_tokens\":[{\"token_str\":\"a\"}]");
    for (long count = 0; status != TB_OK; count++) {
        struct tb_tokenizer *tokenizer = NULL;
        assert_in_range(count, 0, 10000);
        tb_memory_fail_after(count);
        status =
            tb_tokenizer_from_tekken(tb_buffer_span(&file), &tokenizer, NULL);
        tb_memory_fail_after(-1);
        assert_true(status == TB_OK || status == TB_ERR_MEMORY);
        tb_tokenizer_free(tokenizer);
    }
    tb_buffer_release(&file);
}

/* ---- SentencePiece ----------------------------------------------------------
 */

static void put_bytes(struct tb_buffer *file, const void *bytes, size_t len)
{
    assert_int_equal(tb_buffer_append(file, (struct tb_span){bytes, len}),
                     TB_OK);
}

/* A field of fewer than 128 bytes. */
static void put_field(struct tb_buffer *file, unsigned number,
                      struct tb_span content)
{
    const uint8_t head[] = {(uint8_t)(number << 3 | 2), (uint8_t)content.len};
    put_bytes(file, head, sizeof(head));
    put_bytes(file, content.ptr, content.len);
}

static void put_piece(struct tb_buffer *file, const char *text, float score,
                      uint8_t type)
{
    struct tb_buffer piece = TB_BUFFER(200);
    const uint8_t tail[] = {3 << 3, type};
    uint8_t score_field[] = {2 << 3 | 5, 0, 0, 0, 0};
    memcpy(score_field + 1, &score, sizeof(score));
    put_field(&piece, 1, tb_span_of(text));
    put_bytes(&piece, score_field, sizeof(score_field));
    put_bytes(&piece, tail, sizeof(tail));
    put_field(file, 1, tb_buffer_span(&piece));
    tb_buffer_release(&piece);
}

enum { NORMAL = 1, UNKNOWN, CONTROL, SYMBOL, UNUSED };

/* A model of this method (1: Unigram, 2: BPE, 3: word, 4: character) with
 * the pieces of the tests below, and `tail` behind them. */
static void put_model(struct tb_buffer *file, uint8_t method,
                      struct tb_span tail)
{
    const uint8_t trainer[] = {3 << 3, method};
    put_piece(file, "<unk>", 0, UNKNOWN);        // 0
    put_piece(file, "<s>", 0, CONTROL);          // 1
    put_piece(file, "<sym>", 0, SYMBOL);         // 2
    put_piece(file, "\xE2\x96\x81", -3, NORMAL); // 3
    put_piece(file, "a", -4, NORMAL);            // 4
    put_piece(file, "b", -5, NORMAL);            // 5
    put_piece(file, "ab", -1, UNUSED);           // 6
    put_piece(file, "ba", -2, NORMAL);           // 7
    put_field(file, 2, (struct tb_span){trainer, sizeof(trainer)});
    put_bytes(file, tail.ptr, tail.len);
}

static tb_status load_model(uint8_t method, struct tb_span tail,
                            struct tb_tokenizer **tokenizer,
                            struct tb_error *error)
{
    struct tb_buffer file = TB_BUFFER(1 << 16);
    put_model(&file, method, tail);
    tb_status status = tb_tokenizer_from_sentence_piece(tb_buffer_span(&file),
                                                        tokenizer, error);
    tb_buffer_release(&file);
    return status;
}

// Expected ids are sentencepiece's for these models.
static void test_sentence_piece(void **state)
{
    (void)state;
    struct tb_tokenizer *tokenizer;
    struct tb_span none = {0};
    assert_int_equal(load_model(1, none, &tokenizer, NULL), TB_OK);
    EXPECT_IDS(tokenizer, "aba  <s>", 3, 4, 7, 3, 0);
    EXPECT_IDS(tokenizer, "<sym>xyb", 3, 2, 0, 5);
    tb_tokenizer_free(tokenizer);
    assert_int_equal(load_model(2, none, &tokenizer, NULL), TB_OK);
    EXPECT_IDS(tokenizer, " aba ba", 3, 4, 5, 4, 3, 7);
    EXPECT_IDS(tokenizer, "x yx<sym>", 3, 0, 3, 0, 2);
    expect_ids(tokenizer, "   ", NULL, 0);
    tb_tokenizer_free(tokenizer);
    assert_int_equal(load_model(3, none, &tokenizer, NULL), TB_OK);
    EXPECT_IDS(tokenizer, "a ba", 0);
    tb_tokenizer_free(tokenizer);
    assert_int_equal(load_model(4, none, &tokenizer, NULL), TB_OK);
    EXPECT_IDS(tokenizer, "ab<sym>", 3, 4, 5, 2);
    assert_int_equal(tb_tokenizer_vocab_size(tokenizer), 8);
    tb_tokenizer_free(tokenizer);
}

static void test_refused_models(void **state)
{
    (void)state;
    const struct {
        struct tb_span tail;
        tb_status status;
        const char *message;
    } cases[] = {
        {TB_SPAN("\x08\x01"), TB_ERR_TYPE, "field 1 is of type 0, expected 2"},
        {TB_SPAN("\x0A\x7F\x0A"), TB_ERR_CUT, "longer than what is left"},
        {TB_SPAN("\x0A\x80"), TB_ERR_CUT, "a number is cut off"},
        {TB_SPAN("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
         TB_ERR_SYNTAX, "longer than ten bytes"},
        {TB_SPAN("\x07"), TB_ERR_SYNTAX, "no field has this number"},
        {TB_SPAN("\x0B"), TB_ERR_SYNTAX, "no field has this type"},
        {TB_SPAN("\x0A\x00"), TB_ERR_VALUE, "piece 8: its text is empty"},
        {TB_SPAN("\x0A\x03\x0A\x01\xFF"), TB_ERR_VALUE, "is not UTF-8"},
        {TB_SPAN("\x0A\x03\x0A\x01"
                 "a"),
         TB_ERR_VALUE, "pieces 4 and 8 are the same"},
        {TB_SPAN("\x0A\x05\x0A\x03<s>"), TB_ERR_VALUE,
         "pieces 1 and 8 are the same"},
        {TB_SPAN("\x0A\x05\x0A\x01x\x18\x02"), TB_ERR_VALUE,
         "an unknown piece already"},
        {TB_SPAN("\x0A\x05\x0A\x01x\x18\x07"), TB_ERR_UNSUPPORTED,
         "its type is not known"},
        {TB_SPAN("\x0A\x05\x0A\x01x\x18\x06"), TB_ERR_VALUE,
         "1 pieces are bytes, but byte_fallback is not set"},
        {TB_SPAN("\x0A\x08\x0A\x01x\x15\x00\x00\xC0\x7F"), TB_ERR_VALUE,
         "its score is no number"},
        {TB_SPAN("\x0A\x03\x0A\x01\x00"), TB_ERR_VALUE, "a zero byte"},
        {TB_SPAN("\x12\x03\x98\x02\x01"), TB_ERR_VALUE,
         "0 pieces are bytes, but byte_fallback is set"},
        {TB_SPAN("\x12\x02\x18\x05"), TB_ERR_UNSUPPORTED, "model_type 5"},
        {TB_SPAN("\x1A\x04\x12\x02xx"), TB_ERR_SYNTAX, "precompiled_charsmap"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tb_tokenizer *tokenizer;
        struct tb_error error = {0};
        assert_int_equal(load_model(2, cases[i].tail, &tokenizer, &error),
                         cases[i].status);
        assert_int_equal(error.status, cases[i].status);
        assert_non_null(strstr(error.message, cases[i].message));
    }
    struct tb_tokenizer *tokenizer;
    struct tb_error error = {0};
    assert_int_equal(tb_tokenizer_from_sentence_piece((struct tb_span){0},
                                                      &tokenizer, &error),
                     TB_ERR_CUT);
}

static void test_models_without_memory(void **state)
{
    (void)state;
    for (uint8_t method = 1; method <= 4; method++) {
        tb_status status = TB_ERR_MEMORY;
        struct tb_buffer file = TB_BUFFER(1 << 16);
        put_model(&file, method, (struct tb_span){0});
        for (long count = 0; status != TB_OK; count++) {
            struct tb_tokenizer *tokenizer = NULL;
            struct tb_encoder *encoder = NULL;
            struct tb_tokens tokens = {0};
            assert_in_range(count, 0, 10000);
            tb_memory_fail_after(count);
            status = tb_tokenizer_from_sentence_piece(tb_buffer_span(&file),
                                                      &tokenizer, NULL);
            if (status == TB_OK)
                status = tb_encoder_new(tokenizer, &encoder);
            if (status == TB_OK)
                status = tb_encoder_encode(encoder, TB_SPAN("aba xab <sym>"),
                                           &tokens);
            tb_memory_fail_after(-1);
            assert_true(status == TB_OK || status == TB_ERR_MEMORY);
            tb_tokens_release(&tokens);
            tb_encoder_free(encoder);
            tb_tokenizer_free(tokenizer);
        }
        tb_buffer_release(&file);
    }
}

/* ---- which file -------------------------------------------------------------
 */

static void test_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *path, *content;
        tb_tokenizer_kind kind;
    } cases[] = {
        {"tokenizer.json", " {\"model\":{}}", TB_TOKENIZER_JSON},
        {"tokenizer.json", "\xEF\xBB\xBF{\"version\":\"1.0\",\"model\":{}}",
         TB_TOKENIZER_JSON},
        {"some", "{\"config\":{},\"vocab\":[]}", TB_TOKENIZER_TEKKEN},
        {"some", "{\"vocab\":[],\"config\":{}}", TB_TOKENIZER_TEKKEN},
        {"tokenizer.model", "IQ== 0\nIg== 1\n", TB_TOKENIZER_RANKS},
        {"some", "\n\nIQ== 0\r\n", TB_TOKENIZER_RANKS},
        {"x.tiktoken", "what is this?", TB_TOKENIZER_RANKS},
        {"tokenizer.json", "", TB_TOKENIZER_JSON},
        {"tokenizer.model", "\x0A\x0E\x0A\x05<unk>",
         TB_TOKENIZER_SENTENCE_PIECE},
        {"tokenizer.model", "\x0A{\x0A\x01x", TB_TOKENIZER_SENTENCE_PIECE},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(
            tb_tokenizer_kind_of(cases[i].path, tb_span_of(cases[i].content)),
            cases[i].kind);
}

static void touch(const char *folder, const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

static void test_preference(void **state)
{
    (void)state;
    static const char *const names[] = {"a.tiktoken", "tiktoken.model",
                                        "tokenizer.model", "tekken.json",
                                        "tokenizer.json"};
    char folder[] = "/tmp/tracebake-files-XXXXXX", path[512], wanted[512];
    struct tb_error error = {0};
    assert_non_null(mkdtemp(folder));
    assert_int_equal(
        tb_tokenizer_locate(folder, NULL, path, sizeof(path), &error),
        TB_ERR_NOT_FOUND);
    assert_non_null(strstr(error.message, "tokenizer.json, tekken.json"));
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        touch(folder, names[i]);
        (void)snprintf(wanted, sizeof(wanted), "%s/%s", folder, names[i]);
        assert_int_equal(
            tb_tokenizer_locate(folder, NULL, path, sizeof(path), NULL), TB_OK);
        assert_string_equal(path, wanted);
    }
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    touch(folder, "a.tiktoken");
    touch(folder, "b.tiktoken");
    assert_int_equal(
        tb_tokenizer_locate(folder, NULL, path, sizeof(path), &error),
        TB_ERR_VALUE);
    assert_non_null(strstr(error.message, "2 files *.tiktoken"));
    (void)snprintf(path, sizeof(path), "%s/a.tiktoken", folder);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof(path), "%s/b.tiktoken", folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void write_file(const char *path, struct tb_span content)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content.ptr, 1, content.len, file), content.len);
    assert_int_equal(fclose(file), 0);
}

/* The configuration beside a rank file has a say, also when the compiled form
 * of the file is there already. */
static void test_config_beside(void **state)
{
    (void)state;
    static const char kimi[] =
        "{\"auto_map\":{\"AutoTokenizer\":[\"tokenization_kimi."
        "TikTokenTokenizer\",null]},\"added_tokens_decoder\":{\"257\":{"
        "\"content\":\"[BOS]\"}}}";
    static const char glm[] =
        "{\"auto_map\":{\"AutoTokenizer\":\"tokenization_chatglm."
        "ChatGLM4Tokenizer\"},\"added_tokens_decoder\":{}}";
    static const char bad[] = "{\"added_tokens_decoder\":{\"x\":{}}}";
    char folder[] = "/tmp/tracebake-config-XXXXXX", ranks[512], config[512];
    struct tb_buffer file = TB_BUFFER(1 << 20);
    struct tb_tokenizer *tokenizer;
    struct tb_error error = {0};
    assert_non_null(mkdtemp(folder));
    (void)snprintf(ranks, sizeof(ranks), "%s/tiktoken.model", folder);
    (void)snprintf(config, sizeof(config), "%s/tokenizer_config.json", folder);
    put_ranks(&file, 256, AB);
    write_file(ranks, tb_buffer_span(&file));
    for (int i = 0; i < 2; i++) {
        write_file(config, tb_span_of(kimi));
        assert_int_equal(tb_tokenizer_open(folder, &tokenizer, NULL), TB_OK);
        EXPECT_IDS(tokenizer, "ab[BOS]<|reserved_token_258|>", 256, 257, 258);
        tb_tokenizer_free(tokenizer);
        write_file(config, tb_span_of(glm));
        assert_int_equal(tb_tokenizer_open(folder, &tokenizer, NULL), TB_OK);
        EXPECT_IDS(tokenizer, "[BOS]", '[', 'B', 'O', 'S', ']');
        tb_tokenizer_free(tokenizer);
    }
    write_file(config, tb_span_of(bad));
    assert_int_equal(tb_tokenizer_open(folder, &tokenizer, &error),
                     TB_ERR_VALUE);
    assert_string_equal(error.path, config);
    assert_int_equal(unlink(config), 0);
    assert_int_equal(tb_tokenizer_open(folder, &tokenizer, &error),
                     TB_ERR_UNSUPPORTED);
    assert_int_equal(unlink(ranks), 0);
    assert_int_equal(rmdir(folder), 0);
    tb_buffer_release(&file);
}

/* A vocabulary of 4 GB is refused before it is read. */
static void test_enormous_files(void **state)
{
    (void)state;
    static const char *const names[] = {"tokenizer.json", "tekken.json",
                                        "x.tiktoken", "tokenizer.model"};
    char folder[] = "/tmp/tracebake-enormous-XXXXXX", path[512];
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct tb_tokenizer *tokenizer;
        struct tb_error error = {0};
        (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        write_file(path, TB_SPAN("{"));
        assert_int_equal(truncate(path, (off_t)4 << 30), 0);
        assert_int_equal(tb_tokenizer_open(path, &tokenizer, &error),
                         TB_ERR_LIMIT);
        assert_non_null(strstr(error.message, "has 4294967296 bytes"));
        assert_string_equal(error.path, path);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_refused_ranks),
        cmocka_unit_test(test_ranks_by_name),
        cmocka_unit_test(test_ranks_without_memory),
        cmocka_unit_test(test_tekken),
        cmocka_unit_test(test_refused_tekken),
        cmocka_unit_test(test_tekken_without_memory),
        cmocka_unit_test(test_sentence_piece),
        cmocka_unit_test(test_refused_models),
        cmocka_unit_test(test_models_without_memory),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_preference),
        cmocka_unit_test(test_config_beside),
        cmocka_unit_test(test_enormous_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
