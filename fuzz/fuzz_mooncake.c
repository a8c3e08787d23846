/* Proves: whatever the bytes are, reading them as rows ends; a row that is
 * strictly JSON and an object is read; what is read in one go is what is read
 * the long way; and a check for any consumer ends with counts that add up. */
#include "fuzz.h"

#include <string.h>

#include "json_strict.h"
#include "mooncake_reader.h"
#include "plain_row.h"
#include "validator.h"

static void see(void *context, const struct tb_finding *finding)
{
    uint64_t *count = context;
    FUZZ_CHECK(finding->place.message[0]);
    ++*count;
}

static void compare(const struct tb_mooncake_record *a,
                    const struct tb_mooncake_record *b)
{
    for (size_t i = 0; i < TB_MOONCAKE_FIELD_COUNT; i++) {
        const struct tb_mooncake_value *x = &a->fields[i], *y = &b->fields[i];
        FUZZ_CHECK(x->kind == y->kind && x->key_count == y->key_count);
        FUZZ_CHECK(x->is_repaired == y->is_repaired);
        FUZZ_CHECK(tb_span_equal(x->text, y->text));
    }
    FUZZ_CHECK(a->id_count == b->id_count);
    FUZZ_CHECK(a->odd_item == b->odd_item && a->bad_item == b->bad_item);
    FUZZ_CHECK(a->id_count == 0 ||
               memcmp(a->ids, b->ids, a->id_count * sizeof(*a->ids)) == 0);
}

/* With a tab in it the row has to be read the long way. */
static void check_plain(struct tb_span line)
{
    struct tb_mooncake_record quick = {.odd_item = TB_MOONCAKE_NO_ITEM,
                                       .bad_item = TB_MOONCAKE_NO_ITEM};
    struct tb_mooncake_record slow = {0};
    struct tb_buffer copy = TB_BUFFER(1 << 26);
    struct tb_arena arena = {0};
    if (tb_plain_row_read(line, &quick)) {
        FUZZ_CHECK(tb_buffer_append(&copy, TB_SPAN("{\t")) == TB_OK);
        FUZZ_CHECK(tb_buffer_append(&copy, tb_span_from(line, 1)) == TB_OK);
        FUZZ_CHECK(tb_mooncake_record_read(&slow, tb_buffer_span(&copy), 0, 1,
                                           &arena, NULL) == TB_OK);
        compare(&quick, &slow);
    }
    tb_mooncake_record_release(&quick);
    tb_mooncake_record_release(&slow);
    tb_buffer_release(&copy);
    tb_arena_release(&arena);
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
    check_plain(line);
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
