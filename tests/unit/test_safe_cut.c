/* tokenizer: where texts are cut, whose texts may be, and that the ids of the
 * parts are those of the whole. Whether words are cut rightly inside is held
 * to the original by tests/oracle/components_oracle.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "safe_cut.h"
#include "tokenizer_model.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define WITH(normalizer, pre_tokenizer, model)                                 \
    "{\"normalizer\":" normalizer ",\"pre_tokenizer\":" pre_tokenizer          \
    ",\"model\":" model "}"
#define ADDED(token, flag, normalizer, pre_tokenizer, model)                   \
    "{\"added_tokens\":[{\"id\":9,\"content\":\"" token "\"," flag             \
    "}],\"normalizer\":" normalizer ",\"pre_tokenizer\":" pre_tokenizer        \
    ",\"model\":" model "}"
#define RAW "\"normalized\":false"
#define NORMALIZED "\"normalized\":true"

#define LEVEL "{\"type\":\"WordLevel\",\"unk_token\":\"a\",\"vocab\":{\"a\":0}}"
#define BYTE_LEVEL                                                             \
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}"
#define REGEX(text)                                                            \
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" text                       \
    "\"},\"behavior\":\"Isolated\"}"

/* In SentencePiece's manner: U+2581 is the space inside tokens. */
#define SPACE "\xE2\x96\x81"
#define UNKNOWN ",\"unk_token\":\"<unk>\""
#define SPACED(merges, more)                                                   \
    "{\"type\":\"BPE\",\"fuse_unk\":true,\"vocab\":{\"<unk>\":0,\"a\":1,"      \
    "\"b\":2,\".\":3,\"" SPACE "\":4,\"" SPACE "a\":5,\"ab\":6,\"" SPACE       \
    "ab\":7,\"." SPACE "a\":8,\"<\":10,\"<" SPACE "a\":11,\"" SPACE SPACE      \
    "\":12,\"<unk>" SPACE "a\":13},\"merges\":[[\"" SPACE                      \
    "\",\"a\"],[\"a\",\"b\"],[\"" SPACE "\",\"ab\"],[\"" SPACE "\",\"" SPACE   \
    "\"]" merges "]" more "}"
#define PLAIN SPACED("", UNKNOWN)
#define ESCAPE                                                                 \
    "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},"                    \
    "\"content\":\"" SPACE "\"}"
#define PREPEND "{\"type\":\"Prepend\",\"prepend\":\"" SPACE "\"}"
#define CHAIN(steps) "{\"type\":\"Sequence\",\"normalizers\":[" steps "]}"
#define LLAMA CHAIN(PREPEND "," ESCAPE)
#define METASPACE(character, scheme)                                           \
    "{\"type\":\"Metaspace\",\"replacement\":\"" character                     \
    "\",\"prepend_scheme\":\"" scheme "\",\"split\":false}"
#define SPLIT(text)                                                            \
    "{\"type\":\"Split\",\"pattern\":{\"String\":\"" text                      \
    "\"},\"behavior\":\"MergedWithPrevious\"}"

