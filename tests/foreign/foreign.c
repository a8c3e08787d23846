/* A project that is not ours: there and back through the library, and the
 * version that it was built for. */
#include <stdio.h>
#include <string.h>

#include <tracebake.h>

static int fail(const struct tb_error *error)
{
    char text[1024];
    tb_error_format(error, text, sizeof(text));
    fprintf(stderr, "foreign: %s: %s\n", tb_status_name(error->status), text);
    return 1;
}

static int there_and_back(struct tb_codec *codec)
{
    static const char text[] = "There and back \xF0\x9F\x98\x80 again";
    struct tb_error error;
    tb_token ids[64];
    char back[sizeof(text)];
    size_t count, len;
    if (tb_codec_encode(codec, text, strlen(text), ids, 64, &count, &error) !=
            TB_OK ||
        tb_codec_decode(codec, ids, count, 0, back, sizeof(back), &len,
                        &error) != TB_OK)
        return fail(&error);
    if (len != strlen(text) || memcmp(back, text, len) != 0)
        return 1;
    printf("%zu ids\n", count);
    return 0;
}

static int many_at_once(struct tb_codec *codec)
{
    static const char *const texts[] = {"There", "and back", "again"};
    static const size_t lens[] = {5, 8, 5};
    struct tb_error error;
    tb_token ids[32];
    size_t offsets[4], done;
    if (tb_codec_encode_batch(codec, texts, lens, 3, ids, 32, offsets, &done,
                              &error) != TB_OK)
        return fail(&error);
    printf("%zu texts, %zu ids\n", done, offsets[done]);
    return done != 3;
}

int main(void)
{
    struct tb_tokenizer *tokenizer;
    struct tb_codec *codec;
    struct tb_error error;
    char version[32];
    snprintf(version, sizeof(version), "%d.%d.%d", TB_VERSION_MAJOR,
             TB_VERSION_MINOR, TB_VERSION_PATCH);
    if (strcmp(version, tb_version()) != 0)
        return 1;
    if (tb_tokenizer_load("builtin", NULL, &tokenizer, &error) != TB_OK ||
        tb_codec_new(tokenizer, &codec, &error) != TB_OK)
        return fail(&error);
    int result = there_and_back(codec) || many_at_once(codec);
    tb_codec_free(codec);
    tb_tokenizer_free(tokenizer);
    return result;
}
