/* The kinds of files that a tokenizer may be in. Private to this layer. */
#ifndef TB_TOKENIZER_KIND_H
#define TB_TOKENIZER_KIND_H

#include "tokenizer.h"

typedef enum tb_tokenizer_kind {
    TB_TOKENIZER_JSON,           /* Hugging Face's tokenizer.json */
    TB_TOKENIZER_TEKKEN,         /* Mistral's tekken.json */
    TB_TOKENIZER_RANKS,          /* tiktoken's */
    TB_TOKENIZER_SENTENCE_PIECE, /* SentencePiece's model */
} tb_tokenizer_kind;

/* By the content; where that says nothing, by the name's end. */
tb_tokenizer_kind tb_tokenizer_kind_of(const char *path,
                                       struct tb_span content);

#endif
