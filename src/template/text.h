/* Text as Python's str sees it: code points, white space, lines, case.
 * Private to this layer. Pure but for what writes into a rendering. */
#ifndef TB_TEXT_H
#define TB_TEXT_H

#include "span.h"

/* len(): the number of code points. */
size_t tb_text_count(struct tb_span text);

/* The byte where code point `index` begins; text.len when there are fewer. */
size_t tb_text_offset(struct tb_span text, size_t index);

/* The code point at byte `at`, and how many bytes it has. */
size_t tb_text_decode(struct tb_span text, size_t at, uint32_t *cp);

/* The byte where the code point that ends before byte `at` > 0 begins. */
size_t tb_text_before(struct tb_span text, size_t at);

/* str.isspace() of one code point. */
bool tb_text_is_space(uint32_t cp);

/* \w of one code point. */
bool tb_text_is_word(uint32_t cp);

/* strip() with sides chosen; without `chars.ptr` white space. */
struct tb_span tb_text_strip(struct tb_span text, struct tb_span chars,
                             bool is_left, bool is_right);

/* Where `part` first occurs at or behind byte `from`, or SIZE_MAX. */
size_t tb_text_find(struct tb_span text, struct tb_span part, size_t from);
size_t tb_text_find_last(struct tb_span text, struct tb_span part);

/* The next line of splitlines() from `*at` on, which moves behind its end;
 * false at the end of the text. */
bool tb_text_next_line(struct tb_span text, size_t *at, struct tb_span *line,
                       size_t *end_len);

/* Full case mappings of one code point: up to three into `out`. */
typedef enum tb_text_case {
    TB_CASE_UPPER,
    TB_CASE_LOWER,
    TB_CASE_TITLE,
    TB_CASE_FOLD,
} tb_text_case;

size_t tb_text_map_case(uint32_t cp, tb_text_case to, uint32_t out[3]);

#endif
