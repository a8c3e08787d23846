/* Text to ids: added tokens are taken out, what lies between is normalised,
 * cut into words, and each word is encoded, most of them from a cache. */
#include "tokenizer_model.h"

#include <string.h>

#include "memory.h"
#include "utf8.h"
#include "word_cache.h"

struct tb_encoder {
    const struct tb_tokenizer *tokenizer;
    struct tb_word_cache cache;
    struct tb_model_work work;
    struct tb_pretokenizer_work cutting;
    struct tb_regex_region *region; /* NULL: no regex anywhere */
    struct tb_buffer normalized[2];
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
    tb_model_work_init(&made->work);
    tb_pretokenizer_work_init(&made->cutting);
    tb_status status = tb_word_cache_init(&made->cache);
    if (status == TB_OK &&
        (tb_normalizer_has_regex(&tokenizer->normalizer) ||
         tb_pretokenizer_has_regex(&tokenizer->pretokenizer)))
        status = tb_regex_region_new(&made->region);
    made->cutting.region = made->region;
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
    tb_model_work_release(&encoder->work);
    tb_pretokenizer_work_release(&encoder->cutting);
    tb_regex_region_free(encoder->region);
    tb_buffer_release(&encoder->normalized[0]);
    tb_buffer_release(&encoder->normalized[1]);
    tb_memory_free(encoder);
}

static tb_status encode_uncached(struct tb_encoder *encoder,
                                 struct tb_span word, size_t *before)
{
    *before = encoder->tokens->count;
    return tb_model_encode(encoder->tokenizer, &encoder->work, word,
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
    if (count > 0)
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
    if (count > 0)
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

/* A stretch of the text; `origin_len` of its first bytes stand for the first
 * character of the whole text. */
struct stretch {
    struct tb_span text;
    size_t origin_len;
};

static struct stretch part_of(struct stretch whole, size_t from, size_t to)
{
    size_t origin_len = whole.origin_len > from ? whole.origin_len - from : 0;
    struct tb_span text = {whole.text.ptr + from, to - from};
    return (struct stretch){text,
                            origin_len < text.len ? origin_len : text.len};
}

/* Calls `between` for each stretch of text without an added token of `set`,
 * and appends the ids of those that are found. */
typedef tb_status (*between_fn)(struct tb_encoder *encoder,
                                struct stretch stretch);

static tb_status take_added_tokens(struct tb_encoder *encoder,
                                   const struct tb_added_tokens *set,
                                   struct stretch whole, between_fn between)
{
    size_t done = 0; // all before it is encoded
    size_t from = 0;
    struct tb_added_match match;
    while (tb_added_tokens_find(set, whole.text, from, done, &match)) {
        if (match.start > done)
            TB_TRY(between(encoder, part_of(whole, done, match.start)));
        TB_TRY(tb_tokens_append(encoder->tokens, &match.id, 1));
        done = match.end;
        from = match.content_end;
    }
    if (done == whole.text.len)
        return TB_OK;
    return between(encoder, part_of(whole, done, whole.text.len));
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

static tb_status encode_words(struct tb_encoder *encoder,
                              struct stretch stretch)
{
    const struct tb_pretokenizer *pretokenizer =
        &encoder->tokenizer->pretokenizer;
    tb_pattern_scan scan = tb_pretokenizer_only_scan(pretokenizer);
    if (scan)
        return encode_scanned(encoder, scan, stretch.text);
    return tb_pretokenizer_split(pretokenizer, stretch.text, stretch.origin_len,
                                 &encoder->cutting, on_word, encoder);
}

static tb_status encode_normalized(struct tb_encoder *encoder,
                                   struct stretch stretch)
{
    TB_TRY(tb_normalizer_apply(&encoder->tokenizer->normalizer, encoder->region,
                               encoder->normalized, &stretch.text,
                               &stretch.origin_len));
    return take_added_tokens(encoder, &encoder->tokenizer->normalized_tokens,
                             stretch, encode_words);
}

tb_status tb_encoder_encode(struct tb_encoder *encoder, struct tb_span text,
                            struct tb_tokens *tokens)
{
    uint32_t code_point;
    size_t first_len = text.len ? tb_utf8_decode(text, 0, &code_point) : 0;
    encoder->tokens = tokens;
    return take_added_tokens(encoder, &encoder->tokenizer->raw_tokens,
                             (struct stretch){text, first_len},
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
 * is a border for added tokens that neither contain a space nor look around,
 * and for those chains that say so. */
bool tb_encoder_can_cut(const struct tb_encoder *encoder)
{
    const struct tb_tokenizer *tokenizer = encoder->tokenizer;
    if (is_cut_by(&tokenizer->raw_tokens) ||
        is_cut_by(&tokenizer->normalized_tokens))
        return false;
    return tb_normalizer_is_local(&tokenizer->normalizer) &&
           tb_pretokenizer_is_local(&tokenizer->pretokenizer);
}
