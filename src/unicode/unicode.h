/* What kind of character a code point is: the general categories and white
 * space of Unicode 16.0, the version that Hugging Face's patterns know.
 *
 * Leaves out case folding, scripts and normal forms (normalize.h). All of it
 * is read-only data, shared by all threads.
 *
 *     if (tb_unicode_in(cp, TB_UNICODE_MASK_L | TB_UNICODE_MASK_M)) ...
 *
 *     uint32_t first = 0, last;
 *     while (tb_unicode_next_range(mask, &first, &last)) {
 *         add_range(first, last);
 *         first = last + 1;
 *     }
 */
#ifndef TB_UNICODE_H
#define TB_UNICODE_H

#include "span.h"

/* The order is that of tools/make_unicode_tables.py. */
enum tb_unicode_category {
    TB_UNICODE_LU,
    TB_UNICODE_LL,
    TB_UNICODE_LT,
    TB_UNICODE_LM,
    TB_UNICODE_LO,
    TB_UNICODE_MN,
    TB_UNICODE_MC,
    TB_UNICODE_ME,
    TB_UNICODE_ND,
    TB_UNICODE_NL,
    TB_UNICODE_NO,
    TB_UNICODE_PC,
    TB_UNICODE_PD,
    TB_UNICODE_PS,
    TB_UNICODE_PE,
    TB_UNICODE_PI,
    TB_UNICODE_PF,
    TB_UNICODE_PO,
    TB_UNICODE_SM,
    TB_UNICODE_SC,
    TB_UNICODE_SK,
    TB_UNICODE_SO,
    TB_UNICODE_ZS,
    TB_UNICODE_ZL,
    TB_UNICODE_ZP,
    TB_UNICODE_CC,
    TB_UNICODE_CF,
    TB_UNICODE_CS,
    TB_UNICODE_CO,
    TB_UNICODE_CN,
    TB_UNICODE_CATEGORY_COUNT,
};

/* Sets of categories: one bit per category. */
#define TB_UNICODE_MASK(category) (UINT32_C(1) << (category))
/* All categories from `first` to `last` in the order above. */
#define TB_UNICODE_MASK_RANGE(first, last)                                     \
    ((TB_UNICODE_MASK(last) << 1) - TB_UNICODE_MASK(first))

#define TB_UNICODE_MASK_L TB_UNICODE_MASK_RANGE(TB_UNICODE_LU, TB_UNICODE_LO)
#define TB_UNICODE_MASK_M TB_UNICODE_MASK_RANGE(TB_UNICODE_MN, TB_UNICODE_ME)
#define TB_UNICODE_MASK_N TB_UNICODE_MASK_RANGE(TB_UNICODE_ND, TB_UNICODE_NO)
#define TB_UNICODE_MASK_P TB_UNICODE_MASK_RANGE(TB_UNICODE_PC, TB_UNICODE_PO)
#define TB_UNICODE_MASK_S TB_UNICODE_MASK_RANGE(TB_UNICODE_SM, TB_UNICODE_SO)
#define TB_UNICODE_MASK_Z TB_UNICODE_MASK_RANGE(TB_UNICODE_ZS, TB_UNICODE_ZP)
#define TB_UNICODE_MASK_C TB_UNICODE_MASK_RANGE(TB_UNICODE_CC, TB_UNICODE_CN)
/* Cased letters: Lu, Ll and Lt. */
#define TB_UNICODE_MASK_LC TB_UNICODE_MASK_RANGE(TB_UNICODE_LU, TB_UNICODE_LT)
#define TB_UNICODE_MASK_ALL TB_UNICODE_MASK_RANGE(TB_UNICODE_LU, TB_UNICODE_CN)

/* The byte of properties: a category and two flags. */
#define TB_UNICODE_CATEGORY_BITS 0x1F
#define TB_UNICODE_WHITE_SPACE 0x20 /* property White_Space, a pattern's \s */
#define TB_UNICODE_YOUNG 0x40       /* not assigned in Unicode 9.0 */

#define TB_UNICODE_LAST UINT32_C(0x10FFFF)
#define TB_UNICODE_BLOCK_BITS 8
#define TB_UNICODE_BLOCK_SIZE (1 << TB_UNICODE_BLOCK_BITS) /* code points */

#define TB_UNICODE_BLOCK_COUNT ((TB_UNICODE_LAST + 1) >> TB_UNICODE_BLOCK_BITS)

/* Generated: which block a code point is in, and the blocks one by one; first
 * for the properties, then for the normal forms. Use the functions below. */
extern const uint8_t tb_unicode_stage1[TB_UNICODE_BLOCK_COUNT];
extern const uint8_t tb_unicode_stage2[];
extern const uint8_t tb_unicode_plain_stage1[TB_UNICODE_BLOCK_COUNT];
extern const uint8_t tb_unicode_plain_stage2[];

/* Returns category and flags of any 32-bit value; one that is no code point
 * is as one that was never assigned. */
static inline uint8_t tb_unicode_properties(uint32_t code_point)
{
    if (code_point > TB_UNICODE_LAST)
        return TB_UNICODE_CN | TB_UNICODE_YOUNG;
    uint32_t block = tb_unicode_stage1[code_point >> TB_UNICODE_BLOCK_BITS];
    return tb_unicode_stage2[(block << TB_UNICODE_BLOCK_BITS) |
                             (code_point & (TB_UNICODE_BLOCK_SIZE - 1))];
}

static inline enum tb_unicode_category tb_unicode_category(uint32_t code_point)
{
    return (enum tb_unicode_category)(tb_unicode_properties(code_point) &
                                      TB_UNICODE_CATEGORY_BITS);
}

/* Is the category of `code_point` one of those in `mask`? */
static inline bool tb_unicode_in(uint32_t code_point, uint32_t mask)
{
    return (mask >> tb_unicode_category(code_point)) & 1;
}

static inline bool tb_unicode_is_white_space(uint32_t code_point)
{
    return (tb_unicode_properties(code_point) & TB_UNICODE_WHITE_SPACE) != 0;
}

static inline bool tb_unicode_is_young(uint32_t code_point)
{
    return (tb_unicode_properties(code_point) & TB_UNICODE_YOUNG) != 0;
}

/* Returns the normal forms of Unicode 9.0, bit `1 << form`, that leave
 * `code_point` alone whatever stands beside it. For normalize.c. */
static inline uint8_t tb_unicode_plain_forms(uint32_t code_point)
{
    if (code_point > TB_UNICODE_LAST)
        return 0;
    uint32_t block =
        tb_unicode_plain_stage1[code_point >> TB_UNICODE_BLOCK_BITS];
    return tb_unicode_plain_stage2[(block << TB_UNICODE_BLOCK_BITS) |
                                   (code_point & (TB_UNICODE_BLOCK_SIZE - 1))];
}

/* Returns the set that a pattern means by the short name of a category or of
 * a group ("Lu", "L", "LC"), in any case; 0 for any other name. */
uint32_t tb_unicode_mask_of_name(struct tb_span name);

/* Finds the first run of code points at or after `*first` whose categories
 * are in `mask`, and gives its ends, both inclusive. Returns false, and leaves
 * both alone, when there is none. */
bool tb_unicode_next_range(uint32_t mask, uint32_t *first, uint32_t *last);

#endif
