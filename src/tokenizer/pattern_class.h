/* What the scanners ask about characters. Private to them. */
#ifndef TB_PATTERN_CLASS_H
#define TB_PATTERN_CLASS_H

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

static inline struct tb_char tb_char_at(struct tb_span text, size_t at)
{
    if (at >= text.len)
        return (struct tb_char){0};
    struct tb_char found;
    found.len = tb_utf8_decode(text, at, &found.code);
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

static inline bool tb_is_ascii_letter(uint8_t byte)
{
    return (uint8_t)((byte | 0x20) - 'a') < 26;
}

/* The end of the run of letters from `at` on: most are ASCII. */
static inline size_t tb_run_letters(struct tb_span text, size_t at)
{
    while (at < text.len && tb_is_ascii_letter(text.ptr[at]))
        at++;
    if (at < text.len && text.ptr[at] >= 0x80)
        return tb_run(text, at, TB_CLASS_LETTER, 0);
    return at;
}

/* Does an ASCII letter stand at `at`, or behind one ASCII character there that
 * is neither a newline nor a number nor an apostrophe? Then that character and
 * the letters are a word in the patterns that begin like cl100k. */
static inline size_t tb_ascii_word_start(struct tb_span text, size_t at)
{
    uint8_t first = text.ptr[at];
    if (tb_is_ascii_letter(first))
        return at;
    bool is_prefix = first < 0x80 && first != '\n' && first != '\r' &&
                     first != '\'' && !(first >= '0' && first <= '9');
    bool has_letter = at + 1 < text.len && tb_is_ascii_letter(text.ptr[at + 1]);
    return is_prefix && has_letter ? at + 1 : SIZE_MAX;
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
