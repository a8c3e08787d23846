#include "mooncake_row.h"

#include <string.h>
#include <strings.h>

#include "json_writer.h"

enum {
    NUMBER_MAX = 20, // digits of 2^64 - 1
    ID_MAX = NUMBER_MAX + sizeof(", ") - 1
};

static size_t digit_count(uint64_t value)
{
    size_t count = 1;
    while (value >= 10) {
        value /= 10;
        count++;
    }
    return count;
}

// Most of a file is ids, so they go past the buffer's bounds check.
static uint8_t *put_number(uint8_t *out, uint64_t value)
{
    uint8_t *end = out + digit_count(value);
    uint8_t *digit = end;
    do {
        *--digit = (uint8_t)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    return end;
}

tb_status tb_mooncake_ids_write(const uint64_t *ids, size_t count,
                                struct tb_buffer *buffer)
{
    if (count > SIZE_MAX / ID_MAX - 1)
        return TB_ERR_LIMIT;
    TB_TRY(tb_buffer_reserve(buffer, count * ID_MAX + 2));
    uint8_t *out = buffer->ptr + buffer->len;
    *out++ = '[';
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            *out++ = ',';
            *out++ = ' ';
        }
        out = put_number(out, ids[i]);
    }
    *out++ = ']';
    buffer->len = (size_t)(out - buffer->ptr);
    return TB_OK;
}

static tb_status write_number(struct tb_buffer *buffer, struct tb_span key,
                              uint64_t value)
{
    TB_TRY(tb_buffer_append(buffer, key));
    return tb_buffer_append_u64(buffer, value);
}

static tb_status write_text(struct tb_buffer *buffer, struct tb_span key,
                            struct tb_span value)
{
    TB_TRY(tb_buffer_append(buffer, key));
    return tb_json_write_string(buffer, value);
}

unsigned tb_priority_number(struct tb_span priority)
{
    static const char *const names[] = {"low", "medium", "high", "critical"};
    enum { COUNT = sizeof(names) / sizeof(names[0]), MEDIUM = 1 };
    for (unsigned i = 0; i < COUNT; i++)
        if (priority.len == strlen(names[i]) &&
            strncasecmp((const char *)priority.ptr, names[i], priority.len) ==
                0)
            return i;
    return MEDIUM;
}

static tb_status write_priority(struct tb_buffer *buffer,
                                const struct tb_mooncake_row *row)
{
    if (row->is_priority_null)
        return tb_buffer_append(buffer, TB_SPAN(", \"priority\": null"));
    if (row->is_priority_number)
        return write_number(buffer, TB_SPAN(", \"priority\": "),
                            tb_priority_number(row->priority));
    return write_text(buffer, TB_SPAN(", \"priority\": "), row->priority);
}

static tb_status write_raw(struct tb_buffer *buffer, struct tb_span key,
                           struct tb_span json)
{
    TB_TRY(tb_buffer_append(buffer, key));
    return tb_buffer_append(buffer, json);
}

static tb_status write_prompt(struct tb_buffer *buffer,
                              const struct tb_mooncake_row *row)
{
    if (!row->messages.ptr) {
        TB_TRY(write_number(buffer, TB_SPAN(", \"input_length\": "),
                            row->input_length));
        TB_TRY(write_number(buffer, TB_SPAN(", \"output_length\": "),
                            row->output_length));
        TB_TRY(tb_buffer_append(buffer, TB_SPAN(", \"hash_ids\": ")));
        return tb_mooncake_ids_write(row->hash_ids, row->hash_id_count, buffer);
    }
    TB_TRY(write_raw(buffer, TB_SPAN(", \"messages\": "), row->messages));
    if (row->tools.len)
        TB_TRY(write_raw(buffer, TB_SPAN(", \"tools\": "), row->tools));
    return write_number(buffer, TB_SPAN(", \"output_length\": "),
                        row->output_length);
}

// Servers have `metadata` as OpenAI's interface has it: names and texts.
static tb_status write_labels(struct tb_buffer *buffer,
                              const struct tb_mooncake_row *row)
{
    TB_TRY(write_text(buffer, TB_SPAN("\"metadata\": {\"agent_type\": "),
                      row->agent_type));
    TB_TRY(write_text(buffer, TB_SPAN(", \"priority\": "), row->priority));
    return tb_buffer_append_byte(buffer, '}');
}

static tb_status write_extra(struct tb_buffer *buffer,
                             const struct tb_mooncake_row *row)
{
    if (!row->has_exact_output && !row->has_labels)
        return TB_OK;
    TB_TRY(tb_buffer_append(buffer, TB_SPAN(", \"extra\": {")));
    if (row->has_exact_output)
        TB_TRY(write_number(buffer,
                            TB_SPAN("\"ignore_eos\": true, \"min_tokens\": "),
                            row->output_length));
    if (row->has_exact_output && row->has_labels)
        TB_TRY(tb_buffer_append(buffer, TB_SPAN(", ")));
    if (row->has_labels)
        TB_TRY(write_labels(buffer, row));
    return tb_buffer_append_byte(buffer, '}');
}

static tb_status write_fields(const struct tb_mooncake_row *row,
                              struct tb_buffer *buffer)
{
    TB_TRY(write_text(buffer, TB_SPAN("{\"session_id\": "), row->session_id));
    if (row->has_agent_type)
        TB_TRY(
            write_text(buffer, TB_SPAN(", \"agent_type\": "), row->agent_type));
    TB_TRY(write_prompt(buffer, row));
    if (row->has_priority)
        TB_TRY(write_priority(buffer, row));
    if (row->has_timestamp)
        TB_TRY(write_number(buffer, TB_SPAN(", \"timestamp\": "),
                            row->timestamp_ms));
    if (row->has_delay)
        TB_TRY(write_number(buffer, TB_SPAN(", \"delay\": "), row->delay_ms));
    TB_TRY(write_extra(buffer, row));
    if (row->parent_session_id.len)
        TB_TRY(write_text(buffer, TB_SPAN(", \"parent_session_id\": "),
                          row->parent_session_id));
    return tb_buffer_append(buffer, TB_SPAN("}\n"));
}

tb_status tb_mooncake_row_write(const struct tb_mooncake_row *row,
                                struct tb_buffer *buffer)
{
    size_t len = buffer->len;
    tb_status status = write_fields(row, buffer);
    if (status != TB_OK)
        buffer->len = len;
    return status;
}
