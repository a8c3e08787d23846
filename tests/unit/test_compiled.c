/* tokenizer: the compiled form gives the tokenizer that was written, for every
 * kind of part, and what is damaged is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiled.h"
#include "memory.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define FILE_OF(added, normalizer, pre_tokenizer, decoder, model)              \
    "{\"added_tokens\":[" added "],\"normalizer\":" normalizer                 \
    ",\"pre_tokenizer\":" pre_tokenizer ",\"decoder\":" decoder                \
    ",\"model\":" model "}"
#define ADDED                                                                  \
    "{\"id\":90,\"content\":\"<x>\",\"special\":true,\"lstrip\":true},"        \
    "{\"id\":91,\"content\":\"cab\",\"normalized\":true,\"single_word\":true}"
#define NORMALIZERS(steps) "{\"type\":\"Sequence\",\"normalizers\":[" steps "]}"
#define CUTS(steps) "{\"type\":\"Sequence\",\"pretokenizers\":[" steps "]}"
#define SPACE "\xE2\x96\x81"
#define METASPACE                                                              \
    "{\"type\":\"Metaspace\",\"replacement\":\"" SPACE                         \
    "\",\"prepend_scheme\":\"first\",\"split\":true}"
#define UNIGRAM                                                                \
    "{\"type\":\"Unigram\",\"unk_id\":0,\"byte_fallback\":true,\"vocab\":[["   \
    "\"<unk>\",0],[\"a\",-1.5],[\"b\",-2],[\"ab\",-3.1],[\"" SPACE             \
    "a\",-2.2],[\"<0x63>\",-9],[\"" SPACE "\",-4]]}"
#define WORD_PIECE                                                             \
    "{\"type\":\"WordPiece\",\"unk_token\":\"?\",\"max_input_chars_per_word\"" \
    ":9,\"continuing_subword_prefix\":\"##\",\"vocab\":{\"?\":0,\"a\":1,"      \
    "\"##b\":2,\"##a\":3,\"b\":4}}"
#define WORD_LEVEL                                                             \
    "{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1,"  \
    "\"ab\":2,\"b\":3}}"
#define BPE(more)                                                              \
    "{\"type\":\"BPE\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1,\"b\":"  \
    "2,\"ab\":3,\"" SPACE "\":4,\"" SPACE "a\":5,\"##b\":6,\"##a\":7,"         \
    "\"a##b\":8,\"b$\":9}," more "}"
#define REGEX(text, behavior)                                                  \
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" text                       \
    "\"},\"behavior\":\"" behavior "\",\"invert\":true}"

static const char *const files[] = {
    FILE_OF(ADDED, "null", "null", "null",
            BPE("\"merges\":[\"a b\",\"" SPACE " a\"]")),
    FILE_OF("", "{\"type\":\"NFKC\"}", "{\"type\":\"Whitespace\"}",
            "{\"type\":\"BPEDecoder\",\"suffix\":\"$\"}",
            BPE("\"merges\":[],\"end_of_word_suffix\":\"$\"")),
    FILE_OF("", "{\"type\":\"BertNormalizer\",\"lowercase\":true}",
            "{\"type\":\"BertPreTokenizer\"}", "null",
            BPE("\"merges\":[],\"continuing_subword_prefix\":\"##\"")),
    FILE_OF(
        ADDED,
        NORMALIZERS("{\"type\":\"Strip\",\"strip_left\":true,"
                    "\"strip_right\":false},{\"type\":\"Replace\","
                    "\"pattern\":{\"Regex\":\"b{2,}\"},\"content\":\"ab\"}"),
        METASPACE,
        "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"ByteFallback\"},"
        "{\"type\":\"Fuse\"}]}",
        UNIGRAM),
    FILE_OF(ADDED, "{\"type\":\"Lowercase\"}",
            CUTS("{\"type\":\"WhitespaceSplit\"},{\"type\":\"Punctuation\","
                 "\"behavior\":\"Removed\"},{\"type\":\"Digits\","
                 "\"individual_digits\":true}"),
            "{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true}",
            WORD_PIECE),
    FILE_OF("", "{\"type\":\"StripAccents\"}",
            CUTS(REGEX("[ab]+", "Removed") ",{\"type\":\"UnicodeScripts\"},"
                                           "{\"type\":\"FixedLength\","
                                           "\"length\":2}"),
            "null", WORD_LEVEL),
    FILE_OF("", "null",
            CUTS("{\"type\":\"CharDelimiterSplit\",\"delimiter\":\" \"},"
                 "{\"type\":\"ByteLevel\",\"add_prefix_space\":true,"
                 "\"use_regex\":false}"),
            "{\"type\":\"CTC\"}", WORD_PIECE),
};

static const char *const texts[] = {"",
                                    "a",
                                    "ab ba",
                                    " ab\xC3\xA9"
                                    "ab <x>cab, cab.ab",
                                    "abbb 12 c ABab bb",
                                    "a" SPACE "ab  ab",
                                    "e\xCC\x81 \xE6\x96\x87"
                                    "a1ab2\nab"};

/* A SentencePiece model of the pieces <unk>, a, b, ab and the symbol "cab". */
#define PIECE(len, text, rest) "\x0A" len "\x0A" text rest
#define PIECES                                                                 \
    PIECE("\x0E", "\x05<unk>",                                                 \
          "\x15"                                                               \
          "\x00\x00\x00\x00\x18\x02")                                          \
    PIECE("\x08",                                                              \
          "\x01"                                                               \
          "a",                                                                 \
          "\x15"                                                               \
          "\x00\x00\x80\xBF")                                                  \
    PIECE("\x08",                                                              \
          "\x01"                                                               \
          "b",                                                                 \
          "\x15"                                                               \
          "\x00\x00\x00\xC0")                                                  \
    PIECE("\x09",                                                              \
          "\x02"                                                               \
          "ab",                                                                \
          "\x15"                                                               \
          "\x00\x00\x40\xC0")                                                  \
    PIECE("\x0C",                                                              \
          "\x03"                                                               \
          "cab",                                                               \
          "\x15"                                                               \
          "\x00\x00\x00\x00\x18\x04")
