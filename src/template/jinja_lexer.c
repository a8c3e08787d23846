#include "jinja_lexer.h"

#include <string.h>

#include "text.h"
#include "unicode.h"
#include "utf8.h"

static tb_status fail(struct tb_jinja_lexer *lexer, const char *text)
{
    tb_fail(lexer->error, TB_ERR_SYNTAX, "%s", text);
    if (lexer->error)
        lexer->error->line = lexer->line;
    return TB_ERR_SYNTAX;
}

tb_status tb_jinja_clean_source(struct tb_arena *arena, struct tb_span source,
                                struct tb_span *clean)
{
    uint8_t *out = tb_arena_alloc(arena, source.len + 1);
    if (!out)
        return TB_ERR_MEMORY;
    size_t len = 0;
    for (size_t i = 0; i < source.len; i++) {
        bool is_pair = source.ptr[i] == '\r' && i + 1 < source.len &&
                       source.ptr[i + 1] == '\n';
        if (!is_pair)
            out[len++] = source.ptr[i] == '\r' ? '\n' : source.ptr[i];
    }
    if (len > 0 && out[len - 1] == '\n')
        len--;
    *clean = (struct tb_span){out, len};
    return TB_OK;
}

void tb_jinja_lexer_init(struct tb_jinja_lexer *lexer, struct tb_span source,
                         struct tb_arena *arena, struct tb_error *error)
{
    memset(lexer, 0, sizeof(*lexer));
    lexer->source = source;
    lexer->arena = arena;
    lexer->error = error;
    lexer->line = 1;
    lexer->is_line_start = true;
}

/* ---- looking ---------------------------------------------------------- */

static bool looks_at(const struct tb_jinja_lexer *lexer, size_t at,
                     const char *text)
{
    size_t len = strlen(text);
    return at <= lexer->source.len && lexer->source.len - at >= len &&
           memcmp(lexer->source.ptr + at, text, len) == 0;
}

static size_t skip_space(const struct tb_jinja_lexer *lexer, size_t at)
{
    while (at < lexer->source.len) {
        uint32_t cp;
        size_t len = tb_utf8_decode(lexer->source, at, &cp);
        if (!tb_text_is_space(cp))
            break;
        at += len;
    }
    return at;
}

// Moves to `at`, counting lines.
static void move_to(struct tb_jinja_lexer *lexer, size_t at)
{
    struct tb_span passed = {lexer->source.ptr + lexer->at, at - lexer->at};
    lexer->line += (uint32_t)tb_span_count(passed, '\n');
    lexer->is_line_start = passed.len > 0 && passed.ptr[passed.len - 1] == '\n';
    lexer->at = at;
}

static uint8_t sign_at(const struct tb_jinja_lexer *lexer, size_t at)
{
    bool is_sign = at < lexer->source.len && (lexer->source.ptr[at] == '-' ||
                                              lexer->source.ptr[at] == '+');
    return is_sign ? lexer->source.ptr[at] : 0;
}

/* The length of a closing tag such as %} at `at` with its sign and the white
 * space that goes with it; 0 when there is none. */
static size_t close_len(const struct tb_jinja_lexer *lexer, size_t at,
                        const char *tag, bool has_plus, bool is_trimmed)
{
    uint8_t sign = sign_at(lexer, at);
    size_t end = at + (sign != 0);
    if (!looks_at(lexer, end, tag) || (sign == '+' && !has_plus))
        return 0;
    end += 2;
    if (sign == '-')
        end = skip_space(lexer, end);
    else if (sign == 0 && is_trimmed && looks_at(lexer, end, "\n"))
        end++;
    return end - at;
}

/* The length of {% word %} at `at`, or 0; a raw tag takes no plus sign at its
 * end and leaves the newline behind it alone. */
static size_t word_tag_len(const struct tb_jinja_lexer *lexer, size_t at,
                           const char *word, bool is_end)
{
    if (!looks_at(lexer, at, "{%"))
        return 0;
    size_t end = at + 2 + (sign_at(lexer, at + 2) != 0);
    end = skip_space(lexer, end);
    if (!looks_at(lexer, end, word))
        return 0;
    end = skip_space(lexer, end + strlen(word));
    size_t len = close_len(lexer, end, "%}", is_end, is_end);
    return len ? end + len - at : 0;
}

