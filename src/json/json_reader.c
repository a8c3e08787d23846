#include "json_reader.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "c_locale.h"
#include "json_scan.h"
#include "json_string.h"
#include "memory.h"
#include "utf8.h"

enum {
    DECODE_AHEAD_LEN = 64 << 10, /* bytes decoded before the end is known */
    READ_LEN = 256 << 10,        /* bytes asked of a stream at a time */
    NUMBER_MAX_LEN = 4096        /* longest number that is converted */
};

/* ---- the window ------------------------------------------------------- */

void tb_json_reader_init_span(struct tb_json_reader *reader,
                              struct tb_span json, uint64_t offset,
                              uint64_t line)
{
    *reader = (struct tb_json_reader){
        .at = json.ptr,
        .end = json.ptr + json.len,
        .end_offset = offset + json.len,
        .window = {(uint8_t *)(uintptr_t)json.ptr, json.len, 0, 0},
        .counted_line = line - 1,
        .is_at_end = true,
    };
    if (offset == 0 && tb_span_starts_with(json, TB_SPAN("\xEF\xBB\xBF")))
        reader->at += 3;
}

void tb_json_reader_init_stream(struct tb_json_reader *reader,
                                tb_json_read_fn read, void *context)
{
    *reader = (struct tb_json_reader){
        .read = read,
        .context = context,
        .window = TB_BUFFER(TB_JSON_MAX_VALUE_LEN),
    };
}

void tb_json_reader_release(struct tb_json_reader *reader)
{
    if (reader->read)
        tb_buffer_release(&reader->window);
    *reader = (struct tb_json_reader){.is_at_end = true};
}

uint64_t tb_json_offset(const struct tb_json_reader *reader)
{
    return reader->end_offset - (uint64_t)(reader->end - reader->at);
}

// Counts newlines on to byte `len` of the window, from where it stopped.
static void count_lines(struct tb_json_reader *reader, size_t len)
{
    if (len <= reader->counted_len)
        return;
    struct tb_span next = {reader->window.ptr + reader->counted_len,
                           len - reader->counted_len};
    reader->counted_line += tb_span_count(next, '\n');
    reader->counted_len = len;
}

uint64_t tb_json_line(struct tb_json_reader *reader)
{
    if (reader->window.ptr)
        count_lines(reader, (size_t)(reader->at - reader->window.ptr));
    return reader->counted_line + 1;
}

void tb_json_path(const struct tb_json_reader *reader, char *path, size_t size)
{
    size_t used = (size_t)snprintf(path, size, "$");
    for (uint32_t i = 0; i < reader->depth && i < TB_JSON_PATH_DEPTH; i++) {
        const struct tb_json_frame *frame = &reader->frames[i];
        if (used + TB_JSON_PATH_KEY_LEN + 4 > size)
            return;
        if (frame->is_array)
            used += (size_t)snprintf(path + used, size - used, "[%llu]",
                                     (unsigned long long)frame->index);
        else if (frame->key_len)
            used += (size_t)snprintf(path + used, size - used, ".%.*s",
                                     (int)frame->key_len, frame->key);
    }
}

tb_status tb_json_fail(struct tb_json_reader *reader, tb_status status,
                       const char *format, ...)
{
    struct tb_error *error = &reader->error;
    *error = (struct tb_error){.status = status};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
    error->offset = tb_json_offset(reader);
    error->line = tb_json_line(reader);
    tb_json_path(reader, error->json_path, sizeof(error->json_path));
    return status;
}

/* Gets more bytes behind `end`, dropping what stands before the mark (or
 * before `at` without one). All pointers move along; is_at_end when there are
 * no more. */
