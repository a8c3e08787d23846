/* What came out of bytes that come again and again: a prompt repeats the
 * messages of the one before, and reading them once is enough.
 *
 *     tb_memo_begin(memo);                       // for each record
 *     value = tb_memo_find(memo, &kind, rest, &len);
 *     if (!value) {
 *         tb_memo_copy(memo, bytes, &key);
 *         value = ... made of `key`, in tb_memo_arena(memo) ...
 *         tb_memo_add(memo, &kind, key, value);
 *     }
 *
 * Bounded: what was added is forgotten after a while, found or not. What was
 * found or made stays until the next tb_memo_begin. One thread at a time.
 */
#ifndef TB_MEMO_H
#define TB_MEMO_H

#include "arena.h"

struct tb_memo;

/* Shorter keys are not found and not added: reading those is as quick. Nor are
 * longer ones, of which too few would fit. */
enum { TB_MEMO_MIN_LEN = 256, TB_MEMO_MAX_LEN = 512 << 10 };

static inline bool tb_memo_takes(struct tb_span key)
{
    return key.len >= TB_MEMO_MIN_LEN && key.len <= TB_MEMO_MAX_LEN;
}

/* Tells apart what different users make of the same bytes: the address of some
 * object that only this user has. */
typedef const void *tb_memo_kind;

TB_NODISCARD tb_status tb_memo_new(struct tb_memo **memo);

/* What was found or made before may be gone. */
void tb_memo_begin(struct tb_memo *memo);

/* The value whose key `bytes` begin with, and how long that key is; else NULL.
 * No key may be the beginning of another, as with JSON objects. */
const void *tb_memo_find(const struct tb_memo *memo, tb_memo_kind kind,
                         struct tb_span bytes, size_t *key_len);

/* Copies bytes to where a key and its value lie. */
TB_NODISCARD tb_status tb_memo_copy(struct tb_memo *memo, struct tb_span bytes,
                                    struct tb_span *copy);
struct tb_arena *tb_memo_arena(struct tb_memo *memo);

/* Adds a value; it and its key lie in the memo. */
void tb_memo_add(struct tb_memo *memo, tb_memo_kind kind, struct tb_span key,
                 const void *value);

/* NULL is accepted. */
void tb_memo_free(struct tb_memo *memo);

#endif