/* ---- data ------------------------------------------------------------- */

// Takes off what the tag behind `text` asks for.
static struct tb_span strip_data(const struct tb_jinja_lexer *lexer,
                                 struct tb_span text, uint8_t sign,
                                 bool is_variable)
{
    if (sign == '-')
        return tb_text_strip(text, (struct tb_span){0}, false, true);
    if (sign == '+' || is_variable)
        return text;
    size_t line_at = text.len;
    while (line_at > 0 && text.ptr[line_at - 1] != '\n')
        line_at--;
    if (line_at == 0 && !lexer->is_line_start)
        return text;
    struct tb_span tail = tb_span_from(text, line_at);
    if (tb_text_strip(tail, (struct tb_span){0}, true, false).len == 0)
        text.len = line_at;
    return text;
}

static size_t find_tag(const struct tb_jinja_lexer *lexer)
{
    size_t at = lexer->at;
    struct tb_span source = lexer->source;
    for (; at + 1 < source.len; at++) {
        uint8_t next = source.ptr[at + 1];
        if (source.ptr[at] == '{' &&
            (next == '%' || next == '{' || next == '#'))
            return at;
    }
    return source.len;
}

static void set_token(struct tb_jinja_token *token, tb_jinja_token_kind kind,
                      struct tb_span text, uint32_t line)
{
    *token = (struct tb_jinja_token){kind, text, line};
}

static tb_status skip_comment(struct tb_jinja_lexer *lexer)
{
    for (size_t at = lexer->at; at < lexer->source.len; at++) {
        size_t len = close_len(lexer, at, "#}", true, true);
        if (len > 0) {
            move_to(lexer, at + len);
            return TB_OK;
        }
    }
    return fail(lexer, "comment without its end");
}

// Steps over a tag's opening; the tag's token follows the data before it.
static tb_status open_tag(struct tb_jinja_lexer *lexer, size_t tag_at,
                          bool *is_token)
{
    uint8_t kind = lexer->source.ptr[tag_at + 1];
    size_t raw_len = word_tag_len(lexer, tag_at, "raw", false);
    *is_token = false;
    if (raw_len > 0) {
        move_to(lexer, tag_at + raw_len);
        lexer->state = TB_JINJA_IN_RAW;
        return TB_OK;
    }
    move_to(lexer, tag_at + 2 + (sign_at(lexer, tag_at + 2) != 0));
    if (kind == '#')
        return skip_comment(lexer);
    *is_token = true;
    lexer->state = kind == '%' ? TB_JINJA_IN_BLOCK : TB_JINJA_IN_VARIABLE;
    set_token(&lexer->pending,
              kind == '%' ? TB_JINJA_BLOCK_BEGIN : TB_JINJA_VARIABLE_BEGIN,
              (struct tb_span){0}, lexer->line);
    return TB_OK;
}

// Gives data before the next tag, if any, and steps over the tag's opening.
static tb_status next_data(struct tb_jinja_lexer *lexer,
                           struct tb_jinja_token *token, bool *found)
{
    size_t tag_at = find_tag(lexer);
    struct tb_span text = {lexer->source.ptr + lexer->at, tag_at - lexer->at};
    uint32_t line = lexer->line;
    *found = true;
    if (tag_at == lexer->source.len) {
        move_to(lexer, tag_at);
        set_token(token, text.len ? TB_JINJA_DATA : TB_JINJA_END, text, line);
        return TB_OK;
    }
    uint8_t kind = lexer->source.ptr[tag_at + 1];
    text = strip_data(lexer, text, sign_at(lexer, tag_at + 2), kind == '{');
    TB_TRY(open_tag(lexer, tag_at, &lexer->has_pending));
    if (text.len > 0) {
        set_token(token, TB_JINJA_DATA, text, line);
        return TB_OK;
    }
    *found = lexer->has_pending;
    if (lexer->has_pending)
        *token = lexer->pending;
    lexer->has_pending = false;
    return TB_OK;
}

