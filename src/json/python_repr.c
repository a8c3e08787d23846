#include "python_repr.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "c_locale.h"
#include "json_reader.h"
#include "name_table.h"
#include "unicode.h"
#include "utf8.h"

enum {
    DOUBLE_DIGITS = 17, /* always enough to read a double back */
    POINT_MIN = -4,     /* CPython: an exponent when the decimal point stands */
    POINT_MAX = 16      /* at or left of the first, or right of the second */
};

struct writer {
    struct tb_buffer *out;
    struct tb_name_table keys; /* of the object being looked through */
    struct tb_buffer key;      /* a key without its escapes */
};

static tb_status write_value(struct writer *writer,
                             struct tb_json_reader *reader);

/* ---- strings ---------------------------------------------------------- */

static int hex_value(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    uint8_t lower = byte | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Reads the four digits of \uXXXX at `at`.
static bool read_hex(struct tb_span raw, size_t at, uint32_t *unit)
{
    if (raw.len < 4 || at > raw.len - 4)
        return false;
    *unit = 0;
    for (size_t i = at; i < at + 4; i++) {
        int digit = hex_value(raw.ptr[i]);
        if (digit < 0)
            return false;
        *unit = *unit << 4 | (uint32_t)digit;
    }
    return true;
}

// Reads \uXXXX, and the second half of a pair if one follows.
static bool read_unicode_escape(struct tb_span raw, size_t *at, uint32_t *cp)
{
    if (!read_hex(raw, *at + 2, cp))
        return false;
    *at += 6;
    uint32_t low;
    bool is_pair = *cp >= 0xD800 && *cp <= 0xDBFF && raw.len - *at >= 6 &&
                   raw.ptr[*at] == '\\' && raw.ptr[*at + 1] == 'u' &&
                   read_hex(raw, *at + 2, &low) && low >= 0xDC00 &&
                   low <= 0xDFFF;
    if (is_pair) {
        *cp = 0x10000 + ((*cp - 0xD800) << 10) + (low - 0xDC00);
        *at += 6;
    }
    return true;
}

/* Reads one code point of the inside of a JSON string, resolving its escape;
 * unlike the reader it gives a lone surrogate as what it is. */
static bool next_code_point(struct tb_span raw, size_t *at, uint32_t *cp)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    if (raw.ptr[*at] != '\\') {
        *at += tb_utf8_decode(raw, *at, cp);
        return true;
    }
    if (raw.len - *at < 2)
        return false;
    uint8_t letter = raw.ptr[*at + 1];
    if (letter == 'u')
        return read_unicode_escape(raw, at, cp);
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (!found)
        return false;
    *cp = (uint8_t)values[found - letters];
    *at += 2;
    return true;
}

