/* The patterns by which texts are cut into words before encoding, as scanners
 * written by hand.
 *
 * A scanner is chosen by the exact text of a tokenizer's pattern, never by a
 * model's name, and gives what Oniguruma gives for that pattern with Unicode
 * 16.0 tables. Each is a function of the text alone:
 *
 *     end = scan(text, at);   // `end` == `at`: nothing matches at `at`
 *
 * `text` is valid UTF-8, `at` stands on a code point, `text.len` is where
 * look-ahead sees the end. How far a scanner looks ahead is not bounded.
 */
#ifndef TB_PATTERN_H
#define TB_PATTERN_H

#include "span.h"

typedef size_t (*tb_pattern_scan)(struct tb_span text, size_t at);

/* The ends of at least `most` matches one behind the other, from `at` on, or of
 * all that are left. Returns how many: `ends` has room for TB_PATTERN_CUT_MORE
 * on top of `most`. */
enum { TB_PATTERN_CUT_MORE = 64 };
typedef size_t (*tb_pattern_cut)(struct tb_span text, size_t at, size_t *ends,
                                 size_t most);

/* The scanner for a pattern's text, or NULL when there is none. */
tb_pattern_scan tb_pattern_find(struct tb_span pattern);

/* The pattern that a scanner stands for, or "" when it has none. */
const char *tb_pattern_text(tb_pattern_scan scan);

/* A scanner's number in the compiled form of a tokenizer, and back; NULL when
 * there is none. */
int tb_pattern_number(tb_pattern_scan scan);
tb_pattern_scan tb_pattern_of_number(int number);

/* GPT-2's pattern, which ByteLevel with use_regex means. */
size_t tb_pattern_scan_gpt2(struct tb_span text, size_t at);

/* The pattern of o200k_base, which the built-in tokenizer uses. */
size_t tb_pattern_scan_o200k(struct tb_span text, size_t at);

/* The pattern of Llama 3; Qwen's, which has one digit to a word; and that of
 * Qwen 3.5 and later, for which a mark is a letter. */
size_t tb_pattern_scan_llama3(struct tb_span text, size_t at);
size_t tb_pattern_scan_qwen(struct tb_span text, size_t at);
size_t tb_pattern_scan_qwen35(struct tb_span text, size_t at);

/* cl100k_base as tiktoken has it; of other files with such a pattern white
 * space at the end of the text is cut as anywhere else. */
size_t tb_pattern_scan_cl100k_base(struct tb_span text, size_t at);

/* As o200k_base, with runs of ideographs apart: Kimi's. */
size_t tb_pattern_scan_kimi(struct tb_span text, size_t at);

/* DeepSeek V3's three patterns, which its file applies one after the other:
 * numbers by threes, runs of kana and ideographs, and the rest. As one scanner,
 * which leaves no gaps: what no pattern matches is a word too. */
size_t tb_pattern_scan_digits3(struct tb_span text, size_t at);
size_t tb_pattern_scan_cjk(struct tb_span text, size_t at);
size_t tb_pattern_scan_deepseek(struct tb_span text, size_t at);
size_t tb_pattern_scan_deepseek_chain(struct tb_span text, size_t at);
size_t tb_pattern_cut_deepseek_chain(struct tb_span text, size_t at,
                                     size_t *ends, size_t most);

/* A step that makes each digit a word, and GPT-2's pattern behind it, as one
 * scanner. */
size_t tb_pattern_scan_digits_gpt2(struct tb_span text, size_t at);
size_t tb_pattern_cut_digits_gpt2(struct tb_span text, size_t at, size_t *ends,
                                  size_t most);

/* Is a match found at every place, so that matches follow each other without
 * gaps? True of all but the patterns that pick something out. */
bool tb_pattern_is_gapless(tb_pattern_scan scan);

/* A scanner for many matches, or NULL when it is not gapless. */
tb_pattern_cut tb_pattern_cut_of(tb_pattern_scan scan);

/* Does a match always end between a letter, digit or one of .,;) and a space
 * with a lower-case letter behind it, whatever stands around? True of all but
 * those that only pick something out. */
bool tb_pattern_is_border_at_space(tb_pattern_scan scan);

/* Private to the scanners' files. */
size_t tb_pattern_scan_tekken(struct tb_span text, size_t at);
size_t tb_pattern_cut_gpt2(struct tb_span text, size_t at, size_t *ends,
                           size_t most);
size_t tb_pattern_cut_llama3(struct tb_span text, size_t at, size_t *ends,
                             size_t most);
size_t tb_pattern_cut_qwen(struct tb_span text, size_t at, size_t *ends,
                           size_t most);
size_t tb_pattern_cut_qwen35(struct tb_span text, size_t at, size_t *ends,
                             size_t most);
size_t tb_pattern_cut_cl100k_base(struct tb_span text, size_t at, size_t *ends,
                                  size_t most);
size_t tb_pattern_cut_o200k(struct tb_span text, size_t at, size_t *ends,
                            size_t most);
size_t tb_pattern_cut_tekken(struct tb_span text, size_t at, size_t *ends,
                             size_t most);
size_t tb_pattern_cut_kimi(struct tb_span text, size_t at, size_t *ends,
                           size_t most);

#endif
