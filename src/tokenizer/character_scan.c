/* Scanners that match characters of one kind. */
#include "pretokenizer.h"

#include "character.h"
#include "unicode.h"
#include "utf8.h"

static size_t end_if(bool is_member, size_t at, size_t len)
{
    return is_member ? at + len : at;
}

size_t tb_scan_white_space(struct tb_span text, size_t at)
{
    uint32_t code;
    size_t len = tb_utf8_decode(text, at, &code);
    return end_if(tb_unicode_is_white_space(code), at, len);
}

size_t tb_scan_punctuation(struct tb_span text, size_t at)
{
    uint32_t code;
    size_t len = tb_utf8_decode(text, at, &code);
    return end_if(tb_character_in(code, TB_CHARACTERS_PUNCTUATION), at, len);
}

size_t tb_scan_numeric(struct tb_span text, size_t at)
{
    uint32_t code;
    size_t len = tb_utf8_decode(text, at, &code);
    return end_if(tb_character_in(code, TB_CHARACTERS_NUMERIC), at, len);
}

enum word_kind { KIND_WORD, KIND_SPACE, KIND_OTHER };

static enum word_kind kind_of(uint32_t code)
{
    if (tb_character_in(code, TB_CHARACTERS_WORD))
        return KIND_WORD;
    return tb_unicode_is_white_space(code) ? KIND_SPACE : KIND_OTHER;
}

size_t tb_scan_words(struct tb_span text, size_t at)
{
    uint32_t code;
    size_t len = tb_utf8_decode(text, at, &code);
    enum word_kind kind = kind_of(code);
    if (kind == KIND_SPACE)
        return at;
    for (at += len; at < text.len; at += len) {
        len = tb_utf8_decode(text, at, &code);
        if (kind_of(code) != kind)
            break;
    }
    return at;
}
