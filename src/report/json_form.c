#include "json_form.h"

#include <string.h>

#include "c_locale.h"
#include "json_writer.h"

enum { INDENT = 2 };

struct tb_json_form tb_json_form_on(struct tb_buffer *buffer, bool is_indented)
{
    return (struct tb_json_form){
        .buffer = buffer, .is_indented = is_indented, .is_first = true};
}

static void put(struct tb_json_form *form, struct tb_span text)
{
    if (form->status == TB_OK)
        form->status = tb_buffer_append(form->buffer, text);
}

static void put_string(struct tb_json_form *form, struct tb_span text)
{
    if (form->status == TB_OK)
        form->status = tb_json_write_string(form->buffer, text);
}

static void begin_line(struct tb_json_form *form)
{
    put(form, TB_SPAN("\n"));
    for (unsigned i = 0; i < form->depth * INDENT; i++)
        put(form, TB_SPAN(" "));
}

static void begin_value(struct tb_json_form *form, const char *key)
{
    if (!form->is_first)
        put(form, form->is_indented ? TB_SPAN(",") : TB_SPAN(", "));
    if (form->is_indented && form->depth > 0)
        begin_line(form);
    form->is_first = false;
    if (!key)
        return;
    put_string(form, tb_span_of(key));
    put(form, TB_SPAN(": "));
}

void tb_json_form_open(struct tb_json_form *form, const char *key, char bracket)
{
    begin_value(form, key);
    put(form, (struct tb_span){(const uint8_t *)&bracket, 1});
    form->depth++;
    form->is_first = true;
}

void tb_json_form_close(struct tb_json_form *form, char bracket)
{
    form->depth--;
    if (form->is_indented && !form->is_first)
        begin_line(form);
    put(form, (struct tb_span){(const uint8_t *)&bracket, 1});
    form->is_first = false;
    if (form->depth == 0)
        put(form, TB_SPAN("\n"));
}

void tb_json_form_number(struct tb_json_form *form, const char *key,
                         uint64_t value)
{
    begin_value(form, key);
    if (form->status == TB_OK)
        form->status = tb_buffer_append_u64(form->buffer, value);
}

enum {
    REAL_SIZE = 340, // the longest finite double has 309 digits
    REAL_DIGITS = 6, // behind the point
    EXACT_DIGITS = 17
};

static void put_real(struct tb_json_form *form, const char *key,
                     const char *text)
{
    size_t len = strlen(text);
    while (text[len - 1] == '0' && text[len - 2] != '.')
        len--;
    begin_value(form, key);
    put(form, (struct tb_span){(const uint8_t *)text, len});
}

void tb_json_form_real(struct tb_json_form *form, const char *key, double value)
{
    char text[REAL_SIZE];
    tb_real_to_text(text, sizeof(text), REAL_DIGITS, 'f', value);
    put_real(form, key, text);
}

void tb_json_form_exact(struct tb_json_form *form, const char *key,
                        double value)
{
    char text[REAL_SIZE];
    int digits = REAL_DIGITS;
    do
        tb_real_to_text(text, sizeof(text), digits, 'f', value);
    while (tb_real_of_text(text, NULL) != value && digits++ < EXACT_DIGITS);
    put_real(form, key, text);
}

void tb_json_form_null(struct tb_json_form *form, const char *key)
{
    begin_value(form, key);
    put(form, TB_SPAN("null"));
}

void tb_json_form_bool(struct tb_json_form *form, const char *key, bool value)
{
    begin_value(form, key);
    put(form, value ? TB_SPAN("true") : TB_SPAN("false"));
}

void tb_json_form_text(struct tb_json_form *form, const char *key,
                       struct tb_span value)
{
    begin_value(form, key);
    put_string(form, value);
}

/* ---- a value of another document -------------------------------------- */

tb_status tb_json_form_copy_member(struct tb_json_form *form,
                                   struct tb_span key,
                                   struct tb_json_reader *reader,
                                   struct tb_arena *arena)
{
    TB_TRY(tb_json_decode_key(reader, arena, &key));
    char *name = tb_arena_zeroed(arena, key.len + 1, 1);
    if (!name)
        return TB_ERR_MEMORY;
    memcpy(name, key.ptr, key.len);
    tb_json_form_copy(form, name, reader, arena);
    return form->status;
}

static tb_status copy_object(struct tb_json_form *form, const char *key,
                             struct tb_json_reader *reader,
                             struct tb_arena *arena)
{
    TB_TRY(tb_json_enter_object(reader));
    tb_json_form_open(form, key, '{');
    for (;;) {
        struct tb_span inner;
        TB_TRY(tb_json_next_key(reader, &inner));
        if (!inner.ptr)
            break;
        TB_TRY(tb_json_form_copy_member(form, inner, reader, arena));
    }
    tb_json_form_close(form, '}');
    return TB_OK;
}

static tb_status copy_array(struct tb_json_form *form, const char *key,
                            struct tb_json_reader *reader,
                            struct tb_arena *arena)
{
    TB_TRY(tb_json_enter_array(reader));
    tb_json_form_open(form, key, '[');
    for (;;) {
        bool found;
        TB_TRY(tb_json_next_item(reader, &found));
        if (!found)
            break;
        tb_json_form_copy(form, NULL, reader, arena);
        TB_TRY(form->status);
    }
    tb_json_form_close(form, ']');
    return TB_OK;
}

static tb_status copy_plain(struct tb_json_form *form, const char *key,
                            struct tb_json_reader *reader, bool is_text,
                            struct tb_arena *arena)
{
    struct tb_span value;
    if (is_text) {
        TB_TRY(tb_json_read_string(reader, arena, &value));
        tb_json_form_text(form, key, value);
        return TB_OK;
    }
    TB_TRY(tb_json_read_raw(reader, &value));
    begin_value(form, key);
    put(form, value);
    return TB_OK;
}

void tb_json_form_copy(struct tb_json_form *form, const char *key,
                       struct tb_json_reader *reader, struct tb_arena *arena)
{
    tb_json_type type;
    tb_status status = tb_json_peek(reader, &type);
    if (status == TB_OK)
        status =
            type == TB_JSON_OBJECT ? copy_object(form, key, reader, arena)
            : type == TB_JSON_ARRAY
                ? copy_array(form, key, reader, arena)
                : copy_plain(form, key, reader, type == TB_JSON_STRING, arena);
    if (form->status == TB_OK)
        form->status = status;
}
