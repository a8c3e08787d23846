/* rows: what several threads make of a file is what a plain loop over its lines
 * makes of it: rows, lines that are none, their numbers, places and reasons.
 * Files are random, with all ends of lines and lines of all lengths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "trace_reader.h"

enum { ROUNDS = 6 };

static char path[256];

static uint32_t random_below(uint64_t *seed, uint32_t limit)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % limit;
}

static void put_ids(FILE *file, uint64_t *seed, uint32_t count)
{
    fputs("\"hash_ids\": [", file);
    for (uint32_t i = 0; i < count; i++)
        fprintf(file, "%s%u", i ? ", " : "", random_below(seed, 1000000));
    fputs("]", file);
}

static void put_line(FILE *file, uint64_t *seed)
{
    static const char *const others[] = {
        "",
        " \t ",
        "{\"input_length\": 7, \"hash_ids\": [1, 2}",
        "{\"input_length\": 7, \"hash_ids\": [1, 2]} x",
        "[]",
        "{\"output_length\": 7}",
        "{\"input_length\": \"9\", \"session_id\": \"\\u00e9\\n\"}",
        "{\"input_length\": 3, \"extra\": {\"a\": [1, {}]}, \"timestamp\": "
        "1e3}",
        "{\"input_length\": 5, \"priority\": 2, \"hash_ids\": [\"4\", -1, "
        "2.0]}",
        "\xff\xfe",
    };
    uint32_t kind = random_below(seed, 16);
    if (kind < sizeof(others) / sizeof(others[0])) {
        fputs(others[kind], file);
    } else {
        bool is_long = random_below(seed, 2000) == 0;
        fprintf(file, "{\"session_id\": \"s%u\", \"agent_type\": \"a\", ",
                random_below(seed, 50));
        put_ids(file, seed, is_long ? 200000 : random_below(seed, 40));
        fprintf(file, ", \"input_length\": %u, \"delay\": %u}",
                random_below(seed, 4000), random_below(seed, 9));
    }
}

static void make_file(uint64_t seed)
{
    static const char *const ends[] = {"\n", "\r\n", "\r", "\n\n", "\r\r\n"};
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    uint32_t lines = random_below(&seed, 4000);
    bool is_mixed = random_below(&seed, 3) == 0;
    for (uint32_t i = 0; i < lines; i++) {
        put_line(file, &seed);
        bool is_last = i + 1 == lines && random_below(&seed, 2);
        if (!is_last)
            fputs(ends[is_mixed ? random_below(&seed, 5) : 0], file);
    }
    assert_int_equal(fclose(file), 0);
}

static void compare_texts(struct tb_span a, struct tb_span b)
{
    assert_true(tb_span_equal(a, b));
}

static void compare_rows(const struct tb_trace_row *a,
                         const struct tb_trace_row *b)
{
    compare_texts(a->session, b->session);
    compare_texts(a->agent, b->agent);
    compare_texts(a->priority, b->priority);
    assert_int_equal(a->input_length, b->input_length);
    assert_int_equal(a->has_output, b->has_output);
    assert_int_equal(a->output_length, b->output_length);
    assert_int_equal(a->has_time, b->has_time);
    assert_int_equal(a->has_delay, b->has_delay);
    assert_true(!a->has_time || a->time_ms == b->time_ms);
    assert_true(!a->has_delay || a->delay_ms == b->delay_ms);
    assert_int_equal(a->id_count, b->id_count);
    if (a->id_count > 0)
        assert_memory_equal(a->ids, b->ids, a->id_count * sizeof(*a->ids));
}

/* The line as a plain loop has it. */
static void check_line(const struct tb_trace_line *line, struct tb_span text,
                       uint64_t offset, uint64_t number,
                       struct tb_mooncake_record *record,
                       struct tb_arena *arena, size_t *reason_count)
{
    struct tb_error error;
    struct tb_trace_row row;
    assert_int_equal(line->number, number);
    assert_int_equal(line->offset, offset);
    if (tb_mooncake_record_read(record, text, offset, number, arena, &error) !=
        TB_OK) {
        assert_int_equal(line->kind, TB_TRACE_LINE_LOST);
        *reason_count += line->error != NULL;
        if (!line->error)
            return;
        assert_int_equal(line->error->status, error.status);
        assert_int_equal(line->error->line, error.line ? error.line : number);
        assert_int_equal(line->error->offset,
                         error.line ? error.offset : offset);
        assert_string_equal(line->error->message, error.message);
        assert_string_equal(line->error->json_path, error.json_path);
    } else if (!tb_trace_row_read(record, &row)) {
        assert_int_equal(line->kind, TB_TRACE_LINE_LENGTHLESS);
    } else {
        assert_int_equal(line->kind, TB_TRACE_LINE_ROW);
        compare_rows(&line->row, &row);
    }
}

