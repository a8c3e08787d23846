#include "http_head.h"

#include <string.h>
#include <strings.h>

#include "hub_name.h"

struct tb_http_head tb_http_head_none(void)
{
    return (struct tb_http_head){
        .content_len = TB_HTTP_NO_LEN,
        .linked_len = TB_HTTP_NO_LEN,
        .range_start = TB_HTTP_NO_LEN,
        .range_total = TB_HTTP_NO_LEN,
    };
}

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static struct tb_span trim(struct tb_span text)
{
    while (text.len > 0 && is_blank(text.ptr[text.len - 1]))
        text.len--;
    while (text.len > 0 && is_blank(text.ptr[0]))
        text = tb_span_from(text, 1);
    return text;
}

// Digits at the front of `text`, which is cut by them.
static uint64_t take_number(struct tb_span *text)
{
    uint64_t number = 0;
    size_t at = 0;
    for (; at < text->len && text->ptr[at] >= '0' && text->ptr[at] <= '9';
         at++) {
        unsigned digit = text->ptr[at] - (unsigned)'0';
        if (number > (TB_HTTP_NO_LEN - 1 - digit) / 10)
            return TB_HTTP_NO_LEN;
        number = number * 10 + digit;
    }
    *text = tb_span_from(*text, at);
    return at > 0 ? number : TB_HTTP_NO_LEN;
}

static uint64_t number_of(struct tb_span text)
{
    uint64_t number = take_number(&text);
    return text.len == 0 ? number : TB_HTTP_NO_LEN;
}

// bytes 100-199/200
static void set_range(struct tb_http_head *head, struct tb_span text)
{
    if (!tb_span_starts_with(text, TB_SPAN("bytes ")))
        return;
    text = tb_span_from(text, strlen("bytes "));
    head->range_start = take_number(&text);
    size_t slash = 0;
    while (slash < text.len && text.ptr[slash] != '/')
        slash++;
    if (slash < text.len)
        head->range_total = number_of(tb_span_from(text, slash + 1));
}

static void set_etag(struct tb_http_etag *etag, struct tb_span text)
{
    if (tb_span_starts_with(text, TB_SPAN("W/")))
        text = tb_span_from(text, 2);
    while (text.len > 0 && text.ptr[0] == '"')
        text = tb_span_from(text, 1);
    while (text.len > 0 && text.ptr[text.len - 1] == '"')
        text.len--;
    *etag = (struct tb_http_etag){0};
    etag->is_bad = !tb_hub_is_file_name(text) || text.len >= sizeof(etag->text);
    if (!etag->is_bad)
        memcpy(etag->text, text.ptr, text.len);
}

static void set_commit(struct tb_http_head *head, struct tb_span text)
{
    set_etag(&head->commit, text);
    if (!tb_hub_is_commit(tb_span_of(head->commit.text)))
        head->commit = (struct tb_http_etag){.is_bad = true};
}

static void set_error_code(struct tb_http_head *head, struct tb_span text)
{
    if (text.len < sizeof(head->error_code) && tb_hub_is_file_name(text)) {
        memcpy(head->error_code, text.ptr, text.len);
        head->error_code[text.len] = '\0';
    }
}

static bool is_name(struct tb_span name, const char *wanted)
{
    return name.len == strlen(wanted) &&
           strncasecmp((const char *)name.ptr, wanted, name.len) == 0;
}

void tb_http_head_add(struct tb_http_head *head, struct tb_span line)
{
    if (tb_span_starts_with(line, TB_SPAN("HTTP/"))) {
        *head = tb_http_head_none();
        return;
    }
    size_t colon = 0;
    while (colon < line.len && line.ptr[colon] != ':')
        colon++;
    if (colon == line.len)
        return;
    struct tb_span name = {line.ptr, colon};
    struct tb_span value = trim(tb_span_from(line, colon + 1));
    if (is_name(name, "ETag"))
        set_etag(&head->etag, value);
    else if (is_name(name, "X-Linked-Etag"))
        set_etag(&head->linked_etag, value);
    else if (is_name(name, "X-Repo-Commit"))
        set_commit(head, value);
    else if (is_name(name, "X-Error-Code"))
        set_error_code(head, value);
    else if (is_name(name, "Content-Length"))
        head->content_len = number_of(value);
    else if (is_name(name, "X-Linked-Size"))
        head->linked_len = number_of(value);
    else if (is_name(name, "Content-Range"))
        set_range(head, value);
    else if (is_name(name, "Retry-After") && number_of(value) < 3600)
        head->retry_after_s = (unsigned)number_of(value);
}
