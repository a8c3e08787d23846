/* library: the public header, as a program uses it. That texts and ids are the
 * originals' is held by tests/oracle/decode_oracle.py and ids_oracle.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "memory.h"
#include "tracebake.h"

static const char *const small_file =
    "{\"added_tokens\":[{\"id\":7,\"content\":\"<s>\",\"special\":true},"
    "{\"id\":8,\"content\":\"Ab\",\"special\":false,\"normalized\":true}],"
    "\"normalizer\":{\"type\":\"Lowercase\"},"
    "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\","
    "\"pattern\":{\"String\":\"_\"},\"content\":\" \"},"
    "{\"type\":\"ByteFallback\"},{\"type\":\"WordPiece\",\"prefix\":\"##\","
    "\"cleanup\":true},{\"type\":\"Strip\",\"content\":\" \",\"start\":1,"
    "\"stop\":0},{\"type\":\"BPEDecoder\",\"suffix\":\"~\"},{\"type\":"
    "\"Metaspace\",\"replacement\":\"^\"},{\"type\":\"Fuse\"}]},"
    "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"_\":2,\".\":3,"
    "\"<0xE9>\":4,\"ab\":5,\"##b\":6},\"merges\":[\"a b\"]}}";

struct fixture {
    struct tb_tokenizer *tokenizer;
    struct tb_codec *codec;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    assert_int_equal(
        tb_tokenizer_load("builtin", NULL, &fixture.tokenizer, NULL), TB_OK);
    assert_int_equal(tb_codec_new(fixture.tokenizer, &fixture.codec, NULL),
                     TB_OK);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    tb_codec_free(fixture->codec);
    tb_tokenizer_free(fixture->tokenizer);
    return 0;
}

static void test_what_it_is(void **state)
{
    const struct fixture *fixture = *state;
    assert_string_equal(tb_tokenizer_origin(fixture->tokenizer), "built in");
    assert_int_equal(tb_tokenizer_vocab_size(fixture->tokenizer), 200019);
    assert_int_equal(strlen(tb_tokenizer_fingerprint(fixture->tokenizer)), 32);
    assert_int_equal(tb_version()[0] - '0', TB_VERSION_MAJOR);
    assert_string_equal(tb_status_name(TB_ERR_SYNTAX), "syntax");
}

static void test_room(void **state)
{
    struct fixture *fixture = *state;
    struct tb_error error;
    tb_token ids[3] = {7, 7, 7};
    size_t count;
    assert_int_equal(tb_codec_encode(fixture->codec, "unbelievable", 12, ids, 2,
                                     &count, &error),
                     TB_ERR_LIMIT);
    assert_int_equal(error.status, TB_ERR_LIMIT);
    assert_int_equal(count, 3);
    assert_int_equal(ids[0], 7);
    assert_int_equal(tb_codec_ids(fixture->codec)[0], 373);
    assert_int_equal(tb_codec_encode(fixture->codec, "unbelievable", 12, ids, 3,
                                     &count, &error),
                     TB_OK);
    assert_int_equal(ids[2], 45794);
    assert_int_equal(
        tb_codec_encode(fixture->codec, NULL, 0, NULL, 0, &count, NULL), TB_OK);
    assert_int_equal(count, 0);

    char text[12] = "";
    size_t len;
    assert_int_equal(
        tb_codec_decode(fixture->codec, ids, 3, 0, text, 11, &len, &error),
        TB_ERR_LIMIT);
    assert_int_equal(len, 12);
    assert_int_equal(text[0], 0);
    assert_memory_equal(tb_codec_text(fixture->codec), "unbelievable", 12);
    assert_int_equal(
        tb_codec_decode(fixture->codec, ids, 3, 0, text, 12, &len, &error),
        TB_OK);
    assert_memory_equal(text, "unbelievable", 12);
    assert_int_equal(
        tb_codec_decode(fixture->codec, NULL, 0, 0, NULL, 0, &len, NULL),
        TB_OK);
    assert_int_equal(len, 0);
}

static void test_batch(void **state)
{
    struct fixture *fixture = *state;
    const char *const texts[] = {"one", "", "unbelievable", "two\xC3", "two"};
    const size_t lens[] = {3, 0, 12, 4, 3};
    struct tb_error error;
    tb_token ids[8], alone[8];
    size_t offsets[6], done, count;
    assert_int_equal(tb_codec_encode_batch(fixture->codec, texts, lens, 3, ids,
                                           3, offsets, &done, &error),
                     TB_ERR_LIMIT);
    assert_int_equal(done, 2);
    assert_int_equal(tb_codec_encode_batch(fixture->codec, texts, lens, 3, ids,
                                           8, offsets, &done, &error),
                     TB_OK);
    assert_int_equal(done, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tb_codec_encode(fixture->codec, texts[i], lens[i],
                                         alone, 8, &count, &error),
                         TB_OK);
        assert_int_equal(offsets[i + 1] - offsets[i], count);
        assert_memory_equal(ids + offsets[i], alone, count * sizeof(*ids));
    }
    assert_int_equal(tb_codec_encode_batch(fixture->codec, texts, lens, 5, ids,
                                           8, offsets, &done, &error),
                     TB_ERR_SYNTAX);
    assert_int_equal(done, 3);
    assert_int_equal(error.offset, 3);
    assert_int_equal(tb_codec_encode_batch(fixture->codec, NULL, NULL, 0, NULL,
                                           0, offsets, &done, NULL),
                     TB_OK);
    assert_int_equal(offsets[0], 0);
}

static void test_broken_utf8(void **state)
{
    struct fixture *fixture = *state;
    struct tb_error error;
    size_t count = 9;
    assert_int_equal(
        tb_codec_count(fixture->codec, "ab\xC3", 3, &count, &error),
        TB_ERR_SYNTAX);
    assert_int_equal(error.offset, 2);
    assert_int_equal(count, 0);
    assert_int_equal(tb_codec_count(fixture->codec, "ab\xC3", 3, &count, NULL),
                     TB_ERR_SYNTAX);
}

// A character that is spread over tokens, which come one by one.
static void test_stream(void **state)
{
    struct fixture *fixture = *state;
    const char *text = "\xF0\x9F\xA6\x84 \xE4\x9A\x84";
    char pieces[64];
    size_t count, len = 0, piece_len;
    tb_token ids[16];
    assert_int_equal(tb_codec_encode(fixture->codec, text, strlen(text), ids,
                                     16, &count, NULL),
                     TB_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(tb_codec_decode(fixture->codec, &ids[i], 1,
                                         TB_DECODE_RAW, pieces + len,
                                         sizeof(pieces) - len, &piece_len,
                                         NULL),
                         TB_OK);
        len += piece_len;
    }
    assert_int_equal(len, strlen(text));
    assert_memory_equal(pieces, text, len);
    assert_true(count > 2);
    assert_int_equal(tb_codec_decode(fixture->codec, ids, 1, 0, pieces,
                                     sizeof(pieces), &len, NULL),
                     TB_OK);
    assert_memory_equal(pieces, "\xEF\xBF\xBD", 3);
}

static void test_special(void **state)
{
    struct fixture *fixture = *state;
    const tb_token ids[] = {64, 199999, 64, 200018, 4000000000u};
    size_t len;
    char text[64];
    assert_int_equal(
        tb_codec_decode(fixture->codec, ids, 5, 0, text, 64, &len, NULL),
        TB_OK);
    assert_int_equal(len, 2 + 13 + 15);
    assert_memory_equal(text, "a<|endoftext|>a<|endofprompt|>", len);
    assert_int_equal(tb_codec_decode(fixture->codec, ids, 5,
                                     TB_DECODE_SKIP_SPECIAL, text, 64, &len,
                                     NULL),
                     TB_OK);
    assert_int_equal(len, 2);
}

static tb_status load_small(struct fixture *small, struct tb_error *error)
{
    tb_status status = tb_tokenizer_load_json(small_file, strlen(small_file),
                                              &small->tokenizer, error);
    if (status == TB_OK)
        status = tb_codec_new(small->tokenizer, &small->codec, error);
    return status;
}

static void test_from_content(void **state)
{
    (void)state;
    struct fixture small = {0};
    const tb_token ids[] = {2, 0, 3, 6, 4, 8, 5};
    char text[64];
    size_t len;
    assert_int_equal(load_small(&small, NULL), TB_OK);
    assert_string_equal(tb_tokenizer_origin(small.tokenizer), "");
    assert_int_equal(
        tb_codec_decode(small.codec, ids, 7, 0, text, 64, &len, NULL), TB_OK);
    // an added token is written as the file has it, not as it is looked for
    const char *wanted = "a.b\xEF\xBF\xBD"
                         "Abab";
    assert_int_equal(len, strlen(wanted));
    assert_memory_equal(text, wanted, len);
    tear_down((void **)&(void *){&small});
}

static void test_errors(void **state)
{
    (void)state;
    struct tb_tokenizer *tokenizer = (void *)&tokenizer;
    struct tb_error error;
    char text[64];
    assert_int_equal(tb_tokenizer_load("/no/such", NULL, &tokenizer, &error),
                     TB_ERR_NOT_FOUND);
    assert_null(tokenizer);
    assert_int_equal(error.status, TB_ERR_NOT_FOUND);
    const char *json = "{\n \"model\": {\"type\": \"Odd\"}}";
    assert_int_equal(
        tb_tokenizer_load_json(json, strlen(json), &tokenizer, &error),
        TB_ERR_UNSUPPORTED);
    assert_int_equal(error.line, 2);
    assert_non_null(strstr(error.message, "'Odd'"));
    tb_error_format(&error, text, sizeof(text));
    assert_true(strlen(text) < sizeof(text));
    assert_int_equal(tb_tokenizer_load_json(json, 5, &tokenizer, NULL),
                     TB_ERR_CUT);
    tb_tokenizer_free(NULL);
    tb_codec_free(NULL);
}

static void test_size_of_options(void **state)
{
    (void)state;
    struct tb_tokenizer *tokenizer;
    struct tb_error error;
    struct tb_load_options options = {.size = sizeof(options)};
    assert_int_equal(tb_tokenizer_load("builtin", &options, &tokenizer, &error),
                     TB_OK);
    tb_tokenizer_free(tokenizer);
    const size_t wrong[] = {0, 3, sizeof(options) + 8};
    for (size_t i = 0; i < 3; i++) {
        options.size = wrong[i];
        assert_int_equal(
            tb_tokenizer_load("builtin", &options, &tokenizer, &error),
            TB_ERR_USAGE);
        assert_null(tokenizer);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    tb_status status = TB_ERR_MEMORY;
    const tb_token ids[] = {0, 1, 2, 3, 4, 4, 5, 6, 7, 8};
    for (long count = 0; status != TB_OK; count++) {
        struct fixture small = {0};
        struct tb_error error = {0};
        tb_token out[16];
        char text[64];
        size_t len;
        assert_in_range(count, 0, 10000);
        tb_memory_fail_after(count);
        status = load_small(&small, &error);
        if (status == TB_OK)
            status =
                tb_codec_encode(small.codec, "ab", 2, out, 16, &len, &error);
        if (status == TB_OK)
            status = tb_codec_decode(small.codec, ids, 10, 0, text, 64, &len,
                                     &error);
        tb_memory_fail_after(-1);
        assert_true(status == TB_OK ||
                    (status == TB_ERR_MEMORY && error.status == status));
        tear_down((void **)&(void *){&small});
    }
}

/* ---- conversions
 * ----------------------------------------------------------
 */

