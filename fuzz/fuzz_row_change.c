/* Proves: whatever rows are, making others of them ends, with a message when it
 * fails. Rows of larger blocks are the same ones but for as many ids as that
 * asks for, and already what they become once more; shared ones keep lengths
 * and how many ids there are, are strictly JSON, and already what they become
 * once more; a sample has each session whole or not at all. */
#include "fuzz_files.h"

#include "row_reblock.h"
#include "row_share.h"
#include "session_sample.h"

static const struct tb_row_stop no_stop = {0};
static uint32_t choice;

static tb_status next(struct tb_row_input *input, struct tb_error *error)
{
    tb_status status = tb_row_input_next(input, error);
    FUZZ_CHECK(status == TB_OK || error->message[0]);
    return input->line.ptr ? status : status == TB_OK ? TB_ERR_EMPTY : status;
}

static tb_status reblock(struct tb_row_input *input, struct tb_buffer *text,
                         uint32_t multiple)
{
    struct tb_row_reblock made = {.from = 4, .multiple = multiple};
    struct tb_error error = {0};
    tb_status status = TB_OK;
    while (status == TB_OK && (status = next(input, &error)) == TB_OK)
        status = tb_row_reblock_add(&made, input, text, &error);
    FUZZ_CHECK(status == TB_ERR_EMPTY || error.status == status);
    tb_row_reblock_release(&made);
    return status;
}

static tb_status share(struct tb_row_input *input, struct tb_buffer *text)
{
    struct tb_row_share made = {0};
    struct tb_error error = {0};
    tb_status status = TB_OK;
    while (status == TB_OK && (status = next(input, &error)) == TB_OK)
        status = tb_row_share_look(&made, input, &error);
    if (status == TB_ERR_EMPTY) {
        tb_row_input_rewind(input);
        while ((status = next(input, &error)) == TB_OK)
            FUZZ_CHECK(tb_row_share_add(&made, input, text, &error) == TB_OK);
    }
    FUZZ_CHECK(status == TB_ERR_EMPTY || error.status == status);
    tb_row_share_release(&made);
    return status;
}

static tb_status change(const char *path, struct tb_buffer *text,
                        uint32_t multiple)
{
    struct tb_row_input input;
    FUZZ_CHECK(tb_row_input_open(&input, path, no_stop, NULL) == TB_OK);
    tb_status status =
        choice & 1 ? share(&input, text) : reblock(&input, text, multiple);
    tb_row_input_close(&input);
    return status;
}

static uint64_t length_of(const struct tb_row_input *input, bool is_output)
{
    uint64_t length = 0;
    (void)tb_mooncake_record_length(
        &input->record,
        is_output ? TB_MOONCAKE_OUTPUT_LENGTH : TB_MOONCAKE_INPUT_LENGTH,
        is_output ? TB_MOONCAKE_OUTPUT_TOKENS : TB_MOONCAKE_INPUT_TOKENS,
        &length);
    return length == UINT64_MAX ? 0 : length; // a shared row has none then
}

/* Both files hold the same rows; ids of the second count from 0. */
static void compare(const char *from, const char *to, uint32_t multiple)
{
    struct tb_row_input a, b;
    struct tb_error error = {0};
    uint64_t known = 0;
    FUZZ_CHECK(tb_row_input_open(&a, from, no_stop, NULL) == TB_OK);
    FUZZ_CHECK(tb_row_input_open(&b, to, no_stop, NULL) == TB_OK);
    while (next(&a, &error) == TB_OK) {
        FUZZ_CHECK(next(&b, &error) == TB_OK);
        FUZZ_CHECK(b.record.id_count ==
                   (a.record.id_count + multiple - 1) / multiple);
        FUZZ_CHECK(b.record.odd_item == TB_MOONCAKE_NO_ITEM);
        for (size_t i = 0; i < b.record.id_count; i++) {
            FUZZ_CHECK(b.record.ids[i] <= known);
            known += b.record.ids[i] == known;
        }
        FUZZ_CHECK(length_of(&a, false) == length_of(&b, false));
        FUZZ_CHECK(length_of(&a, true) == length_of(&b, true));
        FUZZ_CHECK(!(choice & 1) || fuzz_is_object(b.line));
    }
    FUZZ_CHECK(next(&b, &error) == TB_ERR_EMPTY);
    tb_row_input_close(&a);
    tb_row_input_close(&b);
}

