/* mooncake: rows as they are read, the tables behind the rules, and a check
 * whose every allocation fails once. What the rules mean to aiperf is held to
 * aiperf itself by tests/oracle/validate_oracle.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block_size_range.h"
#include "id_sizes.h"
#include "memory.h"
#include "mooncake_reader.h"
#include "validator.h"

/* ---- values -------------------------------------------------------------- */

static void read_one(const char *json, struct tb_arena *arena,
                     struct tb_mooncake_value *value)
{
    struct tb_json_reader reader;
    tb_json_reader_init_span(&reader, tb_span_of(json), 0, 1);
    *value = (struct tb_mooncake_value){0};
    assert_int_equal(tb_mooncake_value_read(&reader, arena, value), TB_OK);
}

static void test_integers(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        tb_mooncake_reading reading;
        uint64_t magnitude;
        bool is_negative, is_odd;
    } cases[] = {
        {"0", TB_MOONCAKE_READ, 0, false, false},
        {"18446744073709551615", TB_MOONCAKE_READ, UINT64_MAX, false, false},
        {"18446744073709551616", TB_MOONCAKE_OUT_OF_RANGE, 0, false, true},
        {"-0", TB_MOONCAKE_READ, 0, false, true},
        {"-1", TB_MOONCAKE_READ, 1, true, true},
        {"-9223372036854775808", TB_MOONCAKE_READ, UINT64_C(1) << 63, true,
         true},
        {"-9223372036854775809", TB_MOONCAKE_OUT_OF_RANGE, 0, false, true},
        {"4.0", TB_MOONCAKE_READ, 4, false, true},
        {"-4.0", TB_MOONCAKE_READ, 4, true, true},
        {"1e2", TB_MOONCAKE_READ, 100, false, true},
        {"4.5", TB_MOONCAKE_FRACTION, 0, false, true},
        {"1e19", TB_MOONCAKE_OUT_OF_RANGE, 0, false, true},
        {"NaN", TB_MOONCAKE_OUT_OF_RANGE, 0, false, true},
        {"true", TB_MOONCAKE_READ, 1, false, true},
        {"false", TB_MOONCAKE_READ, 0, false, true},
        {"null", TB_MOONCAKE_NO_NUMBER, 0, false, false},
        {"[4]", TB_MOONCAKE_NO_NUMBER, 0, false, false},
        {"\"4\"", TB_MOONCAKE_READ, 4, false, true},
        {"\" -1_000.00\\n\"", TB_MOONCAKE_READ, 1000, true, true},
        {"\"0_\"", TB_MOONCAKE_NO_NUMBER, 0, false, false},
        {"\"1__0\"", TB_MOONCAKE_NO_NUMBER, 0, false, false},
        {"\"4.5\"", TB_MOONCAKE_NO_NUMBER, 0, false, false},
        {"\"\"", TB_MOONCAKE_NO_NUMBER, 0, false, false},
        {"\"+\"", TB_MOONCAKE_NO_NUMBER, 0, false, false},
    };
    struct tb_arena arena = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tb_mooncake_value value;
        struct tb_mooncake_integer integer;
        read_one(cases[i].json, &arena, &value);
        tb_mooncake_reading reading =
            tb_mooncake_value_integer(&value, &integer);
        if (reading != cases[i].reading ||
            integer.magnitude != cases[i].magnitude ||
            integer.is_negative != cases[i].is_negative ||
            (reading == TB_MOONCAKE_READ && integer.is_odd != cases[i].is_odd))
            fail_msg("%s: %d, %" PRIu64, cases[i].json, (int)reading,
                     integer.magnitude);
    }
    tb_arena_release(&arena);
}

static void test_reals(void **state)
{
    (void)state;
    struct tb_arena arena = {0};
    struct tb_mooncake_value value;
    double real;
    read_one("1.5", &arena, &value);
    assert_int_equal(tb_mooncake_value_real(&value, &real), TB_MOONCAKE_READ);
    assert_true(real == 1.5);
    read_one("\" -2 \"", &arena, &value);
    assert_int_equal(tb_mooncake_value_real(&value, &real), TB_MOONCAKE_READ);
    assert_true(real == -2);
    read_one("\"inf\"", &arena, &value);
    assert_int_equal(tb_mooncake_value_real(&value, &real), TB_MOONCAKE_READ);
    assert_true(isinf(real));
    read_one("\"0x10\"", &arena, &value);
    assert_int_equal(tb_mooncake_value_real(&value, &real),
                     TB_MOONCAKE_NO_NUMBER);
    tb_arena_release(&arena);
}

/* ---- rows ---------------------------------------------------------------- */

static tb_status read_row(struct tb_mooncake_record *record, const char *line,
                          struct tb_arena *arena, struct tb_error *error)
{
    return tb_mooncake_record_read(record, tb_span_of(line), 100, 7, arena,
                                   error);
}