static tb_status refill(struct tb_json_reader *reader)
{
    struct tb_buffer *window = &reader->window;
    if (reader->is_at_end)
        return TB_OK;
    const uint8_t *keep = reader->mark ? reader->mark : reader->at;
    size_t dropped = keep ? (size_t)(keep - window->ptr) : 0;
    size_t at = keep ? (size_t)(reader->at - keep) : 0;
    if (dropped > 0) {
        count_lines(reader, dropped);
        reader->counted_len -= dropped;
        window->len -= dropped;
        memmove(window->ptr, keep, window->len);
    }
    tb_status status = tb_buffer_reserve(window, READ_LEN);
    if (window->ptr) {
        reader->at = window->ptr + at;
        reader->end = window->ptr + window->len;
        if (reader->mark)
            reader->mark = window->ptr;
    }
    if (status != TB_OK)
        return tb_json_fail(reader, status, "value is too long to hold");
    size_t len = 0;
    TB_TRY(reader->read(reader->context, window->ptr + window->len,
                        window->capacity - window->len, &len, &reader->error));
    window->len += len;
    reader->end += len;
    reader->end_offset += len;
    reader->is_at_end = len == 0;
    return TB_OK;
}

// A byte order mark may stand at the very beginning, and only there.
static tb_status open_stream(struct tb_json_reader *reader)
{
    while (reader->end - reader->at < 3 && !reader->is_at_end)
        TB_TRY(refill(reader));
    struct tb_span first = {reader->at, (size_t)(reader->end - reader->at)};
    if (tb_span_starts_with(first, TB_SPAN("\xEF\xBB\xBF")))
        reader->at += 3;
    return TB_OK;
}

// Is there a byte at `at`? False only at the end of the input.
static tb_status fill(struct tb_json_reader *reader, bool *found)
{
    if (reader->end_offset == 0)
        TB_TRY(open_stream(reader));
    while (reader->at == reader->end && !reader->is_at_end)
        TB_TRY(refill(reader));
    *found = reader->at < reader->end;
    return TB_OK;
}

static bool is_space(uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

// The next byte that is no white space, not consumed; 0 at the end.
static tb_status next_byte(struct tb_json_reader *reader, uint8_t *byte)
{
    for (;;) {
        while (reader->at < reader->end && is_space(*reader->at))
            reader->at++;
        if (reader->at < reader->end) {
            *byte = *reader->at;
            return TB_OK;
        }
        bool found;
        TB_TRY(fill(reader, &found));
        if (!found) {
            *byte = 0;
            return TB_OK;
        }
    }
}

static tb_status fail_cut(struct tb_json_reader *reader)
{
    return tb_json_fail(reader, TB_ERR_CUT, "input ends inside a value");
}

/* A stretch of bytes that must stay in the window while it is read. */
struct hold {
    bool is_mark; /* the mark is ours to take away */
    size_t at;    /* from the mark */
};

static struct hold hold_begin(struct tb_json_reader *reader)
{
    struct hold hold = {!reader->mark, 0};
    if (hold.is_mark)
        reader->mark = reader->at;
    hold.at = (size_t)(reader->at - reader->mark);
    return hold;
}

// What was read since; lives until the next refill.
static struct tb_span hold_end(struct tb_json_reader *reader, struct hold hold)
{
    const uint8_t *first = reader->mark + hold.at;
    if (hold.is_mark)
        reader->mark = NULL;
    return (struct tb_span){first, (size_t)(reader->at - first)};
}

/* ---- types and structure ---------------------------------------------- */

static bool type_of(uint8_t byte, tb_json_type *type)
{
    switch (byte) {
    case '{':
        *type = TB_JSON_OBJECT;
        return true;
    case '[':
        *type = TB_JSON_ARRAY;
        return true;
    case '"':
        *type = TB_JSON_STRING;
        return true;
    case 't':
        *type = TB_JSON_TRUE;
        return true;
    case 'f':
        *type = TB_JSON_FALSE;
        return true;
    case 'n':
        *type = TB_JSON_NULL;
        return true;
    default:
        *type = TB_JSON_NUMBER;
        return byte == '-' || byte == 'N' || byte == 'I' ||
               (byte >= '0' && byte <= '9');
    }
}

static const char *type_name(tb_json_type type)
{
    static const char *const names[] = {
        [TB_JSON_OBJECT] = "an object", [TB_JSON_ARRAY] = "a list",
        [TB_JSON_STRING] = "a string",  [TB_JSON_NUMBER] = "a number",
        [TB_JSON_TRUE] = "true",        [TB_JSON_FALSE] = "false",
        [TB_JSON_NULL] = "null",        [TB_JSON_END] = "the end"};
    return names[type];
}

tb_status tb_json_peek(struct tb_json_reader *reader, tb_json_type *type)
{
    uint8_t byte;
    TB_TRY(next_byte(reader, &byte));
    if (byte == 0 && reader->at == reader->end) {
        *type = TB_JSON_END;
        return reader->depth ? fail_cut(reader) : TB_OK;
    }
    if (!type_of(byte, type))
        return tb_json_fail(reader, TB_ERR_SYNTAX,
                            "expected a value, found byte 0x%02x", byte);
    return TB_OK;
}

static tb_status expect(struct tb_json_reader *reader, tb_json_type wanted)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_END)
        return fail_cut(reader);
    if (type != wanted)
        return tb_json_fail(reader, TB_ERR_TYPE, "expected %s, found %s",
                            type_name(wanted), type_name(type));
    return TB_OK;
}