// Assigned after Unicode 14.0, which is what CPython 3.11 knows.
static bool is_unknown_to_python(uint32_t cp)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0x897, 0x897},     {0xCF3, 0xCF3},     {0xECE, 0xECE},
                  {0x1B4E, 0x1B4F},   {0x1B7F, 0x1B7F},   {0x1C89, 0x1C8A},
                  {0x2427, 0x2429},   {0x2FFC, 0x2FFF},   {0x31E4, 0x31E5},
                  {0x31EF, 0x31EF},   {0xA7CB, 0xA7CD},   {0xA7DA, 0xA7DC},
                  {0x105C0, 0x105F3}, {0x10D40, 0x10D65}, {0x10D69, 0x10D85},
                  {0x10D8E, 0x10D8F}, {0x10EC2, 0x10EC4}, {0x10EFC, 0x10EFF},
                  {0x1123F, 0x11241}, {0x11380, 0x11389}, {0x1138B, 0x1138B},
                  {0x1138E, 0x1138E}, {0x11390, 0x113B5}, {0x113B7, 0x113C0},
                  {0x113C2, 0x113C2}, {0x113C5, 0x113C5}, {0x113C7, 0x113CA},
                  {0x113CC, 0x113D5}, {0x113D7, 0x113D8}, {0x113E1, 0x113E2},
                  {0x116D0, 0x116E3}, {0x11B00, 0x11B09}, {0x11BC0, 0x11BE1},
                  {0x11BF0, 0x11BF9}, {0x11F00, 0x11F10}, {0x11F12, 0x11F3A},
                  {0x11F3E, 0x11F5A}, {0x1342F, 0x1342F}, {0x13440, 0x13455},
                  {0x13460, 0x143FA}, {0x16100, 0x16139}, {0x16D40, 0x16D79},
                  {0x18CFF, 0x18CFF}, {0x1B132, 0x1B132}, {0x1B155, 0x1B155},
                  {0x1CC00, 0x1CCF9}, {0x1CD00, 0x1CEB3}, {0x1D2C0, 0x1D2D3},
                  {0x1DF25, 0x1DF2A}, {0x1E030, 0x1E06D}, {0x1E08F, 0x1E08F},
                  {0x1E4D0, 0x1E4F9}, {0x1E5D0, 0x1E5FA}, {0x1E5FF, 0x1E5FF},
                  {0x1F6DC, 0x1F6DC}, {0x1F774, 0x1F776}, {0x1F77B, 0x1F77F},
                  {0x1F7D9, 0x1F7D9}, {0x1F8B2, 0x1F8BB}, {0x1F8C0, 0x1F8C1},
                  {0x1FA75, 0x1FA77}, {0x1FA87, 0x1FA89}, {0x1FA8F, 0x1FA8F},
                  {0x1FAAD, 0x1FAAF}, {0x1FABB, 0x1FABF}, {0x1FAC6, 0x1FAC6},
                  {0x1FACE, 0x1FACF}, {0x1FADA, 0x1FADC}, {0x1FADF, 0x1FADF},
                  {0x1FAE8, 0x1FAE9}, {0x1FAF7, 0x1FAF8}, {0x1FBCB, 0x1FBEF},
                  {0x2B739, 0x2B739}, {0x2EBF0, 0x2EE5D}, {0x31350, 0x323AF}};
    size_t low = 0, high = sizeof(ranges) / sizeof(ranges[0]);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges[middle].last < cp)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sizeof(ranges) / sizeof(ranges[0]) && ranges[low].first <= cp;
}

static bool is_printable(uint32_t cp)
{
    if (cp < 0x7F)
        return cp >= ' ';
    return !tb_unicode_in(cp, TB_UNICODE_MASK_C | TB_UNICODE_MASK_Z) &&
           !is_unknown_to_python(cp);
}

static tb_status write_code_point(struct tb_buffer *out, uint32_t cp,
                                  uint8_t quote)
{
    if (cp == quote || cp == '\\')
        return tb_buffer_printf(out, "\\%c", (int)cp);
    if (cp == '\n')
        return tb_buffer_append(out, TB_SPAN("\\n"));
    if (cp == '\r')
        return tb_buffer_append(out, TB_SPAN("\\r"));
    if (cp == '\t')
        return tb_buffer_append(out, TB_SPAN("\\t"));
    if (is_printable(cp)) {
        uint8_t bytes[TB_UTF8_MAX_LEN];
        size_t len = tb_utf8_encode(cp, bytes);
        return tb_buffer_append(out, (struct tb_span){bytes, len});
    }
    const char *format = cp > 0xFFFF ? "\\U%08x"
                         : cp > 0xFF ? "\\u%04x"
                                     : "\\x%02x";
    return tb_buffer_printf(out, format, (unsigned)cp);
}

// The bytes from `at` on that stand in the repr as they are.
static size_t plain_len(struct tb_span raw, size_t at, uint8_t quote)
{
    size_t i = at;
    while (i < raw.len && raw.ptr[i] >= ' ' && raw.ptr[i] < 0x7F &&
           raw.ptr[i] != '\\' && raw.ptr[i] != quote)
        i++;
    return i - at;
}

static tb_status fail_escape(struct tb_json_reader *reader)
{
    return tb_json_fail(reader, TB_ERR_SYNTAX, "unknown escape in a string");
}