static void test_row(void **state)
{
    (void)state;
    struct tb_mooncake_record record = {0};
    struct tb_arena arena = {0};
    struct tb_error error;
    assert_int_equal(read_row(&record,
                              "{\"session_id\": \"\\u00fc\", \"x\": [1, {}], "
                              "\"hash_ids\": [ 0,1 , 18446744073709551615], "
                              "\"timestamp\": 1, \"timestamp\": 2.5}",
                              &arena, &error),
                     TB_OK);
    struct tb_mooncake_value *fields = record.fields;
    assert_true(tb_span_equal(fields[TB_MOONCAKE_SESSION_ID].text,
                              TB_SPAN("\xC3\xBC")));
    assert_int_equal(fields[TB_MOONCAKE_INPUT_LENGTH].kind, TB_MOONCAKE_ABSENT);
    assert_int_equal(fields[TB_MOONCAKE_TIMESTAMP].key_count, 2);
    assert_true(
        tb_span_equal(fields[TB_MOONCAKE_TIMESTAMP].text, TB_SPAN("2.5")));
    assert_int_equal(record.id_count, 3);
    assert_true(record.ids[2] == UINT64_MAX);
    assert_int_equal(record.odd_item, TB_MOONCAKE_NO_ITEM);
    // The next row begins with nothing of this one.
    assert_int_equal(read_row(&record, "{\"hash_ids\": null}", &arena, &error),
                     TB_OK);
    assert_int_equal(record.id_count, 0);
    assert_int_equal(fields[TB_MOONCAKE_SESSION_ID].kind, TB_MOONCAKE_ABSENT);
    tb_mooncake_record_release(&record);
    tb_arena_release(&arena);
}

/* Numbers of every length, at every distance from the end of the list. */
static void test_long_ids(void **state)
{
    (void)state;
    struct tb_mooncake_record record = {0};
    struct tb_arena arena = {0};
    for (uint64_t power = 1; power < UINT64_MAX / 10; power *= 10)
        for (int more = -1; more <= 1; more++)
            for (int spaces = 0; spaces < 9; spaces++) {
                char line[100];
                uint64_t id = power * 9 + (uint64_t)more;
                (void)snprintf(line, sizeof(line),
                               "{\"hash_ids\":[%" PRIu64 ",%" PRIu64 "%*s]}",
                               id, id, spaces, "");
                assert_int_equal(read_row(&record, line, &arena, NULL), TB_OK);
                assert_int_equal(record.id_count, 2);
                assert_true(record.ids[0] == id && record.ids[1] == id);
                assert_int_equal(record.odd_item, TB_MOONCAKE_NO_ITEM);
            }
    assert_int_equal(read_row(&record,
                              "{\"hash_ids\": [18446744073709551615, "
                              "18446744073709551616, 99999999999999999999]}",
                              &arena, NULL),
                     TB_OK);
    assert_true(record.ids[0] == UINT64_MAX);
    assert_int_equal(record.bad_item, 1);
    assert_int_equal(record.bad_reading, TB_MOONCAKE_OUT_OF_RANGE);
    // Read on past what is no number; a strict check refuses the line.
    assert_int_equal(
        read_row(&record, "{\"hash_ids\": [1,2345678x,1]}", &arena, NULL),
        TB_OK);
    assert_int_equal(record.id_count, 3);
    assert_int_equal(record.bad_item, 1);
    assert_int_equal(record.bad_reading, TB_MOONCAKE_NO_NUMBER);
    tb_mooncake_record_release(&record);
    tb_arena_release(&arena);
}

static void test_odd_ids(void **state)
{
    (void)state;
    struct tb_mooncake_record record = {0};
    struct tb_arena arena = {0};
    assert_int_equal(read_row(&record,
                              "{\"hash_ids\": [7, 7.0, \"7\", -7, null, 1.5]}",
                              &arena, NULL),
                     TB_OK);
    assert_int_equal(record.id_count, 6);
    assert_int_equal(record.ids[1], 7);
    assert_int_equal(record.ids[2], 7);
    assert_true(record.ids[3] != 7);
    assert_int_equal(record.odd_item, 1);
    assert_int_equal(record.bad_item, 4);
    assert_int_equal(record.bad_reading, TB_MOONCAKE_NO_NUMBER);
    tb_mooncake_record_release(&record);
    tb_arena_release(&arena);
}

static void test_bad_row(void **state)
{
    (void)state;
    struct tb_mooncake_record record = {0};
    struct tb_arena arena = {0};
    struct tb_error error;
    assert_int_equal(
        read_row(&record, "{\"hash_ids\": [1,, 2]}", &arena, &error),
        TB_ERR_SYNTAX);
    assert_int_equal(read_row(&record, "[]", &arena, &error), TB_ERR_TYPE);
    assert_int_equal(error.line, 7);
    assert_int_equal(error.offset, 100);
    assert_int_equal(read_row(&record, "{\"delay\": ", &arena, &error),
                     TB_ERR_CUT);
    assert_string_equal(error.json_path, "$.delay");
    tb_mooncake_record_release(&record);
    tb_arena_release(&arena);
}

