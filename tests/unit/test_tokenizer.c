/* The tokenizer layer on small files made here. Expected ids are those that
 * Hugging Face `tokenizers` gives; tests/oracle compares far more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "byte_level.h"
#include "memory.h"
#include "pattern.h"
#include "regex.h"
#include "tokenizer.h"
#include "utf8.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define ARE_PAIRS 1
#define ARE_MIXED 2

#define BYTE_LEVEL                                                             \
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}"
#define SPLIT(regex)                                                           \
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\","           \
    "\"pattern\":{\"Regex\":\"" regex "\"},\"behavior\":\"Isolated\","         \
    "\"invert\":false},{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"    \
    "\"use_regex\":false}]}"

/* ---- small files ------------------------------------------------------------
 */

/* A byte-level BPE whose ids below 256 are bytes. */
struct small {
    const char *merges[16][2]; /* bytes; what they make gets the next id */
    const char *whole;         /* one more token, that no merge makes */
    const char *pre_tokenizer, *normalizer, *added;
    int merge_form;
    bool is_whole_word_first;
};

static void put(struct tb_buffer *json, const char *text)
{
    assert_int_equal(tb_buffer_append(json, tb_span_of(text)), TB_OK);
}

static void put_spelled(struct tb_buffer *json, const char *bytes)
{
    for (; *bytes; bytes++)
        assert_int_equal(
            tb_buffer_printf(json, "\\u%04x",
                             (unsigned)tb_code_point_of_byte((uint8_t)*bytes)),
            TB_OK);
}

static void put_token(struct tb_buffer *json, const char *left,
                      const char *right, unsigned id)
{
    put(json, ",\"");
    put_spelled(json, left);
    put_spelled(json, right);
    assert_int_equal(tb_buffer_printf(json, "\":%u", id), TB_OK);
}

static void put_vocab(struct tb_buffer *json, const struct small *small)
{
    unsigned id = 0;
    put(json, "\"vocab\":{\"\\u0100\":0");
    for (id = 1; id < 256; id++)
        put_token(json, (const char[]){(char)id, 0}, "", id);
    for (size_t i = 0; small->merges[i][0]; i++)
        put_token(json, small->merges[i][0], small->merges[i][1], id++);
    if (small->whole)
        put_token(json, small->whole, "", id);
    put(json, "}");
}

static void put_merges(struct tb_buffer *json, const struct small *small)
{
    put(json, ",\"merges\":[");
    for (size_t i = 0; small->merges[i][0]; i++) {
        bool is_pair = small->merge_form == ARE_PAIRS ||
                       (small->merge_form == ARE_MIXED && i % 2);
        put(json, i ? "," : "");
        put(json, is_pair ? "[\"" : "\"");
        put_spelled(json, small->merges[i][0]);
        put(json, is_pair ? "\",\"" : " ");
        put_spelled(json, small->merges[i][1]);
        put(json, is_pair ? "\"]" : "\"");
    }
    put(json, "]");
}

static struct tb_buffer json_of(const struct small *small)
{
    struct tb_buffer json = TB_BUFFER(1 << 20);
    put(&json, "{\"added_tokens\":[");
    put(&json, small->added ? small->added : "");
    put(&json, "],\n\"normalizer\":");
    put(&json, small->normalizer ? small->normalizer : "null");
    put(&json, ",\n\"pre_tokenizer\":");
    put(&json, small->pre_tokenizer ? small->pre_tokenizer : BYTE_LEVEL);
    put(&json, ",\n\"model\":{\"type\":\"BPE\",\"ignore_merges\":");
    put(&json, small->is_whole_word_first ? "true," : "false,");
    put_vocab(&json, small);
    put_merges(&json, small);
    put(&json, "}}");
    return json;
}

static struct tb_tokenizer *load(struct tb_span json)
{
    struct tb_tokenizer *tokenizer = NULL;
    struct tb_error error = {0};
    tb_status status = tb_tokenizer_from_json(json, &tokenizer, &error);
    if (status != TB_OK)
        fail_msg("%s: %s", error.json_path, error.message);
    return tokenizer;
}

