/* What the targets that load tokenizers share. */
#ifndef TB_FUZZ_TOKENIZER_H
#define TB_FUZZ_TOKENIZER_H

#include "fuzz.h"
#include "tokenizer.h"

/* What came of loading: a failure has a message; a tokenizer gives ids below
 * its size, may be cut where it says so, decodes to UTF-8, and is freed. */
void fuzz_tokenizer(tb_status status, const struct tb_error *error,
                    struct tb_tokenizer *tokenizer);

#endif
