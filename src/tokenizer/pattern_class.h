/* What the scanners ask about characters. Private to them. */
#ifndef TB_PATTERN_CLASS_H
#define TB_PATTERN_CLASS_H

#include "byte_vector.h"
#include "unicode.h"
#include "utf8.h"

/* Bit sets of classes, as the patterns use them. */
#define TB_CLASS_LETTER TB_UNICODE_MASK_L
#define TB_CLASS_NUMBER TB_UNICODE_MASK_N
#define TB_CLASS_MARK TB_UNICODE_MASK_M
/* A category bit above all categories stands for white space. */
#define TB_CLASS_SPACE (UINT32_C(1) << 31)
/* ... and the one below it for an ideograph, where a pattern tells them apart.
 */
#define TB_CLASS_HAN (UINT32_C(1) << 30)
#define TB_CLASS_WORD (TB_CLASS_LETTER | TB_CLASS_NUMBER)

/* One character: its class bits and its length; bits 0 is the end. */
struct tb_char {
    uint32_t bits;
    uint32_t code;
    size_t len; /* bytes */
};

/* The code point that begins at `at`, which is no ASCII; `text` is UTF-8. */
static inline size_t tb_char_decode_long(struct tb_span text, size_t at,
                                         uint32_t *code)
{
    const uint8_t *p = text.ptr + at;
    if (text.len - at < TB_UTF8_MAX_LEN)
        return tb_utf8_decode(text, at, code);
    if (p[0] < 0xE0) {
        *code = (uint32_t)(p[0] & 0x1F) << 6 | (p[1] & 0x3F);
        return 2;
    }
    if (p[0] < 0xF0) {
        *code = (uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 |
                (p[2] & 0x3F);
        return 3;
    }
    *code = (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 |
            (uint32_t)(p[2] & 0x3F) << 6 | (p[3] & 0x3F);
    return 4;
}

static inline struct tb_char tb_char_at(struct tb_span text, size_t at)
{
    if (at >= text.len)
        return (struct tb_char){0};
    struct tb_char found = {.code = text.ptr[at], .len = 1};
    if (found.code >= 0x80)
        found.len = tb_char_decode_long(text, at, &found.code);
    uint8_t properties = tb_unicode_properties(found.code);
    found.bits = UINT32_C(1) << (properties & TB_UNICODE_CATEGORY_BITS);
    if (properties & TB_UNICODE_WHITE_SPACE)
        found.bits |= TB_CLASS_SPACE;
    return found;
}

static inline bool tb_char_is_newline(struct tb_char character)
{
    return character.code == '\n' || character.code == '\r';
}

/* The end of the run of characters that have a bit of `any` and none of
 * `none`, from `at` on. */
static inline size_t tb_run(struct tb_span text, size_t at, uint32_t any,
                            uint32_t none)
{
    for (;;) {
        struct tb_char next = tb_char_at(text, at);
        if (!(next.bits & any) || (next.bits & none))
            return at;
        at += next.len;
    }
}

/* ---- ASCII ---------------------------------------------------------------
 */

enum tb_ascii {
    TB_ASCII_LOWER = 1,
    TB_ASCII_UPPER = 2,
    TB_ASCII_LETTER = TB_ASCII_LOWER | TB_ASCII_UPPER,
    TB_ASCII_DIGIT = 4,
    TB_ASCII_SPACE = 8, /* white space, line ends too */
    TB_ASCII_NEWLINE = 16,
    TB_ASCII_SIGN = 32,   /* all the rest of ASCII, controls too */
    TB_ASCII_PREFIX = 64, /* may stand before the letters of a word: not a
                             letter, digit, line end or apostrophe */
    TB_ASCII_HIGH = 128,  /* no ASCII */
};

extern const uint8_t tb_ascii_classes[256];

/* The end of the run of ASCII characters of some classes from `at` on. */
static inline size_t tb_run_ascii(struct tb_span text, size_t at,
                                  unsigned classes)
{
    while (at < text.len && (tb_ascii_classes[text.ptr[at]] & classes))
        at++;
    return at;
}

/* The end of the run of bytes from `first` to `first` + 25, when `fold` is
 * added to the bits, from `at` on: 16 bytes at a time, since words are short
 * and how short cannot be guessed. */
static inline size_t tb_run_alphabet(struct tb_span text, size_t at, char first,
                                     char fold)
{
#if defined(TB_HAS_BYTES16)
    const uint64_t all = UINT64_MAX >> (64 - 16 * TB_BYTES16_WIDTH);
    while (text.len - at >= 16) {
        tb_bytes16 bytes =
            tb_bytes16_or(tb_bytes16_load(text.ptr + at), tb_bytes16_of(fold));
        uint64_t outside = all & ~tb_bytes16_bits(tb_bytes16_between(
                                     bytes, first, (char)(first + 25)));
        if (outside)
            return at + tb_bytes16_first(outside);
        at += 16;
    }
#endif
    while (at < text.len &&
           (uint8_t)((text.ptr[at] | (uint8_t)fold) - (uint8_t)first) < 26)
        at++;
    return at;
}

/* The end of the run of letters, or of what else `any` has beyond ASCII, from
 * `at` on: most are ASCII. */
static inline size_t tb_run_letters(struct tb_span text, size_t at,
                                    uint32_t any)
{
    at = tb_run_alphabet(text, at, 'a', 0x20);
    if (at < text.len && text.ptr[at] >= 0x80)
        return tb_run(text, at, any, 0);
    return at;
}

/* Does an ASCII letter stand at `at`, or behind one ASCII character there that
 * is neither a newline nor a number nor an apostrophe? Then that character and
 * the letters are a word in the patterns that begin like cl100k: returns where
 * the first letter stands. */
static inline size_t tb_ascii_word_start(struct tb_span text, size_t at)
{
    unsigned first = tb_ascii_classes[text.ptr[at]];
    size_t start = at + ((first & TB_ASCII_LETTER) == 0);
    bool is_word = (first & (TB_ASCII_LETTER | TB_ASCII_PREFIX)) &&
                   start < text.len &&
                   (tb_ascii_classes[text.ptr[start]] & TB_ASCII_LETTER);
    return is_word ? start : SIZE_MAX;
}

/* The end of the run of \r and \n from `at` on. */
static inline size_t tb_run_newlines(struct tb_span text, size_t at)
{
    while (at < text.len && (text.ptr[at] == '\n' || text.ptr[at] == '\r'))
        at++;
    return at;
}

/* Length of the contraction ('s 't 're 've 'm 'll 'd) at `at`, 0 for none.
 * Without case, \u017F counts as s: full case folding, as Oniguruma has it. */
size_t tb_contraction(struct tb_span text, size_t at, bool is_any_case);

/* What comes before \s+(?!\S)|\s+ in a pattern's part for white space. */
enum tb_space_rule {
    TB_SPACE_PLAIN,      /* nothing */
    TB_SPACE_LINES,      /* \s*[\r\n]+ */
    TB_SPACE_LAST_LINES, /* \s+$|\s*[\r\n]+ */
};

/* What white space at `at` matches. `at` stands on white space. */
size_t tb_scan_space(struct tb_span text, size_t at, enum tb_space_rule rule);

#endif
