#include "prompt_cache.h"

#include <string.h>

#include "memory.h"
#include "safe_cut.h"

enum {
    RECENT_COUNT = 6,      /* agents alternate: more than one, and bounded */
    PIECE_LEN = 256,       /* bytes between two places where ids are known */
    LONG_PIECE_LEN = 1024, /* the same from LONG_FROM on, where what is encoded
                              again is little beside the text */
    LONG_FROM = 4096,
    HUGE_LEN = 4 << 20 /* bytes of a text of which only the last is kept: six
                          of them would be more than all else takes */
};

/* Up to byte `at` the text has `count` ids, whatever follows. */
struct checkpoint {
    size_t at;
    size_t count;
};

struct recent {
    struct tb_buffer text;
    struct tb_tokens tokens;
    struct checkpoint *checkpoints;
    size_t checkpoint_count, checkpoint_capacity;
    uint64_t tag;
    uint64_t used; /* when; 0: empty */
};

struct tb_prompt_cache {
    struct tb_encoder *encoder;
    bool is_reusing;
    uint64_t now;
    struct recent recent[RECENT_COUNT];
};

tb_status tb_prompt_cache_new(struct tb_encoder *encoder, bool is_reusing,
                              struct tb_prompt_cache **cache)
{
    struct tb_prompt_cache *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return TB_ERR_MEMORY;
    made->encoder = encoder;
    made->is_reusing = is_reusing && tb_encoder_can_cut(encoder);
    for (size_t i = 0; i < RECENT_COUNT; i++)
        made->recent[i].text = TB_BUFFER(UINT32_MAX);
    *cache = made;
    return TB_OK;
}

static void release_recent(struct recent *recent)
{
    tb_buffer_release(&recent->text);
    tb_tokens_release(&recent->tokens);
    tb_memory_free(recent->checkpoints);
}

void tb_prompt_cache_free(struct tb_prompt_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < RECENT_COUNT; i++)
        release_recent(&cache->recent[i]);
    tb_memory_free(cache);
}

/* ---- what a new prompt has in common ----------------------------------------
 */

struct match {
    struct recent *recent;   /* NULL: nothing in common */
    size_t len;              /* bytes that are equal */
    size_t checkpoint_count; /* checkpoints that hold for the new text too */
    struct checkpoint last;
};

// How many of the checkpoints stand, with their space and letter, before len?
static void count_checkpoints(struct match *match)
{
    const struct recent *recent = match->recent;
    size_t low = 0, high = recent->checkpoint_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (recent->checkpoints[middle].at + 2 <= match->len)
            low = middle + 1;
        else
            high = middle;
    }
    match->checkpoint_count = low;
    if (low)
        match->last = recent->checkpoints[low - 1];
}

static struct match find_match(struct tb_prompt_cache *cache,
                               struct tb_span text)
{
    struct match best = {0};
    for (size_t i = 0; i < RECENT_COUNT && cache->is_reusing; i++) {
        struct recent *recent = &cache->recent[i];
        if (recent->used == 0)
            continue;
        size_t len = tb_span_common_prefix(tb_buffer_span(&recent->text), text);
        if (len > best.len)
            best = (struct match){.recent = recent, .len = len};
    }
    if (best.recent)
        count_checkpoints(&best);
    return best;
}

static struct recent *least_recent(struct tb_prompt_cache *cache)
{
    struct recent *oldest = &cache->recent[0];
    for (size_t i = 1; i < RECENT_COUNT; i++)
        if (cache->recent[i].used < oldest->used)
            oldest = &cache->recent[i];
    return oldest;
}

/* Where the new prompt is kept: in place of the one that it continues, else
 * in place of the one that was not used for longest, with a copy of what they
 * share. */
