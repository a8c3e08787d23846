/* json: the reader over memory and over streams, and its two hot loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "json_place.h"
#include "json_plain.h"
#include "json_reader.h"
#include "json_scan.h"
#include "utf8.h"

/* ---- documents as a list of events ------------------------------------------
 */

/* A stream that gives `step` bytes at a time. */
struct stream {
    struct tb_span left;
    size_t step;
};

static tb_status read_stream(void *context, uint8_t *bytes, size_t size,
                             size_t *len, struct tb_error *error)
{
    struct stream *stream = context;
    (void)error;
    *len = stream->step < size ? stream->step : size;
    if (*len > stream->left.len)
        *len = stream->left.len;
    if (*len)
        memcpy(bytes, stream->left.ptr, *len);
    stream->left = tb_span_from(stream->left, *len);
    return TB_OK;
}

/* What is read, in words, so that two ways to read can be compared. */
struct log {
    struct tb_json_reader reader;
    struct tb_arena arena;
    struct tb_buffer text;
};

static tb_status log_value(struct log *log);

static tb_status log_members(struct log *log)
{
    TB_TRY(tb_json_enter_object(&log->reader));
    TB_TRY(tb_buffer_append(&log->text, TB_SPAN("{")));
    for (;;) {
        struct tb_span key;
        TB_TRY(tb_json_next_key(&log->reader, &key));
        if (!key.ptr)
            return tb_buffer_append(&log->text, TB_SPAN("}"));
        TB_TRY(tb_json_decode_key(&log->reader, &log->arena, &key));
        TB_TRY(tb_buffer_append(&log->text, key));
        TB_TRY(tb_buffer_append(&log->text, TB_SPAN("=")));
        TB_TRY(log_value(log));
    }
}

static tb_status log_items(struct log *log)
{
    TB_TRY(tb_json_enter_array(&log->reader));
    TB_TRY(tb_buffer_append(&log->text, TB_SPAN("[")));
    for (;;) {
        bool found;
        TB_TRY(tb_json_next_item(&log->reader, &found));
        if (!found)
            return tb_buffer_append(&log->text, TB_SPAN("]"));
        TB_TRY(log_value(log));
    }
}

static tb_status log_string(struct log *log)
{
    struct tb_span text;
    TB_TRY(tb_json_read_string(&log->reader, &log->arena, &text));
    assert_int_equal(tb_utf8_valid_len(text), text.len);
    TB_TRY(tb_buffer_append(&log->text, TB_SPAN("'")));
    TB_TRY(tb_buffer_append(&log->text, text));
    return tb_buffer_append(&log->text, TB_SPAN("'"));
}

static tb_status log_number(struct log *log)
{
    struct tb_json_number number;
    TB_TRY(tb_json_read_number(&log->reader, &number));
    assert_true(!number.is_integer || number.value == (double)number.integer);
    return tb_buffer_printf(&log->text, "%.*s%s", (int)number.text.len,
                            (const char *)number.text.ptr,
                            number.is_integer     ? "i "
                            : isnan(number.value) ? "nan "
                                                  : "f ");
}

static tb_status log_value(struct log *log)
{
    tb_json_type type;
    struct tb_span raw;
    TB_TRY(tb_json_peek(&log->reader, &type));
    switch (type) {
    case TB_JSON_OBJECT:
        return log_members(log);
    case TB_JSON_ARRAY:
        return log_items(log);
    case TB_JSON_STRING:
        return log_string(log);
    case TB_JSON_NUMBER:
        return log_number(log);
    case TB_JSON_TRUE:
    case TB_JSON_FALSE:
    case TB_JSON_NULL:
    case TB_JSON_END:
    default:
        TB_TRY(tb_json_read_raw(&log->reader, &raw));
        TB_TRY(tb_buffer_append(&log->text, raw));
        return tb_buffer_append(&log->text, TB_SPAN(" "));
    }
}

/* Reads all of `json`, `step` bytes at a time (0: from memory), and writes
 * down how it ended. */
