/* base: spans, arenas, buffers, name tables, and bytes in and out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "arena.h"
#include "buffer.h"
#include "hash.h"
#include "input.h"
#include "memo.h"
#include "memory.h"
#include "name_table.h"
#include "output.h"

#define SPAN_OF(bytes, count) ((struct tb_span){(bytes), (count)})

/* ---- spans, arenas, buffers, name tables ---- */

static void test_span_shown(void **state)
{
    (void)state;
    assert_int_equal(tb_span_shown(TB_SPAN(""), 3), 0);
    assert_int_equal(tb_span_shown(TB_SPAN("abc"), 3), 3);
    assert_int_equal(tb_span_shown(TB_SPAN("abcd"), 3), 3);
    assert_int_equal(tb_span_shown(TB_SPAN("ab\u00e9"), 4), 4);
    assert_int_equal(tb_span_shown(TB_SPAN("ab\u00e9"), 3), 2);
    assert_int_equal(tb_span_shown(TB_SPAN("\U0001F600x"), 3), 0);
    assert_int_equal(tb_span_shown(TB_SPAN("\xBF\xBF\xBF"), 2), 0);
}

static void test_span_compare(void **state)
{
    (void)state;
    assert_true(tb_span_compare(TB_SPAN("ab"), TB_SPAN("abc")) < 0);
    assert_true(tb_span_compare(TB_SPAN("b"), TB_SPAN("abc")) > 0);
    assert_int_equal(tb_span_compare(TB_SPAN(""), tb_span_of(NULL)), 0);
    assert_true(tb_span_compare(TB_SPAN("\x7F"), TB_SPAN("\x80")) < 0);
    assert_true(tb_span_equal(tb_span_of("abc"), TB_SPAN("abc")));
    assert_false(tb_span_equal(TB_SPAN("abc"), TB_SPAN("abd")));
}

static void test_is_same(void **state)
{
    (void)state;
    uint8_t a[64], b[64];
    for (size_t len = 0; len <= 40; len++)
        for (size_t at = 0; at <= len; at++) {
            memset(a, 'x', sizeof(a));
            memset(b, 'x', sizeof(b));
            b[len] = 'y'; // behind the end: nobody looks
            assert_true(tb_is_same(a, b, len));
            b[at] = 'z';
            assert_int_equal(tb_is_same(a, b, len), at == len);
        }
}

static void test_hash_of_parts(void **state)
{
    (void)state;
    uint8_t bytes[3000];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 7 + i / 256);
    for (size_t len = 0; len <= sizeof(bytes); len += 1 + len / 3) {
        const struct tb_span all = {bytes, len};
        struct tb_span parts[4] = {{bytes, len / 5}, {bytes + len / 5, 0}};
        parts[2] = (struct tb_span){bytes + len / 5, len / 2};
        parts[3] = tb_span_from(all, len / 5 + len / 2);
        struct tb_hash128 wanted = tb_hash128(all, 3);
        struct tb_hash128 got = tb_hash128_of_parts(parts, 4, 3);
        assert_true(got.low == wanted.low && got.high == wanted.high);
    }
}

static void test_span_parts(void **state)
{
    (void)state;
    struct tb_span text = TB_SPAN("trace.json.gz");
    assert_true(tb_span_starts_with(text, TB_SPAN("trace")));
    assert_true(tb_span_ends_with(text, TB_SPAN(".gz")));
    assert_false(tb_span_ends_with(TB_SPAN("gz"), TB_SPAN(".gz")));
    assert_true(tb_span_contains(text, TB_SPAN("json")));
    assert_true(tb_span_contains(text, TB_SPAN("")));
    assert_false(tb_span_contains(text, TB_SPAN("jsonl")));
    assert_true(tb_span_equal(tb_span_from(text, 11), TB_SPAN("gz")));
    assert_int_equal(tb_span_count(text, '.'), 2);
}

static void test_span_common_prefix_at_every_place(void **state)
{
    (void)state;
    uint8_t a[100], b[100];
    for (size_t at = 0; at < sizeof(a); at++) {
        memset(a, 'x', sizeof(a));
        memset(b, 'x', sizeof(b));
        b[at] = 'y';
        assert_int_equal(
            tb_span_common_prefix(SPAN_OF(a, sizeof(a)), SPAN_OF(b, sizeof(b))),
            at);
        assert_int_equal(
            tb_span_common_prefix(SPAN_OF(a, at), SPAN_OF(b, sizeof(b))), at);
    }
}

static void test_arena(void **state)
{
    (void)state;
    struct tb_arena arena = {0};
    uint64_t *numbers = TB_ARENA_NEW(&arena, uint64_t, 1000);
    assert_non_null(numbers);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], 0);
    assert_int_equal((uintptr_t)numbers % _Alignof(max_align_t), 0);
    assert_null(tb_arena_zeroed(&arena, SIZE_MAX / 2, 4));
    struct tb_span copy;
    assert_int_equal(tb_arena_copy(&arena, TB_SPAN("kept"), &copy), TB_OK);
    assert_non_null(tb_arena_alloc(&arena, 1 << 20));
    assert_true(tb_span_equal(copy, TB_SPAN("kept")));
    tb_arena_reset(&arena);
    assert_int_equal(arena.used_len, 0);
    assert_non_null(tb_arena_alloc(&arena, 10));
    tb_arena_release(&arena);
}

