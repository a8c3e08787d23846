/* Filters that make text or single values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "c_locale.h"
#include "jinja_filter.h"
#include "json_value.h"
#include "text_method.h"
#include "utf8.h"

static bool is_absent(const struct tb_value *value)
{
    return value->kind == TB_VALUE_ABSENT;
}

static tb_status no_arguments(struct tb_render *run,
                              const struct tb_given *given)
{
    return tb_given_bind(run, given, "filter", "", 0, NULL);
}

/* ---- plain ------------------------------------------------------------ */

static tb_status filter_default(struct tb_render *run,
                                const struct tb_value *input,
                                const struct tb_given *given,
                                struct tb_value *value)
{
    struct tb_value arguments[2];
    TB_TRY(tb_given_bind(run, given, "default", "default_value boolean", 0,
                         arguments));
    bool is_boolean =
        !is_absent(&arguments[1]) && tb_value_is_true(&arguments[1]);
    *value = *input;
    if (!tb_value_is_undefined(input) &&
        (!is_boolean || tb_value_is_true(input)))
        return TB_OK;
    *value = is_absent(&arguments[0]) ? tb_value_text((struct tb_span){0})
                                      : arguments[0];
    return TB_OK;
}

static tb_status filter_string(struct tb_render *run,
                               const struct tb_value *input,
                               const struct tb_given *given,
                               struct tb_value *value)
{
    struct tb_span text;
    TB_TRY(no_arguments(run, given));
    TB_TRY(tb_render_str(run, input, &text));
    *value = tb_value_text(text);
    value->is_safe = input->is_safe;
    return TB_OK;
}

static tb_status map_case(struct tb_render *run, const struct tb_value *input,
                          const struct tb_given *given,
                          tb_status (*write)(struct tb_render *run,
                                             struct tb_span text),
                          struct tb_value *value)
{
    struct tb_span text;
    TB_TRY(no_arguments(run, given));
    TB_TRY(tb_render_str(run, input, &text));
    size_t mark = tb_render_mark(run);
    TB_TRY(write(run, text));
    TB_TRY(tb_render_take_value(run, mark, value));
    value->is_safe = input->is_safe;
    return TB_OK;
}

static tb_status write_upper(struct tb_render *run, struct tb_span text)
{
    return tb_text_write_case(run, text, TB_CASE_UPPER);
}

static tb_status write_lower(struct tb_render *run, struct tb_span text)
{
    return tb_text_write_case(run, text, TB_CASE_LOWER);
}

static tb_status filter_upper(struct tb_render *run,
                              const struct tb_value *input,
                              const struct tb_given *given,
                              struct tb_value *value)
{
    return map_case(run, input, given, write_upper, value);
}

static tb_status filter_lower(struct tb_render *run,
                              const struct tb_value *input,
                              const struct tb_given *given,
                              struct tb_value *value)
{
    return map_case(run, input, given, write_lower, value);
}

static tb_status filter_capitalize(struct tb_render *run,
                                   const struct tb_value *input,
                                   const struct tb_given *given,
                                   struct tb_value *value)
{
    return map_case(run, input, given, tb_text_write_capitalized, value);
}

static bool begins_word(uint32_t cp)
{
    return tb_text_is_space(cp) ||
           (cp < 0x80 && cp && strchr("-({[<", (int)cp));
}

// The filter's idea of a word is not that of str.title.
static tb_status write_title(struct tb_render *run, struct tb_span text)
{
    bool is_first = true;
    for (size_t at = 0; at < text.len;) {
        uint32_t cp;
        size_t len = tb_utf8_decode(text, at, &cp);
        struct tb_span one = {text.ptr + at, len};
        size_t end = at + len;
        if (!begins_word(cp) && !is_first) {
            // As one piece, since the case of a sigma depends on the others.
            for (; end < text.len; end += len) {
                len = tb_utf8_decode(text, end, &cp);
                if (begins_word(cp))
                    break;
            }
            one.len = end - at;
        }
        TB_TRY(tb_text_write_case(run, one,
                                  is_first ? TB_CASE_UPPER : TB_CASE_LOWER));
        tb_utf8_decode(text, at, &cp);
        is_first = begins_word(cp);
        at = end;
    }
    return TB_OK;
}