static struct tb_tokenizer *load_small(const struct small *small)
{
    struct tb_buffer json = json_of(small);
    struct tb_tokenizer *tokenizer = load(tb_buffer_span(&json));
    tb_buffer_release(&json);
    return tokenizer;
}

static struct tb_tokens encode(const struct tb_tokenizer *tokenizer,
                               struct tb_span text)
{
    struct tb_encoder *encoder;
    struct tb_tokens tokens = {0};
    assert_int_equal(tb_encoder_new(tokenizer, &encoder), TB_OK);
    assert_int_equal(tb_encoder_encode(encoder, text, &tokens), TB_OK);
    tb_encoder_free(encoder);
    return tokens;
}

static void assert_ids(const struct tb_tokenizer *tokenizer, const char *text,
                       const char *expected)
{
    struct tb_buffer found = TB_BUFFER(1 << 16);
    struct tb_tokens tokens = encode(tokenizer, tb_span_of(text));
    put(&found, "");
    for (size_t i = 0; i < tokens.count; i++)
        assert_int_equal(
            tb_buffer_printf(&found, i ? " %u" : "%u", tokens.ids[i]), TB_OK);
    assert_int_equal(tb_buffer_append_byte(&found, 0), TB_OK);
    assert_string_equal((const char *)found.ptr, expected);
    tb_tokens_release(&tokens);
    tb_buffer_release(&found);
}

/* ---- cases from the field
 * ----------------------------------------------------
 */

static void test_ignore_merges(void **state)
{
    (void)state;
    struct small small = {.merges = {{"b", "c"}, {"a", "b"}}, .whole = "abc"};
    struct tb_tokenizer *tokenizer = load_small(&small);
    assert_ids(tokenizer, "abc", "97 256");
    tb_tokenizer_free(tokenizer);
    small.is_whole_word_first = true;
    tokenizer = load_small(&small);
    assert_ids(tokenizer, "abc", "258");
    assert_ids(tokenizer, "abcabc", "97 256 97 256");
    tb_tokenizer_free(tokenizer);
}

static void test_forms_of_merges(void **state)
{
    (void)state;
    for (int form = 0; form <= ARE_MIXED; form++) {
        struct small small = {.merges = {{"a", "b"}, {"c", "d"}},
                              .merge_form = form};
        struct tb_tokenizer *tokenizer = load_small(&small);
        assert_ids(tokenizer, "ababcd", "256 256 257");
        tb_tokenizer_free(tokenizer);
    }
}

static void test_enormous_word(void **state)
{
    (void)state;
    const struct small small = {
        .merges = {{"a", "a"}, {"aa", "aa"}, {"aaaa", "aaaa"}}};
    struct tb_tokenizer *tokenizer = load_small(&small);
    size_t len = 1000003;
    uint8_t *text = tb_memory_resize(NULL, len);
    assert_non_null(text);
    memset(text, 'a', len);
    struct tb_tokens tokens = encode(tokenizer, (struct tb_span){text, len});
    assert_int_equal(tokens.count, 125002);
    tb_tokens_release(&tokens);
    tb_memory_free(text);
    tb_tokenizer_free(tokenizer);
}

// Base64 is one word, too, but of all letters.
static void test_enormous_mixed_word(void **state)
{
    (void)state;
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz";
    const struct small small = {.merges = {{"Q", "k"}, {"Qk", "Q"}}};
    struct tb_tokenizer *tokenizer = load_small(&small);
    size_t len = 1 << 20, merged = 0;
    char *text = tb_memory_resize(NULL, len);
    uint32_t seed = 1;
    assert_non_null(text);
    for (size_t i = 0; i < len; i++) {
        seed = seed * 1664525u + 1013904223u;
        text[i] = letters[(seed >> 16) % (sizeof(letters) - 1)];
    }
    // What the merges make, from left to right: a Q behind Qk begins no Qk.
    for (size_t i = 0; i + 1 < len; i++)
        if (text[i] == 'Q' && text[i + 1] == 'k')
            merged++;
    for (size_t i = 0; i + 2 < len; i++)
        if (memcmp(text + i, "QkQ", 3) == 0 &&
            (i + 3 >= len || text[i + 3] != 'k'))
            merged++;
    struct tb_tokens tokens =
        encode(tokenizer, (struct tb_span){(const uint8_t *)text, len});
    assert_int_equal(tokens.count, len - merged);
    tb_tokens_release(&tokens);
    tb_memory_free(text);
    tb_tokenizer_free(tokenizer);
}