#define UNIGRAM_MODEL PIECES "\x12\x02\x18\x01"
#define BPE_MODEL PIECES "\x12\x02\x18\x02\x1A\x02\x18"

static char folder[] = "/tmp/tracebake-compiled-XXXXXX";
static char form[512];

static int make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(form, sizeof(form), "%s/form.tok", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(form);
    return rmdir(folder);
}

static void expect_same_text(const struct tb_tokenizer *source,
                             const struct tb_tokenizer *mapped,
                             const struct tb_tokens *tokens)
{
    struct tb_decode_work *works[2];
    struct tb_span decoded[2] = {{0}};
    tb_status statuses[2];
    const struct tb_tokenizer *both[] = {source, mapped};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tb_decode_work_new(&works[i]), TB_OK);
        statuses[i] =
            tb_tokenizer_decode(both[i], works[i], tokens->ids, tokens->count,
                                TB_DECODE_SKIP_SPECIAL, &decoded[i], NULL);
    }
    assert_int_equal(statuses[0], statuses[1]);
    assert_true(tb_span_equal(decoded[0], decoded[1]));
    tb_decode_work_free(works[0]);
    tb_decode_work_free(works[1]);
}

static void expect_same(const struct tb_tokenizer *source,
                        const struct tb_tokenizer *mapped)
{
    struct tb_encoder *encoders[2];
    struct tb_tokens wanted = {0}, got = {0};
    assert_int_equal(tb_encoder_new(source, &encoders[0]), TB_OK);
    assert_int_equal(tb_encoder_new(mapped, &encoders[1]), TB_OK);
    assert_int_equal(tb_encoder_can_cut(encoders[0]),
                     tb_encoder_can_cut(encoders[1]));
    assert_string_equal(tb_tokenizer_fingerprint(source),
                        tb_tokenizer_fingerprint(mapped));
    assert_int_equal(tb_tokenizer_vocab_size(source),
                     tb_tokenizer_vocab_size(mapped));
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct tb_span text = tb_span_of(texts[i]);
        wanted.count = got.count = 0;
        assert_int_equal(tb_encoder_encode(encoders[0], text, &wanted), TB_OK);
        assert_int_equal(tb_encoder_encode(encoders[1], text, &got), TB_OK);
        assert_int_equal(wanted.count, got.count);
        if (got.count)
            assert_memory_equal(wanted.ids, got.ids,
                                got.count * sizeof(*got.ids));
        expect_same_text(source, mapped, &got);
    }
    tb_tokens_release(&wanted);
    tb_tokens_release(&got);
    tb_encoder_free(encoders[0]);
    tb_encoder_free(encoders[1]);
}

// Takes `source` over.
static void write_and_map(struct tb_tokenizer *source)
{
    struct tb_tokenizer *mapped;
    assert_int_equal(tb_compiled_save(source, form), TB_OK);
    assert_int_equal(tb_compiled_load(form, &mapped), TB_OK);
    expect_same(source, mapped);
    tb_tokenizer_free(source);
    tb_tokenizer_free(mapped);
}