// Single quotes, unless the text has one of those and no double ones.
static tb_status choose_quote(struct tb_json_reader *reader, struct tb_span raw,
                              uint8_t *quote)
{
    bool has_single = false, has_double = false;
    for (size_t at = 0; at < raw.len;) {
        uint32_t cp;
        if (!next_code_point(raw, &at, &cp))
            return fail_escape(reader);
        has_single |= cp == '\'';
        has_double |= cp == '"';
    }
    *quote = has_single && !has_double ? '"' : '\'';
    return TB_OK;
}

// `raw` is the inside of a JSON string.
static tb_status write_string(struct writer *writer,
                              struct tb_json_reader *reader, struct tb_span raw)
{
    uint8_t quote = '\'';
    TB_TRY(choose_quote(reader, raw, &quote));
    TB_TRY(tb_buffer_append_byte(writer->out, quote));
    for (size_t at = 0; at < raw.len;) {
        size_t len = plain_len(raw, at, quote);
        TB_TRY(
            tb_buffer_append(writer->out, (struct tb_span){raw.ptr + at, len}));
        at += len;
        if (at == raw.len)
            break;
        uint32_t cp;
        if (!next_code_point(raw, &at, &cp))
            return fail_escape(reader);
        TB_TRY(write_code_point(writer->out, cp, quote));
    }
    return tb_buffer_append_byte(writer->out, quote);
}

static struct tb_span inside_quotes(struct tb_span json)
{
    assert(json.len >= 2);
    return (struct tb_span){json.ptr + 1, json.len - 2};
}

/* ---- numbers ---------------------------------------------------------- */

/* A finite double in decimal: 0.digits * 10^point. */
struct decimal {
    char digits[DOUBLE_DIGITS + 1]; /* no trailing zeros, at least one digit */
    int point;
};

// Takes the digits and the exponent out of "d.ddde+xx", whatever the point is.
static void split(const char *text, struct decimal *decimal)
{
    size_t count = 0;
    const char *at = text;
    for (; *at != '\0' && *at != 'e'; at++) {
        if (*at >= '0' && *at <= '9' && count < DOUBLE_DIGITS)
            decimal->digits[count++] = *at;
    }
    while (count > 1 && decimal->digits[count - 1] == '0')
        count--;
    decimal->digits[count] = '\0';
    decimal->point = (*at == 'e' ? (int)strtol(at + 1, NULL, 10) : 0) + 1;
}

// Adds one to the last of the digits of "d.ddde+xx"; false when all are nines.
static bool step_up(char *text)
{
    char *at = strchr(text, 'e');
    while (at-- != text) {
        if (*at < '0' || *at > '9')
            continue;
        if (*at != '9') {
            ++*at;
            return true;
        }
        *at = '0';
    }
    return false;
}

/* The fewest digits that read back as `value`, and of those the nearest. That
 * is the value rounded to so many digits, but for powers of two: below them
 * doubles stand closer than above, and the nearest decimal may belong to the
 * neighbour below while the next one above still reads back. */
static struct decimal shortest(double value)
{
    struct decimal decimal;
    char text[40];
    for (int precision = 0; precision < DOUBLE_DIGITS; precision++) {
        tb_real_to_text(text, sizeof(text), precision, 'e', value);
        if (tb_real_of_text(text, NULL) == value ||
            (step_up(text) && tb_real_of_text(text, NULL) == value))
            break;
    }
    split(text, &decimal);
    return decimal;
}

static tb_status write_zeros(struct tb_buffer *out, int count)
{
    for (int i = 0; i < count; i++)
        TB_TRY(tb_buffer_append_byte(out, '0'));
    return TB_OK;
}

static tb_status write_fixed(struct tb_buffer *out, const struct decimal *value)
{
    int count = (int)strlen(value->digits);
    if (value->point <= 0) {
        TB_TRY(tb_buffer_append(out, TB_SPAN("0.")));
        TB_TRY(write_zeros(out, -value->point));
        return tb_buffer_append(out, tb_span_of(value->digits));
    }
    if (value->point >= count) {
        TB_TRY(tb_buffer_append(out, tb_span_of(value->digits)));
        TB_TRY(write_zeros(out, value->point - count));
        return tb_buffer_append(out, TB_SPAN(".0"));
    }
    return tb_buffer_printf(out, "%.*s.%s", value->point, value->digits,
                            value->digits + value->point);
}

