/* "%s" % value and "{}".format(value). */
#include <math.h>
#include <string.h>

#include "c_locale.h"
#include "text_method.h"
#include "utf8.h"

enum { WIDTH_MAX = 10000 };

/* What stands between % or : and the letter that says the type. */
struct spec {
    struct tb_span fill;
    char align; /* '<', '>', '^', '=' or 0 */
    char sign;  /* '+', ' ' or 0 */
    bool is_alternate, is_zero;
    char grouping; /* ',' '_' or 0 */
    int64_t width;
    int64_t precision; /* -1: none */
    char type;         /* 0: none */
};

static tb_status fail_unbuilt(struct tb_render *run)
{
    return tb_render_fail_as(run, TB_ERR_UNSUPPORTED,
                             "a format that this program does not know");
}

/* ---- writing by a spec ------------------------------------------------ */

// Puts what was written since `mark` into its field.
static tb_status fit(struct tb_render *run, size_t mark,
                     const struct spec *spec, bool is_number)
{
    struct tb_span text;
    struct tb_value padded;
    char align = spec->align ? spec->align : is_number ? '>' : '<';
    TB_TRY(tb_render_take(run, mark, &text));
    size_t head = 0;
    if (align == '=' && text.len > 0 && strchr("+- ", text.ptr[0]))
        head = 1;
    if (align == '=' && spec->is_alternate && text.len > head + 1 &&
        text.ptr[head] == '0' && strchr("xXobB", text.ptr[head + 1]))
        head += 2;
    TB_TRY(tb_render_write(run, (struct tb_span){text.ptr, head}));
    TB_TRY(tb_text_pad(run, tb_span_from(text, head),
                       spec->width - (int64_t)head, spec->fill,
                       align == '<'   ? TB_SIDE_LEFT
                       : align == '^' ? TB_SIDE_CENTER
                                      : TB_SIDE_RIGHT,
                       &padded));
    return tb_render_write(run, padded.as.text);
}

static tb_status write_sign(struct tb_render *run, bool is_negative,
                            const struct spec *spec)
{
    if (is_negative)
        return tb_render_write_byte(run, '-');
    return spec->sign ? tb_render_write_byte(run, (uint8_t)spec->sign) : TB_OK;
}

// Digits with a separator every three before the point.
static tb_status write_grouped(struct tb_render *run, const char *digits,
                               char grouping)
{
    size_t whole = strspn(digits, "0123456789");
    for (size_t i = 0; i < whole; i++) {
        if (grouping && i > 0 && (whole - i) % 3 == 0)
            TB_TRY(tb_render_write_byte(run, (uint8_t)grouping));
        TB_TRY(tb_render_write_byte(run, (uint8_t)digits[i]));
    }
    return tb_render_write(run, tb_span_of(digits + whole));
}

static tb_status write_integer(struct tb_render *run, int64_t integer,
                               const struct spec *spec, int64_t min_digits)
{
    char digits[72];
    size_t at = sizeof(digits) - 1;
    uint64_t rest = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
    unsigned base = spec->type == 'x' || spec->type == 'X' ? 16
                    : spec->type == 'o'                    ? 8
                    : spec->type == 'b'                    ? 2
                                                           : 10;
    const char *letters =
        spec->type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    digits[at] = '\0';
    do {
        digits[--at] = letters[rest % base];
        rest /= base;
    } while (rest != 0);
    TB_TRY(write_sign(run, integer < 0, spec));
    if (spec->is_alternate && base != 10) {
        TB_TRY(tb_render_write_byte(run, '0'));
        TB_TRY(tb_render_write_byte(run, (uint8_t)spec->type));
    }
    for (int64_t i = (int64_t)(sizeof(digits) - 1 - at); i < min_digits; i++)
        TB_TRY(tb_render_write_byte(run, '0'));
    return write_grouped(run, digits + at, base == 10 ? spec->grouping : 0);
}

