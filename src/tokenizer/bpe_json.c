/* A BPE model out of a tokenizer.json. */
#include "tokenizer_model.h"

#include <stdio.h>
#include <string.h>

#include "byte_level.h"
#include "json_reader.h"
#include "memory.h"

/* The vocabulary is read twice over: as the file has it, to look up what the
 * merges name, and as bytes, to look up words. */
struct loader {
    struct tb_json_reader *reader;
    struct tb_arena scratch;
    struct tb_vocab *strings;
    struct tb_bpe *bpe;
    struct tb_span merges; /* raw JSON */
    uint64_t merges_offset;
    struct tb_span unknown;
    tb_token joined;      /* what came of the merge before */
    bool *is_unreachable; /* by id: not in the byte alphabet */
};

static tb_status read_affix(struct tb_json_reader *reader,
                            struct tb_arena *arena, struct tb_span *affix)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_NULL)
        return tb_json_skip(reader);
    TB_TRY(tb_json_read_string(reader, arena, affix));
    if (affix->len > TB_BPE_AFFIX_MAX_LEN)
        return tb_json_fail(reader, TB_ERR_LIMIT,
                            "prefix or suffix is longer than %d bytes",
                            TB_BPE_AFFIX_MAX_LEN);
    return tb_arena_copy(arena, *affix, affix);
}

static tb_status refuse_dropout(struct tb_json_reader *reader)
{
    struct tb_span raw;
    TB_TRY(tb_json_read_raw(reader, &raw));
    if (tb_span_equal(raw, TB_SPAN("null")) ||
        tb_span_equal(raw, TB_SPAN("0.0")) || tb_span_equal(raw, TB_SPAN("0")))
        return TB_OK;
    return tb_json_fail(reader, TB_ERR_UNSUPPORTED,
                        "BPE with dropout gives other ids at each run");
}

static tb_status read_flag(struct tb_json_reader *reader, bool *flag)
{
    struct tb_span raw;
    TB_TRY(tb_json_read_raw(reader, &raw));
    *flag = tb_span_equal(raw, TB_SPAN("true"));
    return TB_OK;
}

static tb_status read_unknown(struct loader *loader,
                              struct tb_tokenizer *tokenizer)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(loader->reader, &type));
    if (type == TB_JSON_NULL)
        return tb_json_skip(loader->reader);
    return tb_json_read_string(loader->reader, &tokenizer->arena,
                               &loader->unknown);
}

static tb_status read_member(struct loader *loader,
                             struct tb_tokenizer *tokenizer, struct tb_span key)
{
    struct tb_json_reader *reader = loader->reader;
    struct tb_bpe *bpe = loader->bpe;
    if (tb_span_equal(key, TB_SPAN("vocab")))
        return tb_vocab_from_json(loader->strings, reader);
    if (tb_span_equal(key, TB_SPAN("merges"))) {
        TB_TRY(tb_json_read_raw(reader, &loader->merges));
        loader->merges_offset = tb_json_offset(reader) - loader->merges.len;
        return TB_OK;
    }
    if (tb_span_equal(key, TB_SPAN("unk_token")))
        return read_unknown(loader, tokenizer);
    if (tb_span_equal(key, TB_SPAN("fuse_unk")))
        return read_flag(reader, &bpe->is_fusing_unknown);
    if (tb_span_equal(key, TB_SPAN("byte_fallback")))
        return read_flag(reader, &bpe->has_byte_fallback);
    if (tb_span_equal(key, TB_SPAN("ignore_merges")))
        return read_flag(reader, &bpe->is_whole_word_first);
    if (tb_span_equal(key, TB_SPAN("continuing_subword_prefix")))
        return read_affix(reader, &tokenizer->arena, &bpe->inner_prefix);
    if (tb_span_equal(key, TB_SPAN("end_of_word_suffix")))
        return read_affix(reader, &tokenizer->arena, &bpe->last_suffix);
    if (tb_span_equal(key, TB_SPAN("dropout")))
        return refuse_dropout(reader);
    return tb_json_skip(reader);
}

/* ---- merges ---------------------------------------------------------------
 */