static struct tb_tokenizer *load(const char *json)
{
    struct tb_tokenizer *tokenizer;
    struct tb_error error = {0};
    if (tb_tokenizer_from_json(tb_span_of(json), &tokenizer, &error) != TB_OK)
        fail_msg("%s: %s: %s", json, error.json_path, error.message);
    return tokenizer;
}

static void test_every_kind_of_part(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++)
        write_and_map(load(files[i]));
}

// Long tables are written from where they are, a limited number of them.
static void test_many_long_parts(void **state)
{
    (void)state;
    enum { TOKENS = 70, LEN = 65 << 10 };
    struct tb_buffer json = TB_BUFFER(8 << 20);
    static char text[LEN + 1];
    assert_int_equal(tb_buffer_printf(&json, "{\"added_tokens\":["), TB_OK);
    for (int i = 0; i < TOKENS; i++) {
        memset(text, 'x', LEN);
        memset(text, '0' + i % 64, (size_t)(1 + i / 64));
        if (text[0] == '\\')
            text[0] = '~';
        assert_int_equal(tb_buffer_printf(&json, "%s{\"content\":\"%s\"}",
                                          i ? "," : "", text),
                         TB_OK);
    }
    assert_int_equal(
        tb_buffer_printf(&json,
                         "],\"model\":{\"type\":\"BPE\",\"vocab\":{"
                         "\"x\":0,\"xx\":1},\"merges\":[\"x x\"]}}%c",
                         '\0'),
        TB_OK);
    struct tb_tokenizer *tokenizer = load((const char *)json.ptr);
    assert_int_equal(tb_tokenizer_vocab_size(tokenizer), 2 + TOKENS);
    write_and_map(tokenizer);
    tb_buffer_release(&json);
}

static void test_sentence_piece(void **state)
{
    (void)state;
    const struct tb_span models[] = {TB_SPAN(UNIGRAM_MODEL),
                                     TB_SPAN(BPE_MODEL "\x00")};
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        struct tb_tokenizer *tokenizer;
        struct tb_error error = {0};
        if (tb_tokenizer_from_sentence_piece(models[i], &tokenizer, &error))
            fail_msg("%s", error.message);
        write_and_map(tokenizer);
    }
}

static size_t read_form(uint8_t *bytes, size_t most)
{
    FILE *file = fopen(form, "rb");
    assert_non_null(file);
    size_t len = fread(bytes, 1, most, file);
    assert_int_equal(fclose(file), 0);
    return len;
}

static void expect_refused(const uint8_t *bytes, size_t len)
{
    struct tb_tokenizer *tokenizer;
    FILE *file = fopen(form, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(tb_compiled_load(form, &tokenizer), TB_ERR_NOT_FOUND);
}

static void test_damage(void **state)
{
    (void)state;
    static uint8_t bytes[1 << 16];
    struct tb_tokenizer *tokenizer = load(files[3]);
    assert_int_equal(tb_compiled_save(tokenizer, form), TB_OK);
    tb_tokenizer_free(tokenizer);
    size_t len = read_form(bytes, sizeof(bytes));
    assert_true(len > 0 && len < sizeof(bytes));
    for (size_t at = 0; at < len; at += at < 200 ? 1 : 97) {
        bytes[at] ^= 0x40;
        expect_refused(bytes, len);
        bytes[at] ^= 0x40;
        expect_refused(bytes, at);
    }
    bytes[len] = 0;
    expect_refused(bytes, len + 1);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct tb_tokenizer *source = load(files[3]), *mapped;
    tb_status status = TB_ERR_MEMORY;
    for (long n = 0; status != TB_OK; n++) {
        tb_memory_fail_after(n);
        status = tb_compiled_save(source, form);
        tb_memory_fail_after(-1);
        assert_true(n < 1000);
    }
    status = TB_ERR_MEMORY;
    for (long n = 0; status != TB_OK; n++) {
        tb_memory_fail_after(n);
        status = tb_compiled_load(form, &mapped);
        tb_memory_fail_after(-1);
        assert_true(status == TB_OK || status == TB_ERR_NOT_FOUND);
        assert_true(n < 1000);
    }
    expect_same(source, mapped);
    tb_tokenizer_free(source);
    tb_tokenizer_free(mapped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_part),
        cmocka_unit_test(test_many_long_parts),
        cmocka_unit_test(test_sentence_piece),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("compiled", tests, make_folder,
                                       remove_folder);
}
