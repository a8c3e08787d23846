/* Text to ids: added tokens are taken out, what lies between is normalised,
 * cut into words, and each word is encoded, most of them from a cache. */
#include "tokenizer_model.h"

#include <string.h>

#include "memory.h"
#include "word_cache.h"

struct tb_encoder {
    const struct tb_tokenizer *tokenizer;
    struct tb_word_cache cache;
    struct tb_bpe_work work;
    struct tb_buffer normalized[2];
    struct tb_buffer prefixed;
    struct tb_tokens *tokens; /* where the ids of the current text go */
};

tb_status tb_encoder_new(const struct tb_tokenizer *tokenizer,
                         struct tb_encoder **encoder)
{
    struct tb_encoder *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return TB_ERR_MEMORY;
    made->tokenizer = tokenizer;
    made->normalized[0] = made->normalized[1] = TB_BUFFER(UINT32_MAX);
    made->prefixed = TB_BUFFER(UINT32_MAX);
    tb_status status = tb_word_cache_init(&made->cache);
    if (status != TB_OK) {
        tb_encoder_free(made);
        return status;
    }
    *encoder = made;
    return TB_OK;
}

void tb_encoder_free(struct tb_encoder *encoder)
{
    if (!encoder)
        return;
    tb_word_cache_release(&encoder->cache);
    tb_bpe_work_release(&encoder->work);
    tb_buffer_release(&encoder->normalized[0]);
    tb_buffer_release(&encoder->normalized[1]);
    tb_buffer_release(&encoder->prefixed);
    tb_memory_free(encoder);
}

static tb_status encode_uncached(struct tb_encoder *encoder,
                                 struct tb_span word, size_t *before)
{
    *before = encoder->tokens->count;
    return tb_bpe_encode(&encoder->tokenizer->bpe, &encoder->work, word,
                         encoder->tokens);
}

static tb_status encode_long_word(struct tb_encoder *encoder,
                                  struct tb_span word)
{
    struct tb_tokens *tokens = encoder->tokens;
    size_t before;
    if (word.len > TB_LONG_LEN)
        return encode_uncached(encoder, word, &before);
    struct tb_long_word *slot = tb_long_slot(&encoder->cache, word);
    if (slot->len == word.len && memcmp(slot->bytes, word.ptr, word.len) == 0)
        return tb_tokens_append(tokens, slot->ids, slot->count);
    TB_TRY(encode_uncached(encoder, word, &before));
    size_t count = tokens->count - before;
    if (count > TB_LONG_IDS)
        return TB_OK;
    slot->len = (uint8_t)word.len;
    slot->count = (uint8_t)count;
    memcpy(slot->bytes, word.ptr, word.len);
    memcpy(slot->ids, tokens->ids + before, count * sizeof(*slot->ids));
    return TB_OK;
}

static tb_status encode_short_word(struct tb_encoder *encoder,
                                   struct tb_span word, const uint64_t key[2],
                                   struct tb_short_word *slot)
{
    size_t before;
    TB_TRY(encode_uncached(encoder, word, &before));
    size_t count = encoder->tokens->count - before;
    if (count > TB_SHORT_IDS) {
        encoder->tokens->count = before;
        return encode_long_word(encoder, word);
    }
    slot->key[0] = key[0];
    slot->key[1] = key[1];
    slot->count = (uint32_t)count;
    memcpy(slot->ids, encoder->tokens->ids + before,
           count * sizeof(*slot->ids));
    return TB_OK;
}

// Hot loop: called once per word.
static inline tb_status encode_word(struct tb_encoder *encoder,
                                    struct tb_span word, size_t readable_len)
{
    struct tb_tokens *tokens = encoder->tokens;
    if (word.len > TB_SHORT_LEN)
        return encode_long_word(encoder, word);
    uint64_t key[2];
    tb_short_key(word, readable_len, key);
    struct tb_short_word *slot = tb_short_slot(&encoder->cache, key);
    if (slot->key[0] != key[0] || slot->key[1] != key[1])
        return encode_short_word(encoder, word, key, slot);
    if (tokens->capacity - tokens->count < TB_SHORT_IDS)
        return tb_tokens_append(tokens, slot->ids, slot->count);
    // All of them at once; what is too much is written over next time.
    memcpy(tokens->ids + tokens->count, slot->ids, sizeof(slot->ids));
    tokens->count += slot->count;
    return TB_OK;
}

