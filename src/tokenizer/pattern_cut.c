/* Many words of a text at once, for the patterns that leave no gaps.
 *
 * The text is looked at in blocks of 64 bytes, each of which begins where a
 * word does. Where further words begin in it follows from its bits
 * (pattern_block.h) by some fifty operations, without a branch per character
 * or word: which kind of word comes next cannot be guessed. As far as the
 * block is clear, that is; what is beyond ASCII, contractions and the text's
 * last bytes are left to the scanner of the pattern, whose results these are
 * in any case.
 */
#include "pattern_block.h"

#include <string.h>

#include "byte_vector.h"
#include "pattern.h"
#include "pattern_class.h"

#define TB_INLINE __attribute__((always_inline)) static inline

/* ---- blocks ---------------------------------------------------------------
 */

void tb_pattern_block_portable(const uint8_t *bytes,
                               struct tb_pattern_block *block)
{
    *block = (struct tb_pattern_block){0};
    for (unsigned i = 0; i < TB_BLOCK_LEN; i++) {
        unsigned class = tb_ascii_classes[bytes[i]];
        uint64_t bit = UINT64_C(1) << i;
        block->letter |= class & TB_ASCII_LETTER ? bit : 0;
        block->upper |= class & TB_ASCII_UPPER ? bit : 0;
        block->digit |= class & TB_ASCII_DIGIT ? bit : 0;
        block->space |= class & TB_ASCII_SPACE ? bit : 0;
        block->newline |= class & TB_ASCII_NEWLINE ? bit : 0;
        block->high |= class & TB_ASCII_HIGH ? bit : 0;
        block->blank |= bytes[i] == ' ' ? bit : 0;
        block->quote |= bytes[i] == '\'' ? bit : 0;
        block->slash |= bytes[i] == '/' ? bit : 0;
        bool is_control = bytes[i] < ' ' || bytes[i] == 0x7F;
        block->control |= is_control && !(class & TB_ASCII_SPACE) ? bit : 0;
    }
}

#if defined(TB_HAS_BYTES16)
// The bits of bytes from `first` to `last`, which are ASCII.
static inline uint64_t bits_between(const tb_bytes16 text[4], char first,
                                    char last)
{
    const tb_bytes16 mask[4] = {tb_bytes16_between(text[0], first, last),
                                tb_bytes16_between(text[1], first, last),
                                tb_bytes16_between(text[2], first, last),
                                tb_bytes16_between(text[3], first, last)};
    return tb_bytes64_bits(mask);
}

static inline uint64_t bits_of(const tb_bytes16 text[4], char byte)
{
    const tb_bytes16 mask[4] = {
        tb_bytes16_equal(text[0], byte), tb_bytes16_equal(text[1], byte),
        tb_bytes16_equal(text[2], byte), tb_bytes16_equal(text[3], byte)};
    return tb_bytes64_bits(mask);
}

static inline uint64_t bits_high(const tb_bytes16 text[4])
{
    const tb_bytes16 mask[4] = {
        tb_bytes16_high(text[0]), tb_bytes16_high(text[1]),
        tb_bytes16_high(text[2]), tb_bytes16_high(text[3])};
    return tb_bytes64_bits(mask);
}

TB_INLINE void read_block(const uint8_t *bytes, struct tb_pattern_block *block)
{
    const tb_bytes16 text[4] = {
        tb_bytes16_load(bytes), tb_bytes16_load(bytes + 16),
        tb_bytes16_load(bytes + 32), tb_bytes16_load(bytes + 48)};
    block->upper = bits_between(text, 'A', 'Z');
    block->letter = block->upper | bits_between(text, 'a', 'z');
    block->digit = bits_between(text, '0', '9');
    block->blank = bits_of(text, ' ');
    block->space = block->blank | bits_between(text, '\t', '\r');
    block->newline = bits_of(text, '\n') | bits_of(text, '\r');
    block->quote = bits_of(text, '\'');
    block->slash = bits_of(text, '/');
    block->control = (bits_of(text, 0) | bits_between(text, 1, ' ' - 1) |
                      bits_of(text, 0x7F)) &
                     ~block->space;
    block->high = bits_high(text);
}
#else
TB_INLINE void read_block(const uint8_t *bytes, struct tb_pattern_block *block)
{
    tb_pattern_block_portable(bytes, block);
}
#endif

void tb_pattern_block(const uint8_t *bytes, struct tb_pattern_block *block)
{
    read_block(bytes, block);
}

/* ---- where words begin ----------------------------------------------------
 */

