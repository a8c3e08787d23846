#include "pattern.h"

#include "character.h"
#include "pattern_class.h"

enum {
    A = TB_ASCII_LOWER,
    B = TB_ASCII_UPPER,
    C = TB_ASCII_SIGN | TB_ASCII_PREFIX,
    D = TB_ASCII_DIGIT,
    H = TB_ASCII_HIGH,
    N = TB_ASCII_SPACE | TB_ASCII_NEWLINE,
    Q = TB_ASCII_SIGN, // the apostrophe
    S = TB_ASCII_SPACE | TB_ASCII_PREFIX,
};

const uint8_t tb_ascii_classes[256] = {
    C, C, C, C, C, C, C, C, C, S, N, S, S, N, C, C, //
    C, C, C, C, C, C, C, C, C, C, C, C, C, C, C, C, //
    S, C, C, C, C, C, C, Q, C, C, C, C, C, C, C, C, //
    D, D, D, D, D, D, D, D, D, D, C, C, C, C, C, C, //
    C, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, //
    B, B, B, B, B, B, B, B, B, B, B, C, C, C, C, C, //
    C, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A, //
    A, A, A, A, A, A, A, A, A, A, A, C, C, C, C, C, //
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, //
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, //
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, //
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, //
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, //
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, //
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, //
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, //
};

// Lower-case ASCII of a letter, or 0 for anything else.
static uint8_t letter_at(struct tb_span text, size_t at, bool is_any_case)
{
    if (at >= text.len)
        return 0;
    uint8_t byte = text.ptr[at];
    if (is_any_case && byte >= 'A' && byte <= 'Z')
        byte |= 0x20;
    return byte >= 'a' && byte <= 'z' ? byte : 0;
}

size_t tb_contraction(struct tb_span text, size_t at, bool is_any_case)
{
    if (at + 1 >= text.len || text.ptr[at] != '\'')
        return 0;
    uint8_t first = letter_at(text, at + 1, is_any_case);
    uint8_t second = letter_at(text, at + 2, is_any_case);
    if (first == 's' || first == 't' || first == 'm' || first == 'd')
        return 2;
    if ((first == 'r' && second == 'e') || (first == 'v' && second == 'e') ||
        (first == 'l' && second == 'l'))
        return 3;
    bool is_long_s = is_any_case && at + 2 < text.len &&
                     text.ptr[at + 1] == 0xC5 && text.ptr[at + 2] == 0xBF;
    return is_long_s ? 3 : 0;
}

size_t tb_scan_space(struct tb_span text, size_t at, enum tb_space_rule rule)
{
    size_t newline_end = 0; // behind the last \r or \n
    size_t last = at;       // where the last white space begins
    size_t end = at;
    for (;;) {
        if (end < text.len && text.ptr[end] < 0x80) {
            unsigned class = tb_ascii_classes[text.ptr[end]];
            if (!(class & TB_ASCII_SPACE))
                break;
            last = end++;
            if (class & TB_ASCII_NEWLINE)
                newline_end = end;
            continue;
        }
        struct tb_char next = tb_char_at(text, end);
        if (!(next.bits & TB_CLASS_SPACE))
            break;
        last = end;
        end += next.len;
    }
    bool is_last = rule == TB_SPACE_LAST_LINES && end == text.len;
    if (newline_end && rule != TB_SPACE_PLAIN && !is_last)
        return newline_end;
    // The last one is left to what follows, unless it stands alone.
    return end == text.len || last == at ? end : last;
}

/* GPT-2: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|
 * \s+(?!\S)|\s+ */
size_t tb_pattern_scan_gpt2(struct tb_span text, size_t at)
{
    size_t contraction = tb_contraction(text, at, false);
    if (contraction)
        return at + contraction;
    struct tb_char first = tb_char_at(text, at);
    size_t start = at;
    struct tb_char next = first;
    if (first.code == ' ' && first.len) {
        start += 1;
        next = tb_char_at(text, start);
    }
    const uint32_t other = ~(TB_CLASS_WORD | TB_CLASS_SPACE);
    if (next.bits & TB_CLASS_LETTER)
        return tb_run(text, start, TB_CLASS_LETTER, 0);
    if (next.bits & TB_CLASS_NUMBER)
        return tb_run(text, start, TB_CLASS_NUMBER, 0);
    if (next.bits && !(next.bits & TB_CLASS_SPACE))
        return tb_run(text, start, other, TB_CLASS_SPACE);
    return first.bits ? tb_scan_space(text, at, TB_SPACE_PLAIN) : at;
}

