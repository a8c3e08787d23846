#include "encoding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what is known ----------------------------------------------------------
 */

#define ONE(text, id)                                                          \
    {                                                                          \
        text, NULL, id, 0, 1                                                   \
    }
#define END                                                                    \
    {                                                                          \
        NULL, NULL, 0, 0, 0                                                    \
    }

static const struct tb_special_run r50k_specials[] = {
    ONE("<|endoftext|>", 50256), END};

static const struct tb_special_run p50k_edit_specials[] = {
    ONE("<|endoftext|>", 50256), ONE("<|fim_prefix|>", 50281),
    ONE("<|fim_middle|>", 50282), ONE("<|fim_suffix|>", 50283), END};

static const struct tb_special_run cl100k_specials[] = {
    ONE("<|endoftext|>", 100257),   ONE("<|fim_prefix|>", 100258),
    ONE("<|fim_middle|>", 100259),  ONE("<|fim_suffix|>", 100260),
    ONE("<|endofprompt|>", 100276), END};

static const struct tb_special_run o200k_specials[] = {
    ONE("<|endoftext|>", 199999), ONE("<|endofprompt|>", 200018), END};

static const struct tb_special_run harmony_specials[] = {
    ONE("<|startoftext|>", 199998),
    ONE("<|endoftext|>", 199999),
    {"<|reserved_", "|>", 200000, 200000, 2},
    ONE("<|return|>", 200002),
    ONE("<|constrain|>", 200003),
    ONE("<|reserved_200004|>", 200004),
    ONE("<|channel|>", 200005),
    ONE("<|start|>", 200006),
    ONE("<|end|>", 200007),
    ONE("<|message|>", 200008),
    {"<|reserved_", "|>", 200009, 200009, 3},
    ONE("<|call|>", 200012),
    {"<|reserved_", "|>", 200013, 200013, 201088 - 200013},
    ONE("<|endofprompt|>", 200018),
    END};

/* Llama 3.1 to 3.3; Llama 3.0 has the same file and reserves some of these. */
static const struct tb_special_run llama3_specials[] = {
    ONE("<|begin_of_text|>", 128000),
    ONE("<|end_of_text|>", 128001),
    {"<|reserved_special_token_", "|>", 128002, 0, 2},
    ONE("<|finetune_right_pad_id|>", 128004),
    ONE("<|reserved_special_token_2|>", 128005),
    ONE("<|start_header_id|>", 128006),
    ONE("<|end_header_id|>", 128007),
    ONE("<|eom_id|>", 128008),
    ONE("<|eot_id|>", 128009),
    ONE("<|python_tag|>", 128010),
    {"<|reserved_special_token_", "|>", 128011, 3, 245},
    END};

static const struct tb_special_run qwen_specials[] = {
    ONE("<|endoftext|>", 151643),
    ONE("<|im_start|>", 151644),
    ONE("<|im_end|>", 151645),
    {"<|extra_", "|>", 151646, 0, 205},
    END};

/* All that tokenizer_config.json does not name otherwise. */
static const struct tb_special_run kimi_specials[] = {
    {"<|reserved_token_", "|>", TB_NO_TOKEN, 0, 256}, END};

static const struct tb_special_run no_specials[] = {END};

/* The hash is XXH3-128 of all ids in order: the length of the token in four
 * bytes, the lowest first, and the token; 0xFFFFFFFF for an id without one.
 * Those of tiktoken's were taken from files with the SHA-256 that tiktoken
 * itself expects, and so was Llama 3's from Meta's. An encoding that shares
 * its tokens with an earlier one is found by its name only. */