static void test_memo(void **state)
{
    (void)state;
    enum { KEYS = 3, LEN = 400 };
    static const char kind, other_kind;
    static char bytes[KEYS][LEN + 1];
    struct tb_memo *memo;
    struct tb_span keys[KEYS];
    size_t len = 0;
    assert_int_equal(tb_memo_new(&memo), TB_OK);
    tb_memo_begin(memo);
    for (int i = 0; i < KEYS; i++) { // they begin alike and end with '.'
        memset(bytes[i], 'a', LEN);
        bytes[i][TB_MEMO_MIN_LEN + i] = '.';
        struct tb_span key = {(const uint8_t *)bytes[i],
                              TB_MEMO_MIN_LEN + (size_t)i + 1};
        assert_int_equal(tb_memo_copy(memo, key, &keys[i]), TB_OK);
        tb_memo_add(memo, &kind, keys[i], bytes[i]);
    }
    for (int i = 0; i < KEYS; i++) {
        assert_ptr_equal(tb_memo_find(memo, &kind, tb_span_of(bytes[i]), &len),
                         bytes[i]);
        assert_int_equal(len, keys[i].len);
        assert_null(
            tb_memo_find(memo, &other_kind, tb_span_of(bytes[i]), &len));
    }
    bytes[0][TB_MEMO_MIN_LEN] = 'a';
    assert_null(tb_memo_find(memo, &kind, tb_span_of(bytes[0]), &len));
    assert_null(tb_memo_find(memo, &kind, TB_SPAN("a"), &len));
    static uint8_t long_bytes[TB_MEMO_MAX_LEN + 1];
    struct tb_span long_key = {long_bytes, sizeof(long_bytes)};
    tb_memo_add(memo, &kind, long_key, long_bytes);
    assert_null(tb_memo_find(memo, &kind, long_key, &len));
    // What was added is forgotten once much more was.
    bool is_found = true;
    for (int i = 0; i < 64 && is_found; i++) {
        tb_memo_begin(memo);
        assert_non_null(tb_arena_alloc(tb_memo_arena(memo), 1 << 20));
        is_found =
            tb_memo_find(memo, &kind, tb_span_of(bytes[1]), &len) != NULL;
        assert_true(is_found || i > 3);
    }
    assert_false(is_found);
    tb_memo_free(memo);
}

static void test_arena_out_of_memory(void **state)
{
    (void)state;
    struct tb_arena arena = {0};
    tb_memory_fail_after(0);
    assert_null(tb_arena_alloc(&arena, 10));
    tb_memory_fail_after(-1);
    assert_non_null(tb_arena_alloc(&arena, 10));
    tb_arena_release(&arena);
}

static void test_memory_limit(void **state)
{
    (void)state;
    void *before = tb_memory_resize(NULL, 5000);
    tb_memory_set_limit(1 << 20);
    void *first = tb_memory_zeroed(3, 200000);
    assert_non_null(first);
    assert_null(tb_memory_resize(NULL, 600000));
    assert_int_equal(tb_memory_state().refused, 600000);
    assert_in_range(tb_memory_state().used, 600000, 700000);
    first = tb_memory_resize(first, 100000);
    void *second = tb_memory_resize(NULL, 600000);
    assert_non_null(second);
    assert_null(tb_memory_resize(second, SIZE_MAX / 2));
    tb_memory_free(before); // what was there before does not count against
    tb_memory_free(first);
    assert_null(tb_memory_resize(second, 0));
    assert_int_equal(tb_memory_state().used, 0);
    tb_memory_set_limit(0);
    assert_int_equal(tb_memory_state().refused, 0);
}

static void test_buffer(void **state)
{
    (void)state;
    struct tb_buffer buffer = TB_BUFFER(1000);
    assert_int_equal(tb_buffer_append(&buffer, TB_SPAN("n=")), TB_OK);
    assert_int_equal(tb_buffer_append_u64(&buffer, UINT64_MAX), TB_OK);
    assert_int_equal(tb_buffer_append_byte(&buffer, ' '), TB_OK);
    assert_int_equal(tb_buffer_append_u64(&buffer, 0), TB_OK);
    assert_int_equal(tb_buffer_printf(&buffer, " %s", "end"), TB_OK);
    assert_true(tb_span_equal(tb_buffer_span(&buffer),
                              TB_SPAN("n=18446744073709551615 0 end")));
    tb_buffer_clear(&buffer);
    assert_int_equal(tb_buffer_append_replacing(&buffer, TB_SPAN(" a b  "), ' ',
                                                TB_SPAN("<eight>!")),
                     TB_OK);
    assert_int_equal(
        tb_buffer_append_replacing(&buffer, TB_SPAN("-a-"), '-', TB_SPAN("+")),
        TB_OK);
    assert_true(
        tb_span_equal(tb_buffer_span(&buffer),
                      TB_SPAN("<eight>!a<eight>!b<eight>!<eight>!+a+")));
    uint8_t many[1000] = {0};
    assert_int_equal(tb_buffer_append(&buffer, SPAN_OF(many, sizeof(many))),
                     TB_ERR_LIMIT);
    assert_int_equal(buffer.len, 37);
    tb_buffer_release(&buffer);
    assert_int_equal(buffer.max_len, 1000);
}

