#include "mooncake_value.h"

#include <math.h>
#include <string.h>

#include "c_locale.h"
#include "hash.h"

enum { REAL_MAX_LEN = 400 }; // bytes of a number that is read

#define TWO_TO_63 9223372036854775808.0

const char *tb_mooncake_kind_text(tb_mooncake_kind kind)
{
    switch (kind) {
    case TB_MOONCAKE_ABSENT:
        return "nothing";
    case TB_MOONCAKE_NULL:
        return "null";
    case TB_MOONCAKE_FALSE:
        return "false";
    case TB_MOONCAKE_TRUE:
        return "true";
    case TB_MOONCAKE_NUMBER:
        return "a number";
    case TB_MOONCAKE_TEXT:
        return "a text";
    case TB_MOONCAKE_LIST:
        return "a list";
    case TB_MOONCAKE_OBJECT:
        return "an object";
    }
    return "";
}

tb_status tb_mooncake_value_read(struct tb_json_reader *reader,
                                 struct tb_arena *arena,
                                 struct tb_mooncake_value *value)
{
    static const tb_mooncake_kind kinds[] = {
        [TB_JSON_OBJECT] = TB_MOONCAKE_OBJECT,
        [TB_JSON_ARRAY] = TB_MOONCAKE_LIST,
        [TB_JSON_STRING] = TB_MOONCAKE_TEXT,
        [TB_JSON_NUMBER] = TB_MOONCAKE_NUMBER,
        [TB_JSON_TRUE] = TB_MOONCAKE_TRUE,
        [TB_JSON_FALSE] = TB_MOONCAKE_FALSE,
        [TB_JSON_NULL] = TB_MOONCAKE_NULL,
        [TB_JSON_END] = TB_MOONCAKE_ABSENT,
    };
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    value->kind = kinds[type];
    value->key_count++;
    if (type != TB_JSON_STRING)
        return tb_json_read_raw(reader, &value->text);
    uint64_t lone_count = reader->lone_surrogate_count;
    TB_TRY(tb_json_read_string(reader, arena, &value->text));
    value->is_repaired = reader->lone_surrogate_count > lone_count;
    return TB_OK;
}

bool tb_mooncake_value_is_set(const struct tb_mooncake_value *value)
{
    return value->kind != TB_MOONCAKE_ABSENT && value->kind != TB_MOONCAKE_NULL;
}

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static struct tb_span trimmed(struct tb_span text)
{
    while (text.len > 0 && memchr(" \t\n\v\f\r", text.ptr[0], 6))
        text = tb_span_from(text, 1);
    while (text.len > 0 && memchr(" \t\n\v\f\r", text.ptr[text.len - 1], 6))
        text.len--;
    return text;
}

