#include "json_strict.h"

#include <math.h>
#include <string.h>

#include "c_locale.h"
#include "json_scan.h"
#include "utf8.h"

enum {
    BITS = 64,
    PLAIN_DIGITS = 308 // an integer of so many digits is always a double
};

struct check {
    const uint8_t *at, *end;
    struct tb_json_fault *fault;
    const uint8_t *begin;
    bool has_value_fault; // the first of its kind:
    struct tb_json_fault value_fault;
    unsigned depth;
    uint64_t is_object[TB_JSON_STRICT_DEPTH / BITS]; // bit by level
};

static tb_status fail_at(const struct check *check, const uint8_t *at,
                         const char *text)
{
    check->fault->at = (size_t)(at - check->begin);
    check->fault->text = text;
    check->fault->is_value = false;
    return TB_ERR_SYNTAX;
}

/* What is wrong with a value, but not with the grammar, is told when nothing
 * else is wrong with the text. */
static void note_value(struct check *check, const uint8_t *at, const char *text)
{
    if (check->has_value_fault)
        return;
    check->has_value_fault = true;
    check->value_fault =
        (struct tb_json_fault){(size_t)(at - check->begin), text, true};
}

static tb_status fail_cut(const struct check *check)
{
    (void)fail_at(check, check->end, "the value is cut off");
    return TB_ERR_CUT;
}

static void skip_space(struct check *check)
{
    while (check->at < check->end && (*check->at == ' ' || *check->at == '\n' ||
                                      *check->at == '\r' || *check->at == '\t'))
        check->at++;
}

static bool is_digit(const struct check *check)
{
    return check->at < check->end && *check->at >= '0' && *check->at <= '9';
}

