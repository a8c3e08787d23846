/* Proves: whatever lines are, each that is not blank is in one part, as it was
 * and in its order, where the same line goes alone; and lines are counted. */
#include "fuzz_files.h"

#include "line_partition.h"

enum { PARTS_MAX = 4 };

static void open_parts(struct tb_line_partition *partition, uint32_t count)
{
    FUZZ_CHECK(tb_line_partition_open(partition, fuzz_path("."), count, "",
                                      (struct tb_row_stop){0}, NULL) == TB_OK);
}

static void add(struct tb_line_partition *partition, struct tb_span lines)
{
    FUZZ_CHECK(tb_line_partition_add(partition, fuzz_put("in", lines), NULL) ==
               TB_OK);
    FUZZ_CHECK(partition->nameless_count + partition->broken_count <=
               partition->line_count);
}

/* Takes what is in the parts of `alone`, one line at most, from the front of
 * what is left of each. */
static void take(struct tb_line_partition *alone, struct tb_span *left)
{
    for (uint32_t i = 0; i < alone->part_count; i++) {
        struct tb_span line = tb_buffer_span(&alone->parts[i].text);
        FUZZ_CHECK(tb_span_starts_with(left[i], line));
        left[i] = tb_span_from(left[i], line.len);
        tb_buffer_clear(&alone->parts[i].text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t count = 1 + fuzz_take(&data, &size, 1) % PARTS_MAX;
    struct tb_span all = {data, size}, left[PARTS_MAX];
    struct tb_line_partition together, alone;
    if (tb_compression_of_magic(all) != TB_COMPRESSION_NONE || size == 0)
        return 0;
    open_parts(&together, count);
    open_parts(&alone, count);
    add(&together, all);
    for (uint32_t i = 0; i < count; i++)
        left[i] = tb_buffer_span(&together.parts[i].text);
    // Each line has the end of the one before in front, so that what means
    // something at the beginning of a file means nothing.
    for (size_t at = 0, end; at < size; at = end) {
        for (end = at; end < size && data[end] != '\n';)
            end++;
        end += end < size;
        size_t from = at - (at > 0);
        add(&alone, (struct tb_span){data + from, end - from});
        take(&alone, left);
    }
    FUZZ_CHECK(alone.line_count == together.line_count);
    for (uint32_t i = 0; i < count; i++) {
        FUZZ_CHECK(left[i].len == 0);
        FUZZ_CHECK(alone.parts[i].line_count == together.parts[i].line_count);
    }
    tb_line_partition_close(&together);
    tb_line_partition_close(&alone);
    return 0;
}