static const struct tb_encoding encodings[] = {
    {.name = "r50k_base",
     .cache_name = "0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4",
     .scan = tb_pattern_scan_gpt2,
     .id_count = 50256,
     .tokens = {UINT64_C(0x58B09F73D0154297), UINT64_C(0x1F8ED1012DDF2AF4)},
     .specials = r50k_specials},
    {.name = "gpt2",
     .cache_name = "0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4",
     .scan = tb_pattern_scan_gpt2,
     .id_count = 50256,
     .tokens = {UINT64_C(0x58B09F73D0154297), UINT64_C(0x1F8ED1012DDF2AF4)},
     .specials = r50k_specials},
    {.name = "p50k_base",
     .cache_name = "ec7223a39ce59f226a68acc30dc1af2788490e15",
     .scan = tb_pattern_scan_gpt2,
     .id_count = 50281,
     .tokens = {UINT64_C(0xEEA13FA04B9B18B3), UINT64_C(0x4845615284F2D080)},
     .specials = r50k_specials},
    {.name = "p50k_edit",
     .cache_name = "ec7223a39ce59f226a68acc30dc1af2788490e15",
     .scan = tb_pattern_scan_gpt2,
     .id_count = 50281,
     .tokens = {UINT64_C(0xEEA13FA04B9B18B3), UINT64_C(0x4845615284F2D080)},
     .specials = p50k_edit_specials},
    {.name = "cl100k_base",
     .cache_name = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
     .scan = tb_pattern_scan_cl100k_base,
     .id_count = 100256,
     .tokens = {UINT64_C(0x64F9248544ABD515), UINT64_C(0x69E0BD5252C15D62)},
     .specials = cl100k_specials},
    {.name = "o200k_base",
     .cache_name = "fb374d419588a4632f3f557e76b4b70aebbca790",
     .scan = tb_pattern_scan_o200k,
     .id_count = 199998,
     .tokens = {UINT64_C(0x68E1412D320908C2), UINT64_C(0x8E769192E417ECBA)},
     .specials = o200k_specials},
    {.name = "o200k_harmony",
     .cache_name = "fb374d419588a4632f3f557e76b4b70aebbca790",
     .scan = tb_pattern_scan_o200k,
     .id_count = 199998,
     .tokens = {UINT64_C(0x68E1412D320908C2), UINT64_C(0x8E769192E417ECBA)},
     .specials = harmony_specials},
    {.name = "llama3",
     .scan = tb_pattern_scan_llama3,
     .id_count = 128000,
     .tokens = {UINT64_C(0xE0C22A522BEA2E79), UINT64_C(0xFC4D28A5477B980B)},
     .specials = llama3_specials},
    {.name = "qwen",
     .class_name = "tokenization_qwen.QWenTokenizer",
     .scan = tb_pattern_scan_qwen,
     .id_count = 151643,
     .tokens = {UINT64_C(0xD4F458DF323A1C5B), UINT64_C(0x0D678E18D4DF76FC)},
     .specials = qwen_specials,
     .is_nfc = true},
    {.name = "kimi",
     .class_name = "tokenization_kimi.TikTokenTokenizer",
     .scan = tb_pattern_scan_kimi,
     .id_count = 163584,
     .tokens = {UINT64_C(0x835A4CEF5174D6CF), UINT64_C(0xAE5256811D8E89FC)},
     .specials = kimi_specials,
     .is_filling = true},
    {.name = "glm4",
     .class_name = "tokenization_chatglm.ChatGLM4Tokenizer",
     .scan = tb_pattern_scan_llama3,
     .specials = no_specials},
};

enum { ENCODING_COUNT = sizeof(encodings) / sizeof(encodings[0]) };

/* ---- finding ----------------------------------------------------------------
 */

static const struct tb_encoding *find_name(struct tb_span name)
{
    for (int i = 0; i < ENCODING_COUNT; i++)
        if (tb_span_equal(name, tb_span_of(encodings[i].name)))
            return &encodings[i];
    return NULL;
}

const struct tb_encoding *tb_encoding_of_name(const char *name)
{
    return find_name(tb_span_of(name));
}

static struct tb_span file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return tb_span_of(slash ? slash + 1 : path);
}