static tb_status next_raw(struct tb_jinja_lexer *lexer,
                          struct tb_jinja_token *token, bool *found)
{
    for (size_t at = lexer->at; at < lexer->source.len; at++) {
        size_t len = word_tag_len(lexer, at, "endraw", true);
        if (len == 0)
            continue;
        struct tb_span text = {lexer->source.ptr + lexer->at, at - lexer->at};
        text = strip_data(lexer, text, sign_at(lexer, at + 2), false);
        set_token(token, TB_JINJA_DATA, text, lexer->line);
        move_to(lexer, at + len);
        lexer->state = TB_JINJA_IN_DATA;
        *found = text.len > 0;
        return TB_OK;
    }
    return fail(lexer, "raw block without its end");
}

/* ---- inside tags ------------------------------------------------------ */

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

// \d with single underscores between, as in 1_000; 0 when there is none.
static size_t digits_len(struct tb_span text, size_t at)
{
    size_t i = at;
    while (i < text.len) {
        if (is_digit(text.ptr[i]))
            i++;
        else if (i > at && text.ptr[i] == '_' && i + 1 < text.len &&
                 is_digit(text.ptr[i + 1]))
            i++;
        else
            break;
    }
    return i - at;
}

static size_t float_len(struct tb_span text, size_t at)
{
    if (at > 0 && text.ptr[at - 1] == '.')
        return 0;
    size_t whole = digits_len(text, at);
    if (whole == 0)
        return 0;
    size_t end = at + whole;
    bool has_point =
        end < text.len && text.ptr[end] == '.' && digits_len(text, end + 1) > 0;
    if (has_point)
        end += 1 + digits_len(text, end + 1);
    if (end < text.len && (text.ptr[end] | 0x20) == 'e') {
        size_t exponent = end + 1;
        if (exponent < text.len &&
            (text.ptr[exponent] == '+' || text.ptr[exponent] == '-'))
            exponent++;
        if (digits_len(text, exponent) > 0)
            return exponent + digits_len(text, exponent) - at;
    }
    return has_point ? end - at : 0;
}

static bool is_base_digit(uint8_t byte, uint8_t base)
{
    uint8_t lower = byte | 0x20;
    if (base == 'b')
        return byte == '0' || byte == '1';
    if (base == 'o')
        return byte >= '0' && byte <= '7';
    return is_digit(byte) || (lower >= 'a' && lower <= 'f');
}

static size_t integer_len(struct tb_span text, size_t at)
{
    if (!is_digit(text.ptr[at]))
        return 0;
    size_t end = at + 1;
    if (text.ptr[at] != '0')
        return digits_len(text, at);
    uint8_t base = end < text.len ? text.ptr[end] | 0x20 : 0;
    if (base == 'b' || base == 'o' || base == 'x') {
        size_t i = end + 1;
        for (;;) {
            size_t digit = i + (i < text.len && text.ptr[i] == '_');
            if (digit >= text.len || !is_base_digit(text.ptr[digit], base))
                break;
            i = digit + 1;
        }
        if (i > end + 1)
            return i - at;
    }
    while (end < text.len && (text.ptr[end] == '0' ||
                              (text.ptr[end] == '_' && end + 1 < text.len &&
                               text.ptr[end + 1] == '0')))
        end++;
    return end - at;
}

static bool is_word(uint32_t cp)
{
    if (cp < 0x80)
        return cp == '_' || is_digit((uint8_t)cp) ||
               ((cp | 0x20) >= 'a' && (cp | 0x20) <= 'z');
    return tb_unicode_in(cp, TB_UNICODE_MASK_L | TB_UNICODE_MASK_M |
                                 TB_UNICODE_MASK_N);
}

static size_t name_len(struct tb_span text, size_t at)
{
    size_t i = at;
    while (i < text.len) {
        uint32_t cp;
        size_t len = tb_utf8_decode(text, i, &cp);
        if (!is_word(cp))
            break;
        i += len;
    }
    return i - at;
}

static size_t string_len(struct tb_span text, size_t at)
{
    uint8_t quote = text.ptr[at];
    if (quote != '\'' && quote != '"')
        return 0;
    for (size_t i = at + 1; i < text.len; i++) {
        if (text.ptr[i] == quote)
            return i + 1 - at;
        if (text.ptr[i] == '\\')
            i++;
    }
    return 0;
}