static tb_status enter(struct tb_json_reader *reader, bool is_array)
{
    TB_TRY(expect(reader, is_array ? TB_JSON_ARRAY : TB_JSON_OBJECT));
    if (reader->depth == TB_JSON_MAX_DEPTH)
        return tb_json_fail(reader, TB_ERR_LIMIT,
                            "nested deeper than %d levels", TB_JSON_MAX_DEPTH);
    if (reader->depth < TB_JSON_PATH_DEPTH) {
        struct tb_json_frame *frame = &reader->frames[reader->depth];
        frame->is_array = is_array;
        frame->key_len = 0;
        frame->index = 0;
    }
    reader->at++;
    reader->depth++;
    reader->is_first = true;
    return TB_OK;
}

tb_status tb_json_enter_object(struct tb_json_reader *reader)
{
    return enter(reader, false);
}

tb_status tb_json_enter_array(struct tb_json_reader *reader)
{
    return enter(reader, true);
}

static void leave(struct tb_json_reader *reader)
{
    reader->at++;
    reader->depth--;
    reader->is_first = false;
}

/* Steps over the comma before the next key or item. `*byte` is then what
 * follows; `close` means that the container has ended (not consumed). */
static tb_status next_element(struct tb_json_reader *reader, uint8_t close,
                              uint8_t *byte)
{
    TB_TRY(next_byte(reader, byte));
    if (*byte == close)
        return TB_OK;
    if (!reader->is_first) {
        if (*byte != ',' && reader->at < reader->end)
            return tb_json_fail(reader, TB_ERR_SYNTAX,
                                "expected ',' or '%c', found byte 0x%02x",
                                close, *byte);
        if (reader->at < reader->end)
            reader->at++;
        TB_TRY(next_byte(reader, byte));
        if (*byte == close)
            return tb_json_fail(reader, TB_ERR_SYNTAX,
                                "expected a value behind ','");
    }
    if (reader->at == reader->end)
        return fail_cut(reader);
    reader->is_first = false;
    return TB_OK;
}

/* Steps from behind the opening quote to the closing one. What was passed stays
 * in the window only for who holds it. */
static tb_status pass_string(struct tb_json_reader *reader,
                             struct tb_json_string_scan *scan)
{
    *scan = (struct tb_json_string_scan){0};
    for (;;) {
        struct tb_span rest = {reader->at, (size_t)(reader->end - reader->at)};
        struct tb_json_string_scan piece = tb_json_scan_string(rest);
        scan->has_escape |= piece.has_escape;
        scan->has_high |= piece.has_high;
        // A backslash at the very end is looked at again with its letter.
        reader->at += piece.len - piece.ends_escaped;
        if (piece.is_closed)
            return TB_OK;
        uint64_t offset_before = reader->end_offset;
        TB_TRY(refill(reader));
        if (reader->end_offset == offset_before)
            return fail_cut(reader);
    }
}