static void test_name_table(void **state)
{
    (void)state;
    struct tb_name_table table = {0};
    char name[16];
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t number;
        (void)snprintf(name, sizeof(name), "name-%u", i);
        assert_int_equal(tb_name_table_add(&table, tb_span_of(name), &number),
                         TB_OK);
        assert_int_equal(number, i);
        assert_int_equal(tb_name_table_add(&table, tb_span_of(name), &number),
                         TB_OK);
        assert_int_equal(number, i);
    }
    assert_int_equal(table.count, 5000);
    assert_int_equal(tb_name_table_find(&table, TB_SPAN("name-77")), 77);
    assert_int_equal(tb_name_table_find(&table, TB_SPAN("")), TB_NAME_NONE);
    assert_true(
        tb_span_equal(tb_name_table_name(&table, 4999), TB_SPAN("name-4999")));
    tb_name_table_reset(&table);
    assert_int_equal(tb_name_table_find(&table, TB_SPAN("name-77")),
                     TB_NAME_NONE);
    tb_name_table_release(&table);
}

static void test_error_format(void **state)
{
    (void)state;
    struct tb_error error;
    char text[200];
    tb_fail(&error, TB_ERR_TYPE, "expected %s", "a string");
    tb_error_set_path(&error, "a.json");
    tb_error_set_path(&error, "b.json");
    tb_error_format(&error, text, sizeof(text));
    assert_string_equal(text, "a.json: expected a string");
    error.line = 3;
    error.offset = 17;
    (void)snprintf(error.json_path, sizeof(error.json_path), "$[0].x");
    tb_error_format(&error, text, sizeof(text));
    assert_string_equal(text, "a.json:3:17: $[0].x: expected a string");
}

/* ---- files to work on ---- */

struct folder {
    char path[256];
};

static char paths[8][300]; /* that file_in gave last */
static unsigned next_path;

static int set_up_folder(void **state)
{
    struct folder *folder = calloc(1, sizeof(*folder));
    assert_non_null(folder);
    const char *base = getenv("TMPDIR");
    (void)snprintf(folder->path, sizeof(folder->path), "%s/tb_base_XXXXXX",
                   base && base[0] ? base : ".");
    assert_non_null(mkdtemp(folder->path));
    *state = folder;
    return 0;
}

/* Only an empty folder can be removed, so a file that was left is found. */
static int tear_down_folder(void **state)
{
    struct folder *folder = *state;
    int result = rmdir(folder->path);
    free(folder);
    return result;
}

static const char *file_in(const struct folder *folder, const char *name)
{
    char *path = paths[next_path++ % 8];
    (void)snprintf(path, sizeof(paths[0]), "%s/%s", folder->path, name);
    return path;
}

static void put_file(const char *path, struct tb_span bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.ptr, 1, bytes.len, file), bytes.len);
    assert_int_equal(fclose(file), 0);
}

/* Reads all of a file in pieces of `step` bytes; gives the last status. */
static tb_status read_all(const char *path, size_t step,
                          struct tb_buffer *content, char fingerprint[33])
{
    struct tb_input *input;
    tb_status status = tb_input_open(path, &input, NULL);
    if (status != TB_OK)
        return status;
    size_t len = 1;
    while (status == TB_OK && len > 0) {
        assert_int_equal(tb_buffer_reserve(content, step), TB_OK);
        status =
            tb_input_read(input, content->ptr + content->len, step, &len, NULL);
        content->len += len;
    }
    if (fingerprint)
        tb_input_fingerprint(input, fingerprint);
    tb_input_close(input);
    return status;
}

static tb_status write_all(const char *path, struct tb_span bytes, size_t step)
{
    struct tb_output *output;
    tb_status status = tb_output_open(path, &output, NULL);
    if (status != TB_OK)
        return status;
    for (size_t at = 0; status == TB_OK && at < bytes.len; at += step) {
        size_t left = bytes.len - at;
        struct tb_span piece = {bytes.ptr + at, left < step ? left : step};
        status = tb_output_write(output, piece, NULL);
    }
    if (status == TB_OK)
        status = tb_output_commit(output, NULL);
    tb_output_close(output);
    return status;
}

static uint8_t sample[1 << 20]; /* text that compresses, but not to nothing */