static tb_status write_double(struct tb_buffer *out, double value)
{
    if (isnan(value))
        return tb_buffer_append(out, TB_SPAN("nan"));
    if (signbit(value))
        TB_TRY(tb_buffer_append_byte(out, '-'));
    if (isinf(value))
        return tb_buffer_append(out, TB_SPAN("inf"));
    struct decimal decimal = shortest(fabs(value));
    if (decimal.point > POINT_MIN && decimal.point <= POINT_MAX)
        return write_fixed(out, &decimal);
    return tb_buffer_printf(out, "%c%s%se%c%02d", decimal.digits[0],
                            decimal.digits[1] ? "." : "", decimal.digits + 1,
                            decimal.point > 0 ? '+' : '-',
                            abs(decimal.point - 1));
}

static bool is_written_as_integer(struct tb_span text)
{
    for (size_t i = text.ptr[0] == '-'; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    }
    return true;
}

static tb_status write_number(struct writer *writer,
                              struct tb_json_reader *reader)
{
    struct tb_json_number number;
    TB_TRY(tb_json_read_number(reader, &number));
    if (is_written_as_integer(number.text)) {
        bool is_zero = number.is_integer && number.integer == 0;
        return tb_buffer_append(writer->out,
                                is_zero ? TB_SPAN("0") : number.text);
    }
    if (tb_span_equal(number.text, TB_SPAN("Infinity")))
        return write_double(writer->out, INFINITY);
    if (tb_span_equal(number.text, TB_SPAN("-Infinity")))
        return write_double(writer->out, -INFINITY);
    return write_double(writer->out, number.value);
}

/* ---- lists and objects ------------------------------------------------ */

static tb_status write_list(struct writer *writer,
                            struct tb_json_reader *reader)
{
    TB_TRY(tb_json_enter_array(reader));
    TB_TRY(tb_buffer_append_byte(writer->out, '['));
    for (bool is_first = true;; is_first = false) {
        bool found;
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            return tb_buffer_append_byte(writer->out, ']');
        if (!is_first)
            TB_TRY(tb_buffer_append(writer->out, TB_SPAN(", ")));
        TB_TRY(write_value(writer, reader));
    }
}

// The number of a key, equal for equal keys however they are escaped.
static tb_status number_key(struct writer *writer,
                            struct tb_json_reader *reader, struct tb_span raw,
                            uint32_t *number)
{
    if (!raw.len || !memchr(raw.ptr, '\\', raw.len))
        return tb_name_table_add(&writer->keys, raw, number);
    tb_buffer_clear(&writer->key);
    for (size_t at = 0; at < raw.len;) {
        uint32_t cp;
        if (!next_code_point(raw, &at, &cp))
            return fail_escape(reader);
        // A surrogate has no UTF-8; any bytes do that nothing else gives.
        if (cp >= 0xD800 && cp <= 0xDFFF) {
            TB_TRY(tb_buffer_printf(&writer->key, "\xFF%04x", (unsigned)cp));
            continue;
        }
        uint8_t bytes[TB_UTF8_MAX_LEN];
        size_t len = tb_utf8_encode(cp, bytes);
        TB_TRY(tb_buffer_append(&writer->key, (struct tb_span){bytes, len}));
    }
    return tb_name_table_add(&writer->keys, tb_buffer_span(&writer->key),
                             number);
}

/* Looks through the object that `reader` (a copy) has just entered. Returns in
 * `*count` how many pairs it has, and leaves its keys numbered. */
static tb_status look_through(struct writer *writer,
                              struct tb_json_reader *reader, size_t *count)
{
    tb_name_table_reset(&writer->keys);
    *count = 0;
    for (;;) {
        struct tb_span key;
        uint32_t number;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        TB_TRY(number_key(writer, reader, key, &number));
        TB_TRY(tb_json_skip(reader));
        ++*count;
    }
}

