/* Proves: whatever the bytes are, reading them as calls, as requests, as the
 * settings and as the log of a run ends; every line is a call, a request or
 * lost; and a comparison of the two takes each call and each request once. */
#include "fuzz.h"

#include "call_table.h"
#include "replay_cause.h"

static void check_counts(const struct tb_replay_check *check)
{
    const uint64_t *prompt = check->prompt.matches;
    FUZZ_CHECK(check->answered_count + check->failed_count +
                   check->missing_count ==
               check->calls->count);
    FUZZ_CHECK(check->answered_count + check->failed_count +
                   check->extra_count + check->repeated_count ==
               check->requests->count);
    FUZZ_CHECK(check->prompt.recorded.count + prompt[TB_MATCH_NONE] ==
               check->answered_count);
}

static void compare(const struct tb_call_table *calls,
                    const struct tb_replay_run *run, uint32_t choice)
{
    struct tb_replay_check check;
    struct tb_replay_causes causes;
    struct tb_replay_options options = {.has_tolerance = choice & 1,
                                        .has_late = choice & 2,
                                        .rows =
                                            (tb_replay_rows)(choice >> 2 & 3)};
    struct tb_replayed_rows rows = {
        .kind = options.rows, .block_size = choice >> 4, .tokenizer = ""};
    FUZZ_CHECK(tb_replay_check_make(calls, &run->requests, &options, &check) ==
               TB_OK);
    check_counts(&check);
    tb_replay_causes_find(&check, run, &rows, &causes);
    for (size_t i = 0; i < causes.count; i++)
        FUZZ_CHECK(causes.items[i].message[0] && causes.items[i].change[0]);
    tb_replay_check_release(&check);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t choice = fuzz_take(&data, &size, 1);
    const char *path = fuzz_file(data, size);
    struct tb_call_table calls = {0};
    struct tb_replay_run run = {0};
    tb_status status = tb_call_table_read(&calls, path, NULL, NULL);
    FUZZ_CHECK(status == TB_OK || calls.count == 0);
    FUZZ_CHECK(tb_request_table_read(&run.requests, path, NULL, NULL) ==
                   TB_OK ||
               status != TB_OK);
    status = tb_run_settings_read(path, &run.settings, NULL);
    FUZZ_CHECK(run.settings.is_found == (status == TB_OK));
    if (tb_run_log_read(path, &run.log, NULL) == TB_OK)
        compare(&calls, &run, choice);
    tb_call_table_release(&calls);
    tb_replay_run_release(&run);
    return 0;
}
