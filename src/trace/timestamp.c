#include "timestamp.h"

#include <math.h>

enum {
    NS_DIGITS = 9,
    MINUTE_S = 60,
    HOUR_S = 60 * MINUTE_S,
    DAY_S = 24 * HOUR_S,
};

static const int64_t second_ns = 1000000000;

/* ---- text ------------------------------------------------------------- */

struct cursor {
    struct tb_span text;
    size_t at;
};

static uint8_t look(const struct cursor *cursor)
{
    return cursor->at < cursor->text.len ? cursor->text.ptr[cursor->at] : 0;
}

static bool take(struct cursor *cursor, uint8_t byte)
{
    if (look(cursor) != byte || byte == 0)
        return false;
    cursor->at++;
    return true;
}

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

// Exactly `count` digits, worth `min` to `max`.
static bool take_digits(struct cursor *cursor, int count, int min, int max,
                        int *value)
{
    *value = 0;
    for (int i = 0; i < count; i++) {
        uint8_t byte = look(cursor);
        if (!is_digit(byte))
            return false;
        *value = *value * 10 + (byte - '0');
        cursor->at++;
    }
    return *value >= min && *value <= max;
}

/* Days from 1970-01-01. Years begin in March here, so that the leap day is the
 * last one; 153 days are the five months from March to July, and again from
 * August to December. */
static int64_t days_of_date(int year, int month, int day)
{
    int64_t years = month > 2 ? year : year - 1;
    int64_t months = month > 2 ? month - 3 : month + 9;
    int64_t leap_days = years / 4 - years / 100 + years / 400;
    int64_t days = years * 365 + leap_days + (months * 153 + 2) / 5 + day - 1;
    return days - 719468; // that count for 1970-01-01
}

static bool take_date(struct cursor *cursor, int64_t *days)
{
    static const int lengths[] = {31, 29, 31, 30, 31, 30,
                                  31, 31, 30, 31, 30, 31};
    int year, month, day;
    if (!take_digits(cursor, 4, 1, 9999, &year) || !take(cursor, '-') ||
        !take_digits(cursor, 2, 1, 12, &month) || !take(cursor, '-') ||
        !take_digits(cursor, 2, 1, lengths[month - 1], &day))
        return false;
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (month == 2 && day == 29 && !is_leap)
        return false;
    *days = days_of_date(year, month, day);
    return true;
}

static bool take_fraction(struct cursor *cursor, int64_t *ns)
{
    int64_t value = 0;
    int count = 0;
    for (; is_digit(look(cursor)); cursor->at++, count++) {
        if (count < NS_DIGITS)
            value = value * 10 + (look(cursor) - '0');
    }
    bool is_any = count > 0;
    for (; count < NS_DIGITS; count++)
        value *= 10;
    *ns = value;
    return is_any;
}

static bool take_clock(struct cursor *cursor, int64_t *seconds, int64_t *ns)
{
    int hour, minute, second = 0;
    *ns = 0;
    if (!take_digits(cursor, 2, 0, 23, &hour) || !take(cursor, ':') ||
        !take_digits(cursor, 2, 0, 59, &minute))
        return false;
    if (take(cursor, ':')) {
        // 60 is a leap second, and the same as the next minute's first.
        if (!take_digits(cursor, 2, 0, 60, &second))
            return false;
        bool has_fraction = take(cursor, '.') || take(cursor, ',');
        if (has_fraction && !take_fraction(cursor, ns))
            return false;
    }
    *seconds = (int64_t)hour * HOUR_S + minute * MINUTE_S + second;
    return true;
}

