#include "json_copy.h"

#include <math.h>

#include "json_writer.h"

static tb_status write_string(struct tb_buffer *out, struct tb_span text,
                              bool is_ascii)
{
    return is_ascii ? tb_json_write_string(out, text)
                    : tb_json_write_utf8_string(out, text);
}

static tb_status copy_string(struct tb_json_reader *reader,
                             struct tb_arena *arena, bool is_ascii,
                             struct tb_buffer *out)
{
    struct tb_span text;
    TB_TRY(tb_json_read_string(reader, arena, &text));
    return write_string(out, text, is_ascii);
}

static tb_status copy_number(struct tb_json_reader *reader,
                             struct tb_buffer *out)
{
    struct tb_json_number number;
    TB_TRY(tb_json_read_number(reader, &number));
    return tb_buffer_append(out, isnan(number.value) ? TB_SPAN("null")
                                                     : number.text);
}

static tb_status copy_array(struct tb_json_reader *reader,
                            struct tb_arena *arena, bool is_ascii,
                            struct tb_buffer *out)
{
    TB_TRY(tb_json_enter_array(reader));
    TB_TRY(tb_buffer_append_byte(out, '['));
    for (size_t count = 0;; count++) {
        bool found;
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            return tb_buffer_append_byte(out, ']');
        if (count > 0)
            TB_TRY(tb_buffer_append(out, TB_SPAN(", ")));
        TB_TRY(tb_json_copy(reader, arena, is_ascii, out));
    }
}

static tb_status copy_object(struct tb_json_reader *reader,
                             struct tb_arena *arena, bool is_ascii,
                             struct tb_buffer *out)
{
    TB_TRY(tb_json_enter_object(reader));
    TB_TRY(tb_buffer_append_byte(out, '{'));
    for (size_t count = 0;; count++) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return tb_buffer_append_byte(out, '}');
        TB_TRY(tb_json_decode_key(reader, arena, &key));
        if (count > 0)
            TB_TRY(tb_buffer_append(out, TB_SPAN(", ")));
        TB_TRY(write_string(out, key, is_ascii));
        TB_TRY(tb_buffer_append(out, TB_SPAN(": ")));
        TB_TRY(tb_json_copy(reader, arena, is_ascii, out));
    }
}

tb_status tb_json_copy(struct tb_json_reader *reader, struct tb_arena *arena,
                       bool is_ascii, struct tb_buffer *out)
{
    tb_json_type type;
    struct tb_span literal;
    TB_TRY(tb_json_peek(reader, &type));
    switch (type) {
    case TB_JSON_OBJECT:
        return copy_object(reader, arena, is_ascii, out);
    case TB_JSON_ARRAY:
        return copy_array(reader, arena, is_ascii, out);
    case TB_JSON_STRING:
        return copy_string(reader, arena, is_ascii, out);
    case TB_JSON_NUMBER:
        return copy_number(reader, out);
    default:
        TB_TRY(tb_json_read_raw(reader, &literal));
        return tb_buffer_append(out, literal);
    }
}
