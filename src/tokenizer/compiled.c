#include "compiled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiled_cache.h"
#include "map_file.h"
#include "output.h"
#include "path.h"
#include "tokenizer_config.h"

/* To be raised whenever anything that is written here, or what it means,
 * changes: hashes, slots, numbers of patterns. */
#define FORMAT_VERSION 4

#define ALIGNMENT 16

enum section_kind {
    SECTION_SCALARS,
    SECTION_TEXTS, /* of added tokens and steps */
    SECTION_VOCAB_BYTES,
    SECTION_VOCAB_AT,
    SECTION_VOCAB_LEN,
    SECTION_VOCAB_SLOTS,
    SECTION_MERGES,
    SECTION_ADDED,
    SECTION_NORMALIZERS,
    SECTION_PRETOKENIZERS,
    SECTION_DECODERS,
    SECTION_ADDED_TEXTS,
    SECTION_COUNT,
};

struct section {
    uint64_t at, len; /* bytes from the file's start */
};

struct header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;    /* 1, as this machine writes it */
    uint64_t len;           /* of the file */
    struct tb_hash128 hash; /* of all behind the header */
    struct section sections[SECTION_COUNT];
};

struct text {
    uint32_t at, len; /* in SECTION_TEXTS */
};

struct scalars {
    uint32_t id_count, slot_count, max_len, merge_slot_count;
    uint32_t vocab_size;
    tb_token unknown;
    tb_token byte_tokens[256];
    uint8_t is_byte_level, is_whole_word_first, is_fusing_unknown;
    uint8_t has_byte_fallback;
    struct tb_space_borders borders;
    char fingerprint[36];
    struct text refusal; /* of the decoder */
};

struct added {
    struct text content;
    tb_token id;
    uint8_t is_single_word, is_left_strip, is_right_strip, is_normalized;
};

struct normalizer_step {
    uint32_t kind, form;
    struct text pattern, content;
};

struct pretokenizer_step {
    int32_t pattern; /* its number; -1: `literal` */
    uint32_t behavior;
    struct text literal;
    uint8_t is_inverted, has_prefix_space, unused[6];
};

struct decoder_step {
    uint32_t kind, start, stop;
    uint8_t is_cleaning, is_first_spaced, unused[2];
    struct text text, into;
};

struct added_text {
    struct text text;
    tb_token id;
    uint32_t is_special;
};

static const char magic[8] = "tbtoken";

/* ---- where ------------------------------------------------------------------
 */

bool tb_compiled_cache_folder(char *path, size_t size)
{
    const char *folder = getenv("XDG_CACHE_HOME");
    int len = -1;
    if (getenv("TRACEBAKE_NO_CACHE"))
        return false;
    if (folder && folder[0] == '/') {
        len = snprintf(path, size, "%s/tracebake", folder);
    } else if ((folder = getenv("HOME")) && folder[0] == '/') {
        len = snprintf(path, size, "%s/.cache/tracebake", folder);
    }
    return len > 0 && (size_t)len < size;
}

