/* Proves: any bytes as the meta file of rows are read, or say nothing; changing
 * it fails or gives a meta file that says the same but for what was changed,
 * and once more the same. Of two that can be merged comes a meta file too. */
#include "fuzz_files.h"

#include <string.h>

#include "meta.h"
#include "meta_change.h"
#include "meta_merge.h"

static struct tb_meta_reading reading_of(struct tb_span meta)
{
    struct tb_meta_reading reading;
    (void)fuzz_put("rows.meta.json", meta);
    FUZZ_CHECK(tb_meta_read(fuzz_path("rows"), &reading, NULL) == TB_OK);
    return reading;
}

static void check_change(struct tb_span meta, uint32_t choice)
{
    const struct tb_meta_counts counts = {1, 2, 3, 4};
    const struct tb_meta_change change = {
        .version = "0",
        .has_rows = choice & 1,
        .rows = choice & 2 ? TB_ROWS_DELTA : TB_ROWS_WHOLE,
        .block_size = choice & 4 ? 7 : 0,
        .has_new_ids = choice & 8,
        .counts = choice & 16 ? &counts : NULL};
    struct tb_buffer made = TB_BUFFER(1 << 28), again = TB_BUFFER(1 << 28);
    struct tb_meta_reading old = reading_of(meta);
    // One that cannot be read says nothing, as for a command.
    if (!old.is_found)
        meta = (struct tb_span){0};
    if (tb_meta_change(&change, meta, &made) == TB_OK) {
        struct tb_meta_reading now = reading_of(tb_buffer_span(&made));
        FUZZ_CHECK(now.is_found);
        FUZZ_CHECK(now.block_size == (choice & 4 ? 7 : old.block_size));
        FUZZ_CHECK(now.row_count == (choice & 16 ? 2 : old.row_count));
        FUZZ_CHECK(!(choice & 1) || now.is_delta == (choice & 2) / 2);
        FUZZ_CHECK((choice & 1) || now.is_messages == old.is_messages);
        FUZZ_CHECK(now.is_compat == old.is_compat);
        FUZZ_CHECK(now.has_content_ids ==
                   (old.has_content_ids && !(choice & 8)));
        FUZZ_CHECK(now.is_telemetry == old.is_telemetry);
        FUZZ_CHECK(strcmp(now.tokenizer, old.tokenizer) == 0);
        FUZZ_CHECK(tb_meta_change(&change, tb_buffer_span(&made), &again) ==
                   TB_OK);
        FUZZ_CHECK(
            tb_span_equal(tb_buffer_span(&made), tb_buffer_span(&again)));
    }
    tb_buffer_release(&made);
    tb_buffer_release(&again);
}

static void check_merge(struct tb_span first, struct tb_span second)
{
    struct tb_meta_merge merge = {0};
    struct tb_buffer made = TB_BUFFER(1 << 28);
    const size_t order[] = {1, 0};
    const struct tb_meta_merge_result result = {"0", "x", order};
    struct tb_error error = {0};
    tb_status status = tb_meta_merge_add(&merge, "a", first, &error);
    if (status == TB_OK)
        status = tb_meta_merge_add(&merge, "b", second, &error);
    FUZZ_CHECK(status == TB_OK || (error.status == status && error.message[0]));
    if (status == TB_OK) {
        (void)tb_meta_merge_origin(&merge, order);
        if (tb_meta_merge_json(&merge, &result, &made) == TB_OK)
            FUZZ_CHECK(reading_of(tb_buffer_span(&made)).is_found);
    }
    tb_buffer_release(&made);
    tb_meta_merge_release(&merge);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t choice = fuzz_take(&data, &size, 1);
    struct tb_span first = fuzz_take_file(&data, &size);
    struct tb_span second = {data, size};
    check_change(first, choice);
    check_merge(first, second.len > 0 ? second : first);
    return 0;
}