static tb_status on_word(void *context, struct tb_span word)
{
    return encode_word(context, word, word.len);
}

/* Calls `between` for each stretch of text without an added token of `set`,
 * and appends the ids of those that are found. */
typedef tb_status (*between_fn)(struct tb_encoder *encoder,
                                struct tb_span text);

static tb_status take_added_tokens(struct tb_encoder *encoder,
                                   const struct tb_added_tokens *set,
                                   struct tb_span text, between_fn between)
{
    size_t done = 0; // all before it is encoded
    size_t from = 0;
    struct tb_added_match match;
    while (tb_added_tokens_find(set, text, from, done, &match)) {
        if (match.start > done)
            TB_TRY(between(encoder, (struct tb_span){text.ptr + done,
                                                     match.start - done}));
        TB_TRY(tb_tokens_append(encoder->tokens, &match.id, 1));
        done = match.end;
        from = match.content_end;
    }
    return done < text.len ? between(encoder, tb_span_from(text, done)) : TB_OK;
}

// Hot loop: the usual tokenizer cuts by one pattern that leaves no gaps.
static tb_status encode_scanned(struct tb_encoder *encoder,
                                tb_pattern_scan scan, struct tb_span text)
{
    for (size_t at = 0, end; at < text.len; at = end) {
        end = scan(text, at);
        TB_TRY(encode_word(encoder, (struct tb_span){text.ptr + at, end - at},
                           text.len - at));
    }
    return TB_OK;
}

static tb_status encode_words(struct tb_encoder *encoder, struct tb_span text)
{
    const struct tb_pretokenizer *pretokenizer =
        &encoder->tokenizer->pretokenizer;
    tb_pattern_scan scan = tb_pretokenizer_only_scan(pretokenizer);
    if (scan)
        return encode_scanned(encoder, scan, text);
    return tb_pretokenizer_split(pretokenizer, text, &encoder->prefixed,
                                 on_word, encoder);
}

static tb_status encode_normalized(struct tb_encoder *encoder,
                                   struct tb_span text)
{
    TB_TRY(tb_normalizer_apply(&encoder->tokenizer->normalizer,
                               encoder->normalized, &text));
    return take_added_tokens(encoder, &encoder->tokenizer->normalized_tokens,
                             text, encode_words);
}

tb_status tb_encoder_encode(struct tb_encoder *encoder, struct tb_span text,
                            struct tb_tokens *tokens)
{
    encoder->tokens = tokens;
    return take_added_tokens(encoder, &encoder->tokenizer->raw_tokens, text,
                             encode_normalized);
}

/* ---- cutting ----------------------------------------------------------------
 */

static bool is_cut_by(const struct tb_added_tokens *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct tb_added_token *token = &set->tokens[i];
        if (token->is_left_strip || token->is_right_strip ||
            token->is_single_word ||
            memchr(token->content.ptr, ' ', token->content.len))
            return true;
    }
    return false;
}

/* A place x|_y with x a letter, digit or one of .,;) and y a lower-case letter
 * is a border for every pattern that is known here, for the normal forms, and
 * for added tokens that neither contain a space nor look around. */
bool tb_encoder_can_cut(const struct tb_encoder *encoder)
{
    const struct tb_tokenizer *tokenizer = encoder->tokenizer;
    if (is_cut_by(&tokenizer->raw_tokens) ||
        is_cut_by(&tokenizer->normalized_tokens))
        return false;
    for (size_t i = 0; i < tokenizer->normalizer.step_count; i++)
        if (tokenizer->normalizer.steps[i].kind != TB_NORMALIZER_FORM)
            return false;
    bool has_words = false;
    for (size_t i = 0; i < tokenizer->pretokenizer.step_count; i++) {
        const struct tb_pretokenizer_step *step =
            &tokenizer->pretokenizer.steps[i];
        if (!step->scan || step->has_prefix_space)
            return false;
        has_words |= tb_pattern_is_border_at_space(step->scan);
    }
    return has_words;
}
