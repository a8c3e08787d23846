/* Files that become something else while they are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "input.h"
#include "output.h"

enum { CONTENT_LEN = 600000, STEP = 5000 };

static char folder[] = "/tmp/tb_changing_XXXXXX";
static uint8_t content[CONTENT_LEN + 100000]; // more than is read at once

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(content); i++)
        content[i] = (uint8_t)("0123456789abcdef"[i * i % 1021 % 16]);
    return mkdtemp(folder) ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(folder);
}

static const char *path_of(const char *name)
{
    static char path[64];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

// By the name compressed or not.
static const char *put(const char *name, size_t len)
{
    const char *path = path_of(name);
    struct tb_output *output;
    assert_int_equal(tb_output_open(path, &output, NULL), TB_OK);
    assert_int_equal(
        tb_output_write(output, (struct tb_span){content, len}, NULL), TB_OK);
    assert_int_equal(tb_output_commit(output, NULL), TB_OK);
    tb_output_close(output);
    return path;
}

// In place, as it is.
static void overwrite(const char *path, size_t from, size_t len)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content + from, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static tb_status read_on(struct tb_input *input, struct tb_buffer *read,
                         struct tb_error *error)
{
    for (size_t len = 1; len > 0; read->len += len) {
        assert_int_equal(tb_buffer_reserve(read, STEP), TB_OK);
        TB_TRY(tb_input_read(input, read->ptr + read->len, STEP, &len, error));
    }
    return TB_OK;
}

/* What loses bytes fails; what gains some is read to its end. */
static void test_a_file_that_changes_its_size(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t len;
        tb_status status;
    } cases[] = {
        {"size", CONTENT_LEN - 1, TB_ERR_IO},
        {"size", 400000, TB_ERR_IO},
        {"size", 0, TB_ERR_IO},
        {"size", sizeof(content), TB_OK},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tb_buffer read = TB_BUFFER(SIZE_MAX);
        struct tb_error error = {0};
        struct tb_input *input;
        const char *path = put(cases[i].name, CONTENT_LEN);
        assert_int_equal(tb_input_open(path, &input, NULL), TB_OK);
        overwrite(path, 0, cases[i].len);
        assert_int_equal(read_on(input, &read, &error), cases[i].status);
        if (cases[i].status == TB_OK)
            assert_int_equal(read.len, cases[i].len);
        else
            assert_string_equal(error.message,
                                "the file became shorter while it was read");
        tb_buffer_release(&read);
        tb_input_close(input);
        assert_int_equal(unlink(path), 0);
    }
}

/* What is read again is what was read, or a failure; what was compressed is
 * read from a copy. */
static void test_a_file_that_is_read_twice(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t from, len; // of `content`, the second time
        tb_status status;
    } cases[] = {
        {"again", 0, CONTENT_LEN, TB_OK},
        {"again", 0, sizeof(content), TB_OK},
        {"again", 1, CONTENT_LEN, TB_ERR_IO},
        {"again", 0, CONTENT_LEN - 1, TB_ERR_IO},
        {"again.gz", 1, 10000, TB_OK},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tb_buffer first = TB_BUFFER(SIZE_MAX), second = first;
        struct tb_error error = {0};
        struct tb_input *input;
        const char *path = put(cases[i].name, CONTENT_LEN);
        assert_int_equal(tb_input_open(path, &input, NULL), TB_OK);
        assert_int_equal(tb_input_keep(input, NULL), TB_OK);
        assert_int_equal(read_on(input, &first, &error), TB_OK);
        overwrite(path, cases[i].from, cases[i].len);
        tb_input_rewind(input);
        assert_int_equal(read_on(input, &second, &error), cases[i].status);
        if (cases[i].status == TB_OK)
            assert_true(
                tb_span_equal(tb_buffer_span(&first), tb_buffer_span(&second)));
        else
            assert_non_null(strstr(error.message, "while it was read"));
        tb_buffer_release(&first);
        tb_buffer_release(&second);
        tb_input_close(input);
        assert_int_equal(unlink(path), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_that_changes_its_size),
        cmocka_unit_test(test_a_file_that_is_read_twice),
    };
    return cmocka_run_group_tests_name("changing_input", tests, set_up,
                                       tear_down);
}