/* How patterns differ, as far as ASCII goes. */
struct style {
    bool has_blank_only;    /* nothing but a ' ' goes in front of letters; it
                               does so before digits too */
    bool is_cased;          /* upper case behind lower case begins a word */
    bool has_contractions;  /* of cased words: at their end, not alone */
    bool has_newlines;      /* signs take line ends along, \s*[\r\n]+ is one */
    bool has_slashes;       /* ... and take slashes along behind those */
    unsigned most_digits;   /* 0: any number */
    bool has_numbers_apart; /* white space before a number is one word */
    bool is_deepseek;       /* an apostrophe is a sign like all, what is not
                               printed is none */
};

// The bits of `run` that lie in a row with those of `from`, and behind them.
static inline uint64_t fill(uint64_t run, uint64_t from)
{
    return run & ~(run + (run & from));
}

/* White space that is one word up to its last line end: are the blanks behind
 * the line ends `after`, which are `blanks`, followed by another line end?
 * Returns those that are not, which begin a word. */
static inline uint64_t behind_last_newline(uint64_t after, uint64_t blanks,
                                           uint64_t newline)
{
    uint64_t begins = after;
    if (((blanks + after) & ~blanks & newline) == 0)
        return begins;
    for (; after; after &= after - 1)
        if (fill(blanks, after & (~after + 1)) << 1 & newline)
            begins &= ~(after & (~after + 1));
    return begins;
}

// One number begins at each run of digits, and again when it is full.
static inline uint64_t number_starts(uint64_t digit, unsigned most)
{
    uint64_t starts = digit & ~(digit << 1);
    if (most == 1)
        return digit;
    if (most == 0)
        return starts;
    uint64_t fourth = digit & digit << 1 & digit << 2 & digit << 3;
    for (uint64_t next = starts << 3 & fourth; next; next = next << 3 & fourth)
        starts |= next;
    return starts;
}

/* Where the block is no longer clear: at the first byte that is no ASCII, or
 * where an apostrophe may be a contraction. */
static inline unsigned clear_len(const struct tb_pattern_block *block,
                                 struct style style)
{
    uint64_t next_letter = block->letter >> 1;
    bool has_words = !style.is_cased && !style.is_deepseek;
    uint64_t unclear = has_words ? block->quote & next_letter : 0;
    if (style.has_contractions) // \u017F counts too, and is no start
        unclear = block->quote & block->letter << 1 &
                  (next_letter | block->high >> 1 | UINT64_C(1) << 63);
    if (style.has_slashes)
        unclear |= block->newline & block->slash >> 1;
    if (style.is_deepseek)
        unclear |= block->control;
    unclear |= block->high;
    return unclear ? (unsigned)__builtin_ctzll(unclear) : TB_BLOCK_LEN;
}

/* The places where words begin, of which bit 0 is one, as far as they are
 * certain. Each is decided by the characters beside it, for white space by
 * those at both ends of its run. */
TB_INLINE uint64_t word_starts(const struct tb_pattern_block *block,
                               struct style style)
{
    uint64_t letter = block->letter, blank = block->blank;
    uint64_t newline = block->newline;
    uint64_t sign = ~(letter | block->digit | block->space | block->high);
    uint64_t sign_starts = sign & ~(sign << 1);
    // A blank in front of signs is theirs, and so are line ends behind them.
    uint64_t taken =
        style.has_newlines ? fill(newline, newline & sign << 1) : 0;
    uint64_t space = block->space & ~taken;
    uint64_t blanks = space & ~newline;
    uint64_t free_signs = sign_starts & ~(blank << 1);
    uint64_t before_letters =
        style.has_blank_only ? blank : free_signs | blanks;
    uint64_t letter_starts =
        letter & ~(letter << 1) & ~((before_letters & letter >> 1) << 1);
    if (style.is_cased)
        letter_starts |= block->upper & (letter & ~block->upper) << 1;
    uint64_t digit_starts = number_starts(block->digit, style.most_digits);
    if (style.has_blank_only && !style.has_numbers_apart)
        digit_starts &= ~(blank << 1);
    uint64_t space_starts = space & ~(space << 1);
    // The last of a run goes to what follows, or stands alone.
    uint64_t space_ends = space & ~(block->space >> 1);
    if (style.has_numbers_apart)
        space_ends &= ~(block->digit >> 1);
    uint64_t starts =
        1 | letter_starts | free_signs | digit_starts | space_starts;
    if (style.has_newlines)
        starts |= (space_ends & ~newline) |
                  behind_last_newline((space & newline) << 1 & blanks, blanks,
                                      newline);
    else
        starts |= space_ends;
    unsigned len = clear_len(block, style);
    if (len == 0)
        return 1;
    uint64_t clear = UINT64_MAX >> (TB_BLOCK_LEN - len);
    // White space up to the edge: only where it begins is certain.
    if (space >> (len - 1) & 1) {
        uint64_t before = space_starts & clear;
        clear = UINT64_MAX >> __builtin_clzll(before | 1);
    }
    return (starts & clear) | 1;
}