static int fill_sample(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof(sample); i++) {
        seed = seed * 1664525 + 1013904223;
        sample[i] = (uint8_t)('a' + (seed >> 24) % 26);
    }
    return 0;
}

static void expect_content(const char *path, struct tb_span expected)
{
    struct tb_buffer content = TB_BUFFER(SIZE_MAX);
    assert_int_equal(read_all(path, 1 << 16, &content, NULL), TB_OK);
    assert_int_equal(content.len, expected.len);
    assert_true(tb_span_equal(tb_buffer_span(&content), expected));
    tb_buffer_release(&content);
}

/* ---- input and output ---- */

static void test_round_trips(void **state)
{
    struct folder *folder = *state;
    static const char *const names[] = {"a.jsonl", "a.jsonl.gz", "a.zst"};
    static const size_t lens[] = {0, 1, 3, 4, 70000, sizeof(sample)};
    static const size_t steps[] = {1000, 300000, sizeof(sample)};
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 6; j++) {
            for (size_t k = 0; k < 3; k++) {
                const char *path = file_in(folder, names[i]);
                struct tb_span bytes = {sample, lens[j]};
                assert_int_equal(write_all(path, bytes, steps[k]), TB_OK);
                expect_content(path, bytes);
                assert_int_equal(unlink(path), 0);
            }
        }
    }
}

static void test_fingerprint_is_of_content(void **state)
{
    struct folder *folder = *state;
    struct tb_span bytes = {sample, 100000};
    struct tb_hash128 hash = tb_hash128(bytes, 0);
    char expected[33], found[33];
    (void)snprintf(expected, sizeof(expected), "%016llx%016llx",
                   (unsigned long long)hash.high, (unsigned long long)hash.low);
    static const char *const names[] = {"f", "f.gz", "f.zst"};
    for (size_t i = 0; i < 3; i++) {
        struct tb_buffer content = TB_BUFFER(SIZE_MAX);
        const char *path = file_in(folder, names[i]);
        assert_int_equal(write_all(path, bytes, 1 << 14), TB_OK);
        assert_int_equal(read_all(path, 777, &content, found), TB_OK);
        assert_string_equal(found, expected);
        tb_buffer_release(&content);
        assert_int_equal(unlink(path), 0);
    }
}

static struct tb_span stored_bytes(const char *path, struct tb_buffer *buffer)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(tb_buffer_reserve(buffer, 2 << 20), TB_OK);
    buffer->len = fread(buffer->ptr, 1, 2 << 20, file);
    (void)fclose(file);
    return tb_buffer_span(buffer);
}

static void test_members_follow_each_other(void **state)
{
    struct folder *folder = *state;
    static const char *const names[] = {"m.gz", "m.zst"};
    for (size_t i = 0; i < 2; i++) {
        const char *path = file_in(folder, names[i]);
        struct tb_buffer stored = TB_BUFFER(SIZE_MAX);
        struct tb_buffer twice = TB_BUFFER(SIZE_MAX);
        assert_int_equal(write_all(path, SPAN_OF(sample, 5000), 5000), TB_OK);
        struct tb_span once = stored_bytes(path, &stored);
        assert_int_equal(tb_buffer_append(&twice, once), TB_OK);
        assert_int_equal(tb_buffer_append(&twice, once), TB_OK);
        if (i == 0) /* as a tape pads */
            assert_int_equal(tb_buffer_append(&twice, TB_SPAN("\0\0\0")),
                             TB_OK);
        put_file(path, tb_buffer_span(&twice));
        struct tb_buffer content = TB_BUFFER(SIZE_MAX);
        assert_int_equal(read_all(path, 999, &content, NULL), TB_OK);
        assert_int_equal(content.len, 10000);
        assert_memory_equal(content.ptr, sample, 5000);
        assert_memory_equal(content.ptr + 5000, sample, 5000);
        tb_buffer_release(&content);
        tb_buffer_release(&twice);
        tb_buffer_release(&stored);
        assert_int_equal(unlink(path), 0);
    }
}

/* Cut anywhere, the file gives a prefix of its content, and then fails. */
static void test_cut_compressed_file(void **state)
{
    struct folder *folder = *state;
    static const char *const names[] = {"c.gz", "c.zst"};
    for (size_t i = 0; i < 2; i++) {
        const char *path = file_in(folder, names[i]);
        struct tb_buffer stored = TB_BUFFER(SIZE_MAX);
        assert_int_equal(write_all(path, SPAN_OF(sample, 600000), 1 << 20),
                         TB_OK);
        struct tb_span all = stored_bytes(path, &stored);
        size_t longest = 0;
        for (size_t len = 4; len < all.len; len += all.len / 50) {
            struct tb_buffer content = TB_BUFFER(SIZE_MAX);
            put_file(path, SPAN_OF(all.ptr, len));
            assert_int_equal(read_all(path, 4096, &content, NULL), TB_ERR_CUT);
            assert_true(content.len <= 600000);
            if (content.len)
                assert_memory_equal(content.ptr, sample, content.len);
            assert_true(content.len >= longest);
            longest = content.len;
            tb_buffer_release(&content);
        }
        assert_true(longest > 400000);
        tb_buffer_release(&stored);
        assert_int_equal(unlink(path), 0);
    }
}