static const struct {
    const char *json;
    bool can_cut;
} files[] = {
    {WITH("null", BYTE_LEVEL, LEVEL), true},
    {WITH("{\"type\":\"BertNormalizer\",\"clean_text\":true,\"lowercase\":true,"
          "\"handle_chinese_chars\":true,\"strip_accents\":null}",
          "{\"type\":\"BertPreTokenizer\"}", LEVEL),
     true},
    {WITH("null", "{\"type\":\"Whitespace\"}", LEVEL), true},
    {WITH("null",
          "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"split\":true}",
          LEVEL),
     true},
    {WITH("null", METASPACE("_", "always"), LEVEL), false},
    {WITH("{\"type\":\"Prepend\",\"prepend\":\"_\"}", BYTE_LEVEL, LEVEL),
     false},
    {WITH("{\"type\":\"Strip\",\"strip_left\":true}",
          "{\"type\":\"Whitespace\"}", LEVEL),
     false},
    {WITH("null", REGEX("a b"), LEVEL), false},
    {WITH("null", "{\"type\":\"FixedLength\",\"length\":3}", LEVEL), false},
    {WITH("null", "{\"type\":\"UnicodeScripts\"}", LEVEL), false},
    {WITH("null", "null", LEVEL), false},
    /* a text that is one word */
    {WITH(LLAMA, "null", PLAIN), true},
    {WITH(ESCAPE, "null", PLAIN), true},
    {WITH(ESCAPE, SPLIT(" "), PLAIN), true},
    {WITH(CHAIN("{\"type\":\"NFKC\"}," ESCAPE), "null", PLAIN), true},
    {WITH("null", METASPACE(SPACE, "first"), PLAIN), true},
    {WITH("null", METASPACE(SPACE, "always"), PLAIN), true},
    {WITH("null", METASPACE(SPACE, "never"), PLAIN), true},
    {WITH("null", "null", PLAIN), false}, /* a space stays one */
    {WITH(ESCAPE, SPLIT("a"), PLAIN), false},
    {WITH(CHAIN(ESCAPE ",{\"type\":\"Strip\"}"), "null", PLAIN), false},
    {WITH("null", METASPACE("_", "first"), PLAIN), false},
    {WITH(LLAMA, "null", SPACED(",[\"<\",\"" SPACE "a\"]", UNKNOWN)), true},
    {WITH(LLAMA, "null", SPACED(",[\".\",\"" SPACE "a\"]", UNKNOWN)), false},
    {WITH(LLAMA, "null", SPACED(",[\"<unk>\",\"" SPACE "a\"]", UNKNOWN)),
     false},
    {WITH(LLAMA, "null", SPACED("", UNKNOWN ",\"ignore_merges\":true")), false},
    {WITH(LLAMA, "null", SPACED("", "")), false},
    {WITH(LLAMA, "null", SPACED("", UNKNOWN ",\"end_of_word_suffix\":\"b\"")),
     false},
    {ADDED("<s>", RAW, LLAMA, "null", PLAIN), true},
    {ADDED("xa", RAW, LLAMA, "null", PLAIN), false}, /* a prefix behind it */
    {ADDED("xa", RAW, ESCAPE, "null", PLAIN), true},
    {ADDED("a b", RAW, ESCAPE, "null", PLAIN), false},
    {ADDED("<s>", RAW ",\"rstrip\":true", ESCAPE, "null", PLAIN), false},
    {ADDED("<s>", NORMALIZED, ESCAPE, "null", PLAIN), true},
    {ADDED("<s>", NORMALIZED, LLAMA, "null", PLAIN), false}, /* "_<s>" */
    {ADDED("b" SPACE, NORMALIZED, ESCAPE, "null", PLAIN), false},
};

static struct tb_encoder *open_file(const char *json,
                                    struct tb_tokenizer **tokenizer)
{
    struct tb_error error = {0};
    struct tb_encoder *encoder;
    tb_status status =
        tb_tokenizer_from_json(tb_span_of(json), tokenizer, &error);
    if (status != TB_OK)
        fail_msg("%s: %s: %s", json, error.json_path, error.message);
    assert_int_equal(tb_encoder_new(*tokenizer, &encoder), TB_OK);
    return encoder;
}

static void make_text(uint32_t *seed, struct tb_buffer *text)
{
    static const char *const fragments[] = {
        "a b", "a a", ". a", "b ab", "<unk> a", "a ", " a", "  ", "b", "ab",
        "<", "< a", ".", "\n", "\xC3\xA9", SPACE, "<s>", "xa", "x", "b a a",
        "xa a",
        /* what a table of rules may have replacements for */
        "a a\xCC\x81", "b b\xCC\x81",
        "\xD8\x80"
        "a a",
        "\xE3\x80\x80", "a", "\x01"};
    tb_buffer_clear(text);
    for (int i = 0; i < 12; i++) {
        *seed = *seed * 1664525 + 1013904223;
        size_t at = (size_t)(*seed >> 8) % COUNT_OF(fragments);
        assert_int_equal(tb_buffer_append(text, tb_span_of(fragments[at])),
                         TB_OK);
    }
}

