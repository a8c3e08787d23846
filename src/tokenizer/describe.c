#include "describe.h"

#include <assert.h>

#include "tokenizer_model.h"

static_assert(TB_DESCRIBE_MAX_PARTS >= (int)TB_NORMALIZER_MAX_STEPS &&
                  TB_DESCRIBE_MAX_PARTS >= (int)TB_PRETOKENIZER_MAX_STEPS,
              "all steps have room");

const char *tb_describe_model(const struct tb_tokenizer *tokenizer)
{
    static const char *const methods[] = {
        [TB_PIECE_UNIGRAM] = "SentencePiece Unigram",
        [TB_PIECE_BPE] = "SentencePiece BPE",
        [TB_PIECE_WORD] = "SentencePiece word",
        [TB_PIECE_CHAR] = "SentencePiece character"};
    switch (tokenizer->model) {
    case TB_MODEL_UNIGRAM:
        return "Unigram";
    case TB_MODEL_WORD_PIECE:
        return tokenizer->pieces.is_whole_words ? "WordLevel" : "WordPiece";
    case TB_MODEL_SENTENCE_PIECE:
        return methods[tokenizer->sentence_piece.method];
    case TB_MODEL_BPE:
    default:
        return "BPE";
    }
}

bool tb_describe_is_byte_level(const struct tb_tokenizer *tokenizer)
{
    return tokenizer->model == TB_MODEL_BPE && tokenizer->bpe.is_byte_level;
}

size_t tb_describe_added_count(const struct tb_tokenizer *tokenizer)
{
    return tokenizer->raw_tokens.count + tokenizer->normalized_tokens.count;
}

static const char *normalizer_name(const struct tb_normalizer_step *step)
{
    static const char *const forms[] = {[TB_NFC] = "NFC",
                                        [TB_NFD] = "NFD",
                                        [TB_NFKC] = "NFKC",
                                        [TB_NFKD] = "NFKD"};
    static const char *const names[] = {
        [TB_NORMALIZER_PREPEND] = "Prepend",
        [TB_NORMALIZER_REPLACE] = "Replace",
        [TB_NORMALIZER_NMT] = "Nmt",
        [TB_NORMALIZER_LOWERCASE] = "Lowercase",
        [TB_NORMALIZER_STRIP] = "Strip",
        [TB_NORMALIZER_STRIP_ACCENTS] = "StripAccents",
        [TB_NORMALIZER_BERT_CLEAN] = "BertNormalizer (control characters)",
        [TB_NORMALIZER_BERT_CHINESE] = "BertNormalizer (ideographs)",
        [TB_NORMALIZER_BERT_ACCENTS] = "BertNormalizer (accents)",
        [TB_NORMALIZER_BYTE_LEVEL] = "ByteLevel",
        [TB_NORMALIZER_CHARSMAP] = "Precompiled",
    };
    return step->kind == TB_NORMALIZER_FORM ? forms[step->form]
                                            : names[step->kind];
}

struct tb_tokenizer_parts
tb_describe_normalizers(const struct tb_tokenizer *tokenizer)
{
    struct tb_tokenizer_parts parts = {0};
    for (size_t i = 0; i < tokenizer->normalizer.step_count; i++) {
        const struct tb_normalizer_step *step = &tokenizer->normalizer.steps[i];
        struct tb_tokenizer_part part = {.name = normalizer_name(step),
                                         .text = step->pattern};
        if (step->kind == TB_NORMALIZER_REPLACE)
            part.into = step->content;
        if (step->regex) {
            part.text = tb_regex_pattern(step->regex);
            part.engine = "Oniguruma";
        } else if (step->kind == TB_NORMALIZER_PREPEND) {
            part.text = step->content;
        }
        parts.items[parts.count++] = part;
    }
    return parts;
}

// Steps whose scanner has no pattern in the file.
static const char *scan_name(tb_pattern_scan scan)
{
    if (scan == tb_scan_white_space)
        return "WhitespaceSplit";
    if (scan == tb_scan_punctuation)
        return "Punctuation";
    if (scan == tb_scan_numeric)
        return "Digits";
    if (scan == tb_scan_words)
        return "Whitespace";
    return "Split";
}

static const char *cut_name(const struct tb_pretokenizer_step *step)
{
    switch (step->kind) {
    case TB_CUT_BYTE_LEVEL:
        return "ByteLevel";
    case TB_CUT_METASPACE:
        return "Metaspace";
    case TB_CUT_SCRIPTS:
        return "UnicodeScripts";
    case TB_CUT_LENGTH:
        return "FixedLength";
    case TB_CUT_PATTERN:
    default:
        return step->scan ? scan_name(step->scan) : "Split";
    }
}

struct tb_tokenizer_parts
tb_describe_pretokenizers(const struct tb_tokenizer *tokenizer)
{
    struct tb_tokenizer_parts parts = {0};
    for (size_t i = 0; i < tokenizer->pretokenizer.step_count; i++) {
        const struct tb_pretokenizer_step *step =
            &tokenizer->pretokenizer.steps[i];
        struct tb_tokenizer_part part = {.name = cut_name(step),
                                         .text = step->literal};
        if (step->scan) {
            part.text = tb_span_of(tb_pattern_text(step->scan));
            part.engine = "scanner";
        } else if (step->regex) {
            part.text = tb_regex_pattern(step->regex);
            part.engine = "Oniguruma";
        }
        parts.items[parts.count++] = part;
    }
    return parts;
}