static void check_change(const char *path)
{
    struct tb_buffer once = TB_BUFFER(1 << 28), twice = TB_BUFFER(1 << 28);
    uint32_t multiple = choice & 1 ? 1 : 1 + choice / 4 % 5;
    if (change(path, &once, multiple) == TB_ERR_EMPTY && once.len > 0) {
        const char *made = fuzz_put("out", tb_buffer_span(&once));
        compare(path, made, multiple);
        FUZZ_CHECK(change(made, &twice, 1) == TB_ERR_EMPTY);
        FUZZ_CHECK(
            tb_span_equal(tb_buffer_span(&once), tb_buffer_span(&twice)));
    }
    tb_buffer_release(&once);
    tb_buffer_release(&twice);
}

/* The sessions whose rows are taken are as many as were drawn, and none of
 * these has a row that is not. */
static void check_taken(struct tb_row_input *input,
                        struct tb_session_sample *sample)
{
    struct tb_name_table taken = {0}, left = {0};
    struct tb_error error = {0};
    uint32_t nameless = 0, number;
    while (next(input, &error) == TB_OK) {
        struct tb_span name = tb_mooncake_record_name(
            &input->record, TB_MOONCAKE_PARENT_SESSION_ID);
        if (name.len == 0)
            name =
                tb_mooncake_record_name(&input->record, TB_MOONCAKE_SESSION_ID);
        bool is_taken = tb_session_sample_takes(sample, &input->record);
        nameless += is_taken && name.len == 0;
        if (name.len > 0)
            FUZZ_CHECK(tb_name_table_add(is_taken ? &taken : &left, name,
                                         &number) == TB_OK);
    }
    FUZZ_CHECK(taken.count + nameless == sample->taken_count);
    for (uint32_t i = 0; i < taken.count; i++)
        FUZZ_CHECK(tb_name_table_find(&left, tb_name_table_name(&taken, i)) ==
                   TB_NAME_NONE);
    tb_name_table_release(&taken);
    tb_name_table_release(&left);
}

static void check_sample(const char *path)
{
    struct tb_session_sample sample = {0};
    struct tb_row_input input;
    struct tb_error error = {0};
    tb_status status;
    FUZZ_CHECK(tb_row_input_open(&input, path, no_stop, NULL) == TB_OK);
    while ((status = next(&input, &error)) == TB_OK)
        FUZZ_CHECK(tb_session_sample_add(&sample, &input.record) == TB_OK);
    if (status == TB_ERR_EMPTY && sample.count > 0) {
        uint32_t wanted = 1 + choice / 4 % sample.count;
        uint64_t most = choice / 4;
        if (tb_session_sample_draw_tokens(&sample, choice, most))
            FUZZ_CHECK(sample.taken_tokens <= most && sample.taken_count > 0);
        else
            FUZZ_CHECK(sample.taken_count == 0);
        tb_session_sample_draw(&sample, choice, wanted);
        FUZZ_CHECK(sample.taken_count == wanted);
        tb_row_input_rewind(&input);
        check_taken(&input, &sample);
    }
    tb_session_sample_release(&sample);
    tb_row_input_close(&input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choice = fuzz_take(&data, &size, 1);
    struct tb_span rows = {data, size};
    if (size == 0 || tb_compression_of_magic(rows) != TB_COMPRESSION_NONE)
        return 0;
    const char *path = fuzz_put("in", rows);
    if (choice & 2)
        check_sample(path);
    else
        check_change(path);
    return 0;
}