/* Reads from behind the opening quote to behind the closing one. `*raw` is the
 * part between them; it lives until the next refill. */
static tb_status read_raw_string(struct tb_json_reader *reader,
                                 struct tb_span *raw,
                                 struct tb_json_string_scan *scan)
{
    reader->at++;
    struct hold hold = hold_begin(reader);
    TB_TRY(pass_string(reader, scan));
    *raw = hold_end(reader, hold);
    reader->at++;
    return TB_OK;
}

tb_status tb_json_next_key(struct tb_json_reader *reader, struct tb_span *key)
{
    uint8_t byte;
    TB_TRY(next_element(reader, '}', &byte));
    if (byte == '}') {
        leave(reader);
        *key = (struct tb_span){0};
        return TB_OK;
    }
    if (byte != '"')
        return tb_json_fail(reader, TB_ERR_SYNTAX,
                            "expected a key, found byte 0x%02x", byte);
    // The colon must not push the key out of the window.
    struct hold hold = hold_begin(reader);
    struct tb_json_string_scan scan;
    TB_TRY(read_raw_string(reader, key, &scan));
    size_t len = key->len;
    TB_TRY(next_byte(reader, &byte));
    if (reader->at == reader->end)
        return fail_cut(reader);
    if (byte != ':')
        return tb_json_fail(reader, TB_ERR_SYNTAX,
                            "expected ':', found byte 0x%02x", byte);
    reader->at++;
    *key = (struct tb_span){hold_end(reader, hold).ptr + 1, len};
    if (reader->depth <= TB_JSON_PATH_DEPTH) {
        struct tb_json_frame *frame = &reader->frames[reader->depth - 1];
        size_t kept = len < TB_JSON_PATH_KEY_LEN ? len : TB_JSON_PATH_KEY_LEN;
        memcpy(frame->key, key->ptr, kept);
        frame->key_len = (uint8_t)kept;
    }
    return TB_OK;
}

tb_status tb_json_next_item(struct tb_json_reader *reader, bool *found)
{
    bool was_first = reader->is_first;
    uint8_t byte;
    TB_TRY(next_element(reader, ']', &byte));
    *found = byte != ']';
    if (!*found)
        leave(reader);
    else if (!was_first && reader->depth <= TB_JSON_PATH_DEPTH)
        reader->frames[reader->depth - 1].index++;
    return TB_OK;
}

/* ---- values ----------------------------------------------------------- */

// Replaces what is no UTF-8 in a decoded text.
static tb_status repair(struct tb_json_reader *reader, struct tb_arena *arena,
                        struct tb_span *text)
{
    if (tb_utf8_valid_len(*text) == text->len)
        return TB_OK;
    struct tb_buffer fixed = TB_BUFFER(TB_JSON_MAX_VALUE_LEN);
    tb_status status = tb_utf8_repair(*text, &fixed, &reader->bad_utf8_count);
    if (status == TB_OK)
        status = tb_arena_copy(arena, tb_buffer_span(&fixed), text);
    tb_buffer_release(&fixed);
    if (status != TB_OK)
        return tb_json_fail(reader, status, "no memory for a string");
    return TB_OK;
}

// The string that was scanned to its end: no quote inside but an escaped one.
static tb_status decode_raw(struct tb_json_reader *reader,
                            struct tb_arena *arena, struct tb_span *text)
{
    uint8_t *out = tb_arena_alloc(arena, text->len + TB_JSON_DECODE_SLACK);
    if (!out)
        return tb_json_fail(reader, TB_ERR_MEMORY, "no memory for a string");
    struct tb_json_decoded decoded = tb_json_decode(*text, out);
    if (decoded.is_bad)
        return tb_json_fail(reader, TB_ERR_SYNTAX,
                            "unknown escape in a string");
    reader->lone_surrogate_count += decoded.lone_surrogate_count;
    *text = (struct tb_span){out, decoded.len};
    return TB_OK;
}

