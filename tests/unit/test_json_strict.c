/* json: what a strict reader refuses. What is expected here is what orjson 3
 * does; tests/oracle/validate_oracle.py asks it again, through aiperf. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "json_strict.h"

static const char *const good[] = {
    "0",
    "-0",
    "10",
    "1.0E0",
    "1E+2",
    "1e-999999",
    "0e999999999",
    "[1.7976931348623158e308]",
    "true",
    "false",
    "null",
    "\"\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u0000\"",
    "\"\\ud83d\\ude00\"",
    "\"\x7F\xC3\xA9\xF0\x9F\x98\x80\"",
    "[]",
    "{}",
    " [ ] ",
    "\t{ \r\n}",
    "[[],[{}],1]",
    "{\"a\" : 1 , \"a\":[2,{\"b\":null}]}",
    "[1,2]\n",
};

static const struct {
    const char *json;
    size_t at;
    tb_status status;
    bool is_value;
} bad[] = {
    {"", 0, TB_ERR_CUT, false},
    {"  ", 2, TB_ERR_CUT, false},
    {"-", 1, TB_ERR_CUT, false},
    {"1.", 2, TB_ERR_CUT, false},
    {"1e+", 3, TB_ERR_CUT, false},
    {"tru", 3, TB_ERR_CUT, false},
    {"\"a", 2, TB_ERR_CUT, false},
    {"\"a\\\"", 4, TB_ERR_CUT, false},
    {"[", 1, TB_ERR_CUT, false},
    {"[1", 2, TB_ERR_CUT, false},
    {"[1,", 3, TB_ERR_CUT, false},
    {"{\"a\"", 4, TB_ERR_CUT, false},
    {"{\"a\":", 5, TB_ERR_CUT, false},
    {"{\"a\":1,", 7, TB_ERR_CUT, false},
    {"01", 0, TB_ERR_SYNTAX, false},
    {"-01", 1, TB_ERR_SYNTAX, false},
    {"+1", 0, TB_ERR_SYNTAX, false},
    {".5", 0, TB_ERR_SYNTAX, false},
    {"--1", 1, TB_ERR_SYNTAX, false},
    {"1.x", 2, TB_ERR_SYNTAX, false},
    {"[1e309]", 1, TB_ERR_SYNTAX, true},
    {"[-1e309 ]", 1, TB_ERR_SYNTAX, true},
    {"trux", 0, TB_ERR_SYNTAX, false},
    {"NaN", 0, TB_ERR_SYNTAX, false},
    {"-Infinity", 1, TB_ERR_SYNTAX, false},
    {"'a'", 0, TB_ERR_SYNTAX, false},
    {"\xEF\xBB\xBF{}", 0, TB_ERR_SYNTAX, false},
    {"\"a\nb\"", 2, TB_ERR_SYNTAX, false},
    {"\"\\x41\"", 1, TB_ERR_SYNTAX, false},
    {"\"\\u12G4\"", 1, TB_ERR_SYNTAX, false},
    {"\"\\u12\"", 1, TB_ERR_SYNTAX, false},
    {"\"ab\\ud83d\"", 3, TB_ERR_SYNTAX, true},
    {"\"\\ud83d\\u0041\"", 1, TB_ERR_SYNTAX, true},
    {"\"\\ude00\\ud83d\"", 1, TB_ERR_SYNTAX, true},
    {"\"a\xFF\"", 2, TB_ERR_SYNTAX, false},
    {"\"\xED\xA0\x80\"", 1, TB_ERR_SYNTAX, false},
    {"[1,]", 3, TB_ERR_SYNTAX, false},
    {"[,1]", 1, TB_ERR_SYNTAX, false},
    {"[1 2]", 3, TB_ERR_SYNTAX, false},
    {"[1}", 2, TB_ERR_SYNTAX, false},
    {"{\"a\":1]", 6, TB_ERR_SYNTAX, false},
    {"{\"a\":1,}", 7, TB_ERR_SYNTAX, false},
    {"{1:2}", 1, TB_ERR_SYNTAX, false},
    {"{\"a\" 1}", 5, TB_ERR_SYNTAX, false},
    {"{}x", 2, TB_ERR_SYNTAX, false},
    {"[1e309, \"\\ud83d\"", 16, TB_ERR_CUT, false},
    {"1 2", 2, TB_ERR_SYNTAX, false},
};

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct tb_json_fault fault = {0, "", false};
        if (tb_json_check(tb_span_of(good[i]), &fault) != TB_OK)
            fail_msg("%s: refused at %zu: %s", good[i], fault.at, fault.text);
    }
}

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct tb_json_fault fault = {0, "", false};
        tb_status status = tb_json_check(tb_span_of(bad[i].json), &fault);
        if (status != bad[i].status || fault.at != bad[i].at ||
            fault.is_value != bad[i].is_value)
            fail_msg("%s: %s at %zu: %s", bad[i].json, tb_status_name(status),
                     fault.at, fault.text);
    }
}

/* Every beginning of a good text is cut, never wrong, and never good: a number
 * alone is no object. */
static void test_every_cut(void **state)
{
    (void)state;
    struct tb_span whole =
        TB_SPAN("{\"a\": [1, -2.5e+3, true, null], \"\\u00e9\": \"\\ud83d"
                "\\ude00\", \"b\": {\"c\": \"\xC3\xA9\"}}");
    for (size_t len = 0; len < whole.len; len++) {
        struct tb_json_fault fault;
        struct tb_span part = {whole.ptr, len};
        assert_int_equal(tb_json_check(part, &fault), TB_ERR_CUT);
        assert_int_equal(fault.at, len);
    }
}

static void expect_depth(size_t depth, tb_status expected)
{
    char text[2 * TB_JSON_STRICT_DEPTH + 16];
    struct tb_json_fault fault;
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    struct tb_span json = {(const uint8_t *)text, 2 * depth};
    assert_int_equal(tb_json_check(json, &fault), expected);
}

static void test_depth(void **state)
{
    (void)state;
    expect_depth(TB_JSON_STRICT_DEPTH, TB_OK);
    expect_depth(TB_JSON_STRICT_DEPTH + 1, TB_ERR_SYNTAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