static tb_status write_pair(struct writer *writer,
                            struct tb_json_reader *reader, struct tb_span key,
                            bool is_first)
{
    if (!is_first)
        TB_TRY(tb_buffer_append(writer->out, TB_SPAN(", ")));
    TB_TRY(write_string(writer, reader, key));
    TB_TRY(tb_buffer_append(writer->out, TB_SPAN(": ")));
    return write_value(writer, reader);
}

struct pair {
    struct tb_span key;
    struct tb_json_reader value; /* stands before the last value of the key */
};

// Steps through an object that has keys twice, noting each key's last value.
static tb_status collect_pairs(struct writer *writer,
                               struct tb_json_reader *reader,
                               struct pair *pairs)
{
    tb_name_table_reset(&writer->keys);
    for (;;) {
        struct tb_span key;
        uint32_t number;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        TB_TRY(number_key(writer, reader, key, &number));
        if (!pairs[number].key.ptr)
            pairs[number].key = key;
        pairs[number].value = *reader;
        TB_TRY(tb_json_skip(reader));
    }
}

static tb_status write_pairs(struct writer *writer,
                             struct tb_json_reader *reader)
{
    uint32_t count = writer->keys.count;
    struct tb_arena arena = {0};
    struct pair *pairs = TB_ARENA_NEW(&arena, struct pair, count);
    tb_status status = pairs ? TB_OK : TB_ERR_MEMORY;
    if (status == TB_OK)
        status = collect_pairs(writer, reader, pairs);
    for (uint32_t i = 0; i < count && status == TB_OK; i++) {
        status = write_pair(writer, &pairs[i].value, pairs[i].key, i == 0);
        if (status != TB_OK)
            reader->error = pairs[i].value.error;
    }
    tb_arena_release(&arena);
    return status;
}

static tb_status write_object(struct writer *writer,
                              struct tb_json_reader *reader)
{
    TB_TRY(tb_json_enter_object(reader));
    TB_TRY(tb_buffer_append_byte(writer->out, '{'));
    struct tb_json_reader ahead = *reader;
    size_t count;
    tb_status status = look_through(writer, &ahead, &count);
    if (status != TB_OK) {
        reader->error = ahead.error;
        return status;
    }
    if (count > writer->keys.count) {
        TB_TRY(write_pairs(writer, reader));
        return tb_buffer_append_byte(writer->out, '}');
    }
    for (bool is_first = true;; is_first = false) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return tb_buffer_append_byte(writer->out, '}');
        TB_TRY(write_pair(writer, reader, key, is_first));
    }
}

static tb_status write_value(struct writer *writer,
                             struct tb_json_reader *reader)
{
    tb_json_type type;
    struct tb_span raw;
    TB_TRY(tb_json_peek(reader, &type));
    switch (type) {
    case TB_JSON_OBJECT:
        return write_object(writer, reader);
    case TB_JSON_ARRAY:
        return write_list(writer, reader);
    case TB_JSON_NUMBER:
        return write_number(writer, reader);
    case TB_JSON_STRING:
        TB_TRY(tb_json_read_raw(reader, &raw));
        return write_string(writer, reader, inside_quotes(raw));
    default:
        TB_TRY(tb_json_skip(reader));
        return tb_buffer_append(writer->out,
                                type == TB_JSON_TRUE    ? TB_SPAN("True")
                                : type == TB_JSON_FALSE ? TB_SPAN("False")
                                                        : TB_SPAN("None"));
    }
}

tb_status tb_python_repr(struct tb_span json, struct tb_buffer *out,
                         struct tb_error *error)
{
    struct tb_json_reader reader;
    struct writer writer = {.out = out, .key = TB_BUFFER(out->max_len)};
    tb_json_reader_init_span(&reader, json, 0, 1);
    tb_status status = write_value(&writer, &reader);
    if (status == TB_OK)
        status = tb_json_expect_end(&reader);
    if (status != TB_OK && reader.error.status != status)
        tb_fail(&reader.error, status, "cannot show a value as Python does");
    if (status != TB_OK && error)
        *error = reader.error;
    tb_name_table_release(&writer.keys);
    tb_buffer_release(&writer.key);
    return status;
}
