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
static bool is_cjk(uint32_t code)
{
    return (code >= 0x4E00 && code <= 0x9FA5) ||
           (code >= 0x3040 && code <= 0x30FF);
}

size_t tb_pattern_scan_cjk(struct tb_span text, size_t at)
{
    while (at < text.len && text.ptr[at] >= 0xE3) {
        uint32_t code;
        size_t len = tb_utf8_decode(text, at, &code);
        if (!is_cjk(code))
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

/* ---- the third --------------------------------------------------------------
 */

/* What the third pattern is applied to. It does not see beyond: its text ends
 * there. */
enum piece {
    WHOLE_TEXT,
    RUN_OF_CJK, /* that the second pattern cut out */
    REST,       /* without numbers, and kana and ideographs */
};

static inline struct tb_char char_of(enum piece piece, struct tb_span text,
                                     size_t at)
{
    struct tb_char found = tb_char_at(text, at);
    bool is_in =
        piece == WHOLE_TEXT ||
        (is_cjk(found.code) ? piece == RUN_OF_CJK
                            : piece == REST && !(found.bits & TB_CLASS_NUMBER));
    return is_in ? found : (struct tb_char){0};
}

static inline size_t run_of(enum piece piece, struct tb_span text, size_t at,
                            uint32_t any)
{
    for (;;) {
        struct tb_char next = char_of(piece, text, at);
        if (!(next.bits & any))
            return at;
        at += next.len;
    }
}

static size_t scan_space_of(enum piece piece, struct tb_span text, size_t at)
{
    size_t end = tb_run(text, at, TB_CLASS_SPACE, 0);
    bool is_end = char_of(piece, text, end).bits == 0;
    struct tb_span seen = {text.ptr, is_end ? end : text.len};
    return tb_scan_space(seen, at, TB_SPACE_LINES);
}

/* [punctuation][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|
 * ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+ */
static inline size_t scan_third(enum piece piece, struct tb_span text,
                                size_t at)
{
    const uint32_t word = TB_CLASS_LETTER | TB_CLASS_MARK;
    const uint32_t sign = TB_UNICODE_MASK_P | TB_UNICODE_MASK_S;
    struct tb_char first = char_of(piece, text, at);
    if (!first.bits)
        return at;
    size_t end = scan_punctuated(text, at);
    if (end > at)
        return end;
    if (first.bits & word)
        return run_of(piece, text, at, word);
    if (!tb_char_is_newline(first) && !(first.bits & sign)) {
        end = run_of(piece, text, at + first.len, word);
        if (end > at + first.len)
            return end;
    }
    size_t start = first.code == ' ' ? at + 1 : at;
    end = run_of(piece, text, start, sign);
    if (end > start)
        return piece == RUN_OF_CJK ? end : tb_run_newlines(text, end);
    if (first.bits & TB_CLASS_SPACE)
        return scan_space_of(piece, text, at);
    return at;
}

size_t tb_pattern_scan_deepseek(struct tb_span text, size_t at)
{
    return scan_third(WHOLE_TEXT, text, at);
}

/* ---- all three --------------------------------------------------------------
 */

// What the third pattern does not match, up to where it does, is a word too.
static inline size_t scan_piece(enum piece piece, struct tb_span text,
                                size_t at)
{
    size_t end = scan_third(piece, text, at);
    if (end > at)
        return end;
    do
        at += char_of(piece, text, at).len;
    while (char_of(piece, text, at).bits && scan_third(piece, text, at) == at);
    return at;
}

size_t tb_pattern_scan_deepseek_chain(struct tb_span text, size_t at)
{
    struct tb_char first = tb_char_at(text, at);
    if (first.bits & TB_CLASS_NUMBER)
        return tb_pattern_scan_digits3(text, at);
    return first.len == 0
               ? at
               : scan_piece(is_cjk(first.code) ? RUN_OF_CJK : REST, text, at);
}
