/* Proves: whatever two files of rows are, merging them fails with a message, or
 * has all their rows, each session's together, with ids by first appearance,
 * and the same in the other order of files or with little memory. */
#include "fuzz_files.h"

#include "name_table.h"
#include "row_merge.h"

static const struct tb_row_stop no_stop = {0};

static tb_status merge_rows(const char *first, const char *second,
                            size_t memory, struct tb_buffer *text)
{
    const char *paths[] = {first, second};
    struct tb_row_merge merge = {.paths = paths, .count = 2, .memory = memory};
    struct tb_row_output output = {.text = *text};
    struct tb_error error = {0};
    tb_status status = tb_row_merge_open(&merge, &error);
    if (status == TB_OK)
        status = tb_row_merge_write(&merge, &output, &error);
    FUZZ_CHECK(status == TB_OK || (error.status == status && error.message[0]));
    *text = output.text;
    tb_row_merge_close(&merge);
    return status;
}

static uint64_t count_rows(const char *path)
{
    struct tb_row_input input;
    FUZZ_CHECK(tb_row_input_open(&input, path, no_stop, NULL) == TB_OK);
    while (tb_row_input_next(&input, NULL) == TB_OK && input.line.ptr)
        continue;
    uint64_t count = input.row_count;
    tb_row_input_close(&input);
    return count;
}

static void check_rows(const char *path, uint64_t wanted)
{
    struct tb_row_input input;
    struct tb_name_table sessions = {0};
    uint64_t known = 0;
    uint32_t number, last = TB_NAME_NONE;
    FUZZ_CHECK(tb_row_input_open(&input, path, no_stop, NULL) == TB_OK);
    while (tb_row_input_next(&input, NULL) == TB_OK && input.line.ptr) {
        struct tb_span name = tb_session_name_of(&input.record);
        uint32_t count = sessions.count;
        FUZZ_CHECK(tb_name_table_add(&sessions, name, &number) == TB_OK);
        FUZZ_CHECK(number == last || number == count); // rows stand together
        last = number;
        for (size_t i = 0; i < input.record.id_count; i++) {
            FUZZ_CHECK(input.record.ids[i] <= known);
            known += input.record.ids[i] == known;
        }
    }
    FUZZ_CHECK(input.row_count == wanted);
    tb_name_table_release(&sessions);
    tb_row_input_close(&input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char meta[] = "{\"meta_format\": 1, \"ids\": \"content\", "
                               "\"format\": \"nat\", \"first_ms\": 5}";
    bool is_tight = fuzz_take(&data, &size, 1) & 1;
    struct tb_span first = fuzz_take_file(&data, &size);
    struct tb_span second = {data, size};
    struct tb_buffer made[2] = {TB_BUFFER(1 << 28), TB_BUFFER(1 << 28)};
    if (tb_compression_of_magic(first) != TB_COMPRESSION_NONE ||
        tb_compression_of_magic(second) != TB_COMPRESSION_NONE)
        return 0;
    const char *a = fuzz_put("a", first.len ? first : TB_SPAN("\n"));
    const char *b = fuzz_put("b", second.len ? second : TB_SPAN("\n"));
    (void)fuzz_put("a.meta.json", tb_span_of(meta));
    (void)fuzz_put("b.meta.json", tb_span_of(meta));
    tb_status status = merge_rows(a, b, 1 << 14, &made[0]);
    tb_status other = is_tight ? merge_rows(a, b, 1 << 9, &made[1])
                               : merge_rows(b, a, 1 << 14, &made[1]);
    FUZZ_CHECK((other == TB_OK) == (status == TB_OK) || other == TB_ERR_LIMIT);
    if (status == TB_OK)
        check_rows(fuzz_put("out", tb_buffer_span(&made[0])),
                   count_rows(a) + count_rows(b));
    if (status == TB_OK && other == TB_OK)
        FUZZ_CHECK(
            tb_span_equal(tb_buffer_span(&made[0]), tb_buffer_span(&made[1])));
    tb_buffer_release(&made[0]);
    tb_buffer_release(&made[1]);
    return 0;
}
