/* GPT-2's alphabet, in which byte-level vocabularies are written. Private to
 * this layer. */
#ifndef TB_BYTE_LEVEL_H
#define TB_BYTE_LEVEL_H

#include "span.h"

/* The byte that a code point stands for, or -1. */
int tb_byte_of_code_point(uint32_t code_point);

/* The code point that stands for a byte. */
uint32_t tb_code_point_of_byte(uint8_t byte);

/* Turns a string in that alphabet into bytes (at most as many as before).
 * False when a character is not in it. */
bool tb_byte_level_decode(struct tb_span text, uint8_t *bytes, size_t *len);

#endif