static tb_status filter_title(struct tb_render *run,
                              const struct tb_value *input,
                              const struct tb_given *given,
                              struct tb_value *value)
{
    return map_case(run, input, given, write_title, value);
}

static tb_status filter_trim(struct tb_render *run,
                             const struct tb_value *input,
                             const struct tb_given *given,
                             struct tb_value *value)
{
    struct tb_value set;
    struct tb_span text, chars = {0};
    TB_TRY(tb_given_bind(run, given, "trim", "chars", 0, &set));
    TB_TRY(tb_render_str(run, input, &text));
    if (!is_absent(&set) && set.kind != TB_VALUE_NONE) {
        if (!tb_value_is_text(&set))
            return tb_render_fail(run, "strip arg must be None or str");
        chars = set.as.text.ptr ? set.as.text : TB_SPAN("");
    }
    TB_TRY(tb_render_scan(run, chars.len < 64 ? 0 : text.len * chars.len));
    *value = tb_value_text(tb_text_strip(text, chars, true, true));
    value->is_safe = input->is_safe;
    return TB_OK;
}

static tb_status filter_length(struct tb_render *run,
                               const struct tb_value *input,
                               const struct tb_given *given,
                               struct tb_value *value)
{
    size_t length;
    TB_TRY(no_arguments(run, given));
    if (!tb_value_length(input, &length))
        return tb_render_fail(run, "object of type '%s' has no len()",
                              tb_value_type(input));
    *value = tb_value_int((int64_t)length);
    return TB_OK;
}

static tb_status filter_replace(struct tb_render *run,
                                const struct tb_value *input,
                                const struct tb_given *given,
                                struct tb_value *value)
{
    struct tb_value arguments[3];
    struct tb_span text, from, to;
    int64_t count = -1;
    TB_TRY(tb_given_bind(run, given, "replace", "old new count", 2, arguments));
    TB_TRY(tb_render_str(run, input, &text));
    TB_TRY(tb_render_str(run, &arguments[0], &from));
    TB_TRY(tb_render_str(run, &arguments[1], &to));
    if (!is_absent(&arguments[2]) && arguments[2].kind != TB_VALUE_NONE)
        TB_TRY(tb_eval_index(run, &arguments[2], &count));
    return tb_text_replace(run, text, from, to, count, value);
}

static tb_status filter_center(struct tb_render *run,
                               const struct tb_value *input,
                               const struct tb_given *given,
                               struct tb_value *value)
{
    struct tb_value argument;
    struct tb_span text;
    int64_t width = 80;
    TB_TRY(tb_given_bind(run, given, "center", "width", 0, &argument));
    TB_TRY(tb_render_str(run, input, &text));
    if (!is_absent(&argument))
        TB_TRY(tb_eval_index(run, &argument, &width));
    return tb_text_pad(run, text, width, TB_SPAN(" "), TB_SIDE_CENTER, value);
}

static tb_status write_spaces(struct tb_render *run, int64_t count)
{
    return tb_render_repeat(run, TB_SPAN(" "), count);
}

// A number of spaces, or the text itself.
static tb_status make_indent(struct tb_render *run,
                             const struct tb_value *value, int64_t absent,
                             struct tb_span *indent)
{
    size_t mark = tb_render_mark(run);
    int64_t width = absent;
    if (tb_value_is_text(value)) {
        *indent = value->as.text;
        return TB_OK;
    }
    if (!is_absent(value))
        TB_TRY(tb_eval_index(run, value, &width));
    TB_TRY(write_spaces(run, width));
    return tb_render_take(run, mark, indent);
}

