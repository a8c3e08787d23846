/* mooncake: rows as Python's json.dumps writes them, byte for byte. What is
 * expected here was printed by CPython 3.11. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "json_writer.h"
#include "memory.h"
#include "mooncake_row.h"

static void expect_text(struct tb_span text, const char *expected)
{
    struct tb_buffer buffer = TB_BUFFER(1 << 20);
    assert_int_equal(tb_json_write_string(&buffer, text), TB_OK);
    assert_int_equal(tb_buffer_append_byte(&buffer, 0), TB_OK);
    assert_string_equal((const char *)buffer.ptr, expected);
    tb_buffer_release(&buffer);
}

static void test_strings(void **state)
{
    (void)state;
    expect_text(TB_SPAN(""), "\"\"");
    expect_text(TB_SPAN("plain ~ text"), "\"plain ~ text\"");
    expect_text(TB_SPAN("\"\\/\b\f\n\r\t"), "\"\\\"\\\\/\\b\\f\\n\\r\\t\"");
    expect_text(TB_SPAN("\0\x01\x1F\x7F"), "\"\\u0000\\u0001\\u001f\\u007f\"");
    expect_text(TB_SPAN("\xC3\xA9\xE2\x82\xAC"), "\"\\u00e9\\u20ac\"");
    expect_text(TB_SPAN("\xEF\xBF\xBF"), "\"\\uffff\"");
    expect_text(TB_SPAN("\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF"),
                "\"\\ud83d\\ude00\\udbff\\udfff\"");
}

static void test_broken_utf8(void **state)
{
    (void)state;
    expect_text(TB_SPAN("a\xFFz"), "\"a\\ufffdz\"");
    expect_text(TB_SPAN("\xED\xA0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
    expect_text(TB_SPAN("\xE2\x82"), "\"\\ufffd\\ufffd\"");
}

/* An escape at any place of a longer text, so that blocks are left early. */
static void test_escape_at_every_place(void **state)
{
    (void)state;
    for (size_t at = 0; at < 70; at++) {
        uint8_t text[70];
        char expected[80];
        memset(text, 'x', sizeof(text));
        text[at] = '\n';
        memset(expected, 'x', sizeof(expected));
        expected[0] = '"';
        expected[1 + at] = '\\';
        expected[2 + at] = 'n';
        expected[72] = '"';
        expected[73] = '\0';
        expect_text((struct tb_span){text, sizeof(text)}, expected);
    }
}

static void expect_row(const struct tb_mooncake_row *row, const char *expected)
{
    struct tb_buffer buffer = TB_BUFFER(1 << 20);
    assert_int_equal(tb_mooncake_row_write(row, &buffer), TB_OK);
    assert_int_equal(tb_buffer_append_byte(&buffer, 0), TB_OK);
    assert_string_equal((const char *)buffer.ptr, expected);
    tb_buffer_release(&buffer);
}

static void test_row_of_nat(void **state)
{
    (void)state;
    static const uint64_t ids[] = {0, 9, 10, 4294967296, UINT64_MAX};
    struct tb_mooncake_row row = {
        .session_id = TB_SPAN("conv_0"),
        .input_length = 9176,
        .output_length = 142,
        .hash_ids = ids,
        .hash_id_count = 5,
    };
    expect_row(&row, "{\"session_id\": \"conv_0\", \"input_length\": 9176, "
                     "\"output_length\": 142, \"hash_ids\": [0, 9, 10, "
                     "4294967296, 18446744073709551615]}\n");
    row.hash_id_count = 0;
    row.input_length = UINT64_MAX;
    row.has_timestamp = true;
    row.has_delay = true;
    row.delay_ms = 500;
    expect_row(&row, "{\"session_id\": \"conv_0\", \"input_length\": "
                     "18446744073709551615, \"output_length\": 142, "
                     "\"hash_ids\": [], \"timestamp\": 0, \"delay\": 500}\n");
}

static void test_row_of_telemetry(void **state)
{
    (void)state;
    static const uint64_t ids[] = {7};
    struct tb_mooncake_row row = {
        .session_id = TB_SPAN("\xC3\xBC"),
        .has_agent_type = true,
        .agent_type = TB_SPAN("deep_coordinator"),
        .input_length = 1,
        .output_length = 0,
        .hash_ids = ids,
        .hash_id_count = 1,
        .has_priority = true,
        .priority = TB_SPAN("HIGH"),
        .has_delay = true,
    };
    expect_row(&row, "{\"session_id\": \"\\u00fc\", \"agent_type\": "
                     "\"deep_coordinator\", \"input_length\": 1, "
                     "\"output_length\": 0, \"hash_ids\": [7], "
                     "\"priority\": \"HIGH\", \"delay\": 0}\n");
    row.is_priority_null = true;
    row.has_delay = false;
    expect_row(&row, "{\"session_id\": \"\\u00fc\", \"agent_type\": "
                     "\"deep_coordinator\", \"input_length\": 1, "
                     "\"output_length\": 0, \"hash_ids\": [7], "
                     "\"priority\": null}\n");
}

static void test_row_is_whole_or_absent(void **state)
{
    (void)state;
    static const uint64_t ids[100] = {0};
    struct tb_mooncake_row row = {
        .session_id = TB_SPAN("conv_0"), .hash_ids = ids, .hash_id_count = 100};
    struct tb_buffer small = TB_BUFFER(300);
    assert_int_equal(tb_buffer_append(&small, TB_SPAN("kept")), TB_OK);
    assert_int_equal(tb_mooncake_row_write(&row, &small), TB_ERR_LIMIT);
    assert_true(tb_span_equal(tb_buffer_span(&small), TB_SPAN("kept")));
    tb_buffer_release(&small);

    struct tb_buffer buffer = TB_BUFFER(1 << 20);
    tb_status status = TB_ERR_MEMORY;
    for (long count = 0; status != TB_OK; count++) {
        tb_memory_fail_after(count);
        status = tb_mooncake_row_write(&row, &buffer);
        tb_memory_fail_after(-1);
        if (status != TB_OK)
            assert_int_equal(buffer.len, 0);
    }
    tb_buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_broken_utf8),
        cmocka_unit_test(test_escape_at_every_place),
        cmocka_unit_test(test_row_of_nat),
        cmocka_unit_test(test_row_of_telemetry),
        cmocka_unit_test(test_row_is_whole_or_absent),
    };
    return cmocka_run_group_tests_name("mooncake", tests, NULL, NULL);
}
