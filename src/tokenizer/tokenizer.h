/* Tokenizers: from a file to an encoder, from text to ids.
 *
 * Exact means: the ids that Hugging Face `tokenizers` gives for the same
 * tokenizer.json and text with add_special_tokens=False, for every text.
 * Behaviour comes from the file alone. What the file asks for and is not
 * built here is TB_ERR_UNSUPPORTED with the component's name.
 *
 *     TB_TRY(tb_tokenizer_open("llama/", &tokenizer, error));
 *     TB_TRY(tb_encoder_new(tokenizer, &encoder));
 *     TB_TRY(tb_encoder_encode(encoder, text, &tokens));
 *     ...
 *     tb_encoder_free(encoder);
 *     tb_tokenizer_free(tokenizer);
 *
 * tb_token, struct tb_tokenizer and what it says of itself are in tracebake.h.
 */
#ifndef TB_TOKENIZER_H
#define TB_TOKENIZER_H

#include "buffer.h"

/* Working memory and word cache for encoding; one per thread. */
struct tb_encoder;

/* Ids that grow. Zero-initialised is empty and ready. */
struct tb_tokens {
    tb_token *ids;
    size_t count, capacity;
};

/* Makes room for `count` more. */
TB_NODISCARD tb_status tb_tokens_reserve(struct tb_tokens *tokens,
                                         size_t count);
TB_NODISCARD tb_status tb_tokens_append(struct tb_tokens *tokens,
                                        const tb_token *ids, size_t count);
void tb_tokens_release(struct tb_tokens *tokens);

/* Loads what `name` says, as tb_tokenizer_locate finds it without `access`. */
TB_NODISCARD tb_status tb_tokenizer_open(const char *name,
                                         struct tb_tokenizer **tokenizer,
                                         struct tb_error *error);

/* Finds the tokenizer that `name` means, the first that there is of:
 *
 *     "builtin", "o200k_base"     the one that is part of the program
 *     a tokenizer.json, tekken.json, rank file or SentencePiece model, or a
 *     folder with one
 *     "org/model", "org/model@revision" in the Hugging Face cache (hub_cache.h)
 *     a name of tiktoken's ("cl100k_base"), where tiktoken keeps its files
 *     the same on the hub, fetched into that cache (hub.h)
 *
 * `path`, which tb_tokenizer_open takes, receives its file, or the name of the
 * built-in one, or tiktoken's name where that tells two apart. With `access`
 * NULL nothing is fetched. TB_ERR_NOT_FOUND says what was tried and what to do;
 * TB_ERR_VALUE: several could be meant; the statuses of tb_hub_fetch. */
struct tb_hub_access;
TB_NODISCARD tb_status tb_tokenizer_locate(const char *name,
                                           const struct tb_hub_access *access,
                                           char *path, size_t size,
                                           struct tb_error *error);

/* Is it a name of the tokenizer that is part of the program? */
bool tb_tokenizer_is_builtin(const char *name);

/* The files of a model that make a tokenizer and its chat template. */
const struct tb_hub_files *tb_tokenizer_files(void);

/* Loads the content of a tokenizer.json; `json` is not needed afterwards. */
TB_NODISCARD tb_status tb_tokenizer_from_json(struct tb_span json,
                                              struct tb_tokenizer **tokenizer,
                                              struct tb_error *error);

/* Where a rank file was found, which says what it does not. */
struct tb_rank_source {
    const char *name; /* tiktoken's by which it was asked for, or NULL */
    const char *path; /* its own name counts, and a tokenizer_config.json
                         beside it; NULL: nothing is known */
};

/* Loads the content of a tiktoken rank file; it is not needed afterwards.
 * TB_ERR_UNSUPPORTED when nothing says how texts are to be cut. */
TB_NODISCARD tb_status tb_tokenizer_from_ranks(
    struct tb_span content, const struct tb_rank_source *source,
    struct tb_tokenizer **tokenizer, struct tb_error *error);

/* Loads the content of a tekken.json; it is not needed afterwards. */
TB_NODISCARD tb_status tb_tokenizer_from_tekken(struct tb_span json,
                                                struct tb_tokenizer **tokenizer,
                                                struct tb_error *error);

/* Loads the content of a SentencePiece model; it is not needed afterwards. */
TB_NODISCARD tb_status tb_tokenizer_from_sentence_piece(
    struct tb_span content, struct tb_tokenizer **tokenizer,
    struct tb_error *error);

TB_NODISCARD tb_status tb_encoder_new(const struct tb_tokenizer *tokenizer,
                                      struct tb_encoder **encoder);

/* Appends the ids of `text` (valid UTF-8) to `tokens`. TB_ERR_MEMORY;
 * TB_ERR_LIMIT where a pattern that runs on the regex library takes too many
 * steps, or a text is too long; TB_ERR_VALUE where the model does not know a
 * part of it and has no token for that. After a failure `tokens` has some of
 * the ids, and the encoder encodes other texts as before. */
TB_NODISCARD tb_status tb_encoder_encode(struct tb_encoder *encoder,
                                         struct tb_span text,
                                         struct tb_tokens *tokens);

/* What such a failure is, in words that last. */
const char *tb_encoder_fault(tb_status status);

/* Does it concern the text alone, so that others can be encoded? */
bool tb_encoder_is_text_fault(tb_status status);

/* May a text be cut where tb_safe_cut_after (safe_cut.h) says, and its parts be
 * encoded apart, the first by tb_encoder_encode, others by
 * tb_encoder_encode_rest? True when all that the tokenizer consists of is known
 * not to look across such a place. */
bool tb_encoder_can_cut(const struct tb_encoder *encoder);

/* The same as tb_encoder_encode for a text that goes on where one was cut. */
TB_NODISCARD tb_status tb_encoder_encode_rest(struct tb_encoder *encoder,
                                              struct tb_span text,
                                              struct tb_tokens *tokens);

void tb_encoder_free(struct tb_encoder *encoder);

/* Bytes that ids may give at once; a decoder can make much of little. */
enum { TB_DECODE_MAX_LEN = 1 << 28 };

/* Working memory for decoding; one per thread. */
struct tb_decode_work;
TB_NODISCARD tb_status tb_decode_work_new(struct tb_decode_work **work);
void tb_decode_work_free(struct tb_decode_work *work); /* NULL is accepted */

/* What `ids` are written as: with no flags Hugging Face's
 * decode(ids, skip_special_tokens=False), with U+FFFD for what is no UTF-8. An
 * id that no token has gives nothing, there as here. Tokens with a place in a
 * tekken.json and no text give nothing either. `flags` are tracebake.h's.
 * `text` lives in `work`, until it is used again. TB_ERR_UNSUPPORTED with the
 * decoder's name; TB_ERR_LIMIT (TB_DECODE_MAX_LEN); TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_tokenizer_decode(const struct tb_tokenizer *tokenizer,
                                           struct tb_decode_work *work,
                                           const tb_token *ids, size_t count,
                                           unsigned flags, struct tb_span *text,
                                           struct tb_error *error);

#endif