/* Lines and where they are. */
static void test_reader(void **state)
{
    (void)state;
    static const char content[] = "\n {1}\r\n\r{2}\r{3}\x1C\n\xC2\xA0"
                                  "{\xE2\x80\x83}\xE2\x80\x83\n  {5}";
    static const struct {
        const char *text;
        uint64_t line, offset;
    } expected[] = {{"{1}", 2, 2},
                    {"{2}", 4, 8},
                    {"{3}", 5, 12},
                    {"{\xE2\x80\x83}", 6, 19},
                    {"{5}", 7, 30}};
    char path[] = "/tmp/tb_reader_XXXXXX";
    struct tb_mooncake_reader *reader;
    struct tb_span line;
    int fd = mkstemp(path);
    assert_int_equal(write(fd, content, sizeof(content) - 1),
                     sizeof(content) - 1);
    (void)close(fd);
    assert_int_equal(tb_mooncake_reader_open(path, &reader, NULL), TB_OK);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        assert_int_equal(tb_mooncake_reader_next(reader, &line, NULL), TB_OK);
        assert_true(tb_span_equal(line, tb_span_of(expected[i].text)));
        assert_int_equal(tb_mooncake_reader_line(reader), expected[i].line);
        assert_int_equal(tb_mooncake_reader_offset(reader), expected[i].offset);
    }
    assert_int_equal(tb_mooncake_reader_next(reader, &line, NULL), TB_OK);
    assert_null(line.ptr);
    tb_mooncake_reader_close(reader);
    (void)unlink(path);
}

/* ---- tables behind rules --------------------------------------------------
 */

/* Ids far from each other, and in runs with ends that are not as usual; the
 * second time all is known as it was, whatever is said then. */
static void test_id_sizes(void **state)
{
    (void)state;
    enum { COUNT = 100000, FULL = 64 };
    struct tb_id_sizes sizes = {.full_size = FULL};
    struct tb_id_size known;
    bool is_new;
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t i = 0; i < COUNT; i++) {
            uint64_t far = i * UINT64_C(0x9E3779B97F4A7C15);
            uint64_t id = i % 3 == 0 ? far | UINT64_C(1) << 40 : i;
            uint64_t behind = i % 5 ? id - 1 : id - 2;
            uint32_t size = i % 7 ? FULL : 9;
            assert_int_equal(tb_id_sizes_add(&sizes, id, size + (uint32_t)pass,
                                             tb_id_before(behind), &known,
                                             &is_new),
                             TB_OK);
            assert_int_equal(is_new, pass == 0);
            assert_int_equal(known.size, size);
            assert_int_equal(known.before, tb_id_before(behind));
        }
    }
    assert_int_equal(sizes.count, COUNT);
    tb_id_sizes_release(&sizes);
}

/* What is next to its neighbour is a bit, but pairs here and there are not
 * worth a page each. */
static void test_id_pages(void **state)
{
    (void)state;
    enum { COUNT = 1 << 20, PAIRS = 1 << 14 };
    struct tb_id_sizes sizes = {.full_size = 1};
    struct tb_id_size known;
    bool is_new;
    for (uint64_t i = 0; i < COUNT; i++)
        assert_int_equal(
            tb_id_sizes_add(&sizes, i, 1, tb_id_before(i - 1), &known, &is_new),
            TB_OK);
    assert_int_equal(sizes.page_count, COUNT / 64 / TB_ID_PAGE_WORDS);
    assert_int_equal(sizes.slots_used, 0);
    tb_id_sizes_release(&sizes);
    for (uint64_t i = 0; i < PAIRS; i++)
        for (uint64_t j = 0; j < 2; j++)
            assert_int_equal(tb_id_sizes_add(&sizes, (i << 40) + j, 1,
                                             tb_id_before((i << 40) + j - 1),
                                             &known, &is_new),
                             TB_OK);
    assert_in_range(sizes.page_count, 1, 2 * PAIRS / 16 + 1);
    tb_id_sizes_release(&sizes);
}

static void test_block_sizes(void **state)
{
    (void)state;
    struct tb_block_size_range range = tb_block_size_range_all();
    tb_block_size_range_narrow(&range, 1000, 8); // 125 to 142
    assert_int_equal(range.min, 125);
    assert_int_equal(range.max, 142);
    assert_int_equal(tb_block_size_range_guess(&range), 128);
    tb_block_size_range_narrow(&range, 1001, 8); // from 126 on
    tb_block_size_range_narrow(&range, 127, 1);  // from 127 on
    tb_block_size_range_narrow(&range, 128, 2);  // up to 127
    assert_int_equal(tb_block_size_range_guess(&range), 127);
    tb_block_size_range_narrow(&range, 128, 1);
    assert_int_equal(tb_block_size_range_guess(&range), 0);
}

