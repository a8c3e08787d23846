/* The way back: ids to text, by the decoder that a tokenizer.json names.
 *
 * Exact means: what Hugging Face `tokenizers` gives for decode(ids,
 * skip_special_tokens=False), and for rank files what tiktoken's decode gives.
 * A decoder that is not built here does not keep the file from being loaded,
 * since ids of texts do not need it; decoding then says its name.
 *
 * Private to this layer; others use tb_tokenizer_decode (tokenizer.h).
 */
#ifndef TB_DECODER_H
#define TB_DECODER_H

#include "tokenizer.h"

typedef enum tb_decode_kind {
    TB_DECODE_BYTES,         /* tokens are bytes and stand side by side */
    TB_DECODE_SPACES,        /* the file names no decoder: a space between */
    TB_DECODE_BYTE_LEVEL,    /* tokens are in GPT-2's alphabet for bytes */
    TB_DECODE_METASPACE,     /* `text` is a space, but in the first token */
    TB_DECODE_WORD_PIECE,    /* `text` continues a word, others begin one */
    TB_DECODE_SUFFIX,        /* `text` ends a word */
    TB_DECODE_REPLACE,       /* `text` becomes `into` */
    TB_DECODE_BYTE_FALLBACK, /* <0x0A> is a byte */
    TB_DECODE_FUSE,          /* what follows sees one token */
    TB_DECODE_STRIP,         /* up to `start` and `stop` of `text` go */
} tb_decode_kind;

struct tb_decoder_step {
    tb_decode_kind kind;
    bool is_cleaning;     /* of WordPiece: no space before marks */
    bool is_first_spaced; /* of Metaspace: spaces in the first token stay */
    uint32_t start, stop; /* of Strip, characters */
    struct tb_span text, into;
};

/* What an added token is written as; its id may be one of the model's. */
struct tb_added_text {
    struct tb_span text; /* lives as long as the tokenizer */
    tb_token id;
    bool is_special;
    uint32_t order; /* set by tb_decoder_add_text */
};

enum { TB_DECODER_MAX_STEPS = 16 };

/* Read-only after loading, shared by threads. */
struct tb_decoder {
    struct tb_decoder_step steps[TB_DECODER_MAX_STEPS];
    size_t step_count;
    struct tb_span refusal;      /* why it cannot decode; empty: it can */
    struct tb_added_text *added; /* by id, once indexed */
    size_t added_count, added_capacity;
};

TB_NODISCARD tb_status tb_decoder_add_text(struct tb_decoder *decoder,
                                           const struct tb_added_text *added);

/* To be called once all texts are in. The last one counts for an id. */
void tb_decoder_index(struct tb_decoder *decoder);

void tb_decoder_release(struct tb_decoder *decoder);

/* Takes the `decoder` of a tokenizer.json over, or why that cannot be. */
struct tb_file_parts;
TB_NODISCARD tb_status tb_decoder_from_json(struct tb_tokenizer *tokenizer,
                                            const struct tb_file_parts *parts);

#endif