// Every place that is safe; returns how many there are.
static size_t check_cuts(struct tb_encoder *encoder, struct tb_span text,
                         const char *json)
{
    struct tb_tokens whole = {0}, parts = {0};
    size_t count = 0;
    assert_int_equal(tb_encoder_encode(encoder, text, &whole), TB_OK);
    for (size_t at = tb_safe_cut_after(text, 0); at < text.len;
         at = tb_safe_cut_after(text, at)) {
        struct tb_span front = {text.ptr, at}, rest = tb_span_from(text, at);
        parts.count = 0;
        assert_int_equal(tb_encoder_encode(encoder, front, &parts), TB_OK);
        assert_int_equal(tb_encoder_encode_rest(encoder, rest, &parts), TB_OK);
        if (parts.count != whole.count ||
            memcmp(parts.ids, whole.ids, whole.count * sizeof(*whole.ids)) != 0)
            fail_msg("cut at %zu of '%.*s' with %s", at, (int)text.len,
                     (const char *)text.ptr, json);
        count++;
    }
    tb_tokens_release(&whole);
    tb_tokens_release(&parts);
    return count;
}

static void test_whose_texts_can_be_cut(void **state)
{
    (void)state;
    struct tb_buffer text = TB_BUFFER(1 << 10);
    uint32_t seed = 1;
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        struct tb_tokenizer *tokenizer;
        struct tb_encoder *encoder = open_file(files[i].json, &tokenizer);
        if (tb_encoder_can_cut(encoder) != files[i].can_cut)
            fail_msg("%s", files[i].json);
        for (int round = 0; round < 500 && files[i].can_cut; round++) {
            make_text(&seed, &text);
            count += check_cuts(encoder, tb_buffer_span(&text), files[i].json);
        }
        tb_encoder_free(encoder);
        tb_tokenizer_free(tokenizer);
    }
    assert_true(count > 1000);
    tb_buffer_release(&text);
}

/* SentencePiece models: pieces <unk>, a, b, ab, U+2581, and with that a; then
 * the trainer's settings and the normalizer's. */
#define PIECE(len, text_len, text, rest) "\x0A" len "\x0A" text_len text rest
#define SCORE(last) "\x15\x00\x00" last
#define PIECES                                                                 \
    PIECE("\x0E", "\x05", "<unk>", SCORE("\x00\x00") "\x18\x02")               \
    PIECE("\x08", "\x01", "a", SCORE("\x80\xBF"))                              \
    PIECE("\x08", "\x01", "b", SCORE("\x00\xC0"))                              \
    PIECE("\x09", "\x02", "ab", SCORE("\x40\xC0"))                             \
    PIECE("\x0A", "\x03", SPACE, SCORE("\x80\xC0"))                            \
    PIECE("\x0B", "\x04", SPACE "a", SCORE("\xA0\xC0"))
#define BPE_METHOD "\x12\x02\x18\x02"
#define UNIGRAM_METHOD "\x12\x02\x18\x01"
#define KEEPING_SPACES "\x1A\x02\x20\x00"

