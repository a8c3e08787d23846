/* Proves: any bytes convert as a trace, with all options that change rows: the
 * run succeeds or says that there are no rows, rows and skipped calls are all
 * calls, and each row has as many ids as its length asks for. */
#include "fuzz.h"

#include "convert.h"
#include "fuzz_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t mode = fuzz_take(&data, &size, 1);
    uint32_t form = fuzz_take(&data, &size, 1);
    const char *input = fuzz_file(data, size);
    struct tb_convert_options options = {
        .dialect = mode & 1 ? TB_DIALECT_TELEMETRY : TB_DIALECT_NAT,
        .inputs = &input,
        .input_count = 1,
        .output = fuzz_rows_path(),
        .tokenizer = FUZZ_TOKENIZER,
        .block_size = 1 + (mode >> 1 & 3),
        .max_requests = UINT64_MAX,
        .form = {.rows = form & 1 ? TB_ROWS_DELTA : TB_ROWS_WHOLE,
                 .delay = (tb_delay)((form >> 1) % 3),
                 .max_delay_ms = form & 8 ? 1000 : UINT64_MAX,
                 .timestamps = (tb_timestamps)((form >> 4) % 3),
                 .has_exact_output = form & 128},
        .is_compat = mode & 8,
        .lengths = mode & 16 ? TB_LENGTHS_USAGE : TB_LENGTHS_TOKENS,
        .threads = mode & 32 ? 2 : 1,
    };
    struct tb_stats stats = {0};
    struct tb_error error = {0};
    (void)setenv("TRACEBAKE_NO_CACHE", "1", 1);
    tb_status status = tb_convert(&options, &stats, &error);
    FUZZ_CHECK(status == TB_OK || !options.is_compat);
    FUZZ_CHECK(status == TB_OK || status == TB_ERR_EMPTY);
    FUZZ_CHECK(stats.row_count + tb_stats_skipped(&stats) == stats.call_count);
    if (status == TB_OK)
        FUZZ_CHECK(fuzz_check_rows(options.output, options.block_size,
                                   !options.is_compat) == stats.row_count);
    tb_stats_release(&stats);
    return 0;
}