/* What comes before the damage comes out, whatever the sizes that are asked
 * for: it is checked against what one byte at a time gives. */
static void test_damaged_compressed_file(void **state)
{
    struct folder *folder = *state;
    static const char *const names[] = {"d.gz", "d.zst"};
    static const size_t steps[] = {7, 4096, 1 << 17, 1 << 20};
    for (size_t i = 0; i < 2; i++) {
        const char *path = file_in(folder, names[i]);
        struct tb_buffer stored = TB_BUFFER(SIZE_MAX);
        struct tb_buffer wanted = TB_BUFFER(SIZE_MAX);
        struct tb_span all = {sample, sizeof(sample)};
        assert_int_equal(write_all(path, all, 9000), TB_OK);
        all = stored_bytes(path, &stored);
        stored.ptr[all.len * 9 / 10] ^= 0x55;
        put_file(path, all);
        assert_int_equal(read_all(path, 1, &wanted, NULL), TB_ERR_SYNTAX);
        assert_in_range(wanted.len, sizeof(sample) / 2, sizeof(sample));
        for (size_t step = 0; step < sizeof(steps) / sizeof(*steps); step++) {
            struct tb_buffer content = TB_BUFFER(SIZE_MAX);
            assert_int_equal(read_all(path, steps[step], &content, NULL),
                             TB_ERR_SYNTAX);
            assert_int_equal(content.len, wanted.len);
            tb_buffer_release(&content);
        }
        tb_buffer_release(&wanted);
        tb_buffer_release(&stored);
        assert_int_equal(unlink(path), 0);
    }
}

static void test_input_fails_to_open(void **state)
{
    struct folder *folder = *state;
    struct tb_input *input;
    struct tb_error error;
    const char *missing = file_in(folder, "missing");
    assert_int_equal(tb_input_open(missing, &input, &error), TB_ERR_NOT_FOUND);
    assert_string_equal(error.path, missing);
    assert_int_equal(tb_input_open(folder->path, &input, &error), TB_ERR_IO);
    assert_string_equal(error.message, "cannot read: it is a folder");
}

static void test_input_read_at(void **state)
{
    struct folder *folder = *state;
    static const char *const names[] = {"r", "r.gz"};
    for (size_t i = 0; i < 2; i++) {
        const char *path = file_in(folder, names[i]);
        assert_int_equal(write_all(path, SPAN_OF(sample, 50000), 50000), TB_OK);
        struct tb_input *input;
        assert_int_equal(tb_input_open(path, &input, NULL), TB_OK);
        assert_int_equal(tb_input_is_seekable(input), i == 0);
        assert_int_equal(tb_input_keep(input, NULL), TB_OK);
        uint8_t bytes[4096];
        size_t len = 1, total = 0;
        while (len > 0) {
            assert_int_equal(
                tb_input_read(input, bytes, sizeof(bytes), &len, NULL), TB_OK);
            total += len;
            assert_int_equal(
                tb_input_read_at(input, total / 2, bytes, 10, NULL), TB_OK);
            assert_memory_equal(bytes, sample + total / 2, 10);
        }
        assert_int_equal(total, 50000);
        assert_int_equal(tb_input_read_at(input, 49995, bytes, 10, NULL),
                         TB_ERR_CUT);
        assert_int_equal(tb_input_bytes_done(input),
                         tb_input_bytes_total(input));
        tb_input_close(input);
        assert_int_equal(unlink(path), 0);
    }
}

/* A pipe that is fed in small pieces by another process. */
static void test_input_from_pipe(void **state)
{
    struct folder *folder = *state;
    const char *path = file_in(folder, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int fd = open(path, O_WRONLY);
        for (size_t at = 0; at < 3000; at++)
            if (write(fd, sample + at, 1) != 1)
                _exit(1);
        _exit(0);
    }
    struct tb_input *input;
    assert_int_equal(tb_input_open(path, &input, NULL), TB_OK);
    assert_false(tb_input_is_seekable(input));
    assert_int_equal(tb_input_bytes_total(input), 0);
    assert_int_equal(tb_input_keep(input, NULL), TB_OK);
    uint8_t bytes[4096];
    size_t len = 1, total = 0;
    while (len > 0) {
        assert_int_equal(tb_input_read(input, bytes, sizeof(bytes), &len, NULL),
                         TB_OK);
        total += len;
    }
    assert_int_equal(total, 3000);
    assert_int_equal(tb_input_read_at(input, 0, bytes, 3000, NULL), TB_OK);
    assert_memory_equal(bytes, sample, 3000);
    tb_input_close(input);
    assert_int_equal(unlink(path), 0);
}