static tb_status write_float(struct tb_render *run, double number,
                             const struct spec *spec)
{
    char digits[512];
    int precision = spec->precision < 0 ? 6 : (int)spec->precision;
    bool is_percent = spec->type == '%';
    if (fabs(number) > 1e300 || precision > 150)
        return fail_unbuilt(run);
    char letter = is_percent ? 'f' : spec->type;
    double size = fabs(is_percent ? number * 100 : number);
    TB_TRY(write_sign(run, signbit(number) && !isnan(number), spec));
    if (letter == 'g' && spec->is_alternate)
        return fail_unbuilt(run);
    tb_real_to_text(digits, sizeof(digits), precision, letter, size);
    TB_TRY(write_grouped(run, digits, spec->grouping));
    return is_percent ? tb_render_write_byte(run, '%') : TB_OK;
}

static struct tb_span cut(struct tb_span text, int64_t precision)
{
    if (precision >= 0)
        text.len = tb_text_offset(text, (size_t)precision);
    return text;
}

/* ---- percent ---------------------------------------------------------- */

struct percent {
    struct tb_span format;
    size_t at;
    const struct tb_value *arguments;
    size_t next; /* of a tuple */
};

static tb_status next_argument(struct tb_render *run, struct percent *from,
                               const struct tb_value **value)
{
    bool is_tuple = from->arguments->kind == TB_VALUE_TUPLE;
    size_t count = is_tuple ? from->arguments->as.list->count : 1;
    if (from->next >= count)
        return tb_render_fail(run, "not enough arguments for format string");
    *value = is_tuple ? &from->arguments->as.list->items[from->next]
                      : from->arguments;
    from->next++;
    return TB_OK;
}

static tb_status named_argument(struct tb_render *run, struct percent *from,
                                const struct tb_value **value)
{
    struct tb_span rest = tb_span_from(from->format, from->at + 1);
    size_t end = tb_text_find(rest, TB_SPAN(")"), 0);
    if (end == SIZE_MAX)
        return tb_render_fail(run, "incomplete format key");
    if (from->arguments->kind != TB_VALUE_DICT)
        return tb_render_fail(run, "format requires a mapping");
    *value = tb_dict_find_text(from->arguments->as.dict,
                               (struct tb_span){rest.ptr, end});
    if (!*value)
        return tb_render_fail(run, "KeyError");
    from->at += end + 2;
    return TB_OK;
}

static uint8_t byte_at(struct tb_span text, size_t at)
{
    return at < text.len ? text.ptr[at] : 0;
}

static int64_t read_number(struct tb_span text, size_t *at)
{
    int64_t number = 0;
    while (byte_at(text, *at) >= '0' && byte_at(text, *at) <= '9') {
        if (number <= WIDTH_MAX)
            number = number * 10 + (text.ptr[*at] - '0');
        ++*at;
    }
    return number;
}

static tb_status read_size(struct tb_render *run, struct percent *from,
                           int64_t *size)
{
    const struct tb_value *value = NULL;
    if (byte_at(from->format, from->at) != '*') {
        *size = read_number(from->format, &from->at);
        return TB_OK;
    }
    from->at++;
    TB_TRY(next_argument(run, from, &value));
    return tb_eval_index(run, value, size);
}

static tb_status read_percent_spec(struct tb_render *run, struct percent *from,
                                   struct spec *spec)
{
    *spec = (struct spec){.precision = -1, .fill = TB_SPAN(" "), .align = '>'};
    for (;; from->at++) {
        uint8_t flag = byte_at(from->format, from->at);
        if (flag == '-')
            spec->align = '<';
        else if (flag == '+')
            spec->sign = '+';
        else if (flag == ' ' && !spec->sign)
            spec->sign = ' ';
        else if (flag == '#')
            spec->is_alternate = true;
        else if (flag == '0')
            spec->is_zero = true;
        else if (flag != ' ')
            break;
    }
    TB_TRY(read_size(run, from, &spec->width));
    if (byte_at(from->format, from->at) == '.') {
        from->at++;
        TB_TRY(read_size(run, from, &spec->precision));
    }
    while (byte_at(from->format, from->at) &&
           strchr("hlL", byte_at(from->format, from->at)))
        from->at++;
    spec->type = (char)byte_at(from->format, from->at++);
    if (spec->width > WIDTH_MAX || spec->precision > WIDTH_MAX)
        return tb_render_fail_as(run, TB_ERR_LIMIT, "width of a format");
    return spec->type ? TB_OK : tb_render_fail(run, "incomplete format");
}