static tb_status filter_indent(struct tb_render *run,
                               const struct tb_value *input,
                               const struct tb_given *given,
                               struct tb_value *value)
{
    struct tb_value arguments[3];
    struct tb_span indent, text, line;
    size_t at = 0, end_len = 0;
    TB_TRY(
        tb_given_bind(run, given, "indent", "width first blank", 0, arguments));
    if (!tb_value_is_text(input))
        return tb_render_fail(run, "indent needs a string, not '%s'",
                              tb_value_type(input));
    TB_TRY(make_indent(run, &arguments[0], 4, &indent));
    bool has_first =
        !is_absent(&arguments[1]) && tb_value_is_true(&arguments[1]);
    bool has_blank =
        !is_absent(&arguments[2]) && tb_value_is_true(&arguments[2]);
    text = input->as.text;
    size_t mark = tb_render_mark(run);
    if (has_first)
        TB_TRY(tb_render_write(run, indent));
    bool is_first = true;
    for (; tb_text_next_line(text, &at, &line, &end_len); is_first = false) {
        if (!is_first)
            TB_TRY(tb_render_write_byte(run, '\n'));
        if (!is_first && (line.len > 0 || has_blank))
            TB_TRY(tb_render_write(run, indent));
        TB_TRY(tb_render_write(run, line));
    }
    // A newline at the end opens one more line, which is empty.
    if (text.len > 0 && end_len > 0) {
        TB_TRY(tb_render_write_byte(run, '\n'));
        if (has_blank)
            TB_TRY(tb_render_write(run, indent));
    }
    return tb_render_take_value(run, mark, value);
}

/* ---- HTML ------------------------------------------------------------- */

static tb_status filter_safe(struct tb_render *run,
                             const struct tb_value *input,
                             const struct tb_given *given,
                             struct tb_value *value)
{
    TB_TRY(filter_string(run, input, given, value));
    value->is_safe = true;
    return TB_OK;
}

static tb_status escape(struct tb_render *run, const struct tb_value *input,
                        struct tb_value *value)
{
    static const char special[] = "&<>'\"";
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&#39;",
                                        "&#34;"};
    struct tb_span text;
    TB_TRY(tb_render_str(run, input, &text));
    size_t mark = tb_render_mark(run);
    for (size_t i = 0; i < text.len; i++) {
        const char *found = text.ptr[i] ? strchr(special, text.ptr[i]) : NULL;
        if (found)
            TB_TRY(tb_render_write(run, tb_span_of(names[found - special])));
        else
            TB_TRY(tb_render_write_byte(run, text.ptr[i]));
    }
    TB_TRY(tb_render_take_value(run, mark, value));
    value->is_safe = true;
    return TB_OK;
}

static tb_status filter_escape(struct tb_render *run,
                               const struct tb_value *input,
                               const struct tb_given *given,
                               struct tb_value *value)
{
    TB_TRY(no_arguments(run, given));
    if (!input->is_safe)
        return escape(run, input, value);
    *value = *input;
    return TB_OK;
}

static tb_status filter_forceescape(struct tb_render *run,
                                    const struct tb_value *input,
                                    const struct tb_given *given,
                                    struct tb_value *value)
{
    TB_TRY(no_arguments(run, given));
    return escape(run, input, value);
}

static bool is_unreserved(uint8_t byte)
{
    return (byte >= '0' && byte <= '9') ||
           ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') ||
           (byte && strchr("_.-~/", byte));
}

static tb_status filter_urlencode(struct tb_render *run,
                                  const struct tb_value *input,
                                  const struct tb_given *given,
                                  struct tb_value *value)
{
    struct tb_span text;
    TB_TRY(no_arguments(run, given));
    if (!tb_value_is_text(input) && tb_value_is_iterable(input))
        return tb_render_fail_as(run, TB_ERR_UNSUPPORTED,
                                 "the filter 'urlencode' of a mapping");
    TB_TRY(tb_render_str(run, input, &text));
    size_t mark = tb_render_mark(run);
    for (size_t i = 0; i < text.len; i++)
        TB_TRY(is_unreserved(text.ptr[i])
                   ? tb_render_write_byte(run, text.ptr[i])
                   : tb_render_printf(run, "%%%02X", (unsigned)text.ptr[i]));
    return tb_render_take_value(run, mark, value);
}

