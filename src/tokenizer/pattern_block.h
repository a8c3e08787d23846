/* What kinds of characters the next 64 bytes are, as one bit per byte, so that
 * all words in them are found by a few operations on bits. Private to the
 * scanners. */
#ifndef TB_PATTERN_BLOCK_H
#define TB_PATTERN_BLOCK_H

#include <stdint.h>

enum { TB_BLOCK_LEN = 64 };

/* Bit i is byte i. Every byte is a letter, digit, white space, sign or no
 * ASCII. */
struct tb_pattern_block {
    uint64_t letter, upper, digit;
    uint64_t space;   /* white space */
    uint64_t blank;   /* ' ' */
    uint64_t newline; /* \r and \n */
    uint64_t quote;   /* the apostrophe */
    uint64_t slash;   /* / */
    uint64_t control; /* of the signs those that are not printed */
    uint64_t high;    /* no ASCII */
};

/* Looks at the TB_BLOCK_LEN bytes from `bytes` on. The portable twin gives the
 * same on machines without vector instructions that are known here. */
void tb_pattern_block_portable(const uint8_t *bytes,
                               struct tb_pattern_block *block);
void tb_pattern_block(const uint8_t *bytes, struct tb_pattern_block *block);

#endif