static tb_status write_percent_number(struct tb_render *run,
                                      const struct tb_value *value,
                                      struct spec *spec)
{
    char type = spec->type;
    if (!tb_value_is_number(value))
        return tb_render_fail(run,
                              "%%%c format: a real number is required, "
                              "not %s",
                              type, tb_value_type(value));
    if (strchr("eEfFgG", type))
        return write_float(run, tb_value_number(value), spec);
    if (value->kind == TB_VALUE_FLOAT && type != 'd' && type != 'i' &&
        type != 'u')
        return tb_render_fail(run,
                              "%%%c format: an integer is required, not "
                              "float",
                              type);
    double number = tb_value_number(value);
    if (value->kind == TB_VALUE_BIG || fabs(number) > 9e18)
        return fail_unbuilt(run);
    int64_t integer = value->kind == TB_VALUE_FLOAT ? (int64_t)number
                                                    : tb_value_integer(value);
    return write_integer(run, integer, spec, spec->precision);
}

static tb_status write_percent(struct tb_render *run,
                               const struct tb_value *value, struct spec *spec)
{
    size_t mark = tb_render_mark(run);
    struct tb_span text;
    if (spec->type == 'c')
        return fail_unbuilt(run);
    bool is_text = strchr("sra", spec->type) != NULL;
    if (spec->is_zero && !is_text && spec->align != '<') {
        spec->fill = TB_SPAN("0");
        spec->align = '=';
    }
    if (!is_text && !strchr("diuoxXeEfFgG", spec->type))
        return tb_render_fail(run, "unsupported format character '%c'",
                              spec->type);
    if (!is_text) {
        TB_TRY(write_percent_number(run, value, spec));
        return fit(run, mark, spec, true);
    }
    TB_TRY(spec->type == 's' ? tb_render_write_str(run, value)
                             : tb_render_write_repr(run, value));
    TB_TRY(tb_render_take(run, mark, &text));
    TB_TRY(tb_render_write(run, cut(text, spec->precision)));
    return fit(run, mark, spec, false);
}

static tb_status write_next(struct tb_render *run, struct percent *from)
{
    const struct tb_value *value = NULL;
    struct spec spec;
    if (byte_at(from->format, from->at) == '%') {
        from->at++;
        return tb_render_write_byte(run, '%');
    }
    bool is_named = byte_at(from->format, from->at) == '(';
    if (is_named)
        TB_TRY(named_argument(run, from, &value));
    TB_TRY(read_percent_spec(run, from, &spec));
    if (!is_named)
        TB_TRY(next_argument(run, from, &value));
    return write_percent(run, value, &spec);
}

/* Python leaves arguments over when they could be a mapping, by which it means
 * whatever can be subscribed and is no text or tuple. */
static bool is_subscriptable(const struct tb_value *arguments)
{
    return arguments->kind == TB_VALUE_DICT ||
           arguments->kind == TB_VALUE_LIST ||
           arguments->kind == TB_VALUE_UNDEFINED;
}

tb_status tb_text_percent(struct tb_render *run, const struct tb_value *format,
                          const struct tb_value *arguments,
                          struct tb_value *value)
{
    struct percent from = {.format = format->as.text, .arguments = arguments};
    size_t mark = tb_render_mark(run);
    if (format->is_safe)
        return tb_render_fail_as(run, TB_ERR_UNSUPPORTED, "formats of Markup");
    while (from.at < from.format.len) {
        uint8_t byte = from.format.ptr[from.at++];
        if (byte != '%')
            TB_TRY(tb_render_write_byte(run, byte));
        else
            TB_TRY(write_next(run, &from));
    }
    if (arguments->kind == TB_VALUE_TUPLE
            ? from.next < arguments->as.list->count
            : from.next == 0 && !is_subscriptable(arguments))
        return tb_render_fail(run, "not all arguments converted during string "
                                   "formatting");
    return tb_render_take_value(run, mark, value);
}

