/* Added tokens: texts such as <|im_end|> that are ids of their own wherever
 * they stand. Found leftmost first, the longest of those that begin there;
 * they never overlap. Flags as in tokenizer.json.
 *
 * Read-only after tb_added_tokens_index, shared by threads.
 */
#ifndef TB_ADDED_TOKEN_H
#define TB_ADDED_TOKEN_H

#include "tokenizer.h"

struct tb_added_token {
    struct tb_span content; /* lives as long as the set */
    tb_token id;
    bool is_single_word; /* only between characters that are no word's */
    bool is_left_strip;  /* takes white space before it along */
    bool is_right_strip; /* ... and behind it */
    bool is_normalized;  /* looked for in the normalised text */
    bool is_special;     /* may be skipped when decoding */
    uint32_t order;      /* set by tb_added_tokens_add */
};

/* Those that begin with some byte: what they all begin with is looked at first,
 * since files have tokens of several spaces, tabs or line ends. */
struct tb_added_range {
    uint32_t low, high;  /* places in the sorted list */
    uint32_t shared_len; /* bytes that all of them begin with */
};

struct tb_added_tokens {
    struct tb_added_token *tokens; /* sorted by content */
    size_t count, capacity;
    struct tb_added_range ranges[256]; /* by first byte */
    bool is_first_byte[256];           /* may a token begin with this byte? */
    uint8_t only_first; /* the one byte that all begin with, or 0 */
};

TB_NODISCARD tb_status tb_added_tokens_add(struct tb_added_tokens *set,
                                           const struct tb_added_token *token);

/* To be called once all tokens are in, before finding. When a content came
 * twice, the one that was added last counts. */
void tb_added_tokens_index(struct tb_added_tokens *set);

struct tb_added_match {
    size_t start, end;  /* with the white space that is taken along */
    size_t content_end; /* where the search goes on */
    tb_token id;
};

/* The first match that begins at or after `from`; white space is taken along
 * from `free_from` on only. False: there is none. */
bool tb_added_tokens_find(const struct tb_added_tokens *set,
                          struct tb_span text, size_t from, size_t free_from,
                          struct tb_added_match *match);

void tb_added_tokens_release(struct tb_added_tokens *set);

#endif