// The end of at most `most` numbers from `at` on.
static size_t run_numbers(struct tb_span text, size_t at, unsigned most)
{
    for (; most > 0; most--) {
        struct tb_char next = tb_char_at(text, at);
        if (!(next.bits & TB_CLASS_NUMBER))
            break;
        at += next.len;
    }
    return at;
}

/* In what the patterns that cl100k and o200k are the models for differ. */
struct rule {
    unsigned most_numbers; /* in one word */
    enum tb_space_rule space;
    uint32_t marks;        /* that count as letters: TB_CLASS_MARK, or none */
    bool has_slash;        /* slashes may follow signs, as line ends do */
    bool has_contractions; /* o200k: 's and so on end the word before */
    bool has_han;          /* o200k: runs of ideographs are words */
};

/* What follows the words in cl100k and o200k: \p{N}{1,n}|
 * ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+ */
static inline size_t scan_rest(struct tb_span text, size_t at,
                               struct tb_char first, struct rule rule)
{
    if (first.bits & TB_CLASS_NUMBER)
        return run_numbers(text, at, rule.most_numbers);
    size_t start = at;
    struct tb_char next = first;
    if (first.code == ' ') {
        start += 1;
        next = tb_char_at(text, start);
    }
    const uint32_t none = TB_CLASS_WORD | TB_CLASS_SPACE | rule.marks;
    if (!next.bits || (next.bits & none))
        return tb_scan_space(text, at, rule.space);
    size_t end = tb_run_ascii(text, start, TB_ASCII_SIGN);
    if (end < text.len && text.ptr[end] >= 0x80)
        end = tb_run(text, end, ~none, TB_CLASS_SPACE);
    for (;;) {
        size_t tail = tb_run_newlines(text, end);
        if (rule.has_slash && tail < text.len && text.ptr[tail] == '/')
            tail++;
        if (tail == end)
            return end;
        end = tail;
    }
}

/* cl100k, as Llama 3 and Qwen have it: (?i:'s|'t|'re|'ve|'m|'ll|'d)|
 * [^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|... */
static inline size_t scan_cl100k(struct tb_span text, size_t at,
                                 struct rule rule)
{
    if (at >= text.len)
        return at;
    const uint32_t letter = TB_CLASS_LETTER | rule.marks;
    size_t start = tb_ascii_word_start(text, at);
    if (start != SIZE_MAX)
        return tb_run_letters(text, start + 1, letter);
    size_t contraction = tb_contraction(text, at, true);
    if (contraction)
        return at + contraction;
    struct tb_char first = tb_char_at(text, at);
    if (first.bits & letter)
        return tb_run_letters(text, at + first.len, letter);
    if (!tb_char_is_newline(first) && !(first.bits & TB_CLASS_NUMBER)) {
        size_t end = tb_run_letters(text, at + first.len, letter);
        if (end > at + first.len)
            return end;
    }
    return scan_rest(text, at, first, rule);
}

size_t tb_pattern_scan_llama3(struct tb_span text, size_t at)
{
    return scan_cl100k(text, at, (struct rule){3, .space = TB_SPACE_LINES});
}

size_t tb_pattern_scan_qwen(struct tb_span text, size_t at)
{
    return scan_cl100k(text, at, (struct rule){1, .space = TB_SPACE_LINES});
}

size_t tb_pattern_scan_qwen35(struct tb_span text, size_t at)
{
    return scan_cl100k(
        text, at,
        (struct rule){1, .space = TB_SPACE_LINES, .marks = TB_CLASS_MARK});
}

/* As tiktoken has it, where white space at the end of the text is one word. */
size_t tb_pattern_scan_cl100k_base(struct tb_span text, size_t at)
{
    return scan_cl100k(text, at,
                       (struct rule){3, .space = TB_SPACE_LAST_LINES});
}

/* A character; an ideograph counts as no letter when `has_han`. */
static inline struct tb_char cased_char_at(struct tb_span text, size_t at,
                                           bool has_han)
{
    struct tb_char found = tb_char_at(text, at);
    if (has_han && tb_character_is_han(found.code))
        found.bits = TB_CLASS_HAN;
    return found;
}