/* ---- format ----------------------------------------------------------- */

struct fields {
    struct tb_span format;
    size_t at;
    const struct tb_given *given;
    size_t next;
};

static tb_status parse_spec(struct tb_render *run, struct tb_span text,
                            struct spec *spec)
{
    size_t at = 0;
    *spec = (struct spec){.precision = -1, .fill = TB_SPAN(" ")};
    uint32_t cp;
    size_t len = text.len ? tb_utf8_decode(text, 0, &cp) : 0;
    if (len && byte_at(text, len) && strchr("<>=^", byte_at(text, len))) {
        spec->fill = (struct tb_span){text.ptr, len};
        spec->align = (char)text.ptr[len];
        at = len + 1;
    } else if (byte_at(text, 0) && strchr("<>=^", byte_at(text, 0))) {
        spec->align = (char)text.ptr[at++];
    }
    if (byte_at(text, at) && strchr("+- ", byte_at(text, at))) {
        spec->sign = text.ptr[at] == '-' ? 0 : (char)text.ptr[at];
        at++;
    }
    spec->is_alternate = byte_at(text, at) == '#';
    at += spec->is_alternate;
    if (byte_at(text, at) == '0' && !spec->align) {
        spec->is_zero = true;
        at++;
    }
    spec->width = read_number(text, &at);
    if (byte_at(text, at) == ',' || byte_at(text, at) == '_')
        spec->grouping = (char)text.ptr[at++];
    if (byte_at(text, at) == '.') {
        at++;
        spec->precision = read_number(text, &at);
    }
    spec->type = (char)byte_at(text, at);
    at += spec->type != 0;
    if (at != text.len)
        return tb_render_fail(run, "Invalid format specifier");
    if (spec->width > WIDTH_MAX || spec->precision > WIDTH_MAX)
        return tb_render_fail_as(run, TB_ERR_LIMIT, "width of a format");
    return TB_OK;
}

static tb_status write_formatted_number(struct tb_render *run,
                                        const struct tb_value *value,
                                        struct spec *spec)
{
    if (spec->is_zero) {
        spec->fill = TB_SPAN("0");
        spec->align = '=';
        if (spec->grouping)
            return fail_unbuilt(run);
    }
    if (spec->type && strchr("eEfF%", spec->type))
        return write_float(run, tb_value_number(value), spec);
    if (value->kind == TB_VALUE_FLOAT && !spec->type && spec->precision < 0 &&
        !spec->grouping) {
        if (!signbit(value->as.number))
            TB_TRY(write_sign(run, false, spec));
        return tb_render_write_str(run, value);
    }
    if (value->kind == TB_VALUE_FLOAT || value->kind == TB_VALUE_BIG)
        return fail_unbuilt(run);
    if (spec->precision >= 0 || (spec->type && !strchr("dxXob", spec->type)))
        return tb_render_fail(run, "Unknown format code for an int");
    return write_integer(run, tb_value_integer(value), spec, -1);
}

static tb_status write_formatted(struct tb_render *run,
                                 const struct tb_value *value,
                                 struct tb_span text)
{
    struct spec spec;
    size_t mark = tb_render_mark(run);
    if (text.len == 0)
        return tb_render_write_str(run, value);
    TB_TRY(parse_spec(run, text, &spec));
    bool is_number =
        tb_value_is_number(value) &&
        (value->kind != TB_VALUE_BOOL || (spec.type && spec.type != 's'));
    if (is_number) {
        TB_TRY(write_formatted_number(run, value, &spec));
        return fit(run, mark, &spec, true);
    }
    if (!tb_value_is_text(value))
        return tb_render_fail(run,
                              "unsupported format string passed to "
                              "%s.__format__",
                              tb_value_type(value));
    if ((spec.type && spec.type != 's') || spec.sign || spec.grouping ||
        spec.align == '=' || spec.is_alternate)
        return tb_render_fail(run, "Unknown format code for a str");
    if (spec.is_zero)
        spec.fill = TB_SPAN("0");
    TB_TRY(tb_render_write(run, cut(value->as.text, spec.precision)));
    return fit(run, mark, &spec, false);
}