// One merge in either form: "a b" or ["a", "b"].
static tb_status read_pair(struct tb_json_reader *reader,
                           struct tb_arena *scratch, struct tb_span *left,
                           struct tb_span *right)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_ARRAY) {
        bool found;
        TB_TRY(tb_json_enter_array(reader));
        TB_TRY(tb_json_next_item(reader, &found));
        if (found)
            TB_TRY(tb_json_read_string(reader, scratch, left));
        if (found)
            TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            return tb_json_fail(reader, TB_ERR_VALUE,
                                "a merge needs two tokens");
        TB_TRY(tb_json_read_string(reader, scratch, right));
        TB_TRY(tb_json_next_item(reader, &found));
        if (found)
            return tb_json_fail(reader, TB_ERR_VALUE,
                                "a merge has more than two tokens");
        return TB_OK;
    }
    struct tb_span text;
    TB_TRY(tb_json_read_string(reader, scratch, &text));
    const uint8_t *space = text.len ? memchr(text.ptr, ' ', text.len) : NULL;
    if (!space)
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "a merge needs two tokens with a space between");
    *left = (struct tb_span){text.ptr, (size_t)(space - text.ptr)};
    *right = tb_span_from(text, left->len + 1);
    if (right->len && memchr(right->ptr, ' ', right->len))
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "a merge has more than two tokens");
    return TB_OK;
}

/* Merges are looked up many at a time, since each look-up waits for memory
 * (tb_vocab_find_batch). */
enum { BATCH = TB_VOCAB_BATCH / 2 };

struct batch {
    struct tb_span texts[2 * BATCH]; /* left, right, left, right, ... */
    tb_token ids[2 * BATCH];
    struct tb_merge merges[BATCH];
    size_t count;
    bool is_last; /* the list ends behind it */
};

static tb_status find_token(struct loader *loader,
                            struct tb_json_reader *reader, struct tb_span text,
                            tb_token *id)
{
    *id = tb_vocab_find(loader->strings, text);
    if (*id != TB_NO_TOKEN)
        return TB_OK;
    int len = tb_span_shown(text, 60);
    return tb_json_fail(reader, TB_ERR_VALUE,
                        "a merge names '%.*s', which is not in the vocabulary",
                        len, (const char *)text.ptr);
}

static bool is_joined(struct tb_span both, struct tb_span left,
                      struct tb_span right)
{
    return both.len == left.len + right.len &&
           tb_span_starts_with(both, left) && tb_span_ends_with(both, right);
}

/* What two become. Files list merges in order of what comes of them, so it is
 * nearly always what came of the merge before, or the token behind that. */
static tb_status find_joined(struct loader *loader,
                             struct tb_json_reader *reader, struct tb_span left,
                             struct tb_span right, tb_token *id)
{
    const struct tb_vocab *strings = loader->strings;
    for (tb_token guess = *id; guess - *id < 2 && !strings->has_twins; guess++)
        if (is_joined(tb_vocab_bytes(strings, guess), left, right)) {
            *id = guess;
            return TB_OK;
        }
    uint8_t *both = tb_arena_alloc(&loader->scratch, left.len + right.len);
    if (!both)
        return TB_ERR_MEMORY;
    if (left.len)
        memcpy(both, left.ptr, left.len);
    if (right.len)
        memcpy(both + left.len, right.ptr, right.len);
    return find_token(loader, reader,
                      (struct tb_span){both, left.len + right.len}, id);
}

// Fills in the ids of the `i`-th of the batch.
static tb_status resolve(struct loader *loader, struct tb_json_reader *reader,
                         struct batch *batch, size_t i, tb_token *joined)
{
    struct tb_merge *merge = &batch->merges[i];
    struct tb_span left = batch->texts[2 * i], right = batch->texts[2 * i + 1];
    merge->left = batch->ids[2 * i];
    merge->right = batch->ids[2 * i + 1];
    if (merge->left == TB_NO_TOKEN)
        TB_TRY(find_token(loader, reader, left, &merge->left));
    if (merge->right == TB_NO_TOKEN)
        TB_TRY(find_token(loader, reader, right, &merge->right));
    // What joins loses the mark of being inside a word.
    size_t mark_len = loader->bpe->inner_prefix.len;
    if (right.len < mark_len)
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "a merge's second token is shorter than the "
                            "continuing_subword_prefix");
    TB_TRY(find_joined(loader, reader, left, tb_span_from(right, mark_len),
                       joined));
    merge->id = *joined;
    return TB_OK;
}

