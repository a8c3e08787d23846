/* Proves: any bytes as a SentencePiece model are refused with a message, or
 * give a tokenizer whose ids are below its size. */
#include "fuzz_tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tb_tokenizer *tokenizer = NULL;
    struct tb_error error = {0};
    tb_status status = tb_tokenizer_from_sentence_piece(
        (struct tb_span){data, size}, &tokenizer, &error);
    fuzz_tokenizer(status, &error, tokenizer);
    return 0;
}