static void test_sentence_piece(void **state)
{
    (void)state;
    const struct {
        struct tb_span content;
        bool can_cut;
    } models[] = {
        {TB_SPAN(PIECES BPE_METHOD KEEPING_SPACES), true},
        {TB_SPAN(PIECES BPE_METHOD), false}, /* spaces are dropped */
        {TB_SPAN(PIECES UNIGRAM_METHOD KEEPING_SPACES), false},
        {TB_SPAN(PIECES PIECE("\x0B", "\x04", "a" SPACE, SCORE("\xB0\xC0"))
                     BPE_METHOD KEEPING_SPACES),
         false},
        {TB_SPAN(
             PIECES PIECE("\x0C", "\x03", "b a", SCORE("\xB0\xC0") "\x18\x04")
                 BPE_METHOD KEEPING_SPACES),
         false},
        {TB_SPAN(PIECES PIECE("\x0A", "\x01", "x", SCORE("\xB0\xC0") "\x18\x05")
                     BPE_METHOD KEEPING_SPACES),
         false},
        {TB_SPAN(PIECES PIECE("\x0A", "\x01", "x", SCORE("\xB0\xC0") "\x18\x04")
                     BPE_METHOD KEEPING_SPACES),
         true},
    };
    struct tb_buffer text = TB_BUFFER(1 << 10);
    uint32_t seed = 1;
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        struct tb_tokenizer *tokenizer;
        struct tb_encoder *encoder;
        struct tb_error error = {0};
        if (tb_tokenizer_from_sentence_piece(models[i].content, &tokenizer,
                                             &error) != TB_OK)
            fail_msg("%zu: %s", i, error.message);
        assert_int_equal(tb_encoder_new(tokenizer, &encoder), TB_OK);
        if (tb_encoder_can_cut(encoder) != models[i].can_cut)
            fail_msg("model %zu", i);
        for (int round = 0; round < 500 && models[i].can_cut; round++) {
            make_text(&seed, &text);
            check_cuts(encoder, tb_buffer_span(&text), "a model");
        }
        tb_encoder_free(encoder);
        tb_tokenizer_free(tokenizer);
    }
    tb_buffer_release(&text);
}

/* A table of rules, in the layout that charsmap.h tells of: what follows a
 * byte has 256 units of its own. */
enum { MOST_BLOCKS = 24, MOST_RULES = 6 };

struct rule {
    const char *key, *text; /* NULL: there are no more */
};

struct table {
    uint32_t units[MOST_BLOCKS * 256];
    char texts[64];
    size_t block_count, texts_len;
};

static void add_rule(struct table *table, const struct rule *rule)
{
    size_t block = 1, at = 0;
    for (const char *key = rule->key; *key; key++) {
        at = block * 256 + (uint8_t)*key;
        block = table->units[at] ? (at ^ (table->units[at] >> 10)) / 256
                                 : table->block_count++;
        assert_true(block < MOST_BLOCKS);
        table->units[at] = (uint32_t)(at ^ (block * 256)) << 10 |
                           (table->units[at] & 0x100) | (uint8_t)*key;
    }
    table->units[at] |= 1 << 8;
    table->units[block * 256] = 1u << 31 | (uint32_t)table->texts_len;
    size_t len = strlen(rule->text) + 1;
    assert_true(table->texts_len + len <= sizeof(table->texts));
    memcpy(table->texts + table->texts_len, rule->text, len);
    table->texts_len += len;
}

// In front of what the file asks for.
static void put_charsmap(struct tb_tokenizer *tokenizer,
                         const struct table *table)
{
    struct tb_normalizer *normalizer = &tokenizer->normalizer;
    memmove(normalizer->steps + 1, normalizer->steps,
            normalizer->step_count * sizeof(normalizer->steps[0]));
    normalizer->step_count++;
    normalizer->steps[0] = (struct tb_normalizer_step){
        .kind = TB_NORMALIZER_CHARSMAP,
        .charsmap = {
            .units = table->units,
            .unit_count = table->block_count * 256,
            .texts = {(const uint8_t *)table->texts, table->texts_len}}};
}

#define SPLITTING                                                              \
    "{\"type\":\"Metaspace\",\"replacement\":\"" SPACE "\",\"split\":true}"
#define WORDS                                                                  \
    "{\"type\":\"Sequence\",\"pretokenizers\":["                               \
    "{\"type\":\"WhitespaceSplit\"}," SPLITTING "]}"
#define SPACES(content)                                                        \
    "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" "                         \
    "{2,}\"},\"content\":\"" content "\"}"
#define STRIP(side) "{\"type\":\"Strip\",\"strip_" side "\":true}"
#define TEXT_FOR(pattern, content)                                             \
    "{\"type\":\"Replace\",\"pattern\":{\"String\":\"" pattern                 \
    "\"},\"content\":\"" content "\"}"
#define USUAL                                                                  \
    {"\xE3\x80\x80", " "}, {"\x01", ""},                                       \
    {                                                                          \
        "\n", " "                                                              \
    }
#define ODD                                                                    \
    {"a\xCC\x81", " "}, {"b\xCC\x81", ""},                                     \
    {                                                                          \
        "x", "a"                                                               \
    }