static bool count_calls(void *context,
                        const struct tb_conversion_progress *progress)
{
    assert_non_null(progress->path);
    return ++*(int *)context < 1000;
}

static bool refuse(void *context, const struct tb_conversion_progress *progress)
{
    (void)context;
    (void)progress;
    return false;
}

static tb_status convert(const char *const *arguments, size_t count,
                         struct tb_conversion **conversion,
                         struct tb_error *error)
{
    struct tb_conversion_options options = {.size = sizeof(options),
                                            .command = "nat",
                                            .arguments = arguments,
                                            .argument_count = count};
    return tb_conversion_run(&options, conversion, error);
}

static void test_conversion(void **state)
{
    (void)state;
    const char *const arguments[] = {"--tokenizer", "builtin", "--dry-run",
                                     TB_EXAMPLE};
    struct tb_conversion *conversion;
    struct tb_error error;
    assert_int_equal(convert(arguments, 4, &conversion, &error), TB_OK);
    const char *summary = tb_conversion_summary(conversion);
    assert_int_equal(summary[0], '{');
    assert_non_null(strstr(summary, "\"rows\": 3"));
    assert_non_null(strstr(summary, "\"tokenizer\""));
    tb_conversion_free(conversion);

    int count = 0;
    struct tb_conversion_options options = {.size = sizeof(options),
                                            .command = "nat",
                                            .arguments = arguments,
                                            .argument_count = 4,
                                            .on_progress = count_calls,
                                            .context = &count};
    assert_int_equal(tb_conversion_run(&options, &conversion, NULL), TB_OK);
    assert_true(count > 0);
    tb_conversion_free(conversion);
    options.on_progress = refuse;
    assert_int_equal(tb_conversion_run(&options, &conversion, &error),
                     TB_ERR_INTERRUPTED);
    assert_int_equal(error.status, TB_ERR_INTERRUPTED);
    tb_conversion_free(conversion);
    tb_conversion_free(NULL);
}