// The end of the run of characters with a bit of `any`.
static inline size_t run_cased(struct tb_span text, size_t at, uint32_t any,
                               bool has_han)
{
    for (;;) {
        struct tb_char next = cased_char_at(text, at, has_han);
        if (!(next.bits & any))
            return at;
        at += next.len;
    }
}

/* The two word parts of o200k, from behind the optional first character:
 *   [Lu Lt Lm Lo M]*[Ll Lm Lo M]+   and   [Lu Lt Lm Lo M]+[Ll Lm Lo M]*
 * Returns the end, or `at` when neither matches; `*is_lower` says that the
 * first did. The upper run is greedy, so where nothing lower follows it the
 * first part falls back to the last character of the run that counts as both.
 */
static inline size_t scan_cased(struct tb_span text, size_t at, bool has_han,
                                bool *is_lower)
{
    const uint32_t both = TB_UNICODE_MASK(TB_UNICODE_LM) |
                          TB_UNICODE_MASK(TB_UNICODE_LO) | TB_CLASS_MARK;
    const uint32_t upper =
        both | TB_UNICODE_MASK(TB_UNICODE_LU) | TB_UNICODE_MASK(TB_UNICODE_LT);
    const uint32_t lower = both | TB_UNICODE_MASK(TB_UNICODE_LL);
    size_t last_both_end = at;
    size_t end = at;
    struct tb_char next = cased_char_at(text, end, has_han);
    while (next.bits & upper) {
        end += next.len;
        if (next.bits & both)
            last_both_end = end;
        next = cased_char_at(text, end, has_han);
    }
    *is_lower = true;
    if (next.bits & lower)
        return run_cased(text, end, lower, has_han);
    if (last_both_end > at)
        return last_both_end;
    *is_lower = false;
    return end;
}

/* An ASCII word in the usual case: letters in front of which at most one is
 * upper case, then something that is ASCII and no letter. 0: look closer. */
static inline size_t scan_o200k_ascii(struct tb_span text, size_t at)
{
    size_t end = tb_ascii_word_start(text, at);
    if (end == SIZE_MAX)
        return 0;
    end++; // the first letter, of either case
    size_t lower_start = end;
    end = tb_run_alphabet(text, end, 'a', 0);
    bool is_whole = end > lower_start && end < text.len &&
                    text.ptr[end] < 0x80 && text.ptr[end] != '\'';
    return is_whole ? end : 0;
}

static inline size_t scan_o200k(struct tb_span text, size_t at,
                                struct rule rule)
{
    if (at >= text.len)
        return at;
    size_t ascii_end = scan_o200k_ascii(text, at);
    if (ascii_end)
        return ascii_end;
    struct tb_char first = tb_char_at(text, at);
    if (!first.bits)
        return at;
    if (rule.has_han && tb_character_is_han(first.code))
        return run_cased(text, at, TB_CLASS_HAN, true);
    bool is_lower = false;
    size_t end = at;
    if (!tb_char_is_newline(first) && !(first.bits & TB_CLASS_WORD)) {
        // The first character may go in front of a word; a mark may also be
        // in it, which the first part prefers to an upper-case word behind.
        size_t start = at + first.len;
        end = scan_cased(text, start, rule.has_han, &is_lower);
        if (end == start)
            end = at;
        if (!is_lower && (first.bits & TB_CLASS_MARK))
            end = start;
    } else if (first.bits & TB_CLASS_LETTER) {
        end = scan_cased(text, at, rule.has_han, &is_lower);
    }
    if (end > at)
        return rule.has_contractions ? end + tb_contraction(text, end, true)
                                     : end;
    return scan_rest(text, at, first, rule);
}

size_t tb_pattern_scan_o200k(struct tb_span text, size_t at)
{
    return scan_o200k(text, at,
                      (struct rule){3, .space = TB_SPACE_LINES,
                                    .has_slash = true,
                                    .has_contractions = true});
}

size_t tb_pattern_scan_tekken(struct tb_span text, size_t at)
{
    return scan_o200k(
        text, at, (struct rule){1, .space = TB_SPACE_LINES, .has_slash = true});
}

size_t tb_pattern_scan_kimi(struct tb_span text, size_t at)
{
    return scan_o200k(text, at,
                      (struct rule){3, .space = TB_SPACE_LINES,
                                    .has_contractions = true, .has_han = true});
}

/* ---- which pattern is which -----------------------------------------------
 */

#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define CL100K_BEFORE CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define CL100K_BEHIND                                                          \
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define O200K_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define O200K_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define FIRST "[^\\r\\n\\p{L}\\p{N}]?"
#define NO_HAN_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]"
#define NO_HAN_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]"