// Legacy files may carry a first line "#version: 0.2", which is no merge.
static bool is_version(struct tb_json_reader *reader)
{
    struct tb_span rest = {reader->at, (size_t)(reader->end - reader->at)};
    return tb_span_starts_with(rest, TB_SPAN("\"#version"));
}

// In the form ["a", "b"] each has four quotes, in "a b" two.
static size_t likely_count(struct tb_span merges)
{
    size_t at = 1;
    while (at < merges.len && merges.ptr[at] <= ' ')
        at++;
    bool is_pairs = at < merges.len && merges.ptr[at] == '[';
    return tb_span_count(merges, '"') / (is_pairs ? 4 : 2);
}

// Reads up to `most` merges.
static tb_status read_batch(struct loader *loader,
                            struct tb_json_reader *reader, size_t most,
                            struct batch *batch)
{
    tb_arena_reset(&loader->scratch);
    batch->count = 0;
    while (batch->count < most) {
        bool found;
        TB_TRY(tb_json_next_item(reader, &found));
        batch->is_last = !found;
        if (!found)
            return TB_OK;
        if (is_version(reader)) {
            TB_TRY(tb_json_skip(reader));
            continue;
        }
        struct tb_span *texts = &batch->texts[2 * batch->count];
        TB_TRY(read_pair(reader, &loader->scratch, &texts[0], &texts[1]));
        batch->count++;
    }
    return TB_OK;
}

static tb_status take_batch(struct loader *loader,
                            struct tb_json_reader *reader, size_t most,
                            struct batch *batch, uint32_t *rank)
{
    tb_token joined = loader->joined;
    TB_TRY(read_batch(loader, reader, most, batch));
    tb_vocab_find_batch(loader->strings, batch->texts, batch->ids,
                        2 * batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        TB_TRY(resolve(loader, reader, batch, i, &joined));
        batch->merges[i].rank = *rank + (uint32_t)i;
    }
    loader->joined = joined;
    *rank += (uint32_t)batch->count;
    return tb_bpe_add_merges(loader->bpe, batch->merges, batch->count);
}

/* A fault is told where it stands: what fails in a batch is read again one by
 * one. */
static tb_status read_merges(struct loader *loader,
                             struct tb_json_reader *reader)
{
    struct batch batch;
    size_t most = BATCH;
    uint32_t rank = 0;
    TB_TRY(tb_bpe_reserve_merges(loader->bpe, likely_count(loader->merges)));
    TB_TRY(tb_json_enter_array(reader));
    do {
        struct tb_json_reader before = *reader;
        tb_status status = take_batch(loader, reader, most, &batch, &rank);
        if (status != TB_OK && status != TB_ERR_MEMORY && most > 1) {
            *reader = before;
            most = 1;
            batch.is_last = false;
            continue;
        }
        TB_TRY(status);
    } while (!batch.is_last);
    return TB_OK;
}

/* ---- from strings to bytes --------------------------------------------------
 */

static bool is_findable(const void *context, tb_token id)
{
    const struct loader *loader = context;
    return !loader->is_unreachable[id];
}

static tb_status copy_bytes(struct loader *loader, bool is_byte_level)
{
    const struct tb_vocab *strings = loader->strings;
    loader->is_unreachable =
        tb_memory_zeroed((size_t)strings->id_count + 1, sizeof(bool));
    if (!loader->is_unreachable)
        return TB_ERR_MEMORY;
    for (tb_token id = 0; id < strings->id_count; id++) {
        struct tb_span text = tb_vocab_bytes(strings, id);
        if (!text.ptr)
            continue;
        tb_arena_reset(&loader->scratch);
        uint8_t *bytes = tb_arena_alloc(&loader->scratch, text.len);
        if (!bytes)
            return TB_ERR_MEMORY;
        size_t len;
        if (is_byte_level && tb_byte_level_decode(text, bytes, &len))
            text = (struct tb_span){bytes, len};
        else if (is_byte_level)
            loader->is_unreachable[id] = true;
        TB_TRY(tb_vocab_set(&loader->bpe->vocab, id, text));
    }
    return tb_vocab_index(&loader->bpe->vocab, is_findable, loader);
}

