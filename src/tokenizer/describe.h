/* What a loaded tokenizer consists of, for a person to read. */
#ifndef TB_DESCRIBE_H
#define TB_DESCRIBE_H

#include "tokenizer.h"

/* A step of the normalizer or the pre-tokenizer. */
struct tb_tokenizer_part {
    const char *name;    /* as tokenizer.json calls it: "NFC", "Split" */
    struct tb_span text; /* pattern or text; lives as long as the tokenizer */
    struct tb_span into; /* what becomes of it, of a Replace */
    const char *engine;  /* "scanner" of our own, or "Oniguruma"; NULL: `text`
                            is no pattern */
};

enum { TB_DESCRIBE_MAX_PARTS = 32 };

struct tb_tokenizer_parts {
    struct tb_tokenizer_part items[TB_DESCRIBE_MAX_PARTS];
    size_t count;
};

/* "BPE", "Unigram", "WordPiece" or "WordLevel". */
const char *tb_describe_model(const struct tb_tokenizer *tokenizer);

/* Does the model take bytes, so that no text is unknown to it? */
bool tb_describe_is_byte_level(const struct tb_tokenizer *tokenizer);

size_t tb_describe_added_count(const struct tb_tokenizer *tokenizer);

/* In the order in which they work. */
struct tb_tokenizer_parts
tb_describe_normalizers(const struct tb_tokenizer *tokenizer);
struct tb_tokenizer_parts
tb_describe_pretokenizers(const struct tb_tokenizer *tokenizer);

#endif