// Which file it is, as far as that can be told without reading it.
static int spell_file(const char *path, char *key, size_t size)
{
    struct stat info = {0};
    if (*path && stat(path, &info) != 0)
        return snprintf(key, size, "none");
    return snprintf(
        key, size, "%llx %llu %llu %lld.%09ld", (unsigned long long)info.st_dev,
        (unsigned long long)info.st_ino, (unsigned long long)info.st_size,
        (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

/* A JSON file says all. Of others the name may count, and a configuration
 * beside them. */
static void spell_place(const char *path, char *key, size_t size)
{
    char config[4096], file[256] = "";
    key[0] = '\0';
    if (!*path || tb_span_ends_with(tb_span_of(path), TB_SPAN(".json")))
        return;
    const char *slash = strrchr(path, '/');
    if (tb_tokenizer_config_path(path, config, sizeof(config)))
        (void)spell_file(config, file, sizeof(file));
    (void)snprintf(key, size, "%s %.255s", file, slash ? slash + 1 : path);
}

bool tb_compiled_path(const struct tb_rank_source *source, char *path,
                      size_t size)
{
    char folder[2048], file[256], place[600], key[1024];
    const char *source_path = source->path;
    if (!tb_compiled_cache_folder(folder, sizeof(folder)) ||
        (*source_path && access(source_path, F_OK) != 0))
        return false;
    (void)spell_file(source_path, file, sizeof(file));
    spell_place(source_path, place, sizeof(place));
    int len = snprintf(
        key, sizeof(key), "%d %llx %s %s %s", FORMAT_VERSION,
        *source_path ? 0 : (unsigned long long)tb_tokenizer_builtin_version(),
        file, place, source->name ? source->name : "");
    struct tb_hash128 name =
        tb_hash128((struct tb_span){(const uint8_t *)key, (size_t)len}, 0);
    len = snprintf(path, size, "%s/%016llx%016llx.tok", folder,
                   (unsigned long long)name.high, (unsigned long long)name.low);
    return len > 0 && (size_t)len < size;
}

/* ---- writing
 * ------------------------------------------------------------------ */

struct writer {
    struct tb_buffer file; /* header first */
    struct tb_buffer texts;
    struct section sections[SECTION_COUNT];
};

static tb_status add_section(struct writer *writer, enum section_kind kind,
                             const void *bytes, size_t len)
{
    static const uint8_t zeros[ALIGNMENT];
    size_t gap = (ALIGNMENT - writer->file.len % ALIGNMENT) % ALIGNMENT;
    TB_TRY(tb_buffer_append(&writer->file, (struct tb_span){zeros, gap}));
    writer->sections[kind] = (struct section){writer->file.len, len};
    return tb_buffer_append(&writer->file, (struct tb_span){bytes, len});
}

static tb_status add_text(struct writer *writer, struct tb_span text,
                          struct text *added)
{
    *added = (struct text){(uint32_t)writer->texts.len, (uint32_t)text.len};
    return tb_buffer_append(&writer->texts, text);
}

static tb_status save_scalars(const struct tb_tokenizer *tokenizer,
                              struct writer *writer)
{
    const struct tb_bpe *bpe = &tokenizer->bpe;
    struct scalars scalars = {
        .id_count = bpe->vocab.id_count,
        .slot_count = bpe->vocab.slot_count,
        .max_len = bpe->vocab.max_len,
        .merge_slot_count = bpe->merge_slot_count,
        .vocab_size = tokenizer->vocab_size,
        .unknown = bpe->unknown,
        .is_byte_level = bpe->is_byte_level,
        .is_whole_word_first = bpe->is_whole_word_first,
        .is_fusing_unknown = bpe->is_fusing_unknown,
        .has_byte_fallback = bpe->has_byte_fallback,
        .borders = bpe->borders,
    };
    memcpy(scalars.byte_tokens, bpe->byte_tokens, sizeof(scalars.byte_tokens));
    memcpy(scalars.fingerprint, tokenizer->fingerprint,
           sizeof(tokenizer->fingerprint));
    TB_TRY(add_text(writer, tokenizer->decoder.refusal, &scalars.refusal));
    return add_section(writer, SECTION_SCALARS, &scalars, sizeof(scalars));
}

static tb_status save_tables(const struct tb_bpe *bpe, struct writer *writer)
{
    const struct tb_vocab *vocab = &bpe->vocab;
    TB_TRY(add_section(writer, SECTION_VOCAB_BYTES, vocab->bytes.ptr,
                       vocab->bytes.len));
    TB_TRY(add_section(writer, SECTION_VOCAB_AT, vocab->at,
                       vocab->id_count * sizeof(*vocab->at)));
    TB_TRY(add_section(writer, SECTION_VOCAB_LEN, vocab->len,
                       vocab->id_count * sizeof(*vocab->len)));
    TB_TRY(add_section(writer, SECTION_VOCAB_SLOTS, vocab->slots,
                       vocab->slot_count * sizeof(*vocab->slots)));
    return add_section(writer, SECTION_MERGES, bpe->merges,
                       bpe->merge_slot_count * sizeof(*bpe->merges));
}

static tb_status save_added(const struct tb_added_tokens *set,
                            struct writer *writer, struct tb_buffer *all)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct tb_added_token *token = &set->tokens[i];
        struct added added = {
            .id = token->id,
            .is_single_word = token->is_single_word,
            .is_left_strip = token->is_left_strip,
            .is_right_strip = token->is_right_strip,
            .is_normalized = token->is_normalized,
        };
        TB_TRY(add_text(writer, token->content, &added.content));
        TB_TRY(tb_buffer_append(
            all, (struct tb_span){(const uint8_t *)&added, sizeof(added)}));
    }
    return TB_OK;
}

static tb_status save_added_tokens(const struct tb_tokenizer *tokenizer,
                                   struct writer *writer)
{
    struct tb_buffer all = TB_BUFFER(UINT32_MAX);
    tb_status status = save_added(&tokenizer->raw_tokens, writer, &all);
    if (status == TB_OK)
        status = save_added(&tokenizer->normalized_tokens, writer, &all);
    if (status == TB_OK)
        status = add_section(writer, SECTION_ADDED, all.ptr, all.len);
    tb_buffer_release(&all);
    return status;
}

static tb_status save_normalizers(const struct tb_normalizer *normalizer,
                                  struct writer *writer)
{
    struct normalizer_step steps[TB_NORMALIZER_MAX_STEPS] = {0};
    for (size_t i = 0; i < normalizer->step_count; i++) {
        const struct tb_normalizer_step *step = &normalizer->steps[i];
        steps[i].kind = (uint32_t)step->kind;
        steps[i].form = (uint32_t)step->form;
        TB_TRY(add_text(writer, step->pattern, &steps[i].pattern));
        TB_TRY(add_text(writer, step->content, &steps[i].content));
    }
    return add_section(writer, SECTION_NORMALIZERS, steps,
                       normalizer->step_count * sizeof(steps[0]));
}

static tb_status save_pretokenizers(const struct tb_pretokenizer *pretokenizer,
                                    struct writer *writer)
{
    struct pretokenizer_step steps[TB_PRETOKENIZER_MAX_STEPS] = {0};
    for (size_t i = 0; i < pretokenizer->step_count; i++) {
        const struct tb_pretokenizer_step *step = &pretokenizer->steps[i];
        steps[i].pattern = step->scan ? tb_pattern_number(step->scan) : -1;
        steps[i].behavior = (uint32_t)step->behavior;
        steps[i].is_inverted = step->is_inverted;
        steps[i].has_prefix_space = step->has_prefix_space;
        TB_TRY(add_text(writer, step->literal, &steps[i].literal));
    }
    return add_section(writer, SECTION_PRETOKENIZERS, steps,
                       pretokenizer->step_count * sizeof(steps[0]));
}

static tb_status save_decoder(const struct tb_decoder *decoder,
                              struct writer *writer)
{
    struct decoder_step steps[TB_DECODER_MAX_STEPS] = {0};
    for (size_t i = 0; i < decoder->step_count; i++) {
        const struct tb_decoder_step *step = &decoder->steps[i];
        steps[i].kind = (uint32_t)step->kind;
        steps[i].start = step->start;
        steps[i].stop = step->stop;
        steps[i].is_cleaning = step->is_cleaning;
        steps[i].is_first_spaced = step->is_first_spaced;
        TB_TRY(add_text(writer, step->text, &steps[i].text));
        TB_TRY(add_text(writer, step->into, &steps[i].into));
    }
    return add_section(writer, SECTION_DECODERS, steps,
                       decoder->step_count * sizeof(steps[0]));
}

static tb_status append_added_texts(const struct tb_decoder *decoder,
                                    struct writer *writer,
                                    struct tb_buffer *all)
{
    for (size_t i = 0; i < decoder->added_count; i++) {
        struct added_text added = {.id = decoder->added[i].id,
                                   .is_special = decoder->added[i].is_special};
        TB_TRY(add_text(writer, decoder->added[i].text, &added.text));
        TB_TRY(tb_buffer_append(
            all, (struct tb_span){(const uint8_t *)&added, sizeof(added)}));
    }
    return add_section(writer, SECTION_ADDED_TEXTS, all->ptr, all->len);
}

static tb_status save_added_texts(const struct tb_decoder *decoder,
                                  struct writer *writer)
{
    struct tb_buffer all = TB_BUFFER(UINT32_MAX);
    tb_status status = append_added_texts(decoder, writer, &all);
    tb_buffer_release(&all);
    return status;
}

static tb_status save_all(const struct tb_tokenizer *tokenizer,
                          struct writer *writer)
{
    struct header header = {.version = FORMAT_VERSION, .byte_order = 1};
    memcpy(header.magic, magic, sizeof(magic));
    TB_TRY(tb_buffer_append(
        &writer->file,
        (struct tb_span){(const uint8_t *)&header, sizeof(header)}));
    TB_TRY(save_scalars(tokenizer, writer));
    TB_TRY(save_tables(&tokenizer->bpe, writer));
    TB_TRY(save_added_tokens(tokenizer, writer));
    TB_TRY(save_normalizers(&tokenizer->normalizer, writer));
    TB_TRY(save_pretokenizers(&tokenizer->pretokenizer, writer));
    TB_TRY(save_decoder(&tokenizer->decoder, writer));
    TB_TRY(save_added_texts(&tokenizer->decoder, writer));
    TB_TRY(add_section(writer, SECTION_TEXTS, writer->texts.ptr,
                       writer->texts.len));
    header.len = writer->file.len;
    memcpy(header.sections, writer->sections, sizeof(header.sections));
    header.hash = tb_hash128(
        tb_span_from(tb_buffer_span(&writer->file), sizeof(header)), 0);
    memcpy(writer->file.ptr, &header, sizeof(header));
    return TB_OK;
}

tb_status tb_compiled_save(const struct tb_tokenizer *tokenizer,
                           const char *path)
{
    if (!tb_tokenizer_is_plain(tokenizer))
        return TB_ERR_UNSUPPORTED;
    struct writer writer = {.file = TB_BUFFER(UINT32_MAX),
                            .texts = TB_BUFFER(UINT32_MAX)};
    struct tb_output *output = NULL;
    tb_status status = save_all(tokenizer, &writer);
    if (status == TB_OK) {
        tb_path_make_folders(path, 0700);
        status = tb_output_open(path, &output, NULL);
    }
    if (status == TB_OK)
        tb_output_set_disposable(output);
    if (status == TB_OK)
        status = tb_output_write(output, tb_buffer_span(&writer.file), NULL);
    if (status == TB_OK)
        status = tb_output_commit(output, NULL);
    tb_output_close(output);
    tb_buffer_release(&writer.file);
    tb_buffer_release(&writer.texts);
    return status;
}

/* ---- reading
 * -------------------------------------------------------------------- */

struct reader {
    struct tb_span file;
    struct header header;
    struct scalars scalars;
    struct tb_span texts;
};

static bool read_header(struct reader *reader)
{
    struct header *header = &reader->header;
    if (reader->file.len < sizeof(*header))
        return false;
    memcpy(header, reader->file.ptr, sizeof(*header));
    struct tb_span rest = tb_span_from(reader->file, sizeof(*header));
    if (memcmp(header->magic, magic, sizeof(magic)) != 0 ||
        header->version != FORMAT_VERSION || header->byte_order != 1 ||
        header->len != reader->file.len)
        return false;
    struct tb_hash128 hash = tb_hash128(rest, 0);
    if (hash.low != header->hash.low || hash.high != header->hash.high)
        return false;
    for (int i = 0; i < SECTION_COUNT; i++) {
        const struct section *section = &header->sections[i];
        if (section->at % ALIGNMENT != 0 || section->at > header->len ||
            section->len > header->len - section->at)
            return false;
    }
    return true;
}

static struct tb_span section_of(const struct reader *reader,
                                 enum section_kind kind)
{
    const struct section *section = &reader->header.sections[kind];
    return (struct tb_span){reader->file.ptr + section->at,
                            (size_t)section->len};
}

// A section with `count` items of `size` bytes; NULL when it has not.
static const void *items_of(const struct reader *reader, enum section_kind kind,
                            size_t count, size_t size)
{
    struct tb_span bytes = section_of(reader, kind);
    return bytes.len == count * size ? bytes.ptr : NULL;
}

static bool text_of(const struct reader *reader, struct text text,
                    struct tb_span *span)
{
    *span = (struct tb_span){reader->texts.ptr + text.at, text.len};
    return text.at <= reader->texts.len &&
           text.len <= reader->texts.len - text.at;
}

static bool is_power_of_two(uint32_t count)
{
    return count != 0 && (count & (count - 1)) == 0;
}

static bool load_tables(const struct reader *reader, struct tb_bpe *bpe)
{
    const struct scalars *scalars = &reader->scalars;
    struct tb_vocab *vocab = &bpe->vocab;
    struct tb_span bytes = section_of(reader, SECTION_VOCAB_BYTES);
    size_t count = scalars->id_count;
    // The casts take away const: nobody writes to a loaded tokenizer.
    vocab->bytes = (struct tb_buffer){(uint8_t *)(uintptr_t)bytes.ptr,
                                      bytes.len, 0, bytes.len};
    vocab->at = (uint32_t *)(uintptr_t)items_of(reader, SECTION_VOCAB_AT, count,
                                                sizeof(*vocab->at));
    vocab->len = (uint32_t *)(uintptr_t)items_of(reader, SECTION_VOCAB_LEN,
                                                 count, sizeof(*vocab->len));
    vocab->slots = (struct tb_vocab_slot *)(uintptr_t)items_of(
        reader, SECTION_VOCAB_SLOTS, scalars->slot_count,
        sizeof(*vocab->slots));
    vocab->id_count = scalars->id_count;
    vocab->slot_count = scalars->slot_count;
    vocab->max_len = scalars->max_len;
    bpe->merge_slot_count = scalars->merge_slot_count;
    bpe->merges = NULL;
    if (bpe->merge_slot_count)
        bpe->merges = (struct tb_merge *)(uintptr_t)items_of(
            reader, SECTION_MERGES, bpe->merge_slot_count,
            sizeof(*bpe->merges));
    return vocab->at && vocab->len && vocab->slots &&
           is_power_of_two(vocab->slot_count) &&
           (bpe->merge_slot_count == 0 ||
            (bpe->merges && is_power_of_two(bpe->merge_slot_count)));
}

static void load_scalars(const struct reader *reader,
                         struct tb_tokenizer *tokenizer)
{
    const struct scalars *scalars = &reader->scalars;
    struct tb_bpe *bpe = &tokenizer->bpe;
    bpe->unknown = scalars->unknown;
    bpe->is_byte_level = scalars->is_byte_level;
    bpe->is_whole_word_first = scalars->is_whole_word_first;
    bpe->is_fusing_unknown = scalars->is_fusing_unknown;
    bpe->has_byte_fallback = scalars->has_byte_fallback;
    bpe->borders = scalars->borders;
    memcpy(bpe->byte_tokens, scalars->byte_tokens, sizeof(bpe->byte_tokens));
    tokenizer->vocab_size = scalars->vocab_size;
    memcpy(tokenizer->fingerprint, scalars->fingerprint,
           sizeof(tokenizer->fingerprint));
    tokenizer->fingerprint[sizeof(tokenizer->fingerprint) - 1] = '\0';
}

static bool load_added(const struct reader *reader,
                       struct tb_tokenizer *tokenizer)
{
    struct tb_span bytes = section_of(reader, SECTION_ADDED);
    const struct added *items = (const void *)bytes.ptr;
    for (size_t i = 0; i < bytes.len / sizeof(*items); i++) {
        struct tb_added_token token = {
            .id = items[i].id,
            .is_single_word = items[i].is_single_word,
            .is_left_strip = items[i].is_left_strip,
            .is_right_strip = items[i].is_right_strip,
            .is_normalized = items[i].is_normalized,
        };
        struct tb_added_tokens *set = token.is_normalized
                                          ? &tokenizer->normalized_tokens
                                          : &tokenizer->raw_tokens;
        if (!text_of(reader, items[i].content, &token.content) ||
            token.content.len == 0 || tb_added_tokens_add(set, &token) != TB_OK)
            return false;
    }
    tb_added_tokens_index(&tokenizer->raw_tokens);
    tb_added_tokens_index(&tokenizer->normalized_tokens);
    return true;
}

static bool load_normalizers(const struct reader *reader,
                             struct tb_normalizer *normalizer)
{
    struct tb_span bytes = section_of(reader, SECTION_NORMALIZERS);
    const struct normalizer_step *items = (const void *)bytes.ptr;
    normalizer->step_count = bytes.len / sizeof(*items);
    if (normalizer->step_count > TB_NORMALIZER_MAX_STEPS)
        return false;
    for (size_t i = 0; i < normalizer->step_count; i++) {
        struct tb_normalizer_step *step = &normalizer->steps[i];
        step->kind = (tb_normalizer_kind)items[i].kind;
        step->form = (enum tb_normal_form)items[i].form;
        if (!text_of(reader, items[i].pattern, &step->pattern) ||
            !text_of(reader, items[i].content, &step->content))
            return false;
    }
    return true;
}

static bool load_pretokenizers(const struct reader *reader,
                               struct tb_pretokenizer *pretokenizer)
{
    struct tb_span bytes = section_of(reader, SECTION_PRETOKENIZERS);
    const struct pretokenizer_step *items = (const void *)bytes.ptr;
    pretokenizer->step_count = bytes.len / sizeof(*items);
    if (pretokenizer->step_count > TB_PRETOKENIZER_MAX_STEPS)
        return false;
    for (size_t i = 0; i < pretokenizer->step_count; i++) {
        struct tb_pretokenizer_step *step = &pretokenizer->steps[i];
        step->behavior = (tb_split_behavior)items[i].behavior;
        step->is_inverted = items[i].is_inverted;
        step->has_prefix_space = items[i].has_prefix_space;
        if (items[i].pattern >= 0)
            step->scan = tb_pattern_of_number(items[i].pattern);
        if (!text_of(reader, items[i].literal, &step->literal) ||
            (items[i].pattern >= 0 && !step->scan))
            return false;
    }
    return true;
}

static bool load_decoder(const struct reader *reader,
                         struct tb_decoder *decoder)
{
    struct tb_span bytes = section_of(reader, SECTION_DECODERS);
    const struct decoder_step *items = (const void *)bytes.ptr;
    decoder->step_count = bytes.len / sizeof(*items);
    if (decoder->step_count > TB_DECODER_MAX_STEPS)
        return false;
    for (size_t i = 0; i < decoder->step_count; i++) {
        struct tb_decoder_step *step = &decoder->steps[i];
        step->kind = (tb_decode_kind)items[i].kind;
        step->start = items[i].start;
        step->stop = items[i].stop;
        step->is_cleaning = items[i].is_cleaning;
        step->is_first_spaced = items[i].is_first_spaced;
        if (!text_of(reader, items[i].text, &step->text) ||
            !text_of(reader, items[i].into, &step->into))
            return false;
    }
    return text_of(reader, reader->scalars.refusal, &decoder->refusal);
}

static bool load_added_texts(const struct reader *reader,
                             struct tb_decoder *decoder)
{
    struct tb_span bytes = section_of(reader, SECTION_ADDED_TEXTS);
    const struct added_text *items = (const void *)bytes.ptr;
    for (size_t i = 0; i < bytes.len / sizeof(*items); i++) {
        struct tb_added_text added = {.id = items[i].id,
                                      .is_special = items[i].is_special};
        if (!text_of(reader, items[i].text, &added.text) ||
            tb_decoder_add_text(decoder, &added) != TB_OK)
            return false;
    }
    tb_decoder_index(decoder);
    return true;
}

static bool load_all(struct reader *reader, struct tb_tokenizer *tokenizer)
{
    if (!read_header(reader))
        return false;
    const void *scalars =
        items_of(reader, SECTION_SCALARS, 1, sizeof(reader->scalars));
    if (!scalars)
        return false;
    memcpy(&reader->scalars, scalars, sizeof(reader->scalars));
    reader->texts = section_of(reader, SECTION_TEXTS);
    load_scalars(reader, tokenizer);
    return load_tables(reader, &tokenizer->bpe) &&
           load_added(reader, tokenizer) &&
           load_normalizers(reader, &tokenizer->normalizer) &&
           load_pretokenizers(reader, &tokenizer->pretokenizer) &&
           load_decoder(reader, &tokenizer->decoder) &&
           load_added_texts(reader, &tokenizer->decoder);
}

tb_status tb_compiled_load(const char *path, struct tb_tokenizer **tokenizer)
{
    struct reader reader = {0};
    if (tb_map_file(path, &reader.file) != TB_OK)
        return TB_ERR_NOT_FOUND;
    struct tb_tokenizer *made;
    if (tb_tokenizer_new(&made) != TB_OK) {
        tb_unmap_file(reader.file);
        return TB_ERR_MEMORY;
    }
    made->mapped = reader.file; // from here on, the tokenizer's
    if (!load_all(&reader, made)) {
        tb_tokenizer_free(made);
        return TB_ERR_NOT_FOUND;
    }
    *tokenizer = made;
    return TB_OK;
}