static size_t operator_len(const struct tb_jinja_lexer *lexer)
{
    static const char *const pairs[] = {"//", "**", "==", "!=", ">=", "<="};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (looks_at(lexer, lexer->at, pairs[i]))
            return 2;
    uint8_t byte = lexer->source.ptr[lexer->at];
    return byte && strchr("+-/*%~[](){}><=.:|,;", byte) ? 1 : 0;
}

static tb_status count_bracket(struct tb_jinja_lexer *lexer, uint8_t byte)
{
    const char *open = "([{", *close = ")]}";
    const char *found = strchr(open, byte);
    if (found && *found) {
        if (lexer->bracket_count == TB_JINJA_MAX_BRACKETS)
            return fail(lexer, "too many open brackets");
        lexer->brackets[lexer->bracket_count++] = (uint8_t)close[found - open];
        return TB_OK;
    }
    if (!strchr(close, byte))
        return TB_OK;
    if (lexer->bracket_count == 0 ||
        lexer->brackets[lexer->bracket_count - 1] != byte)
        return fail(lexer, "a bracket closes what was not opened");
    lexer->bracket_count--;
    return TB_OK;
}

/* ---- strings ---------------------------------------------------------- */

struct unescape {
    struct tb_jinja_lexer *lexer;
    struct tb_span raw;
    size_t at;
    uint8_t *out;
    size_t len;
};

static void put(struct unescape *to, uint32_t cp)
{
    to->len += tb_utf8_encode(cp, to->out + to->len);
}

static bool read_digits(struct unescape *from, size_t min, size_t max,
                        uint32_t base, uint32_t *value)
{
    size_t count = 0;
    *value = 0;
    while (count < max && from->at < from->raw.len) {
        uint8_t byte = from->raw.ptr[from->at];
        uint8_t lower = byte | 0x20;
        uint32_t digit = is_digit(byte) ? (uint32_t)(byte - '0')
                         : lower >= 'a' && lower <= 'f'
                             ? (uint32_t)(lower - 'a' + 10)
                             : 99;
        if (digit >= base)
            break;
        *value = *value * base + digit;
        count++;
        from->at++;
    }
    return count >= min;
}

static tb_status put_hex(struct unescape *to, size_t digits)
{
    uint32_t cp;
    if (!read_digits(to, digits, digits, 16, &cp) || cp > 0x10FFFF)
        return fail(to->lexer, "truncated escape in a string");
    put(to, cp);
    return TB_OK;
}

// jinja2 spells what is not ASCII as an escape first, then unescapes: a
// backslash before it takes the other's backslash.
static void put_escaped_character(struct unescape *to)
{
    static const char hex[] = "0123456789abcdef";
    uint32_t cp;
    to->at += tb_utf8_decode(to->raw, to->at, &cp);
    unsigned digits = cp > 0xFFFF ? 8 : cp > 0xFF ? 4 : 2;
    put(to, '\\');
    put(to, (uint32_t)(digits == 8 ? 'U' : digits == 4 ? 'u' : 'x'));
    while (digits-- > 0)
        put(to, (uint32_t)hex[(cp >> (4 * digits)) & 15]);
}

static tb_status put_escape(struct unescape *to)
{
    static const char letters[] = "\\'\"abfnrtv";
    static const char values[] = "\\'\"\a\b\f\n\r\t\v";
    uint8_t letter = to->raw.ptr[to->at];
    const char *found = letter ? strchr(letters, letter) : NULL;
    uint32_t octal;
    if (letter >= 0x80) {
        put_escaped_character(to);
        return TB_OK;
    }
    if (letter >= '0' && letter <= '7') {
        (void)read_digits(to, 1, 3, 8, &octal);
        put(to, octal);
        return TB_OK;
    }
    to->at++;
    if (found) {
        put(to, (uint8_t)values[found - letters]);
        return TB_OK;
    }
    switch (letter) {
    case '\n':
        return TB_OK;
    case 'x':
        return put_hex(to, 2);
    case 'u':
        return put_hex(to, 4);
    case 'U':
        return put_hex(to, 8);
    case 'N':
        tb_fail(to->lexer->error, TB_ERR_UNSUPPORTED,
                "the escape \\N in a string");
        return TB_ERR_UNSUPPORTED;
    default:
        put(to, '\\');
        put(to, letter);
        return TB_OK;
    }
}

