#include "bpe.h"

#include <string.h>

#include "bpe_pair.h"
#include "bpe_short.h"
#include "bpe_symbol.h"
#include "memory.h"
#include "utf8.h"

/* ---- symbols ------------------------------------------------------------ */

static void add_symbol(struct tb_bpe_symbols *list, tb_token id, size_t at,
                       size_t len)
{
    uint32_t number = list->count++;
    list->symbols[number] = (struct tb_bpe_symbol){
        .id = id,
        .at = (uint32_t)at,
        .len = (uint32_t)len,
        .prev = number == 0 ? TB_BPE_NO_SYMBOL : number - 1,
        .next = number + 1,
    };
}

static void add_bytes(const struct tb_bpe *bpe, struct tb_span word,
                      struct tb_bpe_symbols *list)
{
    for (size_t at = 0; at < word.len; at++) {
        tb_token id = bpe->byte_tokens[word.ptr[at]];
        if (id != TB_NO_TOKEN)
            add_symbol(list, id, at, 1);
    }
}

// An unknown code point as the tokens of its bytes, if all of them exist.
static bool add_fallback(const struct tb_bpe *bpe, struct tb_span bytes,
                         size_t at, struct tb_bpe_symbols *list)
{
    if (!bpe->has_byte_fallback)
        return false;
    for (size_t i = 0; i < bytes.len; i++)
        if (bpe->byte_tokens[bytes.ptr[i]] == TB_NO_TOKEN)
            return false;
    for (size_t i = 0; i < bytes.len; i++)
        add_symbol(list, bpe->byte_tokens[bytes.ptr[i]], at + i, 1);
    return true;
}

/* A character as the vocabulary has it: with what marks that it is inside the
 * word, or at its end. `room` is where that is put together. */
static struct tb_span spell(const struct tb_bpe *bpe, struct tb_span word,
                            size_t at, size_t len, uint8_t *room)
{
    size_t prefix_len = at > 0 ? bpe->inner_prefix.len : 0;
    size_t suffix_len = at + len == word.len ? bpe->last_suffix.len : 0;
    if (prefix_len + suffix_len == 0)
        return (struct tb_span){word.ptr + at, len};
    if (prefix_len)
        memcpy(room, bpe->inner_prefix.ptr, prefix_len);
    memcpy(room + prefix_len, word.ptr + at, len);
    if (suffix_len)
        memcpy(room + prefix_len + len, bpe->last_suffix.ptr, suffix_len);
    return (struct tb_span){room, prefix_len + len + suffix_len};
}

/* The order in which a pending unknown is written is the reference's: known
 * symbols push it out first, fallback bytes do not. */
static void add_code_points(const struct tb_bpe *bpe, struct tb_span word,
                            struct tb_bpe_symbols *list)
{
    uint8_t room[2 * TB_BPE_AFFIX_MAX_LEN + TB_UTF8_MAX_LEN];
    size_t unknown_at = 0, unknown_len = 0;
    for (size_t at = 0, len; at < word.len; at += len) {
        uint32_t code_point;
        len = tb_utf8_decode(word, at, &code_point);
        struct tb_span bytes = spell(bpe, word, at, len, room);
        tb_token id = tb_vocab_find(&bpe->vocab, bytes);
        if (id == TB_NO_TOKEN &&
            (add_fallback(bpe, bytes, at, list) || bpe->unknown == TB_NO_TOKEN))
            continue;
        bool is_fused = id == TB_NO_TOKEN && bpe->is_fusing_unknown;
        if (unknown_len && !is_fused) {
            add_symbol(list, bpe->unknown, unknown_at, unknown_len);
            unknown_len = 0;
        }
        if (id != TB_NO_TOKEN) {
            add_symbol(list, id, at, len);
            continue;
        }
        if (unknown_len == 0)
            unknown_at = at;
        unknown_len += len;
    }
    if (unknown_len)
        add_symbol(list, bpe->unknown, unknown_at, unknown_len);
}