static void log_all(struct log *log, struct tb_span json, size_t step)
{
    struct stream stream = {json, step};
    *log = (struct log){.text = TB_BUFFER(1 << 20)};
    if (step)
        tb_json_reader_init_stream(&log->reader, read_stream, &stream);
    else
        tb_json_reader_init_span(&log->reader, json, 0, 1);
    tb_status status = log_value(log);
    if (status == TB_OK)
        status = tb_json_expect_end(&log->reader);
    const struct tb_error *error = &log->reader.error;
    assert_int_equal(
        tb_buffer_printf(
            &log->text, "; %s %llu:%llu %s %s, %llu halves, %llu bad",
            tb_status_name(status), (unsigned long long)error->line,
            (unsigned long long)error->offset, error->json_path, error->message,
            (unsigned long long)log->reader.lone_surrogate_count,
            (unsigned long long)log->reader.bad_utf8_count),
        TB_OK);
    assert_int_equal(status, error->status);
    tb_json_reader_release(&log->reader);
    tb_arena_release(&log->arena);
}

/* Every way to read gives the same log; `wanted`, if any, is how it begins. */
static void check_log(struct tb_span json, const char *wanted)
{
    static const size_t steps[] = {1, 2, 3, 7, 64};
    struct log whole, pieces;
    log_all(&whole, json, 0);
    if (wanted &&
        !tb_span_starts_with(tb_buffer_span(&whole.text), tb_span_of(wanted)))
        fail_msg("wanted %s\ngot    %.*s", wanted, (int)whole.text.len,
                 (const char *)whole.text.ptr);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        log_all(&pieces, json, steps[i]);
        if (!tb_span_equal(tb_buffer_span(&whole.text),
                           tb_buffer_span(&pieces.text)))
            fail_msg("whole %.*s\n%zu at a time %.*s", (int)whole.text.len,
                     (const char *)whole.text.ptr, steps[i],
                     (int)pieces.text.len, (const char *)pieces.text.ptr);
        tb_buffer_release(&pieces.text);
    }
    tb_buffer_release(&whole.text);
}