static void test_wrong_conversions(void **state)
{
    (void)state;
    static const struct {
        const char *words[4];
        size_t count;
        tb_status status;
        const char *message;
    } cases[] = {
        {{"--tokenzier", "builtin"}, 2, TB_ERR_USAGE, "--tokenizer"},
        {{"--help"}, 1, TB_ERR_USAGE, "program"},
        {{"--max-memory", "1G", TB_EXAMPLE}, 3, TB_ERR_USAGE, "program"},
        {{NULL}, 0, TB_ERR_USAGE, "no input"},
        {{"--tokenizer", "builtin", "--dry-run", "/no/such"},
         4,
         TB_ERR_NOT_FOUND,
         ""},
        {{"--tokenizer", "/no/such", "--dry-run", TB_EXAMPLE},
         4,
         TB_ERR_NOT_FOUND,
         "/no/such"},
    };
    struct tb_conversion *conversion;
    struct tb_error error;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(
            convert(cases[i].words, cases[i].count, &conversion, &error),
            cases[i].status);
        assert_int_equal(error.status, cases[i].status);
        assert_non_null(strstr(error.message, cases[i].message));
        assert_non_null(tb_conversion_summary(conversion));
        tb_conversion_free(conversion);
    }
    struct tb_conversion_options options = {.size = sizeof(options),
                                            .command = "natt"};
    assert_int_equal(tb_conversion_run(&options, &conversion, &error),
                     TB_ERR_USAGE);
    assert_non_null(strstr(error.message, "'natt'"));
    tb_conversion_free(conversion);
    options.size = 4;
    assert_int_equal(tb_conversion_run(&options, &conversion, &error),
                     TB_ERR_USAGE);
    tb_conversion_free(conversion);
}

static void *encode_often(void *context)
{
    const struct tb_tokenizer *tokenizer = context;
    struct tb_codec *codec;
    size_t count, len, failed = 0;
    if (tb_codec_new(tokenizer, &codec, NULL) != TB_OK)
        return context;
    for (int i = 0; i < 200; i++) {
        tb_token ids[8];
        char text[16];
        failed +=
            tb_codec_encode(codec, "one two", 7, ids, 8, &count, NULL) != TB_OK;
        failed += tb_codec_decode(codec, ids, count, 0, text, 16, &len, NULL) !=
                      TB_OK ||
                  len != 7 || memcmp(text, "one two", 7) != 0;
    }
    tb_codec_free(codec);
    return failed ? context : NULL;
}

static void test_threads(void **state)
{
    const struct fixture *fixture = *state;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, encode_often, fixture->tokenizer),
            0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_it_is),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_broken_utf8),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_special),
        cmocka_unit_test(test_from_content),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_size_of_options),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_conversion),
        cmocka_unit_test(test_wrong_conversions),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