static tb_status make_symbols(const struct tb_bpe *bpe,
                              struct tb_bpe_work *work, struct tb_span word,
                              struct tb_bpe_symbols *list)
{
    // Places of pairs, of which there may be three to a symbol, are numbered.
    if (word.len >= UINT32_MAX / 4)
        return TB_ERR_LIMIT;
    // Falling back to bytes, a character may become all of its affixes'.
    size_t most = 1 + bpe->inner_prefix.len + bpe->last_suffix.len;
    struct tb_bpe_symbol *symbols =
        tb_array_grow(work->symbols, &work->symbols_capacity,
                      word.len * most + 1, sizeof(*symbols));
    if (!symbols)
        return TB_ERR_MEMORY;
    work->symbols = symbols;
    *list = (struct tb_bpe_symbols){symbols, 0};
    if (bpe->is_byte_level)
        add_bytes(bpe, word, list);
    else
        add_code_points(bpe, word, list);
    if (list->count)
        symbols[list->count - 1].next = TB_BPE_NO_SYMBOL;
    return TB_OK;
}

/* ---- words ----------------------------------------------------------------
 */

static tb_status encode_short(const struct tb_bpe *bpe,
                              const struct tb_bpe_work *work,
                              struct tb_bpe_short *word,
                              struct tb_tokens *tokens)
{
    tb_bpe_short_merge(bpe, work, word);
    TB_TRY(tb_tokens_reserve(tokens, word->count));
    for (uint64_t left = word->there; left; left &= left - 1)
        tokens->ids[tokens->count++] = word->ids[__builtin_ctzll(left)];
    return TB_OK;
}

static tb_status encode_short_list(const struct tb_bpe *bpe,
                                   const struct tb_bpe_work *work,
                                   struct tb_span text,
                                   const struct tb_bpe_symbols *list,
                                   struct tb_tokens *tokens)
{
    struct tb_bpe_short word;
    word.text = text;
    word.count = list->count;
    for (uint32_t i = 0; i < list->count; i++) {
        word.ids[i] = list->symbols[i].id;
        word.at[i] = list->symbols[i].at;
    }
    const struct tb_bpe_symbol *last = &list->symbols[list->count - 1];
    word.at[list->count] = last->at + last->len;
    return encode_short(bpe, work, &word, tokens);
}

static tb_status encode_long(const struct tb_bpe *bpe, struct tb_bpe_work *work,
                             struct tb_span word, struct tb_bpe_symbols *list,
                             struct tb_tokens *tokens)
{
    TB_TRY(tb_bpe_merge_long(bpe, work, word, list));
    for (uint32_t i = 0; i != TB_BPE_NO_SYMBOL; i = list->symbols[i].next)
        TB_TRY(tb_tokens_append(tokens, &list->symbols[i].id, 1));
    return TB_OK;
}

static tb_status make_pairs(struct tb_bpe_work *work)
{
    size_t size = TB_BPE_PAIR_SLOTS * sizeof(*work->pairs);
    work->pairs = tb_memory_resize(NULL, size);
    if (!work->pairs)
        return TB_ERR_MEMORY;
    memset(work->pairs, 0xFF, size);
    return TB_OK;
}

tb_status tb_bpe_encode(const struct tb_bpe *bpe, struct tb_bpe_work *work,
                        struct tb_span word, struct tb_tokens *tokens)
{
    if (bpe->is_whole_word_first) {
        tb_token whole = tb_vocab_find(&bpe->vocab, word);
        if (whole != TB_NO_TOKEN)
            return tb_tokens_append(tokens, &whole, 1);
    }
    if (!work->pairs)
        TB_TRY(make_pairs(work));
    struct tb_bpe_short symbols;
    if (bpe->is_byte_level && word.len <= TB_BPE_SHORT &&
        tb_bpe_short_take_bytes(bpe, word, &symbols))
        return encode_short(bpe, work, &symbols, tokens);
    struct tb_bpe_symbols list;
    TB_TRY(make_symbols(bpe, work, word, &list));
    if (list.count == 0)
        return TB_OK;
    return list.count <= TB_BPE_SHORT
               ? encode_short_list(bpe, work, word, &list, tokens)
               : encode_long(bpe, work, word, &list, tokens);
}

void tb_bpe_work_release(struct tb_bpe_work *work)
{
    tb_memory_free(work->symbols);
    tb_memory_free(work->places);
    tb_memory_free(work->order);
    tb_memory_free(work->ranks);
    tb_memory_free(work->buckets);
    tb_memory_free(work->pairs);
    *work = (struct tb_bpe_work){0};
}

void tb_bpe_release(struct tb_bpe *bpe)
{
    tb_vocab_release(&bpe->vocab);
    tb_memory_free(bpe->merges);
    bpe->merges = NULL;
}