/* ---- a whole check --------------------------------------------------------
 */

static const char *const lines[] = {
    "{\"session_id\": \"a\", \"input_length\": 6, \"hash_ids\": [1, 2]}",
    "{\"session_id\": \"a\", \"input_length\": 9, \"hash_ids\": [1, 3, \"4\"]}",
    "{\"messages\": [{\"r\\u006fle\": 1}, {\"role\": 2}], \"tools\": [{}]}",
    "{\"input_length\": 4, \"hash_ids\": [2]}",
    "{\"hash_ids\": 1}",
};

struct seen {
    uint64_t count;
    struct tb_finding last;
};

static void see(void *context, const struct tb_finding *finding)
{
    struct seen *seen = context;
    seen->count++;
    seen->last = *finding;
}

static tb_status check_lines(struct tb_validator *validator)
{
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        TB_TRY(tb_validator_add(validator, tb_span_of(lines[i]), i, i + 1));
    tb_validator_finish(validator);
    return TB_OK;
}

static tb_status check(tb_mooncake_consumer consumer, uint64_t shown_max,
                       struct seen *seen, struct tb_validation_counts *counts)
{
    struct tb_validator_options options = {.path = "rows",
                                           .consumer = consumer,
                                           .block_size = 4,
                                           .shown_max = shown_max,
                                           .on_finding = see,
                                           .context = seen};
    struct tb_validator *validator;
    TB_TRY(tb_validator_new(&options, &validator));
    tb_status status = check_lines(validator);
    *counts = *tb_validator_counts(validator);
    tb_validator_free(validator);
    return status;
}

static void test_findings(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct tb_validation_counts counts;
    assert_int_equal(check(TB_MOONCAKE_FOR_AIPERF, 10, &seen, &counts), TB_OK);
    assert_int_equal(counts.row_count, 5);
    assert_int_equal(counts.session_count, 3);
    assert_int_equal(counts.broken[TB_RULE_WHOLE_ROWS], 1);
    assert_int_equal(counts.broken[TB_RULE_ID_SIZE], 1);
    assert_int_equal(counts.broken[TB_RULE_FIELD_TYPE], 1);
    assert_int_equal(counts.fatal_count, 2);
    assert_int_equal(counts.warning_count, 1);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.last.place.line, 5);
    assert_string_equal(seen.last.place.path, "rows");
    assert_string_equal(seen.last.place.json_path, "$.hash_ids");
}

static void test_shown_max(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct tb_validation_counts counts;
    assert_int_equal(check(TB_MOONCAKE_FOR_DYNAMO, 1, &seen, &counts), TB_OK);
    assert_true(counts.fatal_count + counts.warning_count > seen.count);
    uint64_t rules = 0;
    for (int rule = 0; rule < TB_RULE_COUNT; rule++)
        rules += counts.broken[rule] > 0;
    assert_int_equal(seen.count, rules);
}

static void test_rule_texts(void **state)
{
    (void)state;
    for (int rule = 0; rule < TB_RULE_COUNT; rule++)
        for (int consumer = 0; consumer < TB_MOONCAKE_CONSUMER_COUNT;
             consumer++) {
            struct tb_mooncake_rule_text text = tb_mooncake_rule_text(
                (tb_mooncake_rule)rule, (tb_mooncake_consumer)consumer);
            assert_non_null(tb_mooncake_rule_name((tb_mooncake_rule)rule));
            assert_non_null(text.consequence);
            assert_non_null(text.change);
        }
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    tb_status status = TB_ERR_MEMORY;
    long count = 0;
    for (; status == TB_ERR_MEMORY && count < 1000; count++) {
        struct seen seen = {0};
        struct tb_validation_counts counts;
        tb_memory_fail_after(count);
        status = check(TB_MOONCAKE_FOR_AIPERF, 10, &seen, &counts);
        tb_memory_fail_after(-1);
    }
    assert_int_equal(status, TB_OK);
    assert_true(count > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_reals),
        cmocka_unit_test(test_row),
        cmocka_unit_test(test_long_ids),
        cmocka_unit_test(test_odd_ids),
        cmocka_unit_test(test_bad_row),
        cmocka_unit_test(test_reader),
        cmocka_unit_test(test_id_sizes),
        cmocka_unit_test(test_id_pages),
        cmocka_unit_test(test_block_sizes),
        cmocka_unit_test(test_findings),
        cmocka_unit_test(test_shown_max),
        cmocka_unit_test(test_rule_texts),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
