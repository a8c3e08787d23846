/* base: paths, and the names in a folder. */
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
#include "path.h"

static void test_format(void **state)
{
    (void)state;
    char path[6];
    assert_true(tb_path_format(path, sizeof(path), "%s/%d", "abc", 1));
    assert_string_equal(path, "abc/1");
    assert_false(tb_path_format(path, sizeof(path), "%s/%d", "abc", 12));
}

static bool note(void *context, const char *name)
{
    char *text = context;
    (void)strncat(text, name, 99 - strlen(text));
    return name[0] != 'c';
}

static void test_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"b", ".a", "d", "c", "sub/x"};
    char folder[] = "/tmp/test_path-XXXXXX", path[64], text[100] = "";
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_true(
            tb_path_format(path, sizeof(path), "%s/%s", folder, names[i]));
        tb_path_make_folders(path, 0700);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_true(fputs("123", file) >= 0);
        assert_int_equal(fclose(file), 0);
        assert_true(tb_path_is_file(path));
        assert_int_equal(tb_path_file_len(path), 3);
    }
    assert_true(tb_path_is_folder(folder));
    assert_false(tb_path_is_file(folder));
    assert_int_equal(tb_path_file_len(folder), 0);
    assert_int_equal(tb_path_list(folder, note, text), TB_OK);
    assert_string_equal(text, ".abc"); // in order, up to the one that ends it
    tb_status status = TB_ERR_MEMORY;
    for (long count = 0; status != TB_OK; count++) {
        assert_in_range(count, 0, 100);
        tb_memory_fail_after(count);
        status = tb_path_list(folder, note, text);
        tb_memory_fail_after(-1);
        assert_true(status == TB_OK || status == TB_ERR_MEMORY);
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_true(
            tb_path_format(path, sizeof(path), "%s/%s", folder, names[i]));
        assert_int_equal(unlink(path), 0);
    }
    assert_true(tb_path_format(path, sizeof(path), "%s/sub", folder));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0);
    text[0] = '\0';
    assert_int_equal(tb_path_list(folder, note, text), TB_OK);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