/* ---- cutting ----------------------------------------------------------------
 */

/* Do the next few bytes go beyond ASCII, so that a block would give a word or
 * two at most? */
static inline bool is_high_soon(const uint8_t *bytes)
{
    uint64_t next;
    memcpy(&next, bytes, sizeof(next));
    return (next & UINT64_C(0x8080808080808080)) != 0;
}

// Appends the places that `starts` has, but for bit 0. Returns the last.
static inline size_t add_ends(uint64_t starts, size_t at, size_t *ends,
                              size_t *count)
{
    size_t number = *count;
    size_t last = at;
    for (starts &= starts - 1; starts; starts &= starts - 1) {
        last = at + (size_t)__builtin_ctzll(starts);
        ends[number++] = last;
    }
    *count = number;
    return last;
}

// Hot loop, once for each pattern, so that its style is known.
TB_INLINE size_t cut(struct tb_span text, size_t at, size_t *ends, size_t most,
                     tb_pattern_scan scan, struct style style)
{
    size_t count = 0;
    while (at < text.len && count < most) {
        if (text.len - at >= TB_BLOCK_LEN && !is_high_soon(text.ptr + at)) {
            struct tb_pattern_block block;
            read_block(text.ptr + at, &block);
            size_t next =
                add_ends(word_starts(&block, style), at, ends, &count);
            if (next > at) {
                at = next;
                continue;
            }
        }
        ends[count++] = at = scan(text, at);
    }
    return count;
}

size_t tb_pattern_cut_gpt2(struct tb_span text, size_t at, size_t *ends,
                           size_t most)
{
    const struct style style = {.has_blank_only = true};
    return cut(text, at, ends, most, tb_pattern_scan_gpt2, style);
}

size_t tb_pattern_cut_llama3(struct tb_span text, size_t at, size_t *ends,
                             size_t most)
{
    const struct style style = {.has_newlines = true, .most_digits = 3};
    return cut(text, at, ends, most, tb_pattern_scan_llama3, style);
}

size_t tb_pattern_cut_qwen(struct tb_span text, size_t at, size_t *ends,
                           size_t most)
{
    const struct style style = {.has_newlines = true, .most_digits = 1};
    return cut(text, at, ends, most, tb_pattern_scan_qwen, style);
}

size_t tb_pattern_cut_qwen35(struct tb_span text, size_t at, size_t *ends,
                             size_t most)
{
    const struct style style = {.has_newlines = true, .most_digits = 1};
    return cut(text, at, ends, most, tb_pattern_scan_qwen35, style);
}

size_t tb_pattern_cut_cl100k_base(struct tb_span text, size_t at, size_t *ends,
                                  size_t most)
{
    const struct style style = {.has_newlines = true, .most_digits = 3};
    return cut(text, at, ends, most, tb_pattern_scan_cl100k_base, style);
}

size_t tb_pattern_cut_o200k(struct tb_span text, size_t at, size_t *ends,
                            size_t most)
{
    const struct style style = {.is_cased = true,
                                .has_contractions = true,
                                .has_newlines = true,
                                .has_slashes = true,
                                .most_digits = 3};
    return cut(text, at, ends, most, tb_pattern_scan_o200k, style);
}

size_t tb_pattern_cut_tekken(struct tb_span text, size_t at, size_t *ends,
                             size_t most)
{
    const struct style style = {.is_cased = true,
                                .has_newlines = true,
                                .has_slashes = true,
                                .most_digits = 1};
    return cut(text, at, ends, most, tb_pattern_scan_tekken, style);
}

size_t tb_pattern_cut_kimi(struct tb_span text, size_t at, size_t *ends,
                           size_t most)
{
    const struct style style = {.is_cased = true,
                                .has_contractions = true,
                                .has_newlines = true,
                                .most_digits = 3};
    return cut(text, at, ends, most, tb_pattern_scan_kimi, style);
}

size_t tb_pattern_cut_deepseek_chain(struct tb_span text, size_t at,
                                     size_t *ends, size_t most)
{
    const struct style style = {.has_newlines = true,
                                .most_digits = 3,
                                .has_numbers_apart = true,
                                .is_deepseek = true};
    return cut(text, at, ends, most, tb_pattern_scan_deepseek_chain, style);
}

size_t tb_pattern_cut_digits_gpt2(struct tb_span text, size_t at, size_t *ends,
                                  size_t most)
{
    const struct style style = {
        .has_blank_only = true, .most_digits = 1, .has_numbers_apart = true};
    return cut(text, at, ends, most, tb_pattern_scan_digits_gpt2, style);
}