/* Over memory all bytes are there: the end of a string is found while it is
 * decoded. False, with nothing consumed, when anything is wrong with it. */
static bool read_decoded(struct tb_json_reader *reader, struct tb_arena *arena,
                         struct tb_span *text, bool *has_high)
{
    struct tb_span raw = {reader->at + 1,
                          (size_t)(reader->end - reader->at) - 1};
    // Room is taken for all that may come; a longer string is scanned first.
    if (raw.len > DECODE_AHEAD_LEN)
        raw.len = DECODE_AHEAD_LEN;
    uint8_t *out = tb_arena_alloc(arena, raw.len + TB_JSON_DECODE_SLACK);
    if (!out)
        return false;
    struct tb_json_decoded decoded = tb_json_decode(raw, out);
    bool is_good = decoded.is_closed && !decoded.is_bad;
    tb_arena_trim(arena, out, is_good ? decoded.len : 0);
    if (!is_good)
        return false;
    reader->at = raw.ptr + decoded.used + 1;
    reader->lone_surrogate_count += decoded.lone_surrogate_count;
    *text = (struct tb_span){out, decoded.len};
    *has_high = decoded.has_high;
    return true;
}

/* A string that ends soon and has no escape: the common case of keys, names
 * and numbers in strings. */
static bool read_short(struct tb_json_reader *reader, struct tb_span *text,
                       bool *has_high)
{
    enum { SHORT_LEN = 128 };
    struct tb_span raw = {reader->at + 1,
                          (size_t)(reader->end - reader->at) - 1};
    if (raw.len > SHORT_LEN)
        raw.len = SHORT_LEN;
    struct tb_json_string_scan scan = tb_json_scan_string(raw);
    if (!scan.is_closed || scan.has_escape)
        return false;
    *text = (struct tb_span){raw.ptr, scan.len};
    *has_high = scan.has_high;
    reader->at = raw.ptr + scan.len + 1;
    return true;
}

tb_status tb_json_read_string(struct tb_json_reader *reader,
                              struct tb_arena *arena, struct tb_span *text)
{
    TB_TRY(expect(reader, TB_JSON_STRING));
    bool has_high = false;
    bool is_read =
        !reader->read && (read_short(reader, text, &has_high) ||
                          read_decoded(reader, arena, text, &has_high));
    if (!is_read) {
        struct tb_json_string_scan scan;
        TB_TRY(read_raw_string(reader, text, &scan));
        TB_TRY(decode_raw(reader, arena, text));
        has_high = scan.has_high;
    }
    reader->is_first = false;
    return has_high ? repair(reader, arena, text) : TB_OK;
}

tb_status tb_json_decode_key(struct tb_json_reader *reader,
                             struct tb_arena *arena, struct tb_span *key)
{
    struct tb_json_string_scan scan = tb_json_scan_string(*key);
    if (scan.has_escape)
        TB_TRY(decode_raw(reader, arena, key));
    return scan.has_high ? repair(reader, arena, key) : TB_OK;
}

// Bytes that numbers, NaN, Infinity, true, false and null are made of.
static bool is_word(uint8_t byte)
{
    uint8_t lower = byte | 0x20;
    return (byte >= '0' && byte <= '9') || (lower >= 'a' && lower <= 'z') ||
           byte == '+' || byte == '-' || byte == '.';
}

static tb_status read_word(struct tb_json_reader *reader, struct tb_span *word)
{
    struct hold hold = hold_begin(reader);
    bool found = true;
    while (found) {
        while (reader->at < reader->end && is_word(*reader->at))
            reader->at++;
        found = reader->at == reader->end;
        if (found)
            TB_TRY(fill(reader, &found));
    }
    *word = hold_end(reader, hold);
    reader->is_first = false;
    return TB_OK;
}

