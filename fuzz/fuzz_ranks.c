/* Proves: any bytes as a rank file, whose first byte says what it is called,
 * are refused with a message, or give a tokenizer whose ids are below its
 * size, and which may be cut where it says that it may. */
#include "fuzz_tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const paths[] = {
        "/no/such/gpt2.tiktoken",       "/no/such/cl100k_base.tiktoken",
        "/no/such/o200k_base.tiktoken", "/no/such/qwen.tiktoken",
        "/no/such/kimi.tiktoken",       "/no/such/tokenizer.model"};
    size_t which = fuzz_take(&data, &size, 1) % 6;
    struct tb_rank_source source = {.path = paths[which]};
    struct tb_tokenizer *tokenizer = NULL;
    struct tb_error error = {0};
    tb_status status = tb_tokenizer_from_ranks((struct tb_span){data, size},
                                               &source, &tokenizer, &error);
    fuzz_tokenizer(status, &error, tokenizer);
    return 0;
}