/* ---- tojson ----------------------------------------------------------- */

static tb_status json_style(struct tb_render *run,
                            const struct tb_value arguments[4],
                            struct tb_json_style *style)
{
    const struct tb_value *indent = &arguments[1], *separators = &arguments[2];
    *style = (struct tb_json_style){.between = TB_SPAN(", "),
                                    .colon = TB_SPAN(": ")};
    style->is_ascii =
        !is_absent(&arguments[0]) && tb_value_is_true(&arguments[0]);
    style->is_sorted =
        !is_absent(&arguments[3]) && tb_value_is_true(&arguments[3]);
    if (!is_absent(indent) && indent->kind != TB_VALUE_NONE) {
        style->is_indented = true;
        style->between = TB_SPAN(",");
        TB_TRY(make_indent(run, indent, 0, &style->indent));
    }
    if (is_absent(separators) || separators->kind == TB_VALUE_NONE)
        return TB_OK;
    struct tb_list pair;
    TB_TRY(tb_render_items(run, separators, &pair));
    if (pair.count != 2 || !tb_value_is_text(&pair.items[0]) ||
        !tb_value_is_text(&pair.items[1]))
        return tb_render_fail(run, "separators must be two strings");
    style->between = pair.items[0].as.text;
    style->colon = pair.items[1].as.text;
    return TB_OK;
}

static tb_status filter_tojson(struct tb_render *run,
                               const struct tb_value *input,
                               const struct tb_given *given,
                               struct tb_value *value)
{
    struct tb_value arguments[4];
    struct tb_json_style style;
    TB_TRY(tb_given_bind(run, given, "tojson",
                         "ensure_ascii indent separators sort_keys", 0,
                         arguments));
    TB_TRY(json_style(run, arguments, &style));
    size_t mark = tb_render_mark(run);
    TB_TRY(tb_json_value_write(run, input, &style));
    return tb_render_take_value(run, mark, value);
}

/* ---- numbers ---------------------------------------------------------- */

static bool is_ascii_space(char byte)
{
    return byte == ' ' || (byte >= 9 && byte <= 13);
}

/* The text of a number as C reads it: white space and single underscores
 * gone. False when it is none. */
static bool copy_number(struct tb_span text, char *digits, size_t size)
{
    struct tb_span none = {0};
    size_t len = 0;
    text = tb_text_strip(text, none, true, true);
    for (size_t i = 0; i < text.len; i++) {
        bool is_between = i > 0 && i + 1 < text.len && text.ptr[i - 1] != '_' &&
                          text.ptr[i + 1] != '_';
        if (text.ptr[i] == '_' && is_between)
            continue;
        if (text.ptr[i] == '_' || text.ptr[i] >= 0x80 || len + 1 >= size ||
            is_ascii_space((char)text.ptr[i]))
            return false;
        digits[len++] = (char)text.ptr[i];
    }
    digits[len] = '\0';
    return len > 0;
}

static bool parse_float(struct tb_span text, double *number)
{
    char digits[400], *end;
    if (!copy_number(text, digits, sizeof(digits)) || strpbrk(digits, "xXpP("))
        return false;
    *number = tb_real_of_text(digits, &end);
    return *end == '\0' && end != digits;
}

static bool parse_int(struct tb_span text, int base, int64_t *integer)
{
    char digits[80], *end;
    if (!copy_number(text, digits, sizeof(digits)))
        return false;
    const char *at = digits + (digits[0] == '+' || digits[0] == '-');
    bool is_negative = digits[0] == '-';
    char letter = at[0] == '0' ? (char)(at[1] | 0x20) : 0;
    if ((letter == 'x' && base == 16) || (letter == 'o' && base == 8) ||
        (letter == 'b' && base == 2))
        at += 2;
    if (*at == '+' || *at == '-' || *at == '\0')
        return false;
    int64_t result = strtoll(at, &end, base);
    *integer = is_negative ? -result : result;
    return *end == '\0' && result != INT64_MAX;
}