// The sign and digits of `text` as an integer, if it is one that fits.
static bool read_integer(struct tb_span text, int64_t *integer)
{
    bool is_negative = text.len > 0 && text.ptr[0] == '-';
    size_t at = is_negative;
    uint64_t value = 0;
    if (at == text.len || text.len - at > 19)
        return false;
    for (; at < text.len; at++) {
        if (text.ptr[at] < '0' || text.ptr[at] > '9')
            return false;
        value = value * 10 + (uint64_t)(text.ptr[at] - '0');
    }
    if (value > INT64_MAX)
        return false;
    *integer = is_negative ? -(int64_t)value : (int64_t)value;
    return true;
}

static bool is_no_value(struct tb_span text)
{
    bool is_digit = text.len > 0 && (uint8_t)(text.ptr[0] - '0') <= 9;
    if (is_digit)
        return false;
    return tb_span_equal(text, TB_SPAN("NaN")) ||
           tb_span_equal(text, TB_SPAN("Infinity")) ||
           tb_span_equal(text, TB_SPAN("-Infinity"));
}

static size_t digits_len(struct tb_span text, size_t at)
{
    size_t len = 0;
    while (at + len < text.len && text.ptr[at + len] >= '0' &&
           text.ptr[at + len] <= '9')
        len++;
    return len;
}

// A number as RFC 8259 has it: no +1, 007, 1. or .5, no hexadecimal.
static bool is_json_number(struct tb_span text)
{
    size_t at = text.len > 0 && text.ptr[0] == '-';
    size_t len = digits_len(text, at);
    if (len == 0 || (len > 1 && text.ptr[at] == '0'))
        return false;
    at += len;
    if (at < text.len && text.ptr[at] == '.') {
        len = digits_len(text, at + 1);
        if (len == 0)
            return false;
        at += len + 1;
    }
    if (at < text.len && (text.ptr[at] | 0x20) == 'e') {
        at++;
        at += at < text.len && (text.ptr[at] == '+' || text.ptr[at] == '-');
        len = digits_len(text, at);
        if (len == 0)
            return false;
        at += len;
    }
    return at == text.len;
}

static tb_status fail_number(struct tb_json_reader *reader)
{
    if (reader->at == reader->end && reader->is_at_end)
        return fail_cut(reader); // "1e" or "Na" may be the beginning of one
    return tb_json_fail(reader, TB_ERR_SYNTAX, "malformed number");
}

tb_status tb_json_read_number(struct tb_json_reader *reader,
                              struct tb_json_number *number)
{
    TB_TRY(expect(reader, TB_JSON_NUMBER));
    *number = (struct tb_json_number){.value = NAN};
    TB_TRY(read_word(reader, &number->text));
    struct tb_span text = number->text;
    if (is_no_value(text))
        return TB_OK;
    if (!is_json_number(text))
        return fail_number(reader);
    number->is_integer = read_integer(text, &number->integer);
    if (number->is_integer) {
        number->value = (double)number->integer;
        return TB_OK;
    }
    char copy[NUMBER_MAX_LEN + 1];
    if (text.len > NUMBER_MAX_LEN)
        return tb_json_fail(reader, TB_ERR_LIMIT,
                            "number is longer than %d bytes", NUMBER_MAX_LEN);
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    number->value = tb_real_of_text(copy, NULL);
    return TB_OK;
}

// Steps out of `depth` containers, from anywhere outside a string.
static tb_status scan_out(struct tb_json_reader *reader, uint64_t depth)
{
    struct tb_json_scan scan = {.depth = depth};
    for (;;) {
        struct tb_span rest = {reader->at, (size_t)(reader->end - reader->at)};
        reader->at += tb_json_scan_container(&scan, rest);
        if (scan.depth == 0)
            break;
        bool found;
        TB_TRY(fill(reader, &found));
        if (!found)
            return fail_cut(reader);
    }
    reader->is_first = false;
    return TB_OK;
}