static void test_output_is_whole_or_absent(void **state)
{
    struct folder *folder = *state;
    const char *path = file_in(folder, "out");
    put_file(path, TB_SPAN("old"));
    struct tb_output *output;
    assert_int_equal(tb_output_open(path, &output, NULL), TB_OK);
    assert_false(tb_output_is_stream(output));
    assert_int_equal(tb_output_write(output, SPAN_OF(sample, 500000), NULL),
                     TB_OK);
    expect_content(path, TB_SPAN("old"));
    tb_output_close(output);
    expect_content(path, TB_SPAN("old"));
    assert_int_equal(write_all(path, TB_SPAN("new"), 1), TB_OK);
    expect_content(path, TB_SPAN("new"));
    assert_int_equal(unlink(path), 0);
}

static unsigned rights_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 0777;
}

static void test_output_rights(void **state)
{
    struct folder *folder = *state;
    const char *path = file_in(folder, "rights");
    mode_t old = umask(027);
    assert_int_equal(write_all(path, TB_SPAN("x"), 1), TB_OK);
    assert_int_equal(rights_of(path), 0640);
    assert_int_equal(chmod(path, 0604), 0);
    assert_int_equal(write_all(path, TB_SPAN("y"), 1), TB_OK);
    assert_int_equal(rights_of(path), 0604);
    (void)umask(old);
    assert_int_equal(unlink(path), 0);
}

static void test_output_through_links(void **state)
{
    struct folder *folder = *state;
    const char *inner = file_in(folder, "inner");
    assert_int_equal(mkdir(inner, 0700), 0);
    const char *target = file_in(folder, "inner/target");
    const char *link = file_in(folder, "link");
    const char *chain = file_in(folder, "chain");
    assert_int_equal(symlink("inner/target", link), 0);
    assert_int_equal(symlink("link", chain), 0);
    /* The first time the links lead to nothing yet. */
    for (int round = 0; round < 2; round++) {
        struct tb_span text = round ? TB_SPAN("second") : TB_SPAN("first");
        struct stat info;
        assert_int_equal(write_all(chain, text, 9), TB_OK);
        assert_int_equal(lstat(chain, &info), 0);
        assert_true(S_ISLNK(info.st_mode));
        assert_int_equal(lstat(target, &info), 0);
        assert_true(S_ISREG(info.st_mode));
        expect_content(target, text);
    }
    assert_true(tb_output_is_same_file(chain, target));
    assert_int_equal(unlink(chain), 0);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(unlink(target), 0);
    assert_int_equal(rmdir(inner), 0);
}

static void test_output_fails_to_open(void **state)
{
    struct folder *folder = *state;
    struct tb_output *output;
    struct tb_error error;
    static const char *const names[] = {"no/such/folder", "", "new/"};
    for (size_t i = 0; i < 3; i++) {
        const char *path = file_in(folder, names[i]);
        assert_int_equal(tb_output_open(path, &output, &error), TB_ERR_IO);
        assert_string_equal(error.path, path);
    }
    assert_int_equal(tb_output_open("", &output, &error), TB_ERR_IO);
    const char *loop = file_in(folder, "loop");
    assert_int_equal(symlink("loop", loop), 0);
    assert_int_equal(tb_output_open(loop, &output, &error), TB_ERR_IO);
    assert_int_equal(unlink(loop), 0);
}

