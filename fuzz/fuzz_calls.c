/* Proves: whatever the lines of a calls file say, their figures end, no call
 * is counted twice or lost, no bin has less than its least or more than the
 * most of all, and what is told as JSON is JSON. */
#include "fuzz.h"

#include "analysis_page.h"
#include "call_line.h"
#include "json_reader.h"
#include "line_file.h"

static tb_status on_line(void *context, struct tb_span line, uint64_t offset,
                         uint64_t number, struct tb_arena *arena,
                         struct tb_error *error)
{
    struct tb_call_line call;
    TB_TRY(tb_call_line_read(line, offset, number, arena, &call, error));
    struct tb_call_record record = tb_call_line_record(&call);
    struct tb_call_row row = {call.input_length, call.prompt_tokens, 0};
    if (number % 2)
        TB_TRY(tb_call_analysis_add_row(context, number, &row));
    return tb_call_analysis_add(context, &record);
}

static void check_flight(const struct tb_in_flight *flight)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < flight->count; i++) {
        FUZZ_CHECK(flight->bins[i].least <= flight->bins[i].most);
        most = flight->bins[i].most > most ? flight->bins[i].most : most;
    }
    FUZZ_CHECK(most == flight->most);
}

static void check_json(struct tb_call_analysis *calls)
{
    struct tb_buffer text = TB_BUFFER(1 << 26);
    struct tb_json_reader reader;
    struct tb_json_form form = tb_json_form_on(&text, false);
    struct tb_analysis_report report = {.calls = calls, .most_groups = 100};
    tb_json_form_open(&form, NULL, '{');
    tb_call_figures_json(&form, &report);
    tb_call_curves(&form, calls);
    tb_json_form_close(&form, '}');
    FUZZ_CHECK(form.status == TB_OK);
    tb_json_reader_init_span(&reader, tb_buffer_span(&text), 0, 1);
    FUZZ_CHECK(tb_json_skip(&reader) == TB_OK);
    FUZZ_CHECK(tb_json_expect_end(&reader) == TB_OK);
    tb_buffer_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tb_call_analysis calls = {0};
    struct tb_line_losses losses = {0};
    const char *path = fuzz_file(data, size);
    FUZZ_CHECK(tb_line_file_read(path, on_line, &calls, NULL, &losses, NULL) ==
               TB_OK);
    FUZZ_CHECK(tb_call_analysis_finish(&calls) == TB_OK);
    uint64_t lost = 0;
    for (uint32_t i = 0; i < calls.reasons.count; i++)
        lost += calls.reason_counts[i];
    FUZZ_CHECK(calls.all.row_count + lost == calls.call_count);
    check_flight(&calls.flight);
    check_json(&calls);
    tb_call_analysis_release(&calls);
    return 0;
}