static tb_status skip_word(struct tb_json_reader *reader, tb_json_type type)
{
    static const struct {
        tb_json_type type;
        const char *text;
    } literals[] = {{TB_JSON_TRUE, "true"},
                    {TB_JSON_FALSE, "false"},
                    {TB_JSON_NULL, "null"}};
    struct tb_span word;
    TB_TRY(read_word(reader, &word));
    for (size_t i = 0; i < sizeof(literals) / sizeof(literals[0]); i++) {
        if (literals[i].type != type ||
            tb_span_equal(word, tb_span_of(literals[i].text)))
            continue;
        if (reader->at == reader->end && reader->is_at_end)
            return fail_cut(reader);
        return tb_json_fail(reader, TB_ERR_SYNTAX, "malformed literal");
    }
    return TB_OK;
}

tb_status tb_json_skip(struct tb_json_reader *reader)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_END)
        return fail_cut(reader);
    if (type == TB_JSON_OBJECT || type == TB_JSON_ARRAY) {
        reader->at++;
        return scan_out(reader, 1);
    }
    if (type != TB_JSON_STRING)
        return skip_word(reader, type);
    struct tb_json_string_scan scan;
    reader->at++;
    TB_TRY(pass_string(reader, &scan));
    reader->at++;
    reader->is_first = false;
    return TB_OK;
}

tb_status tb_json_rest(struct tb_json_reader *reader, struct tb_span *rest)
{
    uint8_t byte;
    TB_TRY(next_byte(reader, &byte));
    *rest = (struct tb_span){reader->at, (size_t)(reader->end - reader->at)};
    return TB_OK;
}

void tb_json_skip_known(struct tb_json_reader *reader, size_t len)
{
    reader->at += len;
    reader->is_first = false;
}

tb_status tb_json_skip_items(struct tb_json_reader *reader, size_t len)
{
    struct tb_json_scan scan = {.depth = 1};
    struct tb_span rest = {reader->at, (size_t)(reader->end - reader->at)};
    size_t at = 0;
    struct tb_span next = {rest.ptr, len < rest.len ? len : rest.len};
    for (;; next = (struct tb_span){rest.ptr + at, 1}) {
        at += tb_json_scan_container(&scan, next);
        if (scan.depth == 0) {
            at--; // what ends the array stays
            break;
        }
        if (at == rest.len)
            return fail_cut(reader);
        if (scan.depth == 1 && !scan.in_string && rest.ptr[at] == ',')
            break;
    }
    reader->is_first = reader->is_first && at == 0;
    reader->at += at;
    return TB_OK;
}

tb_status tb_json_read_raw(struct tb_json_reader *reader, struct tb_span *json)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    struct hold hold = hold_begin(reader);
    TB_TRY(tb_json_skip(reader));
    *json = hold_end(reader, hold);
    return TB_OK;
}

tb_status tb_json_mark(struct tb_json_reader *reader)
{
    uint8_t byte;
    TB_TRY(next_byte(reader, &byte));
    reader->mark = reader->at;
    return TB_OK;
}

struct tb_span tb_json_marked(const struct tb_json_reader *reader)
{
    return (struct tb_span){reader->mark, (size_t)(reader->at - reader->mark)};
}

void tb_json_unmark(struct tb_json_reader *reader)
{
    reader->mark = NULL;
}

uint32_t tb_json_depth(const struct tb_json_reader *reader)
{
    return reader->depth;
}

tb_status tb_json_leave_to(struct tb_json_reader *reader, uint32_t depth)
{
    if (reader->depth == depth)
        return TB_OK;
    TB_TRY(scan_out(reader, reader->depth - depth));
    reader->depth = depth;
    return TB_OK;
}

tb_status tb_json_expect_end(struct tb_json_reader *reader)
{
    uint8_t byte;
    TB_TRY(next_byte(reader, &byte));
    if (reader->at < reader->end)
        return tb_json_fail(reader, TB_ERR_SYNTAX,
                            "expected the end, found byte 0x%02x", byte);
    return TB_OK;
}