static int hex_value(uint8_t byte)
{
    uint8_t lower = byte | 0x20;
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The four digits behind "\u"; -1 when they are not there. */
static int32_t hex_escape(struct tb_span raw, size_t at)
{
    int32_t unit = 0;
    if (raw.len - at < 6 || raw.ptr[at] != '\\' || raw.ptr[at + 1] != 'u')
        return -1;
    for (size_t i = at + 2; i < at + 6; i++) {
        int value = hex_value(raw.ptr[i]);
        if (value < 0)
            return -1;
        unit = unit << 4 | value;
    }
    return unit;
}

/* The escape at `*at`, a backslash; steps behind it. */
static tb_status check_escape(struct check *check, struct tb_span raw,
                              size_t *at)
{
    const uint8_t *place = raw.ptr + *at;
    if (place[1] != 'u') {
        if (!memchr("\"\\/bfnrt", place[1], 8))
            return fail_at(check, place, "an escape that JSON does not know");
        *at += 2;
        return TB_OK;
    }
    int32_t unit = hex_escape(raw, *at);
    if (unit < 0)
        return fail_at(check, place, "an escape that JSON does not know");
    *at += 6;
    if (unit < 0xD800 || unit > 0xDFFF)
        return TB_OK;
    int32_t low = unit < 0xDC00 ? hex_escape(raw, *at) : -1;
    if (low < 0xDC00 || low > 0xDFFF)
        note_value(check, place, "half a surrogate pair in a string");
    else
        *at += 6;
    return TB_OK;
}

static tb_status check_escapes(struct check *check, struct tb_span raw)
{
    size_t at = 0;
    while (at < raw.len) {
        const uint8_t *next = memchr(raw.ptr + at, '\\', raw.len - at);
        if (!next)
            break;
        at = (size_t)(next - raw.ptr);
        TB_TRY(check_escape(check, raw, &at));
    }
    return TB_OK;
}

// From behind the opening quote to behind the closing one.
static tb_status check_string(struct check *check)
{
    struct tb_span rest = {check->at, (size_t)(check->end - check->at)};
    struct tb_json_string_scan scan = tb_json_scan_string(rest);
    if (!scan.is_closed)
        return fail_cut(check);
    struct tb_span raw = {check->at, scan.len};
    for (size_t i = 0; i < raw.len; i++)
        if (raw.ptr[i] < ' ')
            return fail_at(check, raw.ptr + i,
                           "a control character in a string");
    if (scan.has_high) {
        size_t valid = tb_utf8_valid_len(raw);
        if (valid < raw.len)
            return fail_at(check, raw.ptr + valid, "bytes that are not UTF-8");
    }
    if (scan.has_escape)
        TB_TRY(check_escapes(check, raw));
    check->at += scan.len + 1;
    return TB_OK;
}

static tb_status check_digits(struct check *check)
{
    if (!is_digit(check))
        return check->at == check->end ? fail_cut(check)
                                       : fail_at(check, check->at,
                                                 "a number without a digit "
                                                 "where one must be");
    while (is_digit(check))
        check->at++;
    return TB_OK;
}

/* Is the number at `begin` too large? It is followed by a byte that is no part
 * of a number, so that reading stops there. */
static bool is_infinite(const struct check *check, const uint8_t *begin)
{
    return check->at < check->end &&
           isinf(tb_real_of_text((const char *)begin, NULL));
}

static tb_status check_number(struct check *check)
{
    const uint8_t *begin = check->at;
    bool has_exponent = false;
    if (*check->at == '-')
        check->at++;
    const uint8_t *first = check->at;
    TB_TRY(check_digits(check));
    size_t digit_count = (size_t)(check->at - first);
    if (*first == '0' && digit_count > 1)
        return fail_at(check, first, "a number with a zero in front");
    if (check->at < check->end && *check->at == '.') {
        check->at++;
        TB_TRY(check_digits(check));
    }
    if (check->at < check->end && (*check->at | 0x20) == 'e') {
        has_exponent = true;
        check->at++;
        if (check->at < check->end && (*check->at == '+' || *check->at == '-'))
            check->at++;
        TB_TRY(check_digits(check));
    }
    if ((has_exponent || digit_count > PLAIN_DIGITS) &&
        is_infinite(check, begin))
        note_value(check, begin, "a number that is too large");
    return TB_OK;
}

static tb_status check_word(struct check *check, const char *word)
{
    size_t len = strlen(word), left = (size_t)(check->end - check->at);
    size_t shown = left < len ? left : len;
    if (memcmp(check->at, word, shown) != 0)
        return fail_at(check, check->at, "a word that JSON does not know");
    if (left < len)
        return fail_cut(check);
    check->at += len;
    return TB_OK;
}

static tb_status check_scalar(struct check *check)
{
    uint8_t byte = *check->at;
    if (byte == '"') {
        check->at++;
        return check_string(check);
    }
    if (byte == '-' || is_digit(check))
        return check_number(check);
    if (byte == 't' || byte == 'f' || byte == 'n')
        return check_word(check, byte == 't'   ? "true"
                                 : byte == 'f' ? "false"
                                               : "null");
    if (byte == 'N' || byte == 'I')
        return fail_at(check, check->at,
                       "NaN or Infinity, which JSON does not have");
    if (check->end - check->at >= 3 &&
        memcmp(check->at, "\xEF\xBB\xBF", 3) == 0)
        return fail_at(check, check->at, "a byte order mark");
    return fail_at(check, check->at, "a byte that begins no value");
}

static bool in_object(const struct check *check)
{
    unsigned level = check->depth - 1;
    return check->is_object[level / BITS] >> level % BITS & 1;
}

static tb_status open_container(struct check *check)
{
    if (check->depth == TB_JSON_STRICT_DEPTH)
        return fail_at(check, check->at, "values nested deeper than 1024");
    uint64_t bit = UINT64_C(1) << check->depth % BITS;
    uint64_t *bits = &check->is_object[check->depth / BITS];
    *bits = *check->at == '{' ? *bits | bit : *bits & ~bit;
    check->depth++;
    check->at++;
    return TB_OK;
}

static tb_status check_key(struct check *check)
{
    skip_space(check);
    if (check->at == check->end)
        return fail_cut(check);
    if (*check->at != '"')
        return fail_at(check, check->at,
                       *check->at == '}' ? "a comma behind the last value"
                                         : "a key that is no string");
    check->at++;
    TB_TRY(check_string(check));
    skip_space(check);
    if (check->at == check->end)
        return fail_cut(check);
    if (*check->at != ':')
        return fail_at(check, check->at, "no ':' behind a key");
    check->at++;
    return TB_OK;
}

/* Behind a value: steps over what closes containers, and over the comma to
 * where the next value begins. */
static tb_status after_value(struct check *check)
{
    while (check->depth > 0) {
        uint8_t close = in_object(check) ? '}' : ']';
        skip_space(check);
        if (check->at == check->end)
            return fail_cut(check);
        if (*check->at == ',') {
            check->at++;
            if (close == '}')
                return check_key(check);
            skip_space(check);
            return check->at < check->end && *check->at == ']'
                       ? fail_at(check, check->at,
                                 "a comma behind the last value")
                       : TB_OK;
        }
        if (*check->at != close)
            return fail_at(check, check->at, "no comma between two values");
        check->at++;
        check->depth--;
    }
    return TB_OK;
}

/* One value from where it begins; of a container only the beginning, unless it
 * is empty. */
static tb_status check_value(struct check *check, bool *is_done)
{
    skip_space(check);
    *is_done = true;
    if (check->at == check->end)
        return fail_cut(check);
    if (*check->at != '{' && *check->at != '[')
        return check_scalar(check);
    TB_TRY(open_container(check));
    skip_space(check);
    if (check->at < check->end &&
        *check->at == (in_object(check) ? '}' : ']')) {
        check->at++;
        check->depth--;
        return TB_OK;
    }
    *is_done = false;
    return in_object(check) ? check_key(check) : TB_OK;
}

tb_status tb_json_check(struct tb_span json, struct tb_json_fault *fault)
{
    struct check check = {.at = json.ptr,
                          .begin = json.ptr,
                          .end = json.ptr + json.len,
                          .fault = fault};
    bool is_done;
    do {
        TB_TRY(check_value(&check, &is_done));
        if (is_done)
            TB_TRY(after_value(&check));
    } while (!is_done || check.depth > 0);
    skip_space(&check);
    if (check.at < check.end)
        return fail_at(&check, check.at, "more behind the value");
    if (!check.has_value_fault)
        return TB_OK;
    *fault = check.value_fault;
    return TB_ERR_SYNTAX;
}
