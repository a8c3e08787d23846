/* mooncake: what is read of a row in one go is what is read of it the long way,
 * of rows as they are written and of what becomes of them by accident. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "plain_row.h"

enum { LINE_MAX_LEN = 256 };

static void assert_same_value(const struct tb_mooncake_value *a,
                              const struct tb_mooncake_value *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->key_count, b->key_count);
    assert_int_equal(a->is_repaired, b->is_repaired);
    assert_true(tb_span_equal(a->text, b->text));
}

static void assert_same(const struct tb_mooncake_record *a,
                        const struct tb_mooncake_record *b)
{
    for (size_t i = 0; i < TB_MOONCAKE_FIELD_COUNT; i++)
        assert_same_value(&a->fields[i], &b->fields[i]);
    assert_int_equal(a->id_count, b->id_count);
    assert_int_equal(a->odd_item, b->odd_item);
    assert_int_equal(a->bad_item, b->bad_item);
    if (a->id_count > 0)
        assert_memory_equal(a->ids, b->ids, a->id_count * sizeof(*a->ids));
}

/* Is the row read in one go? Then also with a key that is none of ours, whose
 * value only the long way reads, and equally. */
static bool check(const char *row, size_t len)
{
    char bytes[LINE_MAX_LEN + 16] = "{\"?\":null,";
    struct tb_mooncake_record quick = {.odd_item = TB_MOONCAKE_NO_ITEM,
                                       .bad_item = TB_MOONCAKE_NO_ITEM};
    struct tb_mooncake_record slow = {0};
    struct tb_arena arena = {0};
    struct tb_span quick_line = {(const uint8_t *)row, len};
    bool is_read = tb_plain_row_read(quick_line, &quick);
    if (is_read) {
        size_t before = strlen(bytes);
        memcpy(bytes + before, row + 1, len - 1);
        struct tb_span long_line = {(const uint8_t *)bytes, before + len - 1};
        assert_false(tb_plain_row_read(long_line, &slow));
        tb_mooncake_record_release(&slow);
        assert_int_equal(
            tb_mooncake_record_read(&slow, long_line, 1, 1, &arena, NULL),
            TB_OK);
        assert_same(&quick, &slow);
    }
    tb_mooncake_record_release(&quick);
    tb_mooncake_record_release(&slow);
    tb_arena_release(&arena);
    return is_read;
}

static const char *const rows[] = {
    "{\"session_id\": \"a\", \"input_length\": 130, \"output_length\": 7, "
    "\"hash_ids\": [1, 2, 18446744073709551615], \"timestamp\": 12.5}",
    "{\"timestamp\":0,\"input_length\":6758,\"output_length\":500,"
    "\"hash_ids\":[46 , 47,123456789]}",
    "{ \"delay\" : 0.25 , \"priority\" : \"HIGH\" , \"other\" : 12 }",
};

static void test_rows(void **state)
{
    (void)state;
    static const char *const others[] = {
        "{}",
        "[]",
        "{\"input_length\": 1,}",
        "{\"input_length\": 01}",
        "{\"input_length\": -1}",
        "{\"input_length\": 1e3}",
        "{\"input_length\": 1.}",
        "{\"input_length\": .5}",
        "{\"input_length\": 1}}",
        "{\"input_length\": 1} x",
        "{\"input_length\": 1, \"input_length\": 2}",
        "{\"input\\u005flength\": 1}",
        "{\"hash_ids\": []}",
        "{\"hash_ids\": [1,]}",
        "{\"hash_ids\": [1 2]}",
        "{\"hash_ids\": [01]}",
        "{\"hash_ids\": [18446744073709551616]}",
        "{\"hash_ids\": [1}",
        "{\"delay\": [1]}",
        "{\"session_id\": \"a\\n\"}",
        "{\"session_id\": \"\xC3\xA4\"}",
        "{\"session_id\": \"a}",
        "{\"session_id\" \"a\"}",
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_true(check(rows[i], strlen(rows[i])));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(check(others[i], strlen(others[i])));
    assert_false(check("", 0));
}

static void test_accidents(void **state)
{
    (void)state;
    static const char bytes[] = "\"\\{}[],: 0123456789.-eE+atn\t\x80\x01";
    uint64_t seed = 1;
    uint32_t read_count = 0;
    for (int i = 0; i < 200000; i++) {
        char row[LINE_MAX_LEN];
        const char *from = rows[i % 3];
        size_t len = strlen(from);
        memcpy(row, from, len);
        for (int change = 0; change <= i % 2; change++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            row[(seed >> 33) % len] = bytes[(seed >> 50) % (sizeof(bytes) - 1)];
        }
        len -= i % 7 == 0 ? (seed >> 20) % len : 0;
        read_count += check(row, len);
    }
    assert_true(read_count > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_accidents)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
