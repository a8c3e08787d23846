/* Proves: whatever rows and calls are, writing the rows in another form fails
 * with a message, or gives as many rows, each with as many ids as its length
 * asks for, increments ids by first appearance; tokens are counted. */
#include "fuzz_files.h"

#include "call_input.h"
#include "meta_rows.h"
#include "row_rewrite.h"

enum { BLOCK = 4 };

static const struct tb_row_stop no_stop = {0};
static struct tb_rewrite_options options;

static tb_status look(struct tb_row_rewrite *rewrite,
                      struct tb_call_input *calls, struct tb_error *error)
{
    for (;;) {
        TB_TRY(tb_call_input_next(calls, error));
        if (!calls->has_call)
            break;
        FUZZ_CHECK(tb_row_rewrite_look(rewrite, &calls->call) == TB_OK);
    }
    tb_call_input_rewind(calls);
    return TB_OK;
}

/* Up to the first row or call that is missing. */
static tb_status write_rows(struct tb_row_rewrite *rewrite,
                            struct tb_row_input *rows,
                            struct tb_call_input *calls, struct tb_buffer *text,
                            struct tb_error *error)
{
    TB_TRY(look(rewrite, calls, error));
    for (;;) {
        TB_TRY(tb_row_input_next(rows, error));
        do
            TB_TRY(tb_call_input_next(calls, error));
        while (calls->has_call && !calls->call.has_row);
        if (!rows->line.ptr || !calls->has_call)
            return TB_OK;
        TB_TRY(tb_row_rewrite_add(rewrite, rows, &calls->call, text, error));
    }
}

static void check_rows(const char *path, const struct tb_meta_counts *counts)
{
    struct tb_row_input rows;
    struct tb_meta_counts found = {0};
    uint64_t known = 0;
    bool is_new = options.form.rows == TB_ROWS_DELTA && !options.is_delta;
    FUZZ_CHECK(tb_row_input_open(&rows, path, no_stop, NULL) == TB_OK);
    while (tb_row_input_next(&rows, NULL) == TB_OK && rows.line.ptr) {
        uint64_t input, output;
        FUZZ_CHECK(fuzz_is_object(rows.line));
        FUZZ_CHECK(tb_mooncake_record_length(&rows.record,
                                             TB_MOONCAKE_INPUT_LENGTH,
                                             TB_MOONCAKE_INPUT_LENGTH, &input));
        FUZZ_CHECK(
            tb_mooncake_record_length(&rows.record, TB_MOONCAKE_OUTPUT_LENGTH,
                                      TB_MOONCAKE_OUTPUT_LENGTH, &output));
        FUZZ_CHECK(input > 0 &&
                   rows.record.id_count == (input - 1) / BLOCK + 1);
        for (size_t i = 0; i < rows.record.id_count && is_new; i++) {
            FUZZ_CHECK(rows.record.ids[i] <= known);
            known += rows.record.ids[i] == known;
        }
        found.input_tokens += input;
        found.output_tokens += output;
    }
    FUZZ_CHECK(rows.row_count == counts->rows);
    FUZZ_CHECK(found.input_tokens == counts->input_tokens);
    FUZZ_CHECK(found.output_tokens == counts->output_tokens);
    FUZZ_CHECK(counts->sessions <= counts->rows);
    tb_row_input_close(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t form = fuzz_take(&data, &size, 1);
    uint32_t mode = fuzz_take(&data, &size, 1);
    options = (struct tb_rewrite_options){
        .form = {.rows = form & 1 ? TB_ROWS_DELTA : TB_ROWS_WHOLE,
                 .delay = (tb_delay)((form >> 1) % 3),
                 .max_delay_ms = mode & 4 ? 1000 : UINT64_MAX,
                 .speedup = mode & 8 ? 2.5 : 0,
                 .timestamps = (tb_timestamps)((form >> 4) % 3),
                 .has_exact_output = form & 128,
                 .has_labels = mode & 16,
                 .has_priority_number = mode & 32},
        .is_delta = (mode & 1) && (form & 1),
        .is_telemetry = mode & 2,
        .block_size = BLOCK};
    struct tb_span first = fuzz_take_file(&data, &size);
    struct tb_span second = {data, size};
    struct tb_buffer text = TB_BUFFER(1 << 28);
    struct tb_row_rewrite *rewrite;
    struct tb_row_input rows;
    struct tb_call_input calls;
    struct tb_error error = {0};
    if (first.len == 0 || second.len == 0 ||
        tb_compression_of_magic(first) != TB_COMPRESSION_NONE ||
        tb_compression_of_magic(second) != TB_COMPRESSION_NONE)
        return 0;
    FUZZ_CHECK(tb_row_input_open(&rows, fuzz_put("rows", first), no_stop,
                                 NULL) == TB_OK);
    FUZZ_CHECK(tb_call_input_open(&calls, fuzz_put("calls", second), NULL) ==
               TB_OK);
    FUZZ_CHECK(tb_row_rewrite_new(&options, &rewrite) == TB_OK);
    tb_status status = write_rows(rewrite, &rows, &calls, &text, &error);
    FUZZ_CHECK(status == TB_OK || (error.status == status && error.message[0]));
    struct tb_meta_counts counts = tb_row_rewrite_counts(rewrite);
    if (status == TB_OK && text.len > 0)
        check_rows(fuzz_put("made", tb_buffer_span(&text)), &counts);
    tb_row_rewrite_free(rewrite);
    tb_call_input_close(&calls);
    tb_row_input_close(&rows);
    tb_buffer_release(&text);
    return 0;
}
