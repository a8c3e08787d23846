#include "nat_salvage.h"

#include <string.h>

#include "json_reader.h"

enum {
    READ_LEN = 256 << 10, // bytes that are read at a time
    AROUND_LEN = 256      // bytes around a key that are looked at
};

static bool is_space(uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static size_t skip_space(struct tb_span text, size_t at)
{
    while (at < text.len && is_space(text.ptr[at]))
        at++;
    return at;
}

static bool skip_text(struct tb_span text, size_t *at, struct tb_span wanted)
{
    *at = skip_space(text, *at);
    if (!tb_span_starts_with(tb_span_from(text, *at), wanted))
        return false;
    *at += wanted.len;
    return true;
}

// A number, or a string without anything that ends it early.
static void skip_scalar(struct tb_span text, size_t *at)
{
    *at = skip_space(text, *at);
    while (*at < text.len && !is_space(text.ptr[*at]) &&
           !memchr(",:{}[]\\", text.ptr[*at], 7))
        ++*at;
}

// Does the key at `key` begin a request? Then that begins at `*start`.
static bool begins_request(struct tb_span text, size_t key, size_t *start)
{
    size_t before = key;
    while (before > 0 && is_space(text.ptr[before - 1]))
        before--;
    if (before == 0 || text.ptr[before - 1] != '{')
        return false;
    *start = before - 1;
    if (text.len > key + AROUND_LEN)
        text.len = key + AROUND_LEN;
    return skip_text(text, &key, TB_SPAN("\"request_number\"")) &&
           skip_text(text, &key, TB_SPAN(":")) &&
           (skip_scalar(text, &key), skip_text(text, &key, TB_SPAN(","))) &&
           skip_text(text, &key, TB_SPAN("\"intermediate_steps\""));
}

/* Looks for a request that begins at `from` or behind, in what is in the
 * window. A key at its end is left for the next time, when all around it is
 * there. */
static bool find_in_window(const struct tb_nat_salvage *salvage, size_t from,
                           size_t *start)
{
    static const char key[] = "\"request_number\"";
    struct tb_span text = tb_buffer_span(&salvage->window);
    for (size_t at = from; at < text.len; at++) {
        const uint8_t *found =
            memmem(text.ptr + at, text.len - at, key, sizeof(key) - 1);
        if (!found)
            return false;
        at = (size_t)(found - text.ptr);
        if (!salvage->is_at_end && text.len - at < AROUND_LEN)
            return false;
        if (begins_request(text, at, start) && *start >= from)
            return true;
    }
    return false;
}

static void step_to(struct tb_nat_salvage *salvage, size_t at)
{
    struct tb_span passed = {salvage->window.ptr + salvage->at,
                             at - salvage->at};
    salvage->line += tb_span_count(passed, '\n');
    salvage->at = at;
}

// Reads more behind the window, and drops what is before `at`.
static tb_status read_more(struct tb_nat_salvage *salvage,
                           struct tb_error *error)
{
    struct tb_buffer *window = &salvage->window;
    if (salvage->at > 0) {
        window->len -= salvage->at;
        memmove(window->ptr, window->ptr + salvage->at, window->len);
        salvage->window_offset += salvage->at;
        salvage->at = 0;
    }
    size_t len;
    tb_status status = tb_buffer_reserve(window, READ_LEN);
    if (status != TB_OK)
        return tb_fail(error, status, "a request is too long to hold");
    TB_TRY(tb_input_read(salvage->input, window->ptr + window->len,
                         window->capacity - window->len, &len, error));
    window->len += len;
    salvage->is_at_end = len == 0;
    return TB_OK;
}

/* Where the next request begins, behind the one at `at` if there is one; at
 * the end of the file its length, and `*found` is false. */
static tb_status find_next(struct tb_nat_salvage *salvage, size_t *start,
                           bool *found, struct tb_error *error)
{
    size_t seen = salvage->has_request; // bytes behind `at` that have none
    for (;;) {
        *found = find_in_window(salvage, salvage->at + seen, start);
        if (*found || salvage->is_at_end)
            break;
        size_t len = salvage->window.len - salvage->at;
        size_t kept = len < 2 * AROUND_LEN ? len : 2 * AROUND_LEN;
        if (!salvage->has_request)
            step_to(salvage, salvage->window.len - kept);
        else if (len - kept > seen)
            seen = len - kept;
        TB_TRY(read_more(salvage, error));
    }
    if (!*found)
        *start = salvage->window.len;
    return TB_OK;
}

// Opens the file again, at `offset` of its content.
static tb_status open_again(struct tb_nat_salvage *salvage, const char *path,
                            uint64_t offset, struct tb_error *error)
{
    TB_TRY(tb_input_open(path, &salvage->input, error));
    return tb_input_skip(salvage->input, offset, error);
}

tb_status tb_nat_salvage_begin(struct tb_nat_salvage *salvage, const char *path,
                               uint64_t offset, uint64_t line, bool *found,
                               uint64_t *next, struct tb_error *error)
{
    size_t start;
    *salvage =
        (struct tb_nat_salvage){.window = TB_BUFFER(TB_JSON_MAX_VALUE_LEN),
                                .window_offset = offset,
                                .line = line};
    TB_TRY(open_again(salvage, path, offset, error));
    TB_TRY(find_next(salvage, &start, found, error));
    step_to(salvage, start);
    salvage->has_request = *found;
    *next = salvage->window_offset + start;
    return TB_OK;
}

// Without what stands between two requests, or behind the last one.
static struct tb_span trimmed(struct tb_span text)
{
    while (text.len > 0 &&
           (is_space(text.ptr[text.len - 1]) || text.ptr[text.len - 1] == ',' ||
            text.ptr[text.len - 1] == ']'))
        text.len--;
    return text;
}

tb_status tb_nat_salvage_next(struct tb_nat_salvage *salvage,
                              struct tb_span *request, uint64_t *offset,
                              uint64_t *line, struct tb_error *error)
{
    size_t start;
    bool found;
    *request = (struct tb_span){0};
    if (!salvage->has_request)
        return TB_OK;
    TB_TRY(find_next(salvage, &start, &found, error));
    *offset = salvage->window_offset + salvage->at;
    *line = salvage->line;
    *request = trimmed((struct tb_span){salvage->window.ptr + salvage->at,
                                        start - salvage->at});
    step_to(salvage, start);
    salvage->has_request = found;
    return TB_OK;
}

void tb_nat_salvage_release(struct tb_nat_salvage *salvage)
{
    tb_input_close(salvage->input);
    tb_buffer_release(&salvage->window);
}
