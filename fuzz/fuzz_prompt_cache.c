/* Proves: prompts (separated by 0xFF) that follow each other through a prompt
 * cache have the ids that each of them has alone, with o200k_base. */
#include "fuzz.h"

#include <string.h>

#include "prompt_cache.h"
#include "utf8.h"

static struct tb_tokenizer *tokenizer; /* until the process ends */
static struct tb_encoder *encoder, *plain;

static void check(struct tb_prompt_cache *cache, struct tb_span bytes,
                  uint64_t tag)
{
    struct tb_buffer text = TB_BUFFER(1 << 28);
    struct tb_tokens wanted = {0};
    struct tb_prompt_tokens got;
    uint64_t replaced = 0;
    FUZZ_CHECK(tb_utf8_repair(bytes, &text, &replaced) == TB_OK);
    struct tb_span span = tb_buffer_span(&text);
    FUZZ_CHECK(tb_encoder_encode(plain, span, &wanted) == TB_OK);
    FUZZ_CHECK(tb_prompt_cache_encode(cache, span, tag, &got) == TB_OK);
    FUZZ_CHECK(got.count == wanted.count);
    FUZZ_CHECK(got.shared_count <= got.count);
    FUZZ_CHECK(got.count == 0 ||
               memcmp(got.ids, wanted.ids, got.count * sizeof(*got.ids)) == 0);
    tb_tokens_release(&wanted);
    tb_buffer_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tb_prompt_cache *cache;
    if (!tokenizer) {
        FUZZ_CHECK(tb_tokenizer_open("builtin", &tokenizer, NULL) == TB_OK);
        FUZZ_CHECK(tb_encoder_new(tokenizer, &encoder) == TB_OK);
        FUZZ_CHECK(tb_encoder_new(tokenizer, &plain) == TB_OK);
    }
    FUZZ_CHECK(tb_prompt_cache_new(encoder, true, &cache) == TB_OK);
    uint64_t tag = 0;
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(data + at, 0xFF, size - at);
        size_t len = end ? (size_t)(end - data) - at : size - at;
        check(cache, (struct tb_span){data + at, len}, tag++);
        at += len + 1;
    }
    tb_prompt_cache_free(cache);
    return 0;
}