/* The tokens of single bytes: a byte level's symbols, or <0x00> to <0xFF>. */
static tb_status find_byte_tokens(struct loader *loader, bool is_byte_level)
{
    struct tb_bpe *bpe = loader->bpe;
    for (unsigned byte = 0; byte < 256; byte++) {
        uint8_t symbol = (uint8_t)byte;
        char name[8];
        int len = snprintf(name, sizeof(name), "<0x%02X>", byte);
        struct tb_span text = {(const uint8_t *)name, (size_t)len};
        if (is_byte_level)
            text = (struct tb_span){&symbol, 1};
        bpe->byte_tokens[byte] = tb_vocab_find(&bpe->vocab, text);
        if (is_byte_level && bpe->byte_tokens[byte] == TB_NO_TOKEN &&
            bpe->unknown != TB_NO_TOKEN)
            return tb_json_fail(
                loader->reader, TB_ERR_UNSUPPORTED,
                "byte level with an unk_token, but byte 0x%02X is missing",
                byte);
    }
    return TB_OK;
}

static tb_status find_unknown(struct loader *loader)
{
    loader->bpe->unknown = TB_NO_TOKEN;
    if (!loader->unknown.ptr)
        return TB_OK;
    loader->bpe->unknown = tb_vocab_find(loader->strings, loader->unknown);
    if (loader->bpe->unknown == TB_NO_TOKEN)
        return tb_json_fail(loader->reader, TB_ERR_VALUE,
                            "unk_token is not in the vocabulary");
    return TB_OK;
}

// Line breaks before a value that the reader has left behind.
static uint64_t lines_before(struct tb_json_reader *reader,
                             struct tb_span value)
{
    struct tb_span since = {value.ptr, (size_t)(reader->at - value.ptr)};
    return tb_json_line(reader) - 1 - tb_span_count(since, '\n');
}

static tb_status load(struct loader *loader, struct tb_tokenizer *tokenizer,
                      bool is_byte_level)
{
    struct tb_json_reader *reader = loader->reader;
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        TB_TRY(read_member(loader, tokenizer, key));
    }
    if (!loader->merges.ptr || loader->strings->id_count == 0)
        return tb_json_fail(reader, TB_ERR_VALUE,
                            "the model has no vocab or no merges");
    if (is_byte_level &&
        (loader->bpe->inner_prefix.len || loader->bpe->last_suffix.len))
        return tb_json_fail(reader, TB_ERR_UNSUPPORTED,
                            "byte level with a prefix or suffix");
    TB_TRY(tb_vocab_index(loader->strings, NULL, NULL));
    struct tb_json_reader merges;
    tb_json_reader_init_span(&merges, loader->merges, loader->merges_offset, 1);
    tb_status status = read_merges(loader, &merges);
    if (status != TB_OK) {
        reader->error = merges.error;
        reader->error.line += lines_before(reader, loader->merges);
        return status;
    }
    TB_TRY(find_unknown(loader));
    TB_TRY(copy_bytes(loader, is_byte_level));
    TB_TRY(find_byte_tokens(loader, is_byte_level));
    tb_bpe_find_borders(loader->bpe);
    return TB_OK;
}

tb_status tb_bpe_from_json(struct tb_tokenizer *tokenizer,
                           struct tb_json_reader *reader, bool is_byte_level)
{
    struct loader loader = {.reader = reader,
                            .strings = &tokenizer->strings,
                            .bpe = &tokenizer->bpe};
    tokenizer->bpe.is_byte_level = is_byte_level;
    tb_status status = load(&loader, tokenizer, is_byte_level);
    tokenizer->vocab_size = tokenizer->bpe.vocab.id_count;
    for (tb_token id = 0; id < tokenizer->strings.id_count; id++)
        tokenizer->model_count +=
            tb_vocab_bytes(&tokenizer->strings, id).ptr != NULL;
    tb_memory_free(loader.is_unreachable);
    tb_arena_release(&loader.scratch);
    return status;
}
