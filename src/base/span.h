/* Borrowed bytes: the pair (pointer, length) that everything else passes
 * around. A span never owns; whoever made it says how long it lives.
 *
 *     struct tb_span name = TB_SPAN("payload");
 *     if (tb_span_equal(key, name)) ...
 */
#ifndef TB_SPAN_H
#define TB_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct tb_span {
    const uint8_t *ptr; /* may be NULL when len is 0 */
    size_t len;         /* bytes */
};

/* A span over a string literal, without its terminating zero. */
#define TB_SPAN(literal)                                                       \
    ((struct tb_span){(const uint8_t *)("" literal), sizeof(literal) - 1})

/* A span over a zero-terminated string; NULL gives an empty span. */
struct tb_span tb_span_of(const char *text);

/* The part of `text` from byte `from` on; `from` <= `text.len`. */
struct tb_span tb_span_from(struct tb_span text, size_t from);

bool tb_span_equal(struct tb_span a, struct tb_span b);

/* Are the `len` bytes at `a` and `b` the same? memcmp() for hot loops over what
 * is mostly short: up to 16 bytes cost no call and no loop. */
static inline bool tb_is_same(const uint8_t *a, const uint8_t *b, size_t len);

/* Negative, 0 or positive, as memcmp; a prefix sorts before what it begins.
 * On UTF-8 this is the order of code points. */
int tb_span_compare(struct tb_span a, struct tb_span b);

bool tb_span_starts_with(struct tb_span text, struct tb_span prefix);
bool tb_span_ends_with(struct tb_span text, struct tb_span suffix);

/* Does `part` occur in `text`? An empty part does. */
bool tb_span_contains(struct tb_span text, struct tb_span part);

/* How many bytes `a` and `b` have in common from their beginning. */
size_t tb_span_common_prefix(struct tb_span a, struct tb_span b);

/* How many bytes of `text` a message shows, as the length of its `%.*s`: at
 * most `most`, and no character of UTF-8 in part. */
int tb_span_shown(struct tb_span text, int most);

/* Returns how often `byte` occurs in `text`. */
size_t tb_span_count(struct tb_span text, uint8_t byte);

/* ---- */

// Both ends of up to 16 bytes, as numbers of 8, 4 or 1 bytes that may overlap.
static inline bool tb_is_same(const uint8_t *a, const uint8_t *b, size_t len)
{
    uint64_t first[2], last[2];
    uint32_t head[2], tail[2];
    if (len > 16)
        return memcmp(a, b, len) == 0;
    if (len >= 8) {
        memcpy(&first[0], a, 8);
        memcpy(&first[1], b, 8);
        memcpy(&last[0], a + len - 8, 8);
        memcpy(&last[1], b + len - 8, 8);
        return ((first[0] ^ first[1]) | (last[0] ^ last[1])) == 0;
    }
    if (len >= 4) {
        memcpy(&head[0], a, 4);
        memcpy(&head[1], b, 4);
        memcpy(&tail[0], a + len - 4, 4);
        memcpy(&tail[1], b + len - 4, 4);
        return ((head[0] ^ head[1]) | (tail[0] ^ tail[1])) == 0;
    }
    return len == 0 || (a[0] == b[0] && a[len / 2] == b[len / 2] &&
                        a[len - 1] == b[len - 1]);
}

#endif
