/* Text to ids: added tokens are taken out, what lies between is normalised,
 * cut into words, and each word is encoded, most of them from a cache. */
#include "tokenizer_model.h"

#include <string.h>

#include "memory.h"

/* Words repeat: almost all of a text is found in a table of the words that
 * were encoded last. A word goes where its hash says and replaces whatever
 * was there. */
enum {
    CACHE_SLOTS = 1 << 15,
    CACHED_WORD_LEN = 22, /* bytes; with the ids a slot fills a cache line */
    CACHED_IDS = 10,
};

struct cached_word {
    uint8_t len; /* 0: empty */
    uint8_t id_count;
    uint8_t bytes[CACHED_WORD_LEN];
    tb_token ids[CACHED_IDS];
};

struct tb_encoder {
    const struct tb_tokenizer *tokenizer;
    struct cached_word *cache;
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
    made->cache = tb_memory_zeroed(CACHE_SLOTS, sizeof(*made->cache));
    if (!made->cache) {
        tb_encoder_free(made);
        return TB_ERR_MEMORY;
    }
    *encoder = made;
    return TB_OK;
}

void tb_encoder_free(struct tb_encoder *encoder)
{
    if (!encoder)
        return;
    tb_memory_free(encoder->cache);
    tb_bpe_work_release(&encoder->work);
    tb_buffer_release(&encoder->normalized[0]);
    tb_buffer_release(&encoder->normalized[1]);
    tb_buffer_release(&encoder->prefixed);
    tb_memory_free(encoder);
}

static struct cached_word *cache_slot(struct tb_encoder *encoder,
                                      struct tb_span word)
{
    uint64_t hash = tb_hash64(word, 0);
    return &encoder->cache[hash % CACHE_SLOTS];
}

static void remember(struct cached_word *slot, struct tb_span word,
                     const tb_token *ids, size_t count)
{
    if (count > CACHED_IDS)
        return;
    slot->len = (uint8_t)word.len;
    slot->id_count = (uint8_t)count;
    memcpy(slot->bytes, word.ptr, word.len);
    memcpy(slot->ids, ids, count * sizeof(*ids));
}

// Hot loop: called once per word.
static tb_status encode_word(void *context, struct tb_span word)
{
    struct tb_encoder *encoder = context;
    struct tb_tokens *tokens = encoder->tokens;
    const struct tb_bpe *bpe = &encoder->tokenizer->bpe;
    if (word.len > CACHED_WORD_LEN)
        return tb_bpe_encode(bpe, &encoder->work, word, tokens);
    struct cached_word *slot = cache_slot(encoder, word);
    if (slot->len == word.len && memcmp(slot->bytes, word.ptr, word.len) == 0)
        return tb_tokens_append(tokens, slot->ids, slot->id_count);
    size_t before = tokens->count;
    TB_TRY(tb_bpe_encode(bpe, &encoder->work, word, tokens));
    remember(slot, word, tokens->ids + before, tokens->count - before);
    return TB_OK;
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

static tb_status encode_words(struct tb_encoder *encoder, struct tb_span text)
{
    return tb_pretokenizer_split(&encoder->tokenizer->pretokenizer, text,
                                 &encoder->prefixed, encode_word, encoder);
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