static void test_output_long_name(void **state)
{
    struct folder *folder = *state;
    char name[251];
    memset(name, 'n', 250);
    name[250] = '\0';
    char path[600];
    (void)snprintf(path, sizeof(path), "%s/%s", folder->path, name);
    assert_int_equal(write_all(path, TB_SPAN("x"), 1), TB_OK);
    assert_int_equal(unlink(path), 0);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* What a killed run left goes with the next one; what another run is writing,
 * and what is only called like it, stays. */
static void test_output_sweeps_what_was_left(void **state)
{
    struct folder *folder = *state;
    const char *output = file_in(folder, "o");
    const char *left = file_in(folder, ".o.tracebake-a1b2c3");
    const char *held = file_in(folder, ".o.tracebake-d4e5f6");
    const char *others[] = {file_in(folder, ".o.tracebake-a1b2c"),
                            file_in(folder, ".o.tracebake-A1B2C3"),
                            file_in(folder, ".p.tracebake-a1b2c3"),
                            file_in(folder, "o.tracebake-a1b2c3")};
    put_file(left, TB_SPAN("x"));
    put_file(held, TB_SPAN("x"));
    for (size_t i = 0; i < 4; i++)
        put_file(others[i], TB_SPAN("x"));
    int fd = open(held, O_RDONLY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(write_all(output, TB_SPAN("y"), 1), TB_OK);
    assert_false(is_there(left));
    assert_true(is_there(held));
    assert_int_equal(close(fd), 0);
    assert_int_equal(write_all(output, TB_SPAN("y"), 1), TB_OK);
    assert_false(is_there(held));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(unlink(others[i]), 0);
    assert_int_equal(unlink(output), 0);
}

/* Two runs at once: neither takes away what the other one writes, and the last
 * one that is done has its file there. */
static void test_outputs_beside_each_other(void **state)
{
    struct folder *folder = *state;
    const char *path = file_in(folder, "o");
    struct tb_output *first, *second;
    assert_int_equal(tb_output_open(path, &first, NULL), TB_OK);
    assert_int_equal(tb_output_write(first, TB_SPAN("first"), NULL), TB_OK);
    assert_int_equal(tb_output_prepare(first, NULL), TB_OK);
    assert_int_equal(tb_output_open(path, &second, NULL), TB_OK);
    assert_int_equal(tb_output_write(second, TB_SPAN("second"), NULL), TB_OK);
    assert_int_equal(tb_output_commit(second, NULL), TB_OK);
    assert_int_equal(tb_output_commit(first, NULL), TB_OK);
    tb_output_close(first);
    tb_output_close(second);
    struct tb_buffer content = TB_BUFFER(SIZE_MAX);
    assert_int_equal(tb_input_read_all(path, &content, NULL), TB_OK);
    assert_true(tb_span_equal(tb_buffer_span(&content), TB_SPAN("first")));
    tb_buffer_release(&content);
    assert_int_equal(unlink(path), 0);
}

static void put(const char *path, const char *text, bool is_taken_back)
{
    struct tb_output *output;
    assert_int_equal(tb_output_open(path, &output, NULL), TB_OK);
    assert_int_equal(tb_output_write(output, tb_span_of(text), NULL), TB_OK);
    assert_int_equal(tb_output_commit(output, NULL), TB_OK);
    if (is_taken_back)
        tb_output_take_back(output);
    tb_output_close(output);
}

// What was there before comes back; what was not is not there again.
static void test_output_taken_back(void **state)
{
    struct folder *folder = *state;
    const char *path = file_in(folder, "o");
    put(path, "nothing was here", true);
    assert_int_equal(access(path, F_OK), -1);
    put(path, "old", false);
    put(path, "new", true);
    struct tb_buffer content = TB_BUFFER(SIZE_MAX);
    assert_int_equal(tb_input_read_all(path, &content, NULL), TB_OK);
    assert_true(tb_span_equal(tb_buffer_span(&content), TB_SPAN("old")));
    tb_buffer_release(&content);
    assert_int_equal(unlink(path), 0);
}

/* A file that is not there yet, by two names. */
static void test_output_same_place(void **state)
{
    struct folder *folder = *state;
    char other[4096];
    const char *path = file_in(folder, "o");
    const char *name = strrchr(path, '/');
    (void)snprintf(other, sizeof(other), "%.*s/.%s", (int)(name - path), path,
                   name);
    assert_true(tb_output_is_same_file(path, other));
    (void)snprintf(other, sizeof(other), "%.*s/p", (int)(name - path), path);
    assert_false(tb_output_is_same_file(path, other));
}

static void ignore_signal(int number)
{
    (void)number;
}

static bool says_stop(void *context)
{
    (void)context;
    return true;
}

/* A pipe that takes no more and does not wait: asks whether to go on. */
static void test_output_stops_at_a_full_pipe(void **state)
{
    struct folder *folder = *state;
    const char *path = file_in(folder, "fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    struct tb_output *output;
    assert_int_equal(tb_output_open(path, &output, NULL), TB_OK);
    tb_output_on_signal(output, says_stop, NULL);
    // Again and again: the first may come before the pipe is full.
    const struct timeval soon = {.tv_usec = 50000};
    const struct itimerval often = {soon, soon}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = ignore_signal};
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    tb_status status = TB_OK;
    while (status == TB_OK)
        status = tb_output_write(
            output, (struct tb_span){sample, sizeof(sample)}, NULL);
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(status, TB_ERR_INTERRUPTED);
    tb_output_close(output);
    assert_int_equal(close(reader), 0);
    assert_int_equal(unlink(path), 0);
}

static void test_output_streams(void **state)
{
    (void)state;
    struct tb_output *output;
    assert_int_equal(tb_output_open("/dev/null", &output, NULL), TB_OK);
    assert_true(tb_output_is_stream(output));
    assert_int_equal(tb_output_write(output, TB_SPAN("x"), NULL), TB_OK);
    assert_int_equal(tb_output_commit(output, NULL), TB_OK);
    tb_output_close(output);
}

// A pipe that has no name but its descriptor's, as a shell's >(...) gives.
static void test_output_by_descriptor(void **state)
{
    (void)state;
    int fds[2];
    char path[32], read_back[2];
    struct tb_output *output;
    assert_int_equal(pipe(fds), 0);
    (void)snprintf(path, sizeof(path), "/dev/fd/%d", fds[1]);
    assert_int_equal(tb_output_open(path, &output, NULL), TB_OK);
    assert_true(tb_output_is_stream(output));
    assert_int_equal(tb_output_write(output, TB_SPAN("x"), NULL), TB_OK);
    assert_int_equal(tb_output_commit(output, NULL), TB_OK);
    tb_output_close(output);
    assert_int_equal(close(fds[1]), 0);
    assert_int_equal(read(fds[0], read_back, 2), 1);
    assert_int_equal(read_back[0], 'x');
    assert_int_equal(close(fds[0]), 0);
}

static void test_output_disk_full(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    struct tb_output *output;
    struct tb_error error;
    assert_int_equal(tb_output_open("/dev/full", &output, NULL), TB_OK);
    assert_int_equal(tb_output_write(output, TB_SPAN("x"), &error), TB_ERR_IO);
    assert_string_equal(error.path, "/dev/full");
    tb_output_close(output);
}

static void test_output_reader_went_away(void **state)
{
    struct folder *folder = *state;
    const char *path = file_in(folder, "fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    struct tb_output *output;
    assert_int_equal(tb_output_open(path, &output, NULL), TB_OK);
    assert_int_equal(close(reader), 0);
    (void)signal(SIGPIPE, SIG_IGN);
    assert_int_equal(tb_output_write(output, TB_SPAN("x"), NULL),
                     TB_ERR_CLOSED);
    tb_output_close(output);
    assert_int_equal(unlink(path), 0);
}

static void test_same_file(void **state)
{
    struct folder *folder = *state;
    const char *a = file_in(folder, "a");
    const char *b = file_in(folder, "b");
    put_file(a, TB_SPAN("x"));
    assert_false(tb_output_is_same_file(a, b));
    assert_int_equal(link(a, b), 0);
    assert_true(tb_output_is_same_file(a, b));
    assert_false(tb_output_is_same_file("-", "-"));
    assert_false(tb_output_is_same_file("/dev/null", "/dev/null"));
    assert_int_equal(unlink(a), 0);
    assert_int_equal(unlink(b), 0);
}

/* Every request for memory fails once; nothing is left behind then. */
static void test_out_of_memory(void **state)
{
    struct folder *folder = *state;
    static const char *const names[] = {"o", "o.gz", "o.zst"};
    for (size_t i = 0; i < 3; i++) {
        const char *path = file_in(folder, names[i]);
        struct tb_span bytes = {sample, 1000};
        tb_status status = TB_ERR_MEMORY;
        for (long count = 0; status != TB_OK; count++) {
            tb_memory_fail_after(count);
            status = write_all(path, bytes, 100);
            tb_memory_fail_after(-1);
            assert_true(status == TB_OK || status == TB_ERR_MEMORY);
            if (status != TB_OK)
                assert_int_equal(access(path, F_OK), -1);
        }
        status = TB_ERR_MEMORY;
        for (long count = 0; status != TB_OK; count++) {
            struct tb_buffer content = TB_BUFFER(SIZE_MAX);
            assert_int_equal(tb_buffer_reserve(&content, 1 << 16), TB_OK);
            tb_memory_fail_after(count);
            status = read_all(path, 1 << 12, &content, NULL);
            tb_memory_fail_after(-1);
            assert_true(status == TB_OK || status == TB_ERR_MEMORY);
            tb_buffer_release(&content);
        }
        assert_int_equal(unlink(path), 0);
    }
}

#define IN_FOLDER(test)                                                        \
    cmocka_unit_test_setup_teardown(test, set_up_folder, tear_down_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_span_compare),
        cmocka_unit_test(test_span_shown),
        cmocka_unit_test(test_is_same),
        cmocka_unit_test(test_hash_of_parts),
        cmocka_unit_test(test_span_parts),
        cmocka_unit_test(test_span_common_prefix_at_every_place),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_arena_out_of_memory),
        cmocka_unit_test(test_memo),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_buffer),
        cmocka_unit_test(test_name_table),
        cmocka_unit_test(test_error_format),
        IN_FOLDER(test_round_trips),
        IN_FOLDER(test_fingerprint_is_of_content),
        IN_FOLDER(test_members_follow_each_other),
        IN_FOLDER(test_cut_compressed_file),
        IN_FOLDER(test_damaged_compressed_file),
        IN_FOLDER(test_input_fails_to_open),
        IN_FOLDER(test_input_read_at),
        IN_FOLDER(test_input_from_pipe),
        IN_FOLDER(test_output_is_whole_or_absent),
        IN_FOLDER(test_output_rights),
        IN_FOLDER(test_output_through_links),
        IN_FOLDER(test_output_fails_to_open),
        IN_FOLDER(test_output_long_name),
        IN_FOLDER(test_output_sweeps_what_was_left),
        IN_FOLDER(test_outputs_beside_each_other),
        IN_FOLDER(test_output_taken_back),
        IN_FOLDER(test_output_same_place),
        IN_FOLDER(test_output_stops_at_a_full_pipe),
        cmocka_unit_test(test_output_streams),
        cmocka_unit_test(test_output_by_descriptor),
        cmocka_unit_test(test_output_disk_full),
        IN_FOLDER(test_output_reader_went_away),
        IN_FOLDER(test_same_file),
        IN_FOLDER(test_out_of_memory),
    };
    return cmocka_run_group_tests_name("base", tests, fill_sample, NULL);
}
