/* Proves: whatever the bytes are, reading them as rows ends; a row that is
 * strictly JSON and an object is read; and a check for any consumer ends with
 * counts that add up. */
#include "fuzz.h"

#include "json_strict.h"
#include "mooncake_reader.h"
#include "validator.h"

static void see(void *context, const struct tb_finding *finding)
{
    uint64_t *count = context;
    FUZZ_CHECK(finding->place.message[0]);
    ++*count;
}

static void check_row(struct tb_span line, uint64_t offset, uint64_t number)
{
    struct tb_mooncake_record record = {0};
    struct tb_arena arena = {0};
    struct tb_json_fault fault;
    bool is_strict = tb_json_check(line, &fault) == TB_OK;
    tb_status status =
        tb_mooncake_record_read(&record, line, offset, number, &arena, NULL);
    FUZZ_CHECK(!is_strict || line.ptr[0] != '{' || status == TB_OK ||
               status == TB_ERR_LIMIT);
    FUZZ_CHECK(is_strict || fault.at <= line.len);
    tb_mooncake_record_release(&record);
    tb_arena_release(&arena);
}

static void check_file(const char *path, tb_mooncake_consumer consumer,
                       uint32_t block_size)
{
    struct tb_validator *validator;
    struct tb_mooncake_reader *reader;
    uint64_t shown = 0;
    struct tb_validator_options options = {
        path,       consumer, block_size, 0, TB_MEANING_UNKNOWN,
        UINT64_MAX, see,      &shown};
    struct tb_span line;
    FUZZ_CHECK(tb_validator_new(&options, &validator) == TB_OK);
    FUZZ_CHECK(tb_mooncake_reader_open(path, &reader, NULL) == TB_OK);
    if (consumer != TB_MOONCAKE_FOR_AIPERF)
        tb_mooncake_reader_set_plain(reader);
    while (tb_mooncake_reader_next(reader, &line, NULL) == TB_OK && line.ptr) {
        uint64_t offset = tb_mooncake_reader_offset(reader);
        uint64_t number = tb_mooncake_reader_line(reader);
        check_row(line, offset, number);
        FUZZ_CHECK(tb_validator_add(validator, line, offset, number) == TB_OK);
    }
    tb_validator_finish(validator);
    const struct tb_validation_counts *counts = tb_validator_counts(validator);
    FUZZ_CHECK(shown == counts->fatal_count + counts->warning_count);
    tb_mooncake_reader_close(reader);
    tb_validator_free(validator);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t choice = fuzz_take(&data, &size, 1);
    check_file(fuzz_file(data, size),
               (tb_mooncake_consumer)(choice % TB_MOONCAKE_CONSUMER_COUNT),
               1 + choice / TB_MOONCAKE_CONSUMER_COUNT);
    return 0;
}