static bool take_zone(struct cursor *cursor, int64_t *seconds)
{
    *seconds = 0;
    (void)take(cursor, ' ');
    if (cursor->at == cursor->text.len)
        return true;
    if (take(cursor, 'Z') || take(cursor, 'z'))
        return true;
    if (tb_span_equal(tb_span_from(cursor->text, cursor->at), TB_SPAN("UTC"))) {
        cursor->at = cursor->text.len;
        return true;
    }
    bool is_west = look(cursor) == '-';
    int hours, minutes = 0;
    if (!take(cursor, '+') && !take(cursor, '-'))
        return false;
    if (!take_digits(cursor, 2, 0, 23, &hours))
        return false;
    bool has_more = take(cursor, ':') || is_digit(look(cursor));
    if (has_more && !take_digits(cursor, 2, 0, 59, &minutes))
        return false;
    *seconds = (int64_t)hours * HOUR_S + minutes * MINUTE_S;
    if (is_west)
        *seconds = -*seconds;
    return true;
}

static bool combine(int64_t seconds, int64_t ns, int64_t *result)
{
    int64_t limit = INT64_MAX / second_ns - 1;
    if (seconds > limit || seconds < -limit)
        return false;
    *result = seconds * second_ns + ns;
    return true;
}

static bool read_iso(struct tb_span text, int64_t *ns)
{
    struct cursor cursor = {text, 0};
    int64_t days, clock = 0, zone = 0, fraction = 0;
    if (!take_date(&cursor, &days))
        return false;
    if (cursor.at < text.len) {
        if (!take(&cursor, 'T') && !take(&cursor, 't') && !take(&cursor, ' '))
            return false;
        if (!take_clock(&cursor, &clock, &fraction) ||
            !take_zone(&cursor, &zone) || cursor.at != text.len)
            return false;
    }
    return combine(days * DAY_S + clock - zone, fraction, ns);
}

static struct tb_span trim(struct tb_span text)
{
    while (text.len > 0 && text.ptr[0] == ' ')
        text = tb_span_from(text, 1);
    while (text.len > 0 && text.ptr[text.len - 1] == ' ')
        text.len--;
    return text;
}

bool tb_timestamp_of_text(struct tb_span text, int64_t *ns)
{
    text = trim(text);
    if (read_iso(text, ns))
        return true;
    if (text.len == 0 || !is_digit(text.ptr[text.len - 1]))
        return false;
    struct tb_json_reader reader;
    struct tb_json_number number;
    tb_json_reader_init_span(&reader, text, 0, 1);
    return tb_json_read_number(&reader, &number) == TB_OK &&
           tb_json_expect_end(&reader) == TB_OK &&
           tb_timestamp_of_number(&number, ns);
}

/* ---- numbers ---------------------------------------------------------- */

// How many of the number's units a second has, by the number's size.
static int64_t units_per_second(double value)
{
    double size = fabs(value);
    if (size < 1e11)
        return 1;
    if (size < 1e14)
        return 1000;
    return size < 1e17 ? 1000000 : second_ns;
}

bool tb_timestamp_of_number(const struct tb_json_number *number, int64_t *ns)
{
    if (!isfinite(number->value) || fabs(number->value) >= 9.2e18)
        return false;
    int64_t units = units_per_second(number->value);
    if (number->is_integer) {
        int64_t whole = number->integer / units;
        return combine(whole, number->integer % units * (second_ns / units),
                       ns);
    }
    // Whole seconds apart, so that they do not take the fraction's digits.
    double seconds = floor(number->value / (double)units);
    double rest = number->value - seconds * (double)units;
    return combine((int64_t)seconds,
                   (int64_t)llround(rest * (double)(second_ns / units)), ns);
}

tb_status tb_timestamp_read(struct tb_json_reader *reader,
                            struct tb_arena *arena, int64_t *ns, bool *is_known)
{
    tb_json_type type;
    struct tb_span text;
    struct tb_json_number number;
    *is_known = false;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_STRING) {
        TB_TRY(tb_json_read_string(reader, arena, &text));
        *is_known = tb_timestamp_of_text(text, ns);
        return TB_OK;
    }
    if (type != TB_JSON_NUMBER)
        return tb_json_skip(reader);
    TB_TRY(tb_json_read_number(reader, &number));
    *is_known = tb_timestamp_of_number(&number, ns);
    return TB_OK;
}

double tb_timestamp_seconds(int64_t ns)
{
    int64_t whole = ns / second_ns;
    return (double)whole + (double)(ns % second_ns) / (double)second_ns;
}