static void test_documents(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *wanted;
    } cases[] = {
        {"{}", "{}; ok"},
        {" [ ] ", "[]; ok"},
        {"\xEF\xBB\xBF{\"a\":1}\r\n", "{a=1i }; ok"},
        {"[\"\xEF\xBB\xBF\"]", "['\xEF\xBB\xBF']; ok"},
        {"{\"a\":[true,false,null],\"b\":{\"c\":\"d\"}}",
         "{a=[true false null ]b={c='d'}}; ok"},
        {"[0,-0,12,-7,9223372036854775807,-9223372036854775807]",
         "[0i -0i 12i -7i 9223372036854775807i -9223372036854775807i ]; ok"},
        {"[9223372036854775808,1.5,1e3,-2E-2,1e999]",
         "[9223372036854775808f 1.5f 1e3f -2E-2f 1e999f ]; ok"},
        {"[NaN,Infinity,-Infinity]", "[NaNnan Infinitynan -Infinitynan ]; ok"},
        {"\"\\n\\t\\r\\b\\f\\\"\\\\\\/\\u0041\\u00e9\\u4E16\"",
         "'\n\t\r\b\f\"\\/A\xC3\xA9\xE4\xB8\x96'; ok"},
        {"\"\\ud83d\\ude00\"", "'\xF0\x9F\x98\x80'; ok 0:0  , 0 halves"},
        {"\"a\\ud83d b\"", "'a\xEF\xBF\xBD b'; ok 0:0  , 1 halves"},
        {"\"\\ude00\\ud83d\"",
         "'\xEF\xBF\xBD\xEF\xBF\xBD'; ok 0:0  , 2 halves"},
        {"\"\\ud83d\\ud83d\\ude00\"",
         "'\xEF\xBF\xBD\xF0\x9F\x98\x80'; ok 0:0  , 1 halves"},
        {"\"\\ud83d\\n\"", "'\xEF\xBF\xBD\n'; ok 0:0  , 1 halves"},
        {"\"tab\tand line\nbreak\"", "'tab\tand line\nbreak'; ok"},
        {"\"a\x80"
         "b\xC3\"",
         "'a\xEF\xBF\xBD"
         "b\xEF\xBF\xBD'; ok 0:0  , 0 halves, 2 bad"},
        {"\"\xED\xA0\xBD\"", "'\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD'; ok"},
        {"{\"k\\u0065y\":1}", "{key=1i }; ok"},
        {"{\"\":0}", "{=0i }; ok"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_log(tb_span_of(cases[i].json), cases[i].wanted);
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *wanted;
    } cases[] = {
        {"", "; cut off 1:0"},
        {"  \n ", "; cut off 2:4"},
        {"?", "; syntax 1:0 $ expected a value, found byte 0x3f"},
        {"[1 2]", "[1i ; syntax 1:3 $[0] expected ',' or ']'"},
        {"[1,]", "[1i ; syntax 1:3 $[0] expected a value behind ','"},
        {"[,1]", "[; syntax 1:1 $[0]"},
        {"{\"a\":1,}", "{a=1i ; syntax 1:7 $.a expected a value behind ','"},
        {"{a:1}", "{; syntax 1:1 $ expected a key"},
        {"{\"a\" 1}", "{; syntax 1:5 $ expected ':', found byte 0x31"},
        {"{\"a\":\n{\"b\":\n[0,1,?]}}",
         "{a={b=[0i 1i ; syntax 3:17 $.a.b[2] expected a value"},
        {"[1]]", "[1i ]; syntax 1:3 $ expected the end"},
        {"1 1", "1i ; syntax 1:2 $ expected the end"},
        {"[\"\\x\"]", "[; syntax 1:5 $[0] unknown escape"},
        {"[\"\\u12g4\"]", "[; syntax 1:9 $[0] unknown escape"},
        {"[\"\\u12\"]", "[; syntax 1:7 $[0] unknown escape"},
        {"[nul ]", "[; syntax 1:4 $[0] malformed literal"},
        {"[truee]", "[; syntax 1:6 $[0] malformed literal"},
        {"[1e]", "[; syntax 1:3 $[0] malformed number"},
        {"[0x10]", "[; syntax 1:5 $[0] malformed number"},
        {"[-0x10]", "[; syntax 1:6 $[0] malformed number"},
        {"[-0x]", "[; syntax 1:4 $[0] malformed number"},
        {"-", "; cut off 1:1 $ "},
        {"[Na", "[; cut off 1:3 $[0] "},
        {"[-]", "[; syntax 1:2 $[0] malformed number"},
        {"[007]", "[; syntax 1:4 $[0] malformed number"},
        {"[-01]", "[; syntax 1:4 $[0] malformed number"},
        {"[01.5]", "[; syntax 1:5 $[0] malformed number"},
        {"[1.]", "[; syntax 1:3 $[0] malformed number"},
        {"[-.5]", "[; syntax 1:4 $[0] malformed number"},
        {"[1.e5]", "[; syntax 1:5 $[0] malformed number"},
        {"[1e+]", "[; syntax 1:4 $[0] malformed number"},
        {"[1+1]", "[; syntax 1:4 $[0] malformed number"},
        {"[Nan]", "[; syntax 1:4 $[0] malformed number"},
        {"[-inf]", "[; syntax 1:5 $[0] malformed number"},
        {"[1", "[1i ; cut off 1:2 $[0] input ends inside a value"},
        {"[\"abc", "[; cut off 1:5 $[0] input ends inside a value"},
        {"[\"abc\\", "[; cut off 1:"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_log(tb_span_of(cases[i].json), cases[i].wanted);
    // A zero byte is a byte like others.
    check_log((struct tb_span){(const uint8_t *)"[1\0]", 4},
              "[1i ; syntax 1:2 $[0] expected ',' or ']', found byte 0x00");
}

/* ---- cut and damaged input --------------------------------------------------
 */

static const char sample[] =
    "{\"request_number\": 0, \"steps\": [{\"type\": \"a\\u00e9\\ud83d\\ude00\","
    "\n \"time\": 1736.25e-1, \"none\": NaN, \"tokens\": {\"n\": -12}, "
    "\"text\": \"a\\\\\\\"} \xE4\xB8\x96\", \"flags\": [true, false, null]}, "
    "[[]], {}]\n}";

static void test_input_cut_at_every_byte(void **state)
{
    (void)state;
    for (size_t len = 0; len + 1 < sizeof(sample); len++) {
        struct tb_span json = {(const uint8_t *)sample, len};
        struct log log;
        check_log(json, NULL);
        log_all(&log, json, 0);
        struct tb_span text = tb_buffer_span(&log.text);
        if (!tb_span_contains(text, TB_SPAN("; cut off ")))
            fail_msg("cut at %zu: %.*s", len, (int)text.len,
                     (const char *)text.ptr);
        tb_buffer_release(&log.text);
        struct tb_json_reader reader;
        tb_json_reader_init_span(&reader, json, 0, 1);
        assert_int_equal(tb_json_skip(&reader), TB_ERR_CUT);
        tb_json_reader_release(&reader);
    }
    check_log(tb_span_of(sample), "{request_number=0i steps=[{type='a");
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void test_damaged_input_reads_the_same_in_pieces(void **state)
{
    (void)state;
    static const char bytes[] = "{}[]\",:\\un0123eE+-. \n\t\xC3\xED\x80tfaN";
    uint64_t seed = 20;
    uint8_t json[sizeof(sample)];
    for (int trial = 0; trial < 3000; trial++) {
        memcpy(json, sample, sizeof(sample));
        for (uint64_t edits = next_random(&seed) % 4 + 1; edits > 0; edits--)
            json[next_random(&seed) % (sizeof(sample) - 1)] =
                (uint8_t)bytes[next_random(&seed) % (sizeof(bytes) - 1)];
        check_log((struct tb_span){json, sizeof(sample) - 1}, NULL);
    }
}

static void test_depth_is_limited(void **state)
{
    (void)state;
    uint8_t json[2 * (TB_JSON_MAX_DEPTH + 1)];
    struct tb_json_reader reader;
    for (size_t depth = TB_JSON_MAX_DEPTH; depth <= TB_JSON_MAX_DEPTH + 1;
         depth++) {
        memset(json, '[', depth);
        memset(json + depth, ']', depth);
        struct tb_span text = {json, 2 * depth};
        tb_status status = TB_OK;
        tb_json_reader_init_span(&reader, text, 0, 1);
        for (size_t i = 0; i < depth && status == TB_OK; i++)
            status = tb_json_enter_array(&reader);
        assert_int_equal(status,
                         depth > TB_JSON_MAX_DEPTH ? TB_ERR_LIMIT : TB_OK);
        tb_json_reader_release(&reader);
        // Stepping over it needs no level.
        tb_json_reader_init_span(&reader, text, 0, 1);
        assert_int_equal(tb_json_skip(&reader), TB_OK);
        assert_int_equal(tb_json_expect_end(&reader), TB_OK);
        tb_json_reader_release(&reader);
    }
}

/* ---- stepping over, marks, raw values ---------------------------------------
 */

#define OK(call) assert_int_equal((call), TB_OK)

static void start(struct tb_json_reader *reader, struct stream *stream,
                  const char *json, size_t step)
{
    *stream = (struct stream){tb_span_of(json), step};
    if (step)
        tb_json_reader_init_stream(reader, read_stream, stream);
    else
        tb_json_reader_init_span(reader, stream->left, 0, 1);
}

static void expect_key(struct tb_json_reader *reader, const char *wanted)
{
    struct tb_span key;
    OK(tb_json_next_key(reader, &key));
    if (!wanted)
        assert_null(key.ptr);
    else
        assert_true(tb_span_equal(key, tb_span_of(wanted)));
}

static void test_skip_and_raw(void **state)
{
    (void)state;
    for (size_t step = 0; step < 5; step++) {
        struct tb_json_reader reader;
        struct stream stream;
        struct tb_span raw;
        start(&reader, &stream,
              "{\"a\": {\"x\": \"}\\\"]\"}, \"b\": [1, [2]] , \"c\": \"]\"}",
              step);
        OK(tb_json_enter_object(&reader));
        expect_key(&reader, "a");
        OK(tb_json_skip(&reader));
        expect_key(&reader, "b");
        OK(tb_json_read_raw(&reader, &raw));
        assert_true(tb_span_equal(raw, TB_SPAN("[1, [2]]")));
        expect_key(&reader, "c");
        OK(tb_json_read_raw(&reader, &raw));
        assert_true(tb_span_equal(raw, TB_SPAN("\"]\"")));
        expect_key(&reader, NULL);
        OK(tb_json_expect_end(&reader));
        tb_json_reader_release(&reader);
    }
}

static void test_mark_looks_into_a_value_and_keeps_it(void **state)
{
    (void)state;
    static const char item[] = "{\"kind\": \"x\", \"rest\": [{\"y\": 1}]}";
    for (size_t step = 0; step < 5; step++) {
        struct tb_json_reader reader;
        struct stream stream;
        struct tb_span raw;
        bool found;
        start(&reader, &stream,
              "[ 0,\n{\"kind\": \"x\", \"rest\": [{\"y\": 1}]} , 5]", step);
        OK(tb_json_enter_array(&reader));
        OK(tb_json_next_item(&reader, &found));
        OK(tb_json_skip(&reader));
        OK(tb_json_next_item(&reader, &found));
        uint32_t depth = tb_json_depth(&reader);
        OK(tb_json_mark(&reader));
        assert_int_equal(tb_json_offset(&reader), 5);
        assert_int_equal(tb_json_line(&reader), 2);
        OK(tb_json_enter_object(&reader));
        expect_key(&reader, "kind");
        OK(tb_json_read_raw(&reader, &raw)); // holds within the mark
        assert_true(tb_span_equal(raw, TB_SPAN("\"x\"")));
        OK(tb_json_leave_to(&reader, depth));
        assert_true(tb_span_equal(tb_json_marked(&reader), tb_span_of(item)));
        tb_json_unmark(&reader);
        OK(tb_json_next_item(&reader, &found));
        assert_true(found);
        OK(tb_json_skip(&reader));
        OK(tb_json_next_item(&reader, &found));
        assert_false(found);
        tb_json_reader_release(&reader);
    }
}

static void test_leave_from_any_depth(void **state)
{
    (void)state;
    for (size_t step = 0; step < 3; step++) {
        struct tb_json_reader reader;
        struct stream stream;
        bool found;
        start(&reader, &stream, "[{\"a\":[[\"]\",1],{\"b\":2}],\"c\":3},7]",
              step);
        OK(tb_json_enter_array(&reader));
        OK(tb_json_next_item(&reader, &found));
        OK(tb_json_enter_object(&reader));
        expect_key(&reader, "a");
        OK(tb_json_enter_array(&reader));
        OK(tb_json_next_item(&reader, &found));
        OK(tb_json_enter_array(&reader));
        assert_int_equal(tb_json_depth(&reader), 4);
        OK(tb_json_leave_to(&reader, 2));
        expect_key(&reader, "c");
        OK(tb_json_leave_to(&reader, 1));
        OK(tb_json_leave_to(&reader, 1)); // already there
        OK(tb_json_next_item(&reader, &found));
        assert_true(found);
        OK(tb_json_skip(&reader));
        OK(tb_json_next_item(&reader, &found));
        assert_false(found);
        OK(tb_json_expect_end(&reader));
        tb_json_reader_release(&reader);
    }
}

static void test_wrong_type_consumes_nothing(void **state)
{
    (void)state;
    struct tb_json_reader reader;
    struct tb_arena arena = {0};
    struct tb_span text;
    tb_json_reader_init_span(&reader, TB_SPAN("{\"a\": 1}"), 100, 7);
    OK(tb_json_enter_object(&reader));
    expect_key(&reader, "a");
    assert_int_equal(tb_json_read_string(&reader, &arena, &text), TB_ERR_TYPE);
    assert_string_equal(reader.error.message,
                        "expected a string, found a number");
    assert_string_equal(reader.error.json_path, "$.a");
    assert_int_equal(reader.error.offset, 106);
    assert_int_equal(reader.error.line, 7);
    OK(tb_json_skip(&reader));
    expect_key(&reader, NULL);
    tb_json_reader_release(&reader);
    tb_arena_release(&arena);
}

static tb_status refuse(void *context, uint8_t *bytes, size_t size, size_t *len,
                        struct tb_error *error)
{
    (void)context, (void)bytes, (void)size;
    *len = 0;
    return tb_fail(error, TB_ERR_IO, "no such luck");
}

static void test_failure_of_the_stream_comes_through(void **state)
{
    (void)state;
    struct tb_json_reader reader;
    tb_json_reader_init_stream(&reader, refuse, NULL);
    assert_int_equal(tb_json_skip(&reader), TB_ERR_IO);
    assert_string_equal(reader.error.message, "no such luck");
    tb_json_reader_release(&reader);
}

/* ---- the hot loops ----------------------------------------------------------
 */

static void fill_random(uint64_t *seed, uint8_t *bytes, size_t len)
{
    static const char likely[] = "{}[]\"\\\\\\a \xC3";
    uint64_t share = next_random(seed) % 9;
    for (size_t i = 0; i < len; i++) {
        uint64_t random = next_random(seed);
        bytes[i] = random % 8 < share
                       ? (uint8_t)likely[random / 8 % (sizeof(likely) - 1)]
                       : (uint8_t)(random >> 16);
    }
}

/* Scans in two pieces, the first `split` bytes long. */
static size_t scan_split(struct tb_json_scan *scan, struct tb_span bytes,
                         size_t split)
{
    struct tb_span first = {bytes.ptr, split};
    size_t used = tb_json_scan_container(scan, first);
    if (scan->depth == 0 || used < split)
        return used;
    return used + tb_json_scan_container(scan, tb_span_from(bytes, split));
}

static void check_scan(struct tb_span bytes, struct tb_json_scan from,
                       size_t split)
{
    struct tb_json_scan wanted = from, got = from;
    size_t wanted_len = tb_json_scan_portable(&wanted, bytes);
    assert_int_equal(scan_split(&got, bytes, split), wanted_len);
    assert_int_equal(got.depth, wanted.depth);
    assert_int_equal(got.in_string, wanted.in_string);
    assert_int_equal(got.is_escaped, wanted.is_escaped);
}

static void test_vector_scan_is_the_portable_one(void **state)
{
    (void)state;
    uint64_t seed = 7;
    uint8_t bytes[400];
    for (int trial = 0; trial < 3000; trial++) {
        size_t len = next_random(&seed) % sizeof(bytes);
        fill_random(&seed, bytes, len);
        for (unsigned start = 0; start < 16; start++) {
            struct tb_json_scan from = {.depth = (start >> 2) * 3 + 1,
                                        .in_string = start & 1,
                                        .is_escaped = (start & 2) != 0};
            check_scan((struct tb_span){bytes, len}, from,
                       len ? next_random(&seed) % len : 0);
        }
    }
}

static void test_vector_scan_at_every_split(void **state)
{
    (void)state;
    uint64_t seed = 11;
    uint8_t bytes[300];
    for (int trial = 0; trial < 60; trial++) {
        fill_random(&seed, bytes, sizeof(bytes));
        struct tb_json_scan from = {.depth = 40};
        for (size_t split = 0; split <= sizeof(bytes); split++)
            check_scan((struct tb_span){bytes, sizeof(bytes)}, from, split);
    }
}

static void test_runs_of_backslashes(void **state)
{
    (void)state;
    uint8_t bytes[260];
    for (size_t first = 0; first < 70; first++) {
        for (size_t run = 1; run < 70; run++) {
            memset(bytes, ' ', sizeof(bytes));
            memset(bytes + first, '\\', run);
            memcpy(bytes + first + run, "\"}{\"}", 5);
            for (int in_string = 0; in_string < 2; in_string++)
                check_scan(
                    (struct tb_span){bytes, sizeof(bytes)},
                    (struct tb_json_scan){.depth = 1, .in_string = in_string},
                    first);
        }
    }
}

// The end of a string by the plainest means.
static struct tb_json_string_scan plain_string_scan(struct tb_span bytes)
{
    struct tb_json_string_scan scan = {0};
    bool is_escaped = false;
    for (; scan.len < bytes.len; scan.len++) {
        uint8_t byte = bytes.ptr[scan.len];
        if (!is_escaped && byte == '"') {
            scan.is_closed = true;
            return scan;
        }
        is_escaped = !is_escaped && byte == '\\';
        scan.has_escape |= is_escaped;
    }
    scan.ends_escaped = is_escaped;
    return scan;
}

static void test_string_scan(void **state)
{
    (void)state;
    uint64_t seed = 5;
    uint8_t bytes[90];
    for (int trial = 0; trial < 20000; trial++) {
        size_t len = next_random(&seed) % sizeof(bytes);
        fill_random(&seed, bytes, len);
        struct tb_span span = {bytes, len};
        struct tb_json_string_scan wanted = plain_string_scan(span);
        struct tb_json_string_scan got = tb_json_scan_string(span);
        assert_int_equal(got.len, wanted.len);
        assert_int_equal(got.is_closed, wanted.is_closed);
        assert_int_equal(got.has_escape, wanted.has_escape);
        assert_int_equal(got.ends_escaped, wanted.ends_escaped);
        // A high byte behind a backslash is no escape, and refused later.
        struct tb_span inside = {bytes, got.len};
        if (!got.has_escape)
            assert_int_equal(got.has_high, tb_utf8_ascii_len(inside) < got.len);
    }
}

// One `, "key": count` by the reader; the bytes it took, 0: there is none.
static size_t read_entry(struct tb_span json, struct tb_span *key,
                         uint32_t *count)
{
    struct tb_json_reader reader;
    struct tb_json_number number;
    uint8_t whole[128] = "{\"\":0";
    size_t len = strlen((char *)whole);
    memcpy(whole + len, json.ptr, json.len);
    tb_json_reader_init_span(&reader, (struct tb_span){whole, len + json.len},
                             0, 1);
    if (tb_json_enter_object(&reader) || tb_json_next_key(&reader, key) ||
        tb_json_skip(&reader) || tb_json_next_key(&reader, key) || !key->ptr)
        return 0;
    key->ptr = json.ptr + ((size_t)(key->ptr - whole) - len);
    if (tb_json_read_number(&reader, &number) || !number.is_integer)
        return 0;
    *count = (uint32_t)number.integer;
    return tb_json_offset(&reader) - len;
}

/* What is plain is what the reader reads; and it is not the steps that say no
 * to what they are made for. */
static void test_plain_entry(void **state)
{
    (void)state;
    static const char letters[] = ",,\"\"\"::0123456789  \n{}[]\\-.eEu\xC3\xA9";
    static const struct {
        const char *json;
        bool is_plain;
    } cases[] = {
        {",\"a\":0,", true},
        {" ,\n\"a long key of more than 16\" : 123456789 }", true},
        {",\"\":7\n", true},
        {",\"\xC3\xA9\":12]", true},
        {",\"a\":1234567890,", false},
        {",\"a\":01,", false},
        {",\"a\":1.5,", false},
        {",\"a\":1e2,", false},
        {",\"a\":-1,", false},
        {",\"a\\n\":1,", false},
        {",\"a\":1", false},
        {",\"a\":", false},
        {",\"a\" 1,", false},
        {",\"a", false},
        {"\"a\":1,", false},
        {",", false},
        {"", false},
    };
    uint64_t seed = 9;
    size_t plain_count = 0;
    for (size_t trial = 0; trial < 200000; trial++) {
        uint8_t bytes[64];
        size_t len, which = trial % (sizeof(cases) / sizeof(cases[0]));
        len = strlen(cases[which].json);
        memcpy(bytes, cases[which].json, len);
        bool is_changed = trial >= sizeof(cases) / sizeof(cases[0]) && len;
        for (uint64_t i = 0; is_changed && i <= trial % 3; i++)
            bytes[next_random(&seed) % len] =
                (uint8_t)letters[next_random(&seed) % (sizeof(letters) - 1)];
        struct tb_span key, wanted_key;
        uint32_t count = 0, wanted = 0;
        const uint8_t *at = bytes, *end = bytes + len;
        at = tb_json_plain_byte(at, end, ',');
        at = tb_json_plain_string(at, end, &key);
        at = tb_json_plain_byte(at, end, ':');
        at = tb_json_plain_count(at, end, &count);
        if (!is_changed)
            assert_int_equal(at != NULL, cases[which].is_plain);
        if (!at)
            continue;
        plain_count++;
        assert_int_equal(
            read_entry((struct tb_span){bytes, len}, &wanted_key, &wanted),
            at - bytes);
        assert_ptr_equal(key.ptr, wanted_key.ptr);
        assert_int_equal(key.len, wanted_key.len);
        assert_int_equal(count, wanted);
    }
    assert_true(plain_count > 10000);
}

static void test_skip_items(void **state)
{
    (void)state;
    static const char json[] =
        "[\"a,]\\\"\" , [1,[2]], {\"k\": \"]\"} ,3] tail";
    static const struct {
        size_t len;
        const char *rest;
    } cases[] = {
        {0, ", [1"},    {1, ", [1"},    {7, ", [1"},    {8, ", [1"},
        {9, ", {"},     {17, ", {"},    {18, ",3]"},    {30, ",3]"},
        {31, "] tail"}, {32, "] tail"}, {99, "] tail"},
    };
    struct tb_json_reader reader;
    struct tb_span rest;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tb_json_reader_init_span(&reader, tb_span_of(json), 0, 1);
        assert_int_equal(tb_json_enter_array(&reader), TB_OK);
        assert_int_equal(tb_json_skip_items(&reader, cases[i].len), TB_OK);
        assert_int_equal(tb_json_rest(&reader, &rest), TB_OK);
        if (!tb_span_starts_with(rest, tb_span_of(cases[i].rest)))
            fail_msg("%zu: %.9s", cases[i].len, (const char *)rest.ptr);
    }
    bool found = true;
    assert_int_equal(tb_json_next_item(&reader, &found), TB_OK);
    assert_false(found);
    tb_json_reader_init_span(&reader, TB_SPAN("[ ]"), 0, 1);
    assert_int_equal(tb_json_enter_array(&reader), TB_OK);
    assert_int_equal(tb_json_skip_items(&reader, 5), TB_OK);
    assert_int_equal(tb_json_next_item(&reader, &found), TB_OK);
    assert_false(found);
    tb_json_reader_init_span(&reader, TB_SPAN("[1,\"2"), 0, 1);
    assert_int_equal(tb_json_enter_array(&reader), TB_OK);
    assert_int_equal(tb_json_skip_items(&reader, 5), TB_ERR_CUT);
}

static void test_a_place_has_a_path(void **state)
{
    (void)state;
    static const char json[] =
        "{\"a\": 1, \"b\": {\"c\": [10, {\"d\": \"x\"}], \"e\": null}} ";
    static const struct {
        const char *before; // the place is where this ends
        const char *path;
    } cases[] = {
        {"", "$.a"},
        {"{\"a\": 1", "$.a"},
        {"{\"a\": 1, \"b\"", "$.b.c[0]"},
        {"{\"a\": 1, \"b\": {\"c\": [10", "$.b.c[0]"},
        {"{\"a\": 1, \"b\": {\"c\": [10, {\"d\": \"", "$.b.c[1].d"},
        {"{\"a\": 1, \"b\": {\"c\": [10, {\"d\": \"x\"}", "$.b.c[1]"},
        {"{\"a\": 1, \"b\": {\"c\": [10, {\"d\": \"x\"}], \"e\": null",
         "$.b.e"},
        {json, "$"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tb_error error = {.offset = strlen(cases[i].before)};
        tb_json_name_place(tb_span_of(json), &error);
        assert_string_equal(error.json_path, cases[i].path);
    }
    struct tb_error error = {.offset = 20};
    tb_json_name_place(TB_SPAN("{\"a\": [1, 2, \"cut off"), &error);
    assert_string_equal(error.json_path, "$.a[2]");
    tb_json_name_place(TB_SPAN(""), &error);
    assert_string_equal(error.json_path, "$");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_place_has_a_path),
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_input_cut_at_every_byte),
        cmocka_unit_test(test_damaged_input_reads_the_same_in_pieces),
        cmocka_unit_test(test_depth_is_limited),
        cmocka_unit_test(test_skip_and_raw),
        cmocka_unit_test(test_mark_looks_into_a_value_and_keeps_it),
        cmocka_unit_test(test_leave_from_any_depth),
        cmocka_unit_test(test_wrong_type_consumes_nothing),
        cmocka_unit_test(test_failure_of_the_stream_comes_through),
        cmocka_unit_test(test_vector_scan_is_the_portable_one),
        cmocka_unit_test(test_vector_scan_at_every_split),
        cmocka_unit_test(test_runs_of_backslashes),
        cmocka_unit_test(test_string_scan),
        cmocka_unit_test(test_plain_entry),
        cmocka_unit_test(test_skip_items),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
