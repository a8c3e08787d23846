/* The plainest JSON, a step at a time, for loops over hundreds of thousands of
 * short items. Each step takes where it stands and where the bytes end, and
 * gives where it came to; NULL: what is there is not plain, or NULL went in.
 * Whoever gets NULL has the reader (json_reader.h) read that item from its
 * beginning; the reader is the twin that a test holds equal, and tells what is
 * wrong.
 *
 *     struct tb_span key;
 *     uint32_t id;
 *     next = tb_json_plain_byte(at, end, ',');
 *     next = tb_json_plain_string(next, end, &key);
 *     next = tb_json_plain_byte(next, end, ':');
 *     next = tb_json_plain_count(next, end, &id);
 */
#ifndef TB_JSON_PLAIN_H
#define TB_JSON_PLAIN_H

#include "byte_vector.h"
#include "span.h"

static inline const uint8_t *tb_json_plain_space(const uint8_t *at,
                                                 const uint8_t *end)
{
    while (at && at < end &&
           (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

/* White space, then `byte`. */
static inline const uint8_t *
tb_json_plain_byte(const uint8_t *at, const uint8_t *end, uint8_t byte)
{
    at = tb_json_plain_space(at, end);
    return at && at < end && *at == byte ? at + 1 : NULL;
}

/* White space, then a string without escapes, borrowed from the input. It is
 * not checked to be UTF-8. */
static inline const uint8_t *tb_json_plain_string(const uint8_t *at,
                                                  const uint8_t *end,
                                                  struct tb_span *text)
{
    at = tb_json_plain_byte(at, end, '"');
    if (!at)
        return NULL;
    const uint8_t *first = at;
#if defined(TB_HAS_BYTES16)
    while (end - at >= 16) {
        tb_bytes16 bytes = tb_bytes16_load(at);
        uint64_t stop = tb_bytes16_bits(tb_bytes16_or(
            tb_bytes16_equal(bytes, '"'), tb_bytes16_equal(bytes, '\\')));
        if (stop) {
            at += tb_bytes16_first(stop);
            break;
        }
        at += 16;
    }
#endif
    while (at < end && *at != '"' && *at != '\\')
        at++;
    if (at == end || *at != '"')
        return NULL;
    *text = (struct tb_span){first, (size_t)(at - first)};
    return at + 1;
}

/* White space, then a whole number of at most nine digits, and behind it what
 * ends one. */
static inline const uint8_t *
tb_json_plain_count(const uint8_t *at, const uint8_t *end, uint32_t *count)
{
    const uint8_t *first = at = tb_json_plain_space(at, end);
    uint32_t value = 0;
    while (at && at < end && at - first < 9 && *at >= '0' && *at <= '9')
        value = value * 10 + (uint32_t)(*at++ - '0');
    if (at == first || at == end || (*first == '0' && at - first > 1))
        return NULL;
    *count = value;
    bool is_end = *at == ',' || *at == '}' || *at == ']' || *at == ' ' ||
                  *at == '\n' || *at == '\r' || *at == '\t';
    return is_end ? at : NULL;
}

#endif
