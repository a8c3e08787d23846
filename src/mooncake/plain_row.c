#include "plain_row.h"

#include <string.h>

#include "json_scan.h"

/* ---- ids ----------------------------------------------------------------- */

/* Are the digits a number as JSON has them, and below 2^64? `id` is what they
 * are modulo that: 19 digits always fit, and of 20 those that begin with 1 and
 * came out above what 19 can be. */
static bool is_number(const uint8_t *digits, size_t count, uint64_t id)
{
    if (count < 20)
        return count == 1 || (count > 0 && digits[0] != '0');
    return count == 20 && digits[0] == '1' &&
           id >= UINT64_C(10000000000000000000);
}

/* The digits at `*at`, modulo 2^64; `end` is behind the last byte that may be
 * one. Up to eight at once where bytes are in that order: each step of a loop
 * waits for the one before, and how many there are is not foreseen. */
static uint64_t read_digits(const uint8_t **at, const uint8_t *end)
{
    uint64_t id = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (end - *at >= 8) {
        uint64_t word;
        memcpy(&word, *at, sizeof(word));
        word ^= UINT64_C(0x3030303030303030);
        // The highest bit of bytes that are no digit, right for the first.
        uint64_t other = ((word + UINT64_C(0x7676767676767676)) | word) &
                         UINT64_C(0x8080808080808080);
        if (other & 0x80)
            return 0;
        unsigned bits = other ? (unsigned)__builtin_ctzll(other) - 7 : 64;
        word <<= 64 - bits;
        // Pairs of digits, then fours, then all eight.
        word = word * 10 + (word >> 8);
        id = ((word & UINT64_C(0x000000FF000000FF)) *
                  UINT64_C(0x000F424000000064) +
              (word >> 16 & UINT64_C(0x000000FF000000FF)) *
                  UINT64_C(0x0000271000000001)) >>
             32;
        *at += bits / 8;
        if (bits < 64)
            return id;
    }
#endif
    for (; *at < end && (uint8_t)(**at - '0') <= 9; ++*at)
        id = id * 10 + (uint64_t)(**at - '0');
    return id;
}

static const uint8_t *skip_spaces(const uint8_t *at, const uint8_t *end)
{
    while (at < end && *at == ' ')
        at++;
    return at;
}

/* How many bytes the list is that `text` begins with; 0: another one. */
static size_t read_list(struct tb_span text, uint64_t *ids, size_t *count)
{
    const uint8_t *at = text.ptr + 1, *end = text.ptr + text.len;
    uint64_t *out = ids;
    for (;;) {
        at = skip_spaces(at, end);
        const uint8_t *first = at;
        uint64_t id = read_digits(&at, end);
        if (!is_number(first, (size_t)(at - first), id))
            return 0;
        *out++ = id;
        at = skip_spaces(at, end);
        if (at == end)
            return 0;
        if (*at == ']')
            break;
        if (*at++ != ',')
            return 0;
    }
    *count = (size_t)(out - ids);
    return (size_t)(at + 1 - text.ptr);
}

tb_status tb_plain_ids_read(struct tb_span text,
                            struct tb_mooncake_record *record, size_t *len)
{
    const uint8_t *end = text.len ? memchr(text.ptr, ']', text.len) : NULL;
    *len = 0;
    if (!end)
        return TB_OK;
    text.len = (size_t)(end + 1 - text.ptr);
    TB_TRY(tb_mooncake_record_reserve(record, text.len / 2));
    *len = read_list(text, record->ids, &record->id_count);
    return TB_OK;
}

/* ---- rows ---------------------------------------------------------------- */

/* How many bytes from `at` on are a number, of digits and perhaps a fraction;
 * 0: it is another one, or none. */
static size_t number_len(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *first = at;
    while (at < end && (uint8_t)(*at - '0') <= 9)
        at++;
    if (at == first || (*first == '0' && at - first > 1))
        return 0;
    if (at == end || *at != '.')
        return (size_t)(at - first);
    const uint8_t *point = at++;
    while (at < end && (uint8_t)(*at - '0') <= 9)
        at++;
    return at - point > 1 ? (size_t)(at - first) : 0;
}

// What stands between quotes, behind the first; no ptr: more is to be done.
static struct tb_span read_text(const uint8_t *at, const uint8_t *end)
{
    struct tb_span rest = {at, (size_t)(end - at)};
    struct tb_json_string_scan scan = tb_json_scan_string(rest);
    return !scan.is_closed || scan.has_escape || scan.has_high
               ? (struct tb_span){0}
               : (struct tb_span){at, scan.len};
}

/* Reads the value at `at`, of field `field`, into `value`; the place behind it,
 * or NULL. */
static const uint8_t *read_value(const uint8_t *at, const uint8_t *end,
                                 size_t field,
                                 struct tb_mooncake_record *record,
                                 struct tb_mooncake_value *value)
{
    size_t len = 0;
    value->key_count++;
    if (at < end && *at == '"') {
        value->kind = TB_MOONCAKE_TEXT;
        value->text = read_text(at + 1, end);
        return value->text.ptr ? at + value->text.len + 2 : NULL;
    }
    if (at < end && *at == '[' && field == TB_MOONCAKE_HASH_IDS) {
        value->kind = TB_MOONCAKE_LIST;
        if (tb_plain_ids_read((struct tb_span){at, (size_t)(end - at)}, record,
                              &len) != TB_OK)
            return NULL;
    } else {
        value->kind = TB_MOONCAKE_NUMBER;
        len = number_len(at, end);
    }
    value->text = (struct tb_span){at, len};
    return len ? at + len : NULL;
}

// The key behind `*at`, which is then behind its colon; no ptr: another one.
static struct tb_span read_key(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *first = *at + 1, *last = first;
    if (*at == end || **at != '"')
        return (struct tb_span){0};
    while (last < end && *last != '"' && *last != '\\' && *last < 0x80)
        last++;
    if (last == end || *last != '"')
        return (struct tb_span){0};
    *at = skip_spaces(last + 1, end);
    if (*at == end || **at != ':')
        return (struct tb_span){0};
    *at = skip_spaces(*at + 1, end);
    return (struct tb_span){first, (size_t)(last - first)};
}

bool tb_plain_row_read(struct tb_span line, struct tb_mooncake_record *record)
{
    const uint8_t *at = line.ptr, *end = line.ptr + line.len;
    if (at == end || *at != '{')
        return false;
    do {
        at = skip_spaces(at + 1, end);
        struct tb_span key = read_key(&at, end);
        if (!key.ptr)
            return false;
        size_t field = tb_mooncake_field_of(key);
        struct tb_mooncake_value other = {0}, *value = &other;
        if (field < TB_MOONCAKE_FIELD_COUNT)
            value = &record->fields[field];
        at = read_value(at, end, field, record, value);
        if (!at || value->key_count > 1)
            return false;
        at = skip_spaces(at, end);
    } while (at < end && *at == ',');
    return end - at == 1 && *at == '}';
}
