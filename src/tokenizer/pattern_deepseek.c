/* The three patterns of DeepSeek V3, which its file applies one after the
 * other: numbers by threes, runs of kana and ideographs, and the rest. */
#include "pattern.h"

#include "pattern_class.h"

size_t tb_pattern_scan_digits3(struct tb_span text, size_t at)
{
    for (unsigned count = 0; count < 3; count++) {
        struct tb_char next = tb_char_at(text, at);
        if (!(next.bits & TB_CLASS_NUMBER))
            break;
        at += next.len;
    }
    return at;
}

// U+4E00-9FA5, 3040-309F, 30A0-30FF
size_t tb_pattern_scan_cjk(struct tb_span text, size_t at)
{
    while (at < text.len && text.ptr[at] >= 0xE3) {
        uint32_t code;
        size_t len = tb_utf8_decode(text, at, &code);
        if (!(code >= 0x4E00 && code <= 0x9FA5) &&
            !(code >= 0x3040 && code <= 0x30FF))
            break;
        at += len;
    }
    return at;
}

static bool is_ascii_letter(uint8_t byte)
{
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

// [ASCII punctuation][A-Za-z]+ ; `at` when there is none.
static size_t scan_punctuated(struct tb_span text, size_t at)
{
    uint8_t byte = text.ptr[at];
    bool is_punctuation = byte > ' ' && byte < 127 && !is_ascii_letter(byte) &&
                          !(byte >= '0' && byte <= '9');
    size_t end = at + 1;
    if (!is_punctuation || end == text.len || !is_ascii_letter(text.ptr[end]))
        return at;
    while (end < text.len && is_ascii_letter(text.ptr[end]))
        end++;
    return end;
}

/* [punctuation][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|
 * ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+ */
size_t tb_pattern_scan_deepseek(struct tb_span text, size_t at)
{
    const uint32_t word = TB_CLASS_LETTER | TB_CLASS_MARK;
    const uint32_t sign = TB_UNICODE_MASK_P | TB_UNICODE_MASK_S;
    struct tb_char first = tb_char_at(text, at);
    if (!first.bits)
        return at;
    size_t end = scan_punctuated(text, at);
    if (end > at)
        return end;
    if (first.bits & word)
        return tb_run(text, at, word, 0);
    if (!tb_char_is_newline(first) && !(first.bits & sign)) {
        end = tb_run(text, at + first.len, word, 0);
        if (end > at + first.len)
            return end;
    }
    size_t start = first.code == ' ' ? at + 1 : at;
    end = tb_run(text, start, sign, 0);
    if (end > start)
        return tb_run_newlines(text, end);
    if (first.bits & TB_CLASS_SPACE)
        return tb_scan_space(text, at, TB_SPACE_LINES);
    return at;
}