// `raw` stands between the quotes. An escape may take more bytes than it had.
static tb_status unescape(struct tb_jinja_lexer *lexer, struct tb_span raw,
                          struct tb_span *text)
{
    *text = raw;
    if (tb_span_count(raw, '\\') == 0)
        return TB_OK;
    uint8_t *out = tb_arena_alloc(lexer->arena, raw.len * 4);
    if (!out)
        return tb_fail(lexer->error, TB_ERR_MEMORY, "out of memory");
    struct unescape to = {.lexer = lexer, .raw = raw, .out = out};
    while (to.at < raw.len) {
        uint8_t byte = raw.ptr[to.at++];
        if (byte != '\\')
            to.out[to.len++] = byte;
        else
            TB_TRY(put_escape(&to));
    }
    *text = (struct tb_span){out, to.len};
    return TB_OK;
}

/* ---- tokens ----------------------------------------------------------- */

// The end of the tag that we are in, unless a bracket is open.
static bool next_close(struct tb_jinja_lexer *lexer,
                       struct tb_jinja_token *token)
{
    bool is_block = lexer->state == TB_JINJA_IN_BLOCK;
    size_t len = 0;
    if (lexer->bracket_count == 0)
        len = close_len(lexer, lexer->at, is_block ? "%}" : "}}", is_block,
                        is_block);
    if (len == 0)
        return false;
    set_token(token, is_block ? TB_JINJA_BLOCK_END : TB_JINJA_VARIABLE_END,
              (struct tb_span){0}, lexer->line);
    move_to(lexer, lexer->at + len);
    lexer->state = TB_JINJA_IN_DATA;
    return true;
}

static tb_jinja_token_kind measure(struct tb_jinja_lexer *lexer, size_t *len)
{
    if ((*len = float_len(lexer->source, lexer->at)) > 0)
        return TB_JINJA_FLOAT;
    if ((*len = integer_len(lexer->source, lexer->at)) > 0)
        return TB_JINJA_INTEGER;
    if ((*len = name_len(lexer->source, lexer->at)) > 0)
        return TB_JINJA_NAME;
    if ((*len = string_len(lexer->source, lexer->at)) > 0)
        return TB_JINJA_STRING;
    *len = operator_len(lexer);
    return TB_JINJA_OPERATOR;
}

static tb_status next_inside(struct tb_jinja_lexer *lexer,
                             struct tb_jinja_token *token, bool *found)
{
    *found = true;
    if (lexer->at >= lexer->source.len) {
        set_token(token, TB_JINJA_END, (struct tb_span){0}, lexer->line);
        return TB_OK;
    }
    if (next_close(lexer, token))
        return TB_OK;
    size_t space_end = skip_space(lexer, lexer->at);
    if (space_end > lexer->at) {
        move_to(lexer, space_end);
        *found = false;
        return TB_OK;
    }
    size_t len;
    tb_jinja_token_kind kind = measure(lexer, &len);
    if (len == 0)
        return fail(lexer, "unexpected character in a tag");
    struct tb_span text = {lexer->source.ptr + lexer->at, len};
    set_token(token, kind, text, lexer->line);
    if (kind == TB_JINJA_OPERATOR)
        TB_TRY(count_bracket(lexer, text.ptr[0]));
    if (kind == TB_JINJA_STRING) {
        struct tb_span raw = {text.ptr + 1, len - 2};
        TB_TRY(unescape(lexer, raw, &token->text));
    }
    move_to(lexer, lexer->at + len);
    return TB_OK;
}

tb_status tb_jinja_lexer_next(struct tb_jinja_lexer *lexer,
                              struct tb_jinja_token *token)
{
    bool found = lexer->has_pending;
    if (found) {
        *token = lexer->pending;
        lexer->has_pending = false;
    }
    while (!found) {
        if (lexer->state == TB_JINJA_IN_DATA)
            TB_TRY(next_data(lexer, token, &found));
        else if (lexer->state == TB_JINJA_IN_RAW)
            TB_TRY(next_raw(lexer, token, &found));
        else
            TB_TRY(next_inside(lexer, token, &found));
    }
    return TB_OK;
}