#define CL100K(numbers)                                                        \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|"    \
    "\\\\p{N}" numbers "| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|"            \
    "\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"
#define O200K                                                                  \
    "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}"      \
    "\\\\p{M}]*[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]+(?i:'s|'t|'re|'ve|'m|"    \
    "'ll|'d)?|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}"      \
    "\\\\p{Lo}\\\\p{M}]+[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]*(?i:'s|'t|'re"   \
    "|'ve|'m|'ll|'d)?|\\\\p{N}{1,3}| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n/]*" \
    "|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"

static void test_families_of_patterns(void **state)
{
    (void)state;
    static const char *const families[] = {BYTE_LEVEL, SPLIT(CL100K("{1,3}")),
                                           SPLIT(CL100K("")), SPLIT(O200K)};
    static const struct {
        const char *text;
        size_t counts[4];
    } cases[] = {
        {"123456", {3, 3, 6, 3}},
        {"IT'S", {4, 3, 3, 3}},
        {"a  \n\nb", {5, 4, 4, 4}},
        {"a   b", {4, 4, 4, 4}},
        {"a   ", {2, 2, 2, 2}},
        {"\u4e16\u754c1234\u3002\n\n", {12, 12, 14, 12}},
    };
    for (size_t family = 0; family < COUNT_OF(families); family++) {
        struct small small = {.merges = {{"1", "2"},
                                         {"12", "3"},
                                         {"3", "4"},
                                         {"12", "34"},
                                         {"5", "6"},
                                         {"'", "S"},
                                         {"'", "s"},
                                         {" ", " "},
                                         {"  ", " "},
                                         {"\n", "\n"},
                                         {" ", "\n"}},
                              .pre_tokenizer = families[family]};
        struct tb_tokenizer *tokenizer = load_small(&small);
        for (size_t i = 0; i < COUNT_OF(cases); i++) {
            struct tb_tokens tokens =
                encode(tokenizer, tb_span_of(cases[i].text));
            assert_int_equal(tokens.count, cases[i].counts[family]);
            tb_tokens_release(&tokens);
        }
        tb_tokenizer_free(tokenizer);
    }
}

/* ---- added tokens
 * -------------------------------------------------------------
 */

#define ADDED(content, flags) "{\"id\":0,\"content\":\"" content "\"" flags "}"
#define LOWERCASE "{\"type\":\"Lowercase\"}"

static void test_flags_of_added_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *added, *normalizer, *text, *ids;
    } cases[] = {
        {ADDED("<x>", ""), NULL, "a<x>b", "97 256 98"},
        {ADDED("<x>", ""), NULL, "<x><x>", "256 256"},
        {ADDED("<x>", ",\"lstrip\":true"), NULL, "a  <x> b", "97 256 32 98"},
        {ADDED("<x>", ",\"rstrip\":true"), NULL, "a <x>  b", "97 32 256 98"},
        {ADDED("<x>", ",\"lstrip\":true,\"rstrip\":true"), NULL, "<x> \n<x>",
         "256 256"},
        // A token that is the white space which another takes along.
        {ADDED("<x>", ",\"rstrip\":true") "," ADDED(" ", ""), NULL, "<x> b",
         "256 257 98"},
        {ADDED("<x>", ",\"rstrip\":true") "," ADDED(" ", ",\"lstrip\":true"),
         NULL, "<x> b c", "256 98 257 99"},
        {ADDED("ab", ",\"single_word\":true"), NULL, "ab abc .ab. xab",
         "256 32 97 98 99 32 46 256 46 32 120 97 98"},
        {ADDED("<x>", "") "," ADDED("<x>y", ""), NULL, "<x>y<x>", "257 256"},
        {ADDED("AB", ",\"normalized\":true"), LOWERCASE, "ab AB", "256 32 256"},
        {ADDED("AB", ",\"normalized\":false"), LOWERCASE, "ab AB",
         "97 98 32 256"},
        {ADDED("", ""), NULL, "a", "97"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct small small = {.added = cases[i].added,
                              .normalizer = cases[i].normalizer};
        struct tb_tokenizer *tokenizer = load_small(&small);
        assert_ids(tokenizer, cases[i].text, cases[i].ids);
        tb_tokenizer_free(tokenizer);
    }
}