static size_t check_file(struct tb_trace_reader *reader)
{
    struct tb_mooncake_reader *plain;
    struct tb_mooncake_record record = {0};
    struct tb_arena arena = {0};
    const struct tb_trace_line *line;
    struct tb_span text;
    size_t count = 0, reason_count = 0;
    assert_int_equal(tb_mooncake_reader_open(path, &plain, NULL), TB_OK);
    assert_int_equal(tb_trace_reader_open(reader, path, NULL, NULL, NULL),
                     TB_OK);
    for (;; count++) {
        assert_int_equal(tb_mooncake_reader_next(plain, &text, NULL), TB_OK);
        assert_int_equal(tb_trace_reader_next(reader, &line, NULL), TB_OK);
        assert_int_equal(line == NULL, text.ptr == NULL);
        if (!line)
            break;
        tb_arena_reset(&arena);
        check_line(line, text, tb_mooncake_reader_offset(plain),
                   tb_mooncake_reader_line(plain), &record, &arena,
                   &reason_count);
    }
    // Behind the end nothing comes any more.
    assert_int_equal(tb_trace_reader_next(reader, &line, NULL), TB_OK);
    assert_null(line);
    tb_mooncake_reader_close(plain);
    tb_mooncake_record_release(&record);
    tb_arena_release(&arena);
    assert_true(count < 100 || reason_count >= TB_TRACE_BATCH_REASONS);
    return count;
}

static void test_as_plain(void **state)
{
    (void)state;
    size_t count = 0;
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct tb_trace_reader *reader;
        assert_int_equal(tb_trace_reader_new(threads, &reader), TB_OK);
        for (uint64_t seed = 0; seed < ROUNDS; seed++) {
            make_file(seed);
            count += check_file(reader);
        }
        tb_trace_reader_free(reader);
    }
    assert_true(count > 5000);
}

/* What is left off half-way is taken down with batches under way. */
static void test_left_off(void **state)
{
    (void)state;
    const struct tb_trace_line *line;
    struct tb_trace_reader *reader;
    make_file(3);
    assert_int_equal(tb_trace_reader_new(3, &reader), TB_OK);
    assert_int_equal(tb_trace_reader_open(reader, path, NULL, NULL, NULL),
                     TB_OK);
    assert_int_equal(tb_trace_reader_next(reader, &line, NULL), TB_OK);
    assert_non_null(line);
    tb_trace_reader_free(reader);
}

/* A failed read comes behind the lines before it, and again. */
static void test_failed_read(void **state)
{
    (void)state;
    static const uint8_t cut_gzip[] = {
        // one block of a line, and no end of the stream
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x01, 0x14,
        0x00, 0xeb, 0xff, '{',  '"',  'i',  'n',  'p',  'u',  't',  '_',  'l',
        'e',  'n',  'g',  't',  'h',  '"',  ':',  ' ',  '1',  '}',  '\n'};
    struct tb_error error;
    for (unsigned threads = 1; threads <= 2; threads++) {
        const struct tb_trace_line *line;
        struct tb_trace_reader *reader;
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(cut_gzip, 1, sizeof(cut_gzip), file),
                         sizeof(cut_gzip));
        assert_int_equal(fclose(file), 0);
        assert_int_equal(tb_trace_reader_new(threads, &reader), TB_OK);
        assert_int_equal(tb_trace_reader_open(reader, path, NULL, NULL, NULL),
                         TB_OK);
        assert_int_equal(tb_trace_reader_next(reader, &line, &error), TB_OK);
        assert_non_null(line);
        assert_int_equal(line->row.input_length, 1);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(tb_trace_reader_next(reader, &line, &error),
                             TB_ERR_CUT);
            assert_null(line);
            assert_string_equal(error.path, path);
        }
        tb_trace_reader_free(reader);
    }
}

static tb_status read_all(unsigned threads)
{
    struct tb_trace_reader *reader = NULL;
    const struct tb_trace_line *line;
    tb_status status = tb_trace_reader_new(threads, &reader);
    if (status == TB_OK)
        status = tb_trace_reader_open(reader, path, NULL, NULL, NULL);
    while (status == TB_OK) {
        status = tb_trace_reader_next(reader, &line, NULL);
        if (!line)
            break;
    }
    tb_trace_reader_free(reader);
    return status;
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    make_file(5);
    for (unsigned threads = 1; threads <= 2; threads++) {
        tb_status status = TB_ERR_MEMORY;
        for (long i = 0; status != TB_OK; i++) {
            tb_memory_fail_after(i);
            status = read_all(threads);
            tb_memory_fail_after(-1);
            assert_true(status == TB_OK || status == TB_ERR_MEMORY);
        }
    }
}

int main(void)
{
    const char *folder = getenv("TMPDIR");
    (void)snprintf(path, sizeof(path), "%s/trace_reader.%ld.jsonl",
                   folder ? folder : "/tmp", (long)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_plain),
        cmocka_unit_test(test_left_off),
        cmocka_unit_test(test_failed_read),
        cmocka_unit_test(test_every_allocation_fails),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)remove(path);
    return failed;
}