/* Digits that are a number of 64 bits; false when they are more, or none. */
static bool read_digits(struct tb_span digits, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < digits.len; i++) {
        uint64_t digit = (uint64_t)digits.ptr[i] - '0';
        if (!is_digit(digits.ptr[i]) || *value > (UINT64_MAX - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return digits.len > 0;
}

static void set(struct tb_mooncake_integer *integer, uint64_t magnitude,
                bool is_negative)
{
    integer->magnitude = magnitude;
    integer->is_negative = is_negative && magnitude > 0;
}

static tb_mooncake_reading read_whole_real(struct tb_span text,
                                           struct tb_mooncake_integer *integer)
{
    char copy[REAL_MAX_LEN + 1];
    if (text.len > REAL_MAX_LEN)
        return TB_MOONCAKE_OUT_OF_RANGE;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    char *end;
    double real = tb_real_of_text(copy, &end);
    if (*end || end == copy)
        return TB_MOONCAKE_NO_NUMBER;
    if (!isfinite(real))
        return TB_MOONCAKE_OUT_OF_RANGE;
    if (real != floor(real))
        return TB_MOONCAKE_FRACTION;
    if (real < -TWO_TO_63 || real >= TWO_TO_63)
        return TB_MOONCAKE_OUT_OF_RANGE;
    set(integer, (uint64_t)fabs(real), real < 0);
    return TB_MOONCAKE_READ;
}

static tb_mooncake_reading read_number(struct tb_span text,
                                       struct tb_mooncake_integer *integer)
{
    bool is_negative = text.len > 0 && text.ptr[0] == '-';
    uint64_t magnitude;
    integer->is_odd = is_negative;
    if (!read_digits(tb_span_from(text, is_negative), &magnitude)) {
        integer->is_odd = true;
        return read_whole_real(text, integer);
    }
    if (is_negative && magnitude > UINT64_C(1) << 63)
        return TB_MOONCAKE_OUT_OF_RANGE;
    set(integer, magnitude, is_negative);
    return TB_MOONCAKE_READ;
}

/* Takes the underscores out of digits, each between two of them, and gives
 * their number; 0 when it is no such text. */
static size_t plain_digits(struct tb_span text, char *digits, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++) {
        bool is_between = text.ptr[i] == '_' && i > 0 && i + 1 < text.len &&
                          is_digit(text.ptr[i - 1]) &&
                          is_digit(text.ptr[i + 1]);
        if (is_between)
            continue;
        if (!is_digit(text.ptr[i]) || count == size)
            return 0;
        digits[count++] = (char)text.ptr[i];
    }
    return count;
}

// " +1_000.00 " is 1000 to pydantic.
static tb_mooncake_reading read_text(struct tb_span text,
                                     struct tb_mooncake_integer *integer)
{
    char digits[4300]; // more are refused
    bool is_negative = false;
    text = trimmed(text);
    if (text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+')) {
        is_negative = text.ptr[0] == '-';
        text = tb_span_from(text, 1);
    }
    const uint8_t *point = text.len ? memchr(text.ptr, '.', text.len) : NULL;
    if (point) {
        size_t len = (size_t)(point - text.ptr);
        for (size_t i = len + 1; i < text.len; i++)
            if (text.ptr[i] != '0')
                return TB_MOONCAKE_NO_NUMBER;
        text.len = len;
    }
    size_t count = plain_digits(text, digits, sizeof(digits));
    if (count == 0)
        return TB_MOONCAKE_NO_NUMBER;
    struct tb_span plain = {(const uint8_t *)digits, count};
    while (plain.len > 1 && plain.ptr[0] == '0')
        plain = tb_span_from(plain, 1);
    uint64_t magnitude;
    integer->is_odd = true;
    integer->is_beyond = !read_digits(plain, &magnitude);
    set(integer, integer->is_beyond ? tb_hash64(plain, 1) : magnitude,
        is_negative);
    return TB_MOONCAKE_READ;
}

tb_mooncake_reading
tb_mooncake_value_integer(const struct tb_mooncake_value *value,
                          struct tb_mooncake_integer *integer)
{
    *integer = (struct tb_mooncake_integer){0};
    switch (value->kind) {
    case TB_MOONCAKE_NUMBER:
        return read_number(value->text, integer);
    case TB_MOONCAKE_TEXT:
        return read_text(value->text, integer);
    case TB_MOONCAKE_TRUE:
    case TB_MOONCAKE_FALSE:
        integer->is_odd = true;
        integer->magnitude = value->kind == TB_MOONCAKE_TRUE;
        return TB_MOONCAKE_READ;
    default:
        return TB_MOONCAKE_NO_NUMBER;
    }
}

// What Python's float() takes of a text: no hexadecimal, no "nan(1)".
static tb_mooncake_reading read_real_text(struct tb_span text, double *real)
{
    static const char letters[] = "+-.0123456789eEinfatyINFATY";
    char copy[REAL_MAX_LEN + 1], *end;
    text = trimmed(text);
    if (text.len == 0 || text.len > REAL_MAX_LEN)
        return TB_MOONCAKE_NO_NUMBER;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    if (strspn(copy, letters) != text.len)
        return TB_MOONCAKE_NO_NUMBER;
    *real = tb_real_of_text(copy, &end);
    return *end ? TB_MOONCAKE_NO_NUMBER : TB_MOONCAKE_READ;
}

tb_mooncake_reading
tb_mooncake_value_real(const struct tb_mooncake_value *value, double *real)
{
    struct tb_mooncake_integer integer;
    uint64_t digits;
    if (value->kind == TB_MOONCAKE_NUMBER &&
        read_digits(value->text, &digits)) {
        *real = (double)digits; // the nearest, as is that of the text
        return TB_MOONCAKE_READ;
    }
    if (value->kind != TB_MOONCAKE_NUMBER && value->kind != TB_MOONCAKE_TEXT) {
        tb_mooncake_reading reading =
            tb_mooncake_value_integer(value, &integer);
        *real = (double)integer.magnitude;
        return reading;
    }
    if (value->kind == TB_MOONCAKE_TEXT &&
        tb_mooncake_value_integer(value, &integer) == TB_MOONCAKE_READ &&
        !integer.is_beyond) {
        *real = (double)integer.magnitude * (integer.is_negative ? -1 : 1);
        return TB_MOONCAKE_READ;
    }
    return read_real_text(value->text, real);
}