/* ---- files that are refused
 * ---------------------------------------------------
 */

#define WITH(normalizer, pre_tokenizer, model)                                 \
    "{\"normalizer\":" normalizer ",\"pre_tokenizer\":" pre_tokenizer          \
    ",\"model\":" model "}"
#define LEVEL "{\"type\":\"WordLevel\",\"unk_token\":\"a\",\"vocab\":{\"a\":0}}"
#define BPE(members)                                                           \
    "{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2}," members "}"
#define REGEX(text)                                                            \
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" text                       \
    "\"},\"behavior\":\"Isolated\"}"

static const struct refusal {
    const char *json;
    tb_status status;
    const char *part; /* of the message */
} refusals[] = {
    {WITH("{\"type\":\"Foo\"}", "null", LEVEL), TB_ERR_UNSUPPORTED, "'Foo'"},
    {WITH("null", "{\"type\":\"Foo\"}", LEVEL), TB_ERR_UNSUPPORTED, "'Foo'"},
    {WITH("null", "null", "{\"type\":\"Foo\"}"), TB_ERR_UNSUPPORTED, "'Foo'"},
    {WITH("{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},"
          "{\"type\":\"Foo\"}]}",
          "null", LEVEL),
     TB_ERR_UNSUPPORTED, "'Foo'"},
    {WITH("null", REGEX("\\\\p{Foo}"), LEVEL), TB_ERR_UNSUPPORTED, "'Foo'"},
    {WITH("null", REGEX("[^\\\\P{Foo}]"), LEVEL), TB_ERR_UNSUPPORTED, "'Foo'"},
    {WITH("null", REGEX("\\\\X"), LEVEL), TB_ERR_UNSUPPORTED, "\\X"},
    {WITH("null", REGEX("(?W)a"), LEVEL), TB_ERR_UNSUPPORTED, "'W'"},
    {WITH("null", REGEX("(a"), LEVEL), TB_ERR_VALUE, "parenthes"},
    {WITH("null", REGEX("\\\\p{L"), LEVEL), TB_ERR_VALUE, "}"},
    {WITH("null",
          "{\"type\":\"Split\",\"pattern\":{\"String\":\"a\"},"
          "\"behavior\":\"Sideways\"}",
          LEVEL),
     TB_ERR_UNSUPPORTED, "'Sideways'"},
    {WITH("null", "{\"type\":\"Split\",\"behavior\":\"Isolated\"}", LEVEL),
     TB_ERR_VALUE, "no pattern"},
    {WITH("null", "{\"type\":\"Metaspace\",\"replacement\":\"ab\"}", LEVEL),
     TB_ERR_VALUE, "replacement"},
    {WITH("null", "{\"type\":\"FixedLength\",\"length\":0}", LEVEL),
     TB_ERR_VALUE, "length"},
    {WITH("{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"AAAA\"}",
          "null", LEVEL),
     TB_ERR_SYNTAX, "precompiled_charsmap"},
    {WITH("{\"type\":\"Strip\",\"strip_left\":1}", "null", LEVEL), TB_ERR_TYPE,
     "true or false"},
    {WITH("null", REGEX("(?i)[a[\\\\p{Lu}]]"), LEVEL), TB_ERR_UNSUPPORTED,
     "(?i) and letters newer"},
    {WITH("null", REGEX("(?i)[\\\\p{Lu}&&[a]]"), LEVEL), TB_ERR_UNSUPPORTED,
     "(?i) and letters newer"},
    {WITH("null", REGEX("(?i)(a)\\\\1"), LEVEL), TB_ERR_UNSUPPORTED,
     "reference under (?i)"},
    {WITH("null", "null", BPE("\"merges\":[],\"dropout\":0.1")),
     TB_ERR_UNSUPPORTED, "dropout"},
    {WITH("null", "null", BPE("\"merges\":[\"a c\"]")), TB_ERR_VALUE, "'c'"},
    {WITH("null", "null", BPE("\"merges\":[\"b a\"]")), TB_ERR_VALUE, "'ba'"},
    {WITH("null", "null", BPE("\"merges\":[\"a\"]")), TB_ERR_VALUE,
     "two tokens"},
    {WITH("null", "null", BPE("\"merges\":[[\"a\",\"b\",\"a\"]]")),
     TB_ERR_VALUE, "more than two"},
    {WITH("null", "null", BPE("\"merges\":[],\"unk_token\":\"?\"")),
     TB_ERR_VALUE, "unk_token"},
    {WITH("null", "null", "{\"type\":\"BPE\",\"vocab\":{\"a\":0}}"),
     TB_ERR_VALUE, "merges"},
    {WITH("null", "null",
          "{\"type\":\"WordLevel\",\"unk_token\":\"a\","
          "\"vocab\":{\"a\":99999999}}"),
     TB_ERR_VALUE, "id"},
    {WITH("null", "null",
          "{\"type\":\"WordLevel\",\"unk_token\":\"a\","
          "\"vocab\":{\"a\":0,\"b\":0}}"),
     TB_ERR_VALUE, "two tokens"},
    {WITH("null", "null",
          "{\"type\":\"WordPiece\",\"unk_token\":\"a\",\"vocab\":{\"a\":0}}"),
     TB_ERR_VALUE, "max_input_chars_per_word"},
    {WITH("null", "null",
          "{\"type\":\"Unigram\",\"unk_id\":2,\"vocab\":[[\"a\",0.0]]}"),
     TB_ERR_VALUE, "unk_id"},
    {WITH("null", "null", "{\"type\":\"Unigram\",\"vocab\":[[\"a\"]]}"),
     TB_ERR_VALUE, "score"},
    {WITH("null", "null", "{\"type\":\"Unigram\",\"vocab\":[]}"), TB_ERR_VALUE,
     "vocab"},
    {"{\"normalizer\":null}", TB_ERR_VALUE, "model"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        const struct refusal *refusal = &refusals[i];
        struct tb_tokenizer *tokenizer = NULL;
        struct tb_error error = {0};
        tb_status status = tb_tokenizer_from_json(tb_span_of(refusal->json),
                                                  &tokenizer, &error);
        if (status != refusal->status || !strstr(error.message, refusal->part))
            fail_msg("%s\n%s: %s", refusal->json, tb_status_name(status),
                     error.message);
        assert_null(tokenizer);
    }
}

