/* Case mappings that utf8proc does not give: to several code points, and case
 * folding where it is not lower case. Generated from CPython 3.11 (Unicode
 * 14.0) by asking str.upper, lower, title and casefold of every character. */
#ifndef TB_TEXT_CASE_H
#define TB_TEXT_CASE_H

#include <stdint.h>

struct tb_special_case {
    uint32_t cp;
    uint16_t to[4][3]; /* upper, lower, title, fold; 0 behind the last */
};

enum { TB_SPECIAL_CASE_COUNT = 298 };

extern const struct tb_special_case tb_special_case[TB_SPECIAL_CASE_COUNT];

#endif
