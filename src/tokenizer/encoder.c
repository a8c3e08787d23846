/* Text to ids: added tokens are taken out, what lies between is normalised,
 * cut into words, and each word is encoded, most of them from a cache. */
#include "tokenizer_model.h"

#include <string.h>

#include "memory.h"
#include "safe_cut.h"
#include "utf8.h"
#include "word_cache.h"

struct tb_encoder {
    const struct tb_tokenizer *tokenizer;
    tb_pattern_cut cut; /* NULL: there is more to do for words */
    struct tb_word_cache cache;
    struct tb_model_work work;
    struct tb_pretokenizer_work cutting;
    struct tb_regex_region *region; /* NULL: no regex anywhere */
    struct tb_buffer normalized[2];
    struct tb_tokens *tokens; /* where the ids of the current text go */
    size_t first_id;          /* ... begin; for SentencePiece only */
};

tb_status tb_encoder_new(const struct tb_tokenizer *tokenizer,
                         struct tb_encoder **encoder)
{
    struct tb_encoder *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return TB_ERR_MEMORY;
    made->tokenizer = tokenizer;
    made->cut = tb_pretokenizer_only_cut(&tokenizer->pretokenizer);
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
    struct tb_word_ids found = tb_long_find(&encoder->cache, word);
    if (found.ids)
        return tb_tokens_append(tokens, found.ids, found.count);
    size_t before;
    TB_TRY(encode_uncached(encoder, word, &before));
    tb_long_add(&encoder->cache, word, tokens->ids + before,
                tokens->count - before);
    return TB_OK;
}

static tb_status encode_short_word(struct tb_encoder *encoder,
                                   struct tb_span word, const uint64_t key[2],
                                   struct tb_short_set *set)
{
    struct tb_tokens *tokens = encoder->tokens;
    struct tb_word_ids found = {0};
    const struct tb_short_ids *value = tb_short_find(set, key);
    if (value && value->count == TB_SHORT_IS_STORED)
        found = tb_short_stored(&encoder->cache, value);
    else if (value)
        found = (struct tb_word_ids){value->ids, value->count};
    if (found.ids)
        return tb_tokens_append(tokens, found.ids, found.count);
    size_t before;
    TB_TRY(encode_uncached(encoder, word, &before));
    tb_short_add(&encoder->cache, set, key, tokens->ids + before,
                 tokens->count - before);
    return TB_OK;
}

static tb_status encode_word(struct tb_encoder *encoder, struct tb_span word)
{
    uint64_t key[2];
    if (word.len > TB_SHORT_LEN)
        return encode_long_word(encoder, word);
    tb_word_cache_grow(&encoder->cache);
    tb_short_key(word, word.len, key);
    return encode_short_word(encoder, word, key,
                             tb_short_set(&encoder->cache, key));
}

/* A stretch of the text; `origin_len` of its first bytes stand for the first
 * character of the whole text. */
struct stretch {
    struct tb_span text;
    size_t origin_len;
    bool is_rest; /* does it go on where a text was cut? */
};

