#include "session_name.h"

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

// Takes the digits that `text` begins with off it, without zeros in front.
static struct tb_span take_number(struct tb_span *text)
{
    size_t zeros = 0, len = 0;
    while (len < text->len && is_digit(text->ptr[len]))
        len++;
    while (zeros + 1 < len && text->ptr[zeros] == '0')
        zeros++;
    struct tb_span number = {text->ptr + zeros, len - zeros};
    *text = tb_span_from(*text, len);
    return number;
}

static int compare_numbers(struct tb_span a, struct tb_span b)
{
    if (a.len != b.len)
        return a.len < b.len ? -1 : 1;
    return tb_span_compare(a, b);
}

static int compare_by_number(struct tb_span a, struct tb_span b)
{
    while (a.len > 0 && b.len > 0) {
        if (is_digit(*a.ptr) && is_digit(*b.ptr)) {
            struct tb_span first = take_number(&a), second = take_number(&b);
            int order = compare_numbers(first, second);
            if (order != 0)
                return order;
            continue;
        }
        if (*a.ptr != *b.ptr)
            return *a.ptr < *b.ptr ? -1 : 1;
        a = tb_span_from(a, 1);
        b = tb_span_from(b, 1);
    }
    return (a.len > 0) - (b.len > 0);
}

int tb_session_name_compare(struct tb_span a, struct tb_span b,
                            tb_session_order order)
{
    int compared = order == TB_SESSIONS_BY_NUMBER ? compare_by_number(a, b) : 0;
    return compared != 0 ? compared : tb_span_compare(a, b);
}

static struct tb_span text_of(const struct tb_mooncake_record *record,
                              tb_mooncake_field field)
{
    const struct tb_mooncake_value *value = &record->fields[field];
    return value->kind == TB_MOONCAKE_TEXT ? value->text : (struct tb_span){0};
}

struct tb_span tb_session_name_of(const struct tb_mooncake_record *record)
{
    struct tb_span parent = text_of(record, TB_MOONCAKE_PARENT_SESSION_ID);
    return parent.len > 0 ? parent : text_of(record, TB_MOONCAKE_SESSION_ID);
}
