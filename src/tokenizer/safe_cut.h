/* Places where a text can be cut and its parts be encoded apart, so that what
 * was encoded once need not be encoded again behind what it has in common with
 * an earlier text. docs/TOKENIZER.md has the proof. */
#ifndef TB_SAFE_CUT_H
#define TB_SAFE_CUT_H

#include "tokenizer.h"

/* The first place at or after `from` + 1 where `text` can be cut, so that the
 * ids of both parts are those of the whole: a letter, digit, or one of .,;)
 * in front, a space behind, and then a lower-case letter, all ASCII. Returns
 * `text.len` when there is none. */
size_t tb_safe_cut_after(struct tb_span text, size_t from);

/* See tb_encoder_can_cut. */
bool tb_tokenizer_can_cut(const struct tb_tokenizer *tokenizer);

#endif