static void test_place_of_an_error(void **state)
{
    (void)state;
    struct tb_tokenizer *tokenizer = NULL;
    struct tb_error error = {0};
    const char *json = "{\"model\":\n" BPE("\"merges\":[\"a b\",\"a c\"]") "}";
    assert_int_equal(
        tb_tokenizer_from_json(tb_span_of(json), &tokenizer, &error),
        TB_ERR_VALUE);
    assert_int_equal(error.line, 2);
    assert_true(error.offset > 0 && error.offset < strlen(json));
    assert_true(error.json_path[0] == '$');
}

/* ---- damage
 * --------------------------------------------------------------------
 */

static const char whole_file[] =
    "{\"added_tokens\":[{\"id\":3,\"content\":\"<x>\",\"normalized\":true}],"
    "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},"
    "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"[a-c]+\"},\"content\":"
    "\"a\"}]},\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"_\","
    "\"prepend_scheme\":\"first\",\"split\":true},\"model\":{\"type\":"
    "\"Unigram\",\"unk_id\":0,\"vocab\":[[\"a\",-1.5],[\"_a\",-2],"
    "[\"aa\",-2.5]]}}";

// Loads whatever it is, and encodes with it when it is a tokenizer.
static tb_status try_file(struct tb_span json)
{
    struct tb_tokenizer *tokenizer = NULL;
    struct tb_error error = {0};
    tb_status status = tb_tokenizer_from_json(json, &tokenizer, &error);
    assert_int_equal(error.status, status);
    if (status != TB_OK)
        return status;
    struct tb_encoder *encoder;
    struct tb_tokens tokens = {0};
    status = tb_encoder_new(tokenizer, &encoder);
    if (status == TB_OK) {
        status =
            tb_encoder_encode(encoder, TB_SPAN("b\xC3\xA9 <x>a aa_"), &tokens);
        tb_encoder_free(encoder);
    }
    tb_tokens_release(&tokens);
    tb_tokenizer_free(tokenizer);
    return status;
}

