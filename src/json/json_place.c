#include "json_place.h"

// Steps over the next value; false: the place is in it, so it was not.
static bool passes(struct tb_json_reader *reader, uint64_t offset)
{
    struct tb_json_reader before = *reader;
    if (tb_json_skip(reader) == TB_OK && tb_json_offset(reader) < offset)
        return true;
    *reader = before;
    return false;
}

// The next member or item of what was entered: is there one?
static bool step(struct tb_json_reader *reader, tb_json_type type)
{
    struct tb_span key = {0};
    bool found = false;
    if (type == TB_JSON_OBJECT)
        return tb_json_next_key(reader, &key) == TB_OK && key.ptr;
    return tb_json_next_item(reader, &found) == TB_OK && found;
}

// Steps into the next value, down to the part in which the place is.
static bool descend(struct tb_json_reader *reader, uint64_t offset)
{
    tb_json_type type;
    if (tb_json_peek(reader, &type) != TB_OK ||
        (type != TB_JSON_OBJECT && type != TB_JSON_ARRAY))
        return false;
    struct tb_json_reader before = *reader;
    tb_status status = type == TB_JSON_OBJECT ? tb_json_enter_object(reader)
                                              : tb_json_enter_array(reader);
    while (status == TB_OK && step(reader, type))
        if (!passes(reader, offset))
            return true;
    *reader = before;
    return false;
}

void tb_json_name_place(struct tb_span json, struct tb_error *error)
{
    struct tb_json_reader reader;
    tb_json_reader_init_span(&reader, json, 0, 1);
    while (descend(&reader, error->offset))
        continue;
    tb_json_path(&reader, error->json_path, sizeof(error->json_path));
}