static tb_status int_of_float(struct tb_render *run, double number,
                              const struct tb_value *absent,
                              struct tb_value *value)
{
    if (isnan(number))
        *value = *absent;
    else if (isinf(number))
        return tb_render_fail(run, "cannot convert float infinity to integer");
    else if (fabs(number) < 9.2e18)
        *value = tb_value_int((int64_t)number);
    else
        return tb_render_fail_as(run, TB_ERR_LIMIT,
                                 "an integer goes beyond 64 bits");
    return TB_OK;
}

static tb_status filter_int(struct tb_render *run, const struct tb_value *input,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    struct tb_value arguments[2], absent = tb_value_int(0);
    int64_t base = 10, integer;
    double number;
    TB_TRY(tb_given_bind(run, given, "int", "default base", 0, arguments));
    if (!is_absent(&arguments[0]))
        absent = arguments[0];
    if (!is_absent(&arguments[1]))
        TB_TRY(tb_eval_index(run, &arguments[1], &base));
    if (tb_value_is_undefined(input))
        return tb_render_fail_undefined(run, input);
    *value = absent;
    if (tb_value_is_integer(input))
        *value = tb_value_int(tb_value_integer(input));
    else if (input->kind == TB_VALUE_BIG)
        *value = *input;
    else if (input->kind == TB_VALUE_FLOAT)
        return int_of_float(run, input->as.number, &absent, value);
    else if (tb_value_is_text(input) && base >= 2 && base <= 36 &&
             parse_int(input->as.text, (int)base, &integer))
        *value = tb_value_int(integer);
    else if (tb_value_is_text(input) && parse_float(input->as.text, &number))
        return int_of_float(run, number, &absent, value);
    return TB_OK;
}

static tb_status filter_float(struct tb_render *run,
                              const struct tb_value *input,
                              const struct tb_given *given,
                              struct tb_value *value)
{
    struct tb_value absent;
    double number;
    TB_TRY(tb_given_bind(run, given, "float", "default", 0, &absent));
    if (tb_value_is_undefined(input))
        return tb_render_fail_undefined(run, input);
    *value = is_absent(&absent) ? tb_value_float(0) : absent;
    if (tb_value_is_number(input))
        *value = tb_value_float(tb_value_number(input));
    else if (tb_value_is_text(input) && parse_float(input->as.text, &number))
        *value = tb_value_float(number);
    return TB_OK;
}

static tb_status filter_abs(struct tb_render *run, const struct tb_value *input,
                            const struct tb_given *given,
                            struct tb_value *value)
{
    TB_TRY(no_arguments(run, given));
    if (tb_value_is_undefined(input))
        return tb_render_fail_undefined(run, input);
    if (!tb_value_is_number(input))
        return tb_render_fail(run, "bad operand type for abs(): '%s'",
                              tb_value_type(input));
    return tb_eval_sign(
        run,
        tb_value_number(input) < 0 ||
            (input->kind == TB_VALUE_FLOAT && signbit(input->as.number)),
        input, value);
}

// Half to even on the exact decimal value, as Python's round().
static double round_common(double number, int64_t precision)
{
    char digits[512];
    if (precision < 0) {
        double unit = pow(10, (double)-precision);
        return nearbyint(number / unit) * unit;
    }
    if (precision > 100 || fabs(number) > 1e300)
        return number;
    tb_real_to_text(digits, sizeof(digits), (int)precision, 'f', number);
    return tb_real_of_text(digits, NULL);
}