static const struct {
    struct rule rules[MOST_RULES];
    const char *json;
    bool can_cut;
} mapped[] = {
    {{USUAL, ODD}, WITH("null", SPLITTING, PLAIN), true},
    {{USUAL, ODD}, WITH("null", WORDS, PLAIN), true},
    {{USUAL, ODD}, WITH("null", "{\"type\":\"Whitespace\"}", PLAIN), true},
    {{USUAL, ODD}, WITH(SPACES(" "), WORDS, PLAIN), true},
    {{USUAL, ODD},
     WITH(CHAIN(STRIP("right") "," SPACES(SPACE)), SPLITTING, PLAIN),
     true},
    {{USUAL, ODD},
     WITH(CHAIN("{\"type\":\"NFKD\"}," TEXT_FOR("\xC3\xA9", "ab")), WORDS,
          PLAIN),
     true},
    {{USUAL, {" ", "b"}}, WITH("null", SPLITTING, PLAIN), false},
    {{USUAL, {" a", "b"}}, WITH("null", SPLITTING, PLAIN), false},
    {{USUAL, {"a", ""}}, WITH("null", SPLITTING, PLAIN), false},
    {{USUAL, {"a", "\xC3\xA9"}}, WITH("null", SPLITTING, PLAIN), false},
    {{USUAL, {"\xD8\x80", ""}}, WITH("null", SPLITTING, PLAIN), false},
    /* letters behind a space are looked at, and may be others now */
    {{USUAL}, WITH("null", BYTE_LEVEL, LEVEL), false},
    {{USUAL}, WITH("null", METASPACE(SPACE, "always"), PLAIN), false},
    {{USUAL}, WITH(STRIP("left"), SPLITTING, PLAIN), false},
    {{USUAL}, WITH(SPACES("b"), SPLITTING, PLAIN), false},
    /* U+2581 is no space for WhitespaceSplit, or before what comes then */
    {{USUAL}, WITH(SPACES(SPACE), WORDS, PLAIN), false},
    {{USUAL},
     WITH(CHAIN(SPACES(SPACE) "," STRIP("right")), SPLITTING, PLAIN),
     false},
    {{USUAL}, WITH(TEXT_FOR("a", ""), SPLITTING, PLAIN), false},
    {{USUAL}, WITH(TEXT_FOR("a ", "b"), SPLITTING, PLAIN), false},
    {{USUAL},
     ADDED("b" SPACE, NORMALIZED, SPACES(SPACE), SPLITTING, PLAIN),
     false},
    {{USUAL}, ADDED("b" SPACE, NORMALIZED, "null", SPLITTING, PLAIN), true},
};

static void test_tables_of_rules(void **state)
{
    (void)state;
    struct tb_buffer text = TB_BUFFER(1 << 10);
    uint32_t seed = 1;
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(mapped); i++) {
        static struct table table;
        struct tb_tokenizer *tokenizer;
        table = (struct table){.units = {256u << 10}, .block_count = 2};
        for (size_t k = 0; k < MOST_RULES && mapped[i].rules[k].key; k++)
            add_rule(&table, &mapped[i].rules[k]);
        // The encoder asks for the chain anew each time.
        struct tb_encoder *encoder = open_file(mapped[i].json, &tokenizer);
        put_charsmap(tokenizer, &table);
        if (tb_encoder_can_cut(encoder) != mapped[i].can_cut)
            fail_msg("%zu: %s", i, mapped[i].json);
        for (int round = 0; round < 500 && mapped[i].can_cut; round++) {
            make_text(&seed, &text);
            count += check_cuts(encoder, tb_buffer_span(&text), mapped[i].json);
        }
        tb_encoder_free(encoder);
        tb_tokenizer_free(tokenizer);
    }
    assert_true(count > 1000);
    tb_buffer_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whose_texts_can_be_cut),
        cmocka_unit_test(test_tables_of_rules),
        cmocka_unit_test(test_sentence_piece),
    };
    return cmocka_run_group_tests_name("safe_cut", tests, NULL, NULL);
}