static struct stretch part_of(struct stretch whole, size_t from, size_t to)
{
    size_t origin_len = whole.origin_len > from ? whole.origin_len - from : 0;
    struct tb_span text = {whole.text.ptr + from, to - from};
    return (struct stretch){
        .text = text,
        .origin_len = origin_len < text.len ? origin_len : text.len,
        .is_rest = whole.is_rest && from == 0,
    };
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

/* ---- many words at once ---------------------------------------------------
 */

enum { CUT_AHEAD = 32, CUT_MOST = CUT_AHEAD + TB_PATTERN_CUT_MORE };

/* Words that have been cut off and are looked up together. */
struct cut_words {
    size_t count;
    size_t ends[CUT_MOST];
    uint64_t keys[CUT_MOST][2];          /* of short words */
    struct tb_short_set *sets[CUT_MOST]; /* `no_set`: a long word */
};

/* In it no word is found: the first half of a long word's key is 0. */
static struct tb_short_set no_set = {
    {{{UINT64_MAX, 0}, {{0}, 0}}, {{UINT64_MAX, 0}, {{0}, 0}}}};

/* Hot loop, twice: where sixteen bytes may be read from each word's first on,
 * and at the end of a text. */
__attribute__((always_inline)) static inline void
find_places(const struct tb_word_cache *cache, struct tb_span text, size_t at,
            struct cut_words *words, bool is_roomy)
{
    for (size_t i = 0; i < words->count; i++) {
        size_t len = words->ends[i] - at;
        bool is_short = len <= TB_SHORT_LEN;
        struct tb_span word = {text.ptr + at, is_short ? len : 0};
        tb_short_key(word, is_roomy ? 16 : text.len - at, words->keys[i]);
        struct tb_short_set *set = tb_short_set(cache, words->keys[i]);
        words->sets[i] = is_short ? set : &no_set;
        __builtin_prefetch(set);
        at = words->ends[i];
    }
}

/* Cuts off the next words and tells the machine where they will be looked up,
 * so that it need not wait for each. */
static inline void cut_words(const struct tb_encoder *encoder,
                             struct tb_span text, size_t at,
                             struct cut_words *words)
{
    words->count = encoder->cut
                       ? encoder->cut(text, at, words->ends, CUT_AHEAD)
                       : tb_merge_borders_cut(&encoder->tokenizer->bpe.borders,
                                              text, at, words->ends, CUT_AHEAD);
    if (text.len - words->ends[words->count - 1] >= 16)
        find_places(&encoder->cache, text, at, words, true);
    else
        find_places(&encoder->cache, text, at, words, false);
}

/* Hot loop: appends the ids of the words from `*number` on as long as they are
 * in the cache. For each there is room for `struct tb_short_ids`: all of it is
 * copied, and what is too much is written over by the next. */
static inline void add_known(struct tb_tokens *tokens,
                             const struct cut_words *words, size_t *number)
{
    tb_token *out = tokens->ids + tokens->count;
    size_t i = *number;
    for (; i < words->count; i++) {
        const struct tb_short_ids *found =
            tb_short_find(words->sets[i], words->keys[i]);
        if (!found || found->count == TB_SHORT_IS_STORED)
            break;
        memcpy(out, found, sizeof(*found));
        out += found->count;
    }
    *number = i;
    tokens->count = (size_t)(out - tokens->ids);
}

static tb_status encode_cut(struct tb_encoder *encoder, struct tb_span text)
{
    enum { ROOM = sizeof(struct tb_short_ids) / sizeof(tb_token) };
    struct cut_words words;
    for (size_t at = 0; at < text.len; at = words.ends[words.count - 1]) {
        tb_word_cache_grow(&encoder->cache);
        cut_words(encoder, text, at, &words);
        for (size_t i = 0; i < words.count; i++) {
            TB_TRY(
                tb_tokens_reserve(encoder->tokens, (words.count - i) * ROOM));
            add_known(encoder->tokens, &words, &i);
            if (i == words.count)
                break;
            size_t from = i ? words.ends[i - 1] : at;
            struct tb_span word = {text.ptr + from, words.ends[i] - from};
            TB_TRY(words.sets[i] != &no_set
                       ? encode_short_word(encoder, word, words.keys[i],
                                           words.sets[i])
                       : encode_long_word(encoder, word));
        }
    }
    return TB_OK;
}

static tb_status on_word(void *context, struct tb_span word)
{
    struct tb_encoder *encoder = context;
    return encoder->tokenizer->bpe.borders.is_any ? encode_cut(encoder, word)
                                                  : encode_word(encoder, word);
}

static tb_status encode_words(struct tb_encoder *encoder,
                              struct stretch stretch)
{
    if (encoder->cut)
        return encode_cut(encoder, stretch.text);
    return tb_pretokenizer_split(&encoder->tokenizer->pretokenizer,
                                 stretch.text, stretch.origin_len,
                                 &encoder->cutting, on_word, encoder);
}

static tb_status encode_normalized(struct tb_encoder *encoder,
                                   struct stretch stretch)
{
    TB_TRY(tb_normalizer_apply(&encoder->tokenizer->normalizer, encoder->region,
                               stretch.is_rest, encoder->normalized,
                               &stretch.text, &stretch.origin_len));
    return take_added_tokens(encoder, &encoder->tokenizer->normalized_tokens,
                             stretch, encode_words);
}

/* ---- SentencePiece ----------------------------------------------------------
 */

static tb_status on_part(void *context, struct tb_span part)
{
    struct tb_encoder *encoder = context;
    size_t border = encoder->tokens->count;
    TB_TRY(on_word(encoder, part));
    if (border > encoder->first_id)
        tb_sentence_piece_join(&encoder->tokenizer->sentence_piece,
                               encoder->tokens, border);
    return TB_OK;
}

static tb_status encode_pieces(struct tb_encoder *encoder, struct tb_span text,
                               bool is_rest)
{
    const struct tb_sentence_piece *model = &encoder->tokenizer->sentence_piece;
    struct tb_buffer *normal = &encoder->normalized[0];
    encoder->first_id = encoder->tokens->count;
    tb_buffer_clear(normal);
    TB_TRY(tb_sentence_piece_normalize(model, text, is_rest, normal));
    return tb_sentence_piece_split(model, tb_buffer_span(normal), on_part,
                                   encoder);
}

tb_status tb_encoder_encode(struct tb_encoder *encoder, struct tb_span text,
                            struct tb_tokens *tokens)
{
    uint32_t code_point;
    size_t first_len = text.len ? tb_utf8_decode(text, 0, &code_point) : 0;
    encoder->tokens = tokens;
    if (encoder->tokenizer->model == TB_MODEL_SENTENCE_PIECE)
        return encode_pieces(encoder, text, false);
    return take_added_tokens(
        encoder, &encoder->tokenizer->raw_tokens,
        (struct stretch){.text = text, .origin_len = first_len},
        encode_normalized);
}

tb_status tb_encoder_encode_rest(struct tb_encoder *encoder,
                                 struct tb_span text, struct tb_tokens *tokens)
{
    encoder->tokens = tokens;
    if (encoder->tokenizer->model == TB_MODEL_SENTENCE_PIECE)
        return encode_pieces(encoder, text, true);
    return take_added_tokens(encoder, &encoder->tokenizer->raw_tokens,
                             (struct stretch){.text = text, .is_rest = true},
                             encode_normalized);
}

const char *tb_encoder_fault(tb_status status)
{
    if (status == TB_ERR_LIMIT)
        return "the tokenizer's pattern takes too many steps on the text, or "
               "the text is too long";
    if (status == TB_ERR_VALUE)
        return "a part of the text is unknown to the model, which has no token "
               "for that";
    return tb_status_name(status);
}

bool tb_encoder_is_text_fault(tb_status status)
{
    return status == TB_ERR_LIMIT || status == TB_ERR_VALUE;
}

bool tb_encoder_can_cut(const struct tb_encoder *encoder)
{
    return tb_tokenizer_can_cut(encoder->tokenizer);
}