static tb_status choose_place(struct tb_prompt_cache *cache,
                              const struct match *match, struct recent **place)
{
    const struct recent *base = match->recent;
    struct recent *chosen = least_recent(cache);
    if (base && match->len + 2 * PIECE_LEN >= base->text.len)
        chosen = match->recent;
    if (base && chosen != base) {
        struct tb_tokens *tokens = &chosen->tokens;
        tokens->count = 0;
        TB_TRY(tb_tokens_append(tokens, base->tokens.ids, match->last.count));
        struct checkpoint *checkpoints =
            tb_array_grow(chosen->checkpoints, &chosen->checkpoint_capacity,
                          match->checkpoint_count + 1, sizeof(*checkpoints));
        if (!checkpoints)
            return TB_ERR_MEMORY;
        chosen->checkpoints = checkpoints;
        if (match->checkpoint_count)
            memcpy(checkpoints, base->checkpoints,
                   match->checkpoint_count * sizeof(*checkpoints));
    }
    *place = chosen;
    return TB_OK;
}

static tb_status add_checkpoint(struct recent *recent, size_t at)
{
    struct checkpoint *grown =
        tb_array_grow(recent->checkpoints, &recent->checkpoint_capacity,
                      recent->checkpoint_count + 1, sizeof(*grown));
    if (!grown)
        return TB_ERR_MEMORY;
    recent->checkpoints = grown;
    grown[recent->checkpoint_count++] =
        (struct checkpoint){at, recent->tokens.count};
    return TB_OK;
}

/* Encodes the text from `from` on, in pieces that end where it can be cut. */
static tb_status encode_rest(struct tb_prompt_cache *cache,
                             struct recent *recent, struct tb_span text,
                             size_t from)
{
    if (!cache->is_reusing)
        return tb_encoder_encode(cache->encoder, text, &recent->tokens);
    while (from < text.len) {
        size_t len = from < LONG_FROM ? PIECE_LEN : LONG_PIECE_LEN;
        size_t to = tb_safe_cut_after(text, from + len - 1);
        struct tb_span piece = {text.ptr + from, to - from};
        TB_TRY(
            from
                ? tb_encoder_encode_rest(cache->encoder, piece, &recent->tokens)
                : tb_encoder_encode(cache->encoder, piece, &recent->tokens));
        if (to < text.len)
            TB_TRY(add_checkpoint(recent, to));
        from = to;
    }
    return TB_OK;
}

static tb_status keep_text(struct recent *recent, struct tb_span text,
                           size_t equal_len)
{
    recent->text.len = equal_len;
    return tb_buffer_append(&recent->text, tb_span_from(text, equal_len));
}

static void forget_other_huge(struct tb_prompt_cache *cache,
                              const struct recent *kept)
{
    for (size_t i = 0; i < RECENT_COUNT; i++) {
        struct recent *recent = &cache->recent[i];
        if (recent == kept || recent->text.len <= HUGE_LEN)
            continue;
        release_recent(recent);
        *recent = (struct recent){.text = TB_BUFFER(UINT32_MAX)};
    }
}

tb_status tb_prompt_cache_encode(struct tb_prompt_cache *cache,
                                 struct tb_span text, uint64_t tag,
                                 struct tb_prompt_tokens *tokens)
{
    struct match match = find_match(cache, text);
    uint64_t base_tag = match.recent ? match.recent->tag : TB_PROMPT_NO_TAG;
    struct recent *place;
    TB_TRY(choose_place(cache, &match, &place));
    // Until all of it is there again, nothing may be found here.
    bool is_in_place = place == match.recent;
    place->used = 0;
    place->tokens.count = match.last.count;
    place->checkpoint_count = match.checkpoint_count;
    TB_TRY(encode_rest(cache, place, text, match.last.at));
    if (cache->is_reusing) {
        TB_TRY(keep_text(place, text, is_in_place ? match.len : 0));
        if (text.len > HUGE_LEN)
            forget_other_huge(cache, place);
        place->tag = tag;
        place->used = ++cache->now;
    }
    *tokens = (struct tb_prompt_tokens){
        .ids = place->tokens.ids,
        .count = place->tokens.count,
        .base_tag = match.last.count ? base_tag : TB_PROMPT_NO_TAG,
        .shared_count = match.last.count,
    };
    return TB_OK;
}
