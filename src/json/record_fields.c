#include "record_fields.h"

#include <math.h>
#include <string.h>

tb_status tb_field_string(struct tb_json_reader *reader, struct tb_arena *arena,
                          struct tb_span *text)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_STRING)
        return tb_json_read_string(reader, arena, text);
    return tb_json_skip(reader);
}

tb_status tb_field_id(struct tb_json_reader *reader, struct tb_arena *arena,
                      struct tb_span *text)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_NUMBER)
        return tb_json_read_raw(reader, text);
    return tb_field_string(reader, arena, text);
}

static void take_count(const struct tb_json_number *number, uint64_t *count,
                       bool *has)
{
    double value = number->value;
    *has = value >= 0 && value < 1e18; // false for NaN too
    if (*has)
        *count =
            number->is_integer ? (uint64_t)number->integer : (uint64_t)value;
}

tb_status tb_field_count(struct tb_json_reader *reader, struct tb_arena *arena,
                         uint64_t *count, bool *has)
{
    tb_json_type type;
    struct tb_json_number number;
    struct tb_span text;
    *has = false;
    TB_TRY(tb_json_peek(reader, &type));
    if (type == TB_JSON_NUMBER) {
        TB_TRY(tb_json_read_number(reader, &number));
        take_count(&number, count, has);
        return TB_OK;
    }
    if (type != TB_JSON_STRING)
        return tb_json_skip(reader);
    TB_TRY(tb_json_read_string(reader, arena, &text));
    struct tb_json_reader inner;
    tb_json_reader_init_span(&inner, text, 0, 1);
    if (tb_json_read_number(&inner, &number) == TB_OK &&
        tb_json_expect_end(&inner) == TB_OK)
        take_count(&number, count, has);
    return TB_OK;
}

tb_status tb_field_number(struct tb_json_reader *reader, double *value)
{
    tb_json_type type;
    struct tb_json_number number;
    *value = NAN;
    TB_TRY(tb_json_peek(reader, &type));
    if (type != TB_JSON_NUMBER)
        return tb_json_skip(reader);
    TB_TRY(tb_json_read_number(reader, &number));
    if (isfinite(number.value))
        *value = number.value;
    return TB_OK;
}

tb_status tb_field_raw(struct tb_json_reader *reader, struct tb_span *json)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    if (type != TB_JSON_NULL)
        return tb_json_read_raw(reader, json);
    *json = (struct tb_span){0};
    return tb_json_skip(reader);
}

static tb_status enter(struct tb_json_reader *reader, tb_json_type wanted,
                       bool *entered)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    *entered = type == wanted;
    if (!*entered)
        return tb_json_skip(reader);
    return wanted == TB_JSON_OBJECT ? tb_json_enter_object(reader)
                                    : tb_json_enter_array(reader);
}

tb_status tb_field_expect_object(struct tb_json_reader *reader)
{
    tb_json_type type;
    TB_TRY(tb_json_peek(reader, &type));
    return type == TB_JSON_OBJECT ? TB_OK : tb_json_enter_object(reader);
}

tb_status tb_field_enter_object(struct tb_json_reader *reader, bool *entered)
{
    return enter(reader, TB_JSON_OBJECT, entered);
}

tb_status tb_field_enter_array(struct tb_json_reader *reader, bool *entered)
{
    return enter(reader, TB_JSON_ARRAY, entered);
}

static tb_status read_field(struct tb_json_reader *reader,
                            struct tb_arena *arena,
                            const struct tb_field *field)
{
    switch (field->kind) {
    case TB_FIELD_KIND_TEXT:
        return tb_field_string(reader, arena, field->slot);
    case TB_FIELD_KIND_ID:
        return tb_field_id(reader, arena, field->slot);
    case TB_FIELD_KIND_COUNT:
        return tb_field_count(reader, arena, field->slot, field->has);
    case TB_FIELD_KIND_NUMBER:
        return tb_field_number(reader, field->slot);
    case TB_FIELD_KIND_RAW:
        return tb_field_raw(reader, field->slot);
    case TB_FIELD_KIND_OBJECT:
        return tb_fields_read(reader, arena, field->fields, field->field_count);
    case TB_FIELD_KIND_READ:
    default:
        return field->read(reader, field->slot);
    }
}

/* Tables are in the order in which most records have their keys, so that the
 * search goes on behind the field that was found last. */
static const struct tb_field *find_field(const struct tb_field *fields,
                                         size_t count, struct tb_span key,
                                         size_t *next)
{
    for (size_t tried = 0; tried < count; tried++) {
        size_t at = *next;
        *next = at + 1 < count ? at + 1 : 0;
        if (key.len == fields[at].key.len &&
            memcmp(key.ptr, fields[at].key.ptr, key.len) == 0)
            return &fields[at];
    }
    return NULL;
}

tb_status tb_fields_read(struct tb_json_reader *reader, struct tb_arena *arena,
                         const struct tb_field *fields, size_t count)
{
    bool entered;
    size_t next = 0;
    TB_TRY(tb_field_enter_object(reader, &entered));
    while (entered) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        if (!key.ptr)
            break;
        const struct tb_field *field = find_field(fields, count, key, &next);
        TB_TRY(field ? read_field(reader, arena, field) : tb_json_skip(reader));
    }
    return TB_OK;
}

bool tb_field_is_filled(struct tb_span json, uint8_t opening)
{
    if (json.len < 3 || json.ptr[0] != opening)
        return false;
    // White space is at most ' ', and every value begins above it.
    for (size_t i = 1; i + 1 < json.len; i++) {
        if (json.ptr[i] > ' ')
            return true;
    }
    return false;
}

// Goes on to the value of `key` in the object that was entered.
static tb_status find_key(struct tb_json_reader *reader, struct tb_span wanted,
                          bool *found)
{
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(reader, &key));
        *found = key.ptr && tb_span_equal(key, wanted);
        if (*found || !key.ptr)
            return TB_OK;
        TB_TRY(tb_json_skip(reader));
    }
}

tb_status tb_field_find(struct tb_span json, struct tb_span outer,
                        struct tb_span inner, struct tb_arena *arena,
                        struct tb_span *text)
{
    struct tb_json_reader reader;
    bool found;
    tb_json_reader_init_span(&reader, json, 0, 1);
    TB_TRY(tb_json_enter_object(&reader));
    TB_TRY(find_key(&reader, outer, &found));
    if (found)
        TB_TRY(tb_field_enter_object(&reader, &found));
    if (found)
        TB_TRY(find_key(&reader, inner, &found));
    return found ? tb_field_string(&reader, arena, text) : TB_OK;
}
