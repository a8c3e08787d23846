#include "text_census.h"

static tb_status add(struct tb_text_census *census,
                     struct tb_json_reader *reader);

static tb_status add_object(struct tb_text_census *census,
                            struct tb_json_reader *reader)
{
    TB_TRY(tb_json_enter_object(reader));
    for (;;) {
        struct tb_span key;
        uint32_t number;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            return TB_OK;
        TB_TRY(tb_json_decode_key(reader, &census->arena, &key));
        TB_TRY(tb_name_table_add(&census->keys, key, &number));
        TB_TRY(add(census, reader));
    }
}

static tb_status add_array(struct tb_text_census *census,
                           struct tb_json_reader *reader)
{
    TB_TRY(tb_json_enter_array(reader));
    for (;;) {
        bool found;
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            return TB_OK;
        TB_TRY(add(census, reader));
    }
}

// The depth is that which the reader enters at the most.
static tb_status add(struct tb_text_census *census,
                     struct tb_json_reader *reader)
{
    tb_json_type type;
    struct tb_span text;
    uint32_t number;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_OBJECT)
        return add_object(census, reader);
    if (type == TB_JSON_ARRAY)
        return add_array(census, reader);
    if (type != TB_JSON_STRING)
        return tb_json_skip(reader);
    TB_TRY(tb_json_read_string(reader, &census->arena, &text));
    return tb_name_table_add(&census->texts, text, &number);
}

tb_status tb_text_census_add(struct tb_text_census *census, struct tb_span json,
                             struct tb_error *error)
{
    struct tb_json_reader reader;
    tb_arena_reset(&census->arena);
    tb_json_reader_init_span(&reader, json, 0, 1);
    tb_status status = add(census, &reader);
    if (status != TB_OK && error)
        *error = reader.error;
    return status;
}

void tb_text_census_release(struct tb_text_census *census)
{
    tb_name_table_release(&census->keys);
    tb_name_table_release(&census->texts);
    tb_arena_release(&census->arena);
    *census = (struct tb_text_census){0};
}
