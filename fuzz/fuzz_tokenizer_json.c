/* Proves: any bytes as tokenizer.json are refused with a message, or give a
 * tokenizer whose ids are below its size, which may be cut where it says that
 * it may, and whose decoder gives UTF-8. */
#include "fuzz_tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tb_tokenizer *tokenizer = NULL;
    struct tb_error error = {0};
    tb_status status = tb_tokenizer_from_json((struct tb_span){data, size},
                                              &tokenizer, &error);
    fuzz_tokenizer(status, &error, tokenizer);
    return 0;
}