const struct tb_encoding *tb_encoding_of_file(const char *path)
{
    struct tb_span name = file_name(path);
    if (!tb_span_ends_with(name, TB_SPAN(".tiktoken")))
        return NULL;
    name.len -= strlen(".tiktoken");
    return find_name(name);
}

const struct tb_encoding *tb_encoding_of_cached(const char *path)
{
    struct tb_span name = file_name(path);
    for (int i = 0; i < ENCODING_COUNT; i++)
        if (encodings[i].cache_name &&
            tb_span_equal(name, tb_span_of(encodings[i].cache_name)))
            return &encodings[i];
    return NULL;
}

const struct tb_encoding *tb_encoding_of_class(struct tb_span class_name)
{
    for (int i = 0; i < ENCODING_COUNT; i++)
        if (encodings[i].class_name &&
            tb_span_equal(class_name, tb_span_of(encodings[i].class_name)))
            return &encodings[i];
    return NULL;
}

static tb_status spell_length(struct tb_buffer *out, uint32_t len)
{
    const uint8_t bytes[4] = {(uint8_t)len, (uint8_t)(len >> 8),
                              (uint8_t)(len >> 16), (uint8_t)(len >> 24)};
    return tb_buffer_append(out, (struct tb_span){bytes, sizeof(bytes)});
}

static tb_status spell_tokens(const struct tb_vocab *vocab,
                              struct tb_buffer *out)
{
    for (tb_token id = 0; id < vocab->id_count; id++) {
        struct tb_span bytes = tb_vocab_bytes(vocab, id);
        TB_TRY(spell_length(out, bytes.ptr ? (uint32_t)bytes.len : UINT32_MAX));
        TB_TRY(tb_buffer_append(out, bytes));
    }
    return TB_OK;
}

static bool is_known_count(uint32_t id_count)
{
    for (int i = 0; i < ENCODING_COUNT; i++)
        if (encodings[i].id_count == id_count)
            return true;
    return false;
}

tb_status tb_encoding_of_tokens(const struct tb_vocab *vocab,
                                const struct tb_encoding **encoding)
{
    *encoding = NULL;
    if (!is_known_count(vocab->id_count))
        return TB_OK;
    struct tb_buffer tokens = TB_BUFFER(UINT32_MAX);
    tb_status status = spell_tokens(vocab, &tokens);
    struct tb_hash128 hash = tb_hash128(tb_buffer_span(&tokens), 0);
    tb_buffer_release(&tokens);
    TB_TRY(status);
    for (int i = 0; i < ENCODING_COUNT && !*encoding; i++)
        if (encodings[i].id_count == vocab->id_count &&
            encodings[i].tokens.low == hash.low &&
            encodings[i].tokens.high == hash.high)
            *encoding = &encodings[i];
    return TB_OK;
}

/* ---- tiktoken's cache -------------------------------------------------------
 */

// The folder; false when there is none, which an empty name asks for.
static bool cache_folder(char *path, size_t size)
{
    const char *folder = getenv("TIKTOKEN_CACHE_DIR");
    int len;
    if (!folder)
        folder = getenv("DATA_GYM_CACHE_DIR");
    if (folder) {
        len = snprintf(path, size, "%s", folder);
    } else {
        folder = getenv("TMPDIR");
        len = snprintf(path, size, "%s/data-gym-cache",
                       folder && *folder ? folder : "/tmp");
    }
    return len > 0 && (size_t)len < size;
}

bool tb_encoding_find_cached(const struct tb_encoding *encoding, char *path,
                             size_t size)
{
    char folder[2048];
    path[0] = '\0';
    if (!encoding->cache_name || !cache_folder(folder, sizeof(folder)))
        return false;
    int len = snprintf(path, size, "%s/%s", folder, encoding->cache_name);
    return len > 0 && (size_t)len < size && access(path, R_OK) == 0;
}