static void test_cut_off_files(void **state)
{
    (void)state;
    size_t len = sizeof(whole_file) - 1;
    for (size_t cut = 0; cut <= len; cut++) {
        // on the heap, so that a sanitizer sees every read past the end
        uint8_t *copy = tb_memory_resize(NULL, cut + 1);
        assert_non_null(copy);
        memcpy(copy, whole_file, cut);
        uint8_t *exact = tb_memory_resize(copy, cut ? cut : 1);
        tb_status status = try_file((struct tb_span){exact, cut});
        assert_true((status == TB_OK) == (cut == len));
        tb_memory_free(exact);
    }
}

static void test_changed_bytes(void **state)
{
    (void)state;
    char copy[sizeof(whole_file)];
    struct tb_span json = {(const uint8_t *)copy, sizeof(whole_file) - 1};
    static const char others[] = "\"{}[],:0a-\\\n\xFF";
    for (size_t at = 0; at < json.len; at++) {
        memcpy(copy, whole_file, sizeof(copy));
        for (const char *other = others; *other; other++) {
            copy[at] = *other;
            (void)try_file(json); // whatever it says, it comes back
        }
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    tb_status status = TB_ERR_MEMORY;
    for (long count = 0; status != TB_OK; count++) {
        assert_in_range(count, 0, 10000);
        tb_memory_fail_after(count);
        status = try_file(tb_span_of(whole_file));
        tb_memory_fail_after(-1);
        assert_true(status == TB_OK || status == TB_ERR_MEMORY);
    }
}

static void test_endless_backtracking(void **state)
{
    (void)state;
    struct tb_tokenizer *tokenizer =
        load(TB_SPAN(WITH("null", REGEX("(a|aa)+$"), LEVEL)));
    struct tb_encoder *encoder;
    struct tb_tokens tokens = {0};
    char text[64];
    memset(text, 'a', sizeof(text) - 2);
    text[sizeof(text) - 2] = 'b';
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(tb_encoder_new(tokenizer, &encoder), TB_OK);
    assert_int_equal(tb_encoder_encode(encoder, tb_span_of(text), &tokens),
                     TB_ERR_LIMIT);
    // Others are encoded as before.
    tokens.count = 0;
    assert_int_equal(tb_encoder_encode(encoder, TB_SPAN("a"), &tokens), TB_OK);
    assert_int_equal(tokens.count, 1);
    assert_true(tb_encoder_is_text_fault(TB_ERR_LIMIT));
    assert_false(tb_encoder_is_text_fault(TB_OK));
    assert_false(tb_encoder_is_text_fault(TB_ERR_MEMORY));
    tb_tokens_release(&tokens);
    tb_encoder_free(encoder);
    tb_tokenizer_free(tokenizer);
}

/* ---- scanners against Oniguruma
 * ------------------------------------------------
 */

static const char *const known_patterns[] = {
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
    "\\s+(?!\\S)|\\s+",
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|"
    "\\s+(?!\\S)|\\s+",
    "\\p{N}{1,3}",
    "[\xE4\xB8\x80-\xE9\xBE\xA5\xE3\x81\x80-\xE3\x82\x9F"
    "\xE3\x82\xA0-\xE3\x83\xBF]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|"
    "[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|"
    "\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+|"
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|"
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|"
    "\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
    "\\s+(?!\\S)|\\s+",
};

static uint32_t next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static void make_text(uint32_t *seed, struct tb_buffer *text)
{
    static const char *const pieces[] = {" ",
                                         "  ",
                                         "\n",
                                         "\r",
                                         "\t",
                                         "a",
                                         "B",
                                         "the",
                                         "'",
                                         "'s",
                                         "'RE",
                                         "'\xC5\xBF",
                                         "1",
                                         "234",
                                         "\xC2\xB2",
                                         "\xC3\xA9",
                                         "\xC3\x89",
                                         "\xCC\x81",
                                         "/",
                                         ".",
                                         "$",
                                         "\xE4\xB8\xAD",
                                         "\xE3\x81\x82",
                                         "\xC7\x85",
                                         "\xCA\xB0",
                                         "\xC2\xA0",
                                         "\xE3\x80\x80",
                                         "\xF0\x9F\x98\x80",
                                         "-",
                                         "_"};
    tb_buffer_clear(text);
    for (uint32_t left = next_random(seed) % 24; left > 0; left--) {
        uint8_t bytes[TB_UTF8_MAX_LEN];
        uint32_t choice = next_random(seed) % (COUNT_OF(pieces) + 3);
        if (choice < COUNT_OF(pieces)) {
            put(text, pieces[choice]);
            continue;
        }
        size_t len = tb_utf8_encode(next_random(seed) % 0x20000, bytes);
        assert_int_equal(tb_buffer_append(text, (struct tb_span){bytes, len}),
                         TB_OK);
    }
}

// The matches of a scanner are those of the same pattern as a regex.
static void compare_matches(tb_pattern_scan scan, const struct tb_regex *regex,
                            struct tb_regex_region *region, struct tb_span text)
{
    struct tb_regex_walk walk = {0};
    assert_int_equal(tb_regex_next(regex, region, text, &walk), TB_OK);
    for (size_t at = 0, end; at < text.len; at = end) {
        end = scan(text, at);
        if (end == at) {
            uint32_t code_point;
            end = at + tb_utf8_decode(text, at, &code_point);
            continue;
        }
        assert_true(walk.found);
        assert_int_equal(walk.start, at);
        assert_int_equal(walk.end, end);
        assert_int_equal(tb_regex_next(regex, region, text, &walk), TB_OK);
    }
    assert_false(walk.found);
}

static void test_scanners_are_their_patterns(void **state)
{
    (void)state;
    uint32_t seed = 2463534242u;
    struct tb_buffer text = TB_BUFFER(1 << 16);
    struct tb_regex_region *region;
    assert_int_equal(tb_regex_region_new(&region), TB_OK);
    for (size_t i = 0; i < COUNT_OF(known_patterns); i++) {
        struct tb_span pattern = tb_span_of(known_patterns[i]);
        tb_pattern_scan scan = tb_pattern_find(pattern);
        struct tb_regex *regex;
        assert_non_null(scan);
        assert_int_equal(tb_regex_new(pattern, &regex, NULL), TB_OK);
        for (int round = 0; round < 4000; round++) {
            make_text(&seed, &text);
            if (text.len)
                compare_matches(scan, regex, region, tb_buffer_span(&text));
        }
        tb_regex_free(regex);
    }
    tb_regex_region_free(region);
    tb_buffer_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ignore_merges),
        cmocka_unit_test(test_forms_of_merges),
        cmocka_unit_test(test_enormous_word),
        cmocka_unit_test(test_enormous_mixed_word),
        cmocka_unit_test(test_families_of_patterns),
        cmocka_unit_test(test_flags_of_added_tokens),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_place_of_an_error),
        cmocka_unit_test(test_cut_off_files),
        cmocka_unit_test(test_changed_bytes),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_endless_backtracking),
        cmocka_unit_test(test_scanners_are_their_patterns),
    };
    return cmocka_run_group_tests_name("tokenizer", tests, NULL, NULL);
}
