/* Proves: whatever the bytes are, the JSON reader ends, gives valid UTF-8, and
 * sees the same events and the same error in one piece as in many. */
#include "fuzz.h"

#include "hash.h"
#include "json_reader.h"
#include "utf8.h"

static tb_status walk(struct tb_json_reader *reader, struct tb_arena *arena,
                      uint64_t *seen)
{
    tb_json_type type;
    struct tb_json_number number = {0};
    struct tb_span text = {0};
    bool found;
    TB_TRY(tb_json_peek(reader, &type));
    *seen = *seen * 31 + (uint64_t)type;
    if (type == TB_JSON_STRING)
        TB_TRY(tb_json_read_string(reader, arena, &text));
    else if (type == TB_JSON_NUMBER)
        TB_TRY(tb_json_read_number(reader, &number));
    else if (type != TB_JSON_OBJECT && type != TB_JSON_ARRAY)
        TB_TRY(tb_json_read_raw(reader, &text));
    else
        TB_TRY(type == TB_JSON_OBJECT ? tb_json_enter_object(reader)
                                      : tb_json_enter_array(reader));
    FUZZ_CHECK(tb_utf8_valid_len(text) == text.len);
    *seen = tb_hash64(number.text, tb_hash64(text, *seen));
    while (type == TB_JSON_OBJECT || type == TB_JSON_ARRAY) {
        TB_TRY(type == TB_JSON_OBJECT ? tb_json_next_key(reader, &text)
                                      : tb_json_next_item(reader, &found));
        if (type == TB_JSON_OBJECT ? !text.ptr : !found)
            break;
        *seen = tb_hash64(text, *seen);
        TB_TRY(walk(reader, arena, seen));
    }
    return TB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_stream stream = {.step = fuzz_take(&data, &size, 1) + 1};
    uint64_t seen[2] = {0}; // in one piece, and in many
    stream.left = (struct tb_span){data, size};
    for (size_t i = 0; i < 2; i++) {
        struct tb_json_reader reader;
        struct tb_arena arena = {0};
        tb_json_reader_init_span(&reader, stream.left, 0, 1);
        if (i > 0)
            tb_json_reader_init_stream(&reader, fuzz_read_stream, &stream);
        if (walk(&reader, &arena, &seen[i]) == TB_OK)
            (void)!tb_json_expect_end(&reader);
        struct tb_span error = {(void *)&reader.error, sizeof(reader.error)};
        seen[i] = tb_hash64(error, seen[i] + 7 * reader.bad_utf8_count);
        tb_json_reader_release(&reader);
        tb_arena_release(&arena);
    }
    FUZZ_CHECK(seen[0] == seen[1]);
    return 0;
}
