/* A BPE model out of a tokenizer.json. */
#include "tokenizer_model.h"

#include <stdio.h>
#include <string.h>

#include "byte_level.h"
#include "json_reader.h"
#include "memory.h"
#include "merge_list.h"

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
    bool *is_unreachable; /* by id: not in the byte alphabet */
    tb_status bytes_status;
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

/* ---- merges, and from strings to bytes --------------------------------------
 */

static bool is_findable(const void *context, tb_token id)
{
    const struct loader *loader = context;
    return !loader->is_unreachable[id];
}

static tb_status copy_bytes(struct loader *loader)
{
    const struct tb_vocab *strings = loader->strings;
    struct tb_vocab *vocab = &loader->bpe->vocab;
    bool is_byte_level = loader->bpe->is_byte_level;
    loader->is_unreachable =
        tb_memory_zeroed((size_t)strings->id_count + 1, sizeof(bool));
    if (!loader->is_unreachable)
        return TB_ERR_MEMORY;
    uint8_t *bytes = tb_arena_alloc(&loader->scratch, strings->max_len);
    if (!bytes)
        return TB_ERR_MEMORY;
    TB_TRY(tb_vocab_reserve(vocab, strings->id_count, strings->bytes.len));
    for (tb_token id = 0; id < strings->id_count; id++) {
        struct tb_span text = tb_vocab_bytes(strings, id);
        size_t len;
        if (!text.ptr)
            continue;
        if (is_byte_level && tb_byte_level_decode(text, bytes, &len))
            text = (struct tb_span){bytes, len};
        else if (is_byte_level)
            loader->is_unreachable[id] = true;
        TB_TRY(tb_vocab_set(vocab, id, text));
    }
    return tb_vocab_index(vocab, is_findable, loader);
}

static void copy_bytes_beside(void *context)
{
    struct loader *loader = context;
    loader->bytes_status = copy_bytes(loader);
}

// Reads the merges, and meanwhile makes the vocabulary's bytes.
static tb_status read_merges(struct loader *loader,
                             struct tb_json_reader *reader)
{
    struct tb_merge_list list = {
        .reader = reader,
        .json = loader->merges,
        .strings = loader->strings,
        .mark_len = loader->bpe->inner_prefix.len,
        .beside = copy_bytes_beside,
        .context = loader,
    };
    return tb_merge_list_read(&list, loader->bpe);
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
    TB_TRY(loader->bytes_status);
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