static bool all_digits(struct tb_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    return text.len > 0;
}

static tb_status first_value(struct tb_render *run, struct fields *from,
                             struct tb_span name, struct tb_value *value)
{
    size_t index = from->next, at = 0;
    if (name.len == 0)
        from->next++;
    else if (all_digits(name))
        index = (size_t)read_number(name, &at);
    if (name.len == 0 || all_digits(name)) {
        if (index >= from->given->count)
            return tb_render_fail(run,
                                  "Replacement index %zu out of range for "
                                  "positional args tuple",
                                  index);
        *value = from->given->items[index];
        return TB_OK;
    }
    for (size_t i = 0; i < from->given->keyword_count; i++)
        if (tb_span_equal(from->given->keywords[i].name, name)) {
            *value = from->given->keywords[i].value;
            return TB_OK;
        }
    return tb_render_fail(run, "KeyError: '%.*s'", (int)name.len,
                          (const char *)name.ptr);
}

// name, then .attribute or [item] any number of times.
static tb_status field_value(struct tb_render *run, struct fields *from,
                             struct tb_span name, struct tb_value *value)
{
    size_t end = 0;
    while (end < name.len && name.ptr[end] != '.' && name.ptr[end] != '[')
        end++;
    TB_TRY(first_value(run, from, (struct tb_span){name.ptr, end}, value));
    while (end < name.len) {
        bool is_item = name.ptr[end] == '[';
        size_t start = end + 1, at = 0;
        for (end = start;
             end < name.len &&
             (is_item ? name.ptr[end] != ']'
                      : name.ptr[end] != '.' && name.ptr[end] != '[');)
            end++;
        struct tb_span part = {name.ptr + start, end - start};
        struct tb_value key = tb_value_text(part);
        if (is_item && all_digits(part))
            key = tb_value_int(read_number(part, &at));
        if (is_item)
            TB_TRY(tb_eval_getitem(run, value, &key, value));
        else
            TB_TRY(tb_eval_getattr(run, value, part, value));
        end += is_item;
    }
    return TB_OK;
}

static tb_status write_field(struct tb_render *run, struct fields *from)
{
    struct tb_span rest = tb_span_from(from->format, from->at);
    size_t end = tb_text_find(rest, TB_SPAN("}"), 0);
    if (end == SIZE_MAX)
        return tb_render_fail(run, "expected '}' before end of string");
    struct tb_span field = {rest.ptr, end}, spec = {0};
    if (tb_text_find(field, TB_SPAN("{"), 0) != SIZE_MAX)
        return fail_unbuilt(run);
    from->at += end + 1;
    size_t colon = tb_text_find(field, TB_SPAN(":"), 0);
    if (colon != SIZE_MAX) {
        spec = tb_span_from(field, colon + 1);
        field.len = colon;
    }
    char conversion = 0;
    if (field.len >= 2 && field.ptr[field.len - 2] == '!') {
        conversion = (char)field.ptr[field.len - 1];
        field.len -= 2;
    }
    struct tb_value value;
    TB_TRY(field_value(run, from, field, &value));
    if (conversion) {
        size_t mark = tb_render_mark(run);
        TB_TRY(conversion == 's' ? tb_render_write_str(run, &value)
                                 : tb_render_write_repr(run, &value));
        TB_TRY(tb_render_take_value(run, mark, &value));
    }
    return write_formatted(run, &value, spec);
}

tb_status tb_text_format(struct tb_render *run, struct tb_span format,
                         const struct tb_given *given, struct tb_value *value)
{
    struct fields from = {.format = format, .given = given};
    size_t mark = tb_render_mark(run);
    while (from.at < format.len) {
        uint8_t byte = format.ptr[from.at++];
        bool is_brace = byte == '{' || byte == '}';
        if (is_brace && byte_at(format, from.at) == byte)
            from.at++;
        else if (byte == '{') {
            TB_TRY(write_field(run, &from));
            continue;
        } else if (byte == '}')
            return tb_render_fail(run, "Single '}' encountered in format "
                                       "string");
        TB_TRY(tb_render_write_byte(run, byte));
    }
    return tb_render_take_value(run, mark, value);
}