static const struct {
    const char *pattern;
    tb_pattern_scan scan;
    tb_pattern_cut cut; /* NULL: matches leave gaps */
} known_patterns[] = {
    {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
     "\\s+(?!\\S)|\\s+",
     tb_pattern_scan_gpt2, tb_pattern_cut_gpt2},
    {CL100K_BEFORE "\\p{N}{1,3}" CL100K_BEHIND, tb_pattern_scan_llama3,
     tb_pattern_cut_llama3},
    {CL100K_BEFORE "\\p{N}" CL100K_BEHIND, tb_pattern_scan_qwen,
     tb_pattern_cut_qwen},
    {"[^\\r\\n\\p{L}\\p{N}]?" O200K_UPPER "*" O200K_LOWER "+" CONTRACTIONS
     "?|[^\\r\\n\\p{L}\\p{N}]?" O200K_UPPER "+" O200K_LOWER "*" CONTRACTIONS
     "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|"
     "\\s+(?!\\S)|\\s+",
     tb_pattern_scan_o200k, tb_pattern_cut_o200k},
    {"\\p{N}{1,3}", tb_pattern_scan_digits3, NULL},
    {"[\xE4\xB8\x80-\xE9\xBE\xA5\xE3\x81\x80-\xE3\x82\x9F"
     "\xE3\x82\xA0-\xE3\x83\xBF]+",
     tb_pattern_scan_cjk, NULL},
    {"[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|"
     "[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|"
     "\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
     tb_pattern_scan_deepseek, NULL},
    {FIRST O200K_UPPER "*" O200K_LOWER "+|" FIRST O200K_UPPER "+" O200K_LOWER
                       "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|"
                       "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
     tb_pattern_scan_tekken, tb_pattern_cut_tekken},
    {"[\\p{Han}]+|" FIRST NO_HAN_UPPER "*" NO_HAN_LOWER "+" CONTRACTIONS
     "?|" FIRST NO_HAN_UPPER "+" NO_HAN_LOWER "*" CONTRACTIONS
     "?|\\p{N}{1,3}" CL100K_BEHIND,
     tb_pattern_scan_kimi, tb_pattern_cut_kimi},
    {"'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+|"
     " ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s",
     tb_pattern_scan_cl100k_base, tb_pattern_cut_cl100k_base},
    {CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}|"
                  " ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
                  "\\s+(?!\\S)|\\s+",
     tb_pattern_scan_qwen35, tb_pattern_cut_qwen35},
};

enum { KNOWN_COUNT = sizeof(known_patterns) / sizeof(known_patterns[0]) };

/* Its ++ mean something else to Oniguruma, which reads the patterns of files.
 */
static bool is_in_files(tb_pattern_scan scan)
{
    return scan != tb_pattern_scan_cl100k_base;
}

tb_pattern_scan tb_pattern_find(struct tb_span pattern)
{
    for (int i = 0; i < KNOWN_COUNT; i++)
        if (is_in_files(known_patterns[i].scan) &&
            tb_span_equal(pattern, tb_span_of(known_patterns[i].pattern)))
            return known_patterns[i].scan;
    return NULL;
}

const char *tb_pattern_text(tb_pattern_scan scan)
{
    int number = tb_pattern_number(scan);
    return number < 0 ? "" : known_patterns[number].pattern;
}

int tb_pattern_number(tb_pattern_scan scan)
{
    for (int i = 0; i < KNOWN_COUNT; i++)
        if (known_patterns[i].scan == scan)
            return i;
    return -1;
}

tb_pattern_scan tb_pattern_of_number(int number)
{
    return number >= 0 && number < KNOWN_COUNT ? known_patterns[number].scan
                                               : NULL;
}

tb_pattern_cut tb_pattern_cut_of(tb_pattern_scan scan)
{
    int number = tb_pattern_number(scan);
    return number >= 0 ? known_patterns[number].cut : NULL;
}

bool tb_pattern_is_gapless(tb_pattern_scan scan)
{
    return scan != tb_pattern_scan_digits3 && scan != tb_pattern_scan_cjk &&
           scan != tb_pattern_scan_deepseek;
}

bool tb_pattern_is_border_at_space(tb_pattern_scan scan)
{
    return tb_pattern_is_gapless(scan) || scan == tb_pattern_scan_deepseek;
}