static tb_status filter_round(struct tb_render *run,
                              const struct tb_value *input,
                              const struct tb_given *given,
                              struct tb_value *value)
{
    struct tb_value arguments[2];
    struct tb_span method = TB_SPAN("common");
    int64_t precision = 0;
    TB_TRY(
        tb_given_bind(run, given, "round", "precision method", 0, arguments));
    if (!is_absent(&arguments[0]))
        TB_TRY(tb_eval_index(run, &arguments[0], &precision));
    if (!is_absent(&arguments[1]))
        method = tb_value_is_text(&arguments[1]) ? arguments[1].as.text
                                                 : TB_SPAN("");
    bool is_common = tb_span_equal(method, TB_SPAN("common"));
    bool is_ceil = tb_span_equal(method, TB_SPAN("ceil"));
    if (!is_common && !is_ceil && !tb_span_equal(method, TB_SPAN("floor")))
        return tb_render_fail(run, "method must be common, ceil or floor");
    if (tb_value_is_undefined(input))
        return tb_render_fail_undefined(run, input);
    if (!tb_value_is_number(input))
        return tb_render_fail(run, "type %s doesn't define __round__ method",
                              tb_value_type(input));
    if (is_common && input->kind != TB_VALUE_FLOAT) {
        if (precision < 0)
            return tb_render_fail_as(run, TB_ERR_UNSUPPORTED,
                                     "rounding integers to tens");
        *value = tb_value_is_integer(input)
                     ? tb_value_int(tb_value_integer(input))
                     : *input;
        return TB_OK;
    }
    double number = tb_value_number(input);
    double unit = pow(10, (double)precision);
    *value = tb_value_float(is_common ? round_common(number, precision)
                            : is_ceil ? ceil(number * unit) / unit
                                      : floor(number * unit) / unit);
    return TB_OK;
}

static tb_status filter_filesizeformat(struct tb_render *run,
                                       const struct tb_value *input,
                                       const struct tb_given *given,
                                       struct tb_value *value)
{
    static const char letters[] = "kMGTPEZY", binary[] = "KMGTPEZY";
    struct tb_value argument, number;
    struct tb_given none = {0};
    size_t mark = tb_render_mark(run);
    TB_TRY(tb_given_bind(run, given, "filesizeformat", "binary", 0, &argument));
    bool is_binary = !is_absent(&argument) && tb_value_is_true(&argument);
    TB_TRY(filter_float(run, input, &none, &number));
    double size = number.as.number, base = is_binary ? 1024 : 1000;
    if (size == 1)
        TB_TRY(tb_render_write(run, TB_SPAN("1 Byte")));
    else if (size < base)
        TB_TRY(tb_render_printf(run, "%lld Bytes", (long long)size));
    else {
        double unit = base * base;
        size_t i = 0;
        for (; i < 7 && size >= unit; i++)
            unit *= base;
        char figure[340]; // the longest finite double has 309 digits
        tb_real_to_text(figure, sizeof(figure), 1, 'f', base * size / unit);
        TB_TRY(tb_render_printf(run, "%s %c%s", figure,
                                is_binary ? binary[i] : letters[i],
                                is_binary ? "iB" : "B"));
    }
    return tb_render_take_value(run, mark, value);
}

/* ---- others ----------------------------------------------------------- */

static tb_status filter_format(struct tb_render *run,
                               const struct tb_value *input,
                               const struct tb_given *given,
                               struct tb_value *value)
{
    struct tb_value arguments, text;
    struct tb_given none = {0};
    if (given->count && given->keyword_count)
        return tb_render_fail(run, "can't handle positional and keyword "
                                   "arguments at the same time");
    TB_TRY(filter_string(run, input, &none, &text));
    if (given->keyword_count) {
        TB_TRY(tb_render_dict(run, &arguments));
        for (size_t i = 0; i < given->keyword_count; i++) {
            struct tb_value key = tb_value_text(given->keywords[i].name);
            TB_TRY(tb_dict_set(run, arguments.as.dict, &key,
                               &given->keywords[i].value));
        }
        return tb_text_percent(run, &text, &arguments, value);
    }
    TB_TRY(tb_render_list(run, TB_VALUE_TUPLE, given->count, &arguments));
    for (size_t i = 0; i < given->count; i++)
        TB_TRY(tb_list_append(run, arguments.as.list, &given->items[i]));
    return tb_text_percent(run, &text, &arguments, value);
}

// Words are runs of \w.
static tb_status filter_wordcount(struct tb_render *run,
                                  const struct tb_value *input,
                                  const struct tb_given *given,
                                  struct tb_value *value)
{
    struct tb_span text;
    int64_t count = 0;
    bool is_inside = false;
    TB_TRY(no_arguments(run, given));
    TB_TRY(tb_render_str(run, input, &text));
    for (size_t at = 0; at < text.len;) {
        uint32_t cp;
        at += tb_utf8_decode(text, at, &cp);
        bool is_word = tb_text_is_word(cp);
        count += is_word && !is_inside;
        is_inside = is_word;
    }
    *value = tb_value_int(count);
    return TB_OK;
}

static tb_status filter_truncate(struct tb_render *run,
                                 const struct tb_value *input,
                                 const struct tb_given *given,
                                 struct tb_value *value)
{
    struct tb_value arguments[4];
    int64_t length = 255, leeway = 5;
    struct tb_span end = TB_SPAN("..."), text;
    TB_TRY(tb_given_bind(run, given, "truncate", "length killwords end leeway",
                         0, arguments));
    TB_TRY(tb_render_str(run, input, &text));
    if (!is_absent(&arguments[0]))
        TB_TRY(tb_eval_index(run, &arguments[0], &length));
    if (!is_absent(&arguments[2]))
        TB_TRY(tb_render_str(run, &arguments[2], &end));
    if (!is_absent(&arguments[3]) && arguments[3].kind != TB_VALUE_NONE)
        TB_TRY(tb_eval_index(run, &arguments[3], &leeway));
    int64_t end_count = (int64_t)tb_text_count(end);
    if (length < end_count || leeway < 0)
        return tb_render_fail(run, "expected length >= %lld",
                              (long long)end_count);
    *value = tb_value_text(text);
    if ((int64_t)tb_text_count(text) <= length + leeway)
        return TB_OK;
    text.len = tb_text_offset(text, (size_t)(length - end_count));
    bool is_killing =
        !is_absent(&arguments[1]) && tb_value_is_true(&arguments[1]);
    size_t space = tb_text_find_last(text, TB_SPAN(" "));
    if (!is_killing && space != SIZE_MAX)
        text.len = space;
    size_t mark = tb_render_mark(run);
    TB_TRY(tb_render_write(run, text));
    TB_TRY(tb_render_write(run, end));
    return tb_render_take_value(run, mark, value);
}

const struct tb_filter tb_filters_text[] = {
    {"default", filter_default},
    {"d", filter_default},
    {"string", filter_string},
    {"upper", filter_upper},
    {"lower", filter_lower},
    {"capitalize", filter_capitalize},
    {"title", filter_title},
    {"trim", filter_trim},
    {"length", filter_length},
    {"count", filter_length},
    {"replace", filter_replace},
    {"center", filter_center},
    {"indent", filter_indent},
    {"safe", filter_safe},
    {"escape", filter_escape},
    {"e", filter_escape},
    {"forceescape", filter_forceescape},
    {"urlencode", filter_urlencode},
    {"tojson", filter_tojson},
    {"int", filter_int},
    {"float", filter_float},
    {"abs", filter_abs},
    {"round", filter_round},
    {"filesizeformat", filter_filesizeformat},
    {"format", filter_format},
    {"wordcount", filter_wordcount},
    {"truncate", filter_truncate},
    {"wordwrap", NULL},
    {"striptags", NULL},
    {"urlize", NULL},
    {"xmlattr", NULL},
    {"pprint", NULL},
    {"random", NULL},
    {NULL, NULL},
};
