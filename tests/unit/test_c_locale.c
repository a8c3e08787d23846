/* Numbers and times are read and written the same under any locale: the program
 * that we are a library of may have set one whose decimal point is a comma. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c_locale.h"
#include "chat_template.h"
#include "json_form.h"
#include "mooncake_value.h"
#include "python_repr.h"
#include "text_page.h"

static bool is_comma;
static char made_folder[] = "/tmp/locale-XXXXXX";
static bool is_made;

static bool set_comma_locale(const char *name)
{
    return setlocale(LC_ALL, name) &&
           strcmp(localeconv()->decimal_point, ",") == 0;
}

/* What is installed, or else made by the C library's own tool. */
static bool find_comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",
                                        "fr_FR.UTF-8", "ru_RU.UTF-8",
                                        "pt_BR.UTF-8", "es_ES.UTF-8"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (set_comma_locale(names[i]))
            return true;
    char command[200];
    is_made = mkdtemp(made_folder) != NULL;
    (void)snprintf(command, sizeof(command),
                   "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null",
                   made_folder);
    if (!is_made || system(command) != 0 ||
        setenv("LOCPATH", made_folder, 1) != 0)
        return false;
    return set_comma_locale("de_DE.UTF-8");
}

static int set_up(void **state)
{
    (void)state;
    is_comma = find_comma_locale();
    if (!is_comma)
        print_message("no locale with a decimal comma here, and none can be "
                      "made: all is tested under \"C\" alone\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[100];
    (void)setlocale(LC_ALL, "C");
    if (!is_made)
        return 0;
    (void)snprintf(command, sizeof(command), "rm -r %s", made_folder);
    return system(command);
}

// Else the other tests would show nothing.
static void test_the_locale_bites(void **state)
{
    (void)state;
    char text[20];
    if (!is_comma)
        skip();
    (void)snprintf(text, sizeof(text), "%.2f", 1.25);
    assert_string_equal(text, "1,25");
    assert_true(strtod("1.25", NULL) == 1);
}

static void test_real_to_text(void **state)
{
    (void)state;
    static const struct {
        double value;
        int precision;
        char letter;
        const char *text;
    } cases[] = {{1.25, 2, 'f', "1.25"},
                 {-0.5, 6, 'f', "-0.500000"},
                 {1e21, 1, 'f', "1000000000000000000000.0"},
                 {1.5e-7, 3, 'e', "1.500e-07"},
                 {0.1, 4, 'g', "0.1"},
                 {2.5, 1, 'E', "2.5E+00"},
                 {INFINITY, 1, 'F', "INF"}};
    char text[64];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tb_real_to_text(text, sizeof(text), cases[i].precision, cases[i].letter,
                        cases[i].value);
        assert_string_equal(text, cases[i].text);
    }
    tb_real_to_text(text, 4, 3, 'f', 1.25);
    assert_string_equal(text, "1.2");
}

static void test_real_of_text(void **state)
{
    (void)state;
    char *end;
    assert_true(tb_real_of_text("1.25", NULL) == 1.25);
    assert_true(tb_real_of_text("1,25", &end) == 1);
    assert_string_equal(end, ",25");
    assert_true(tb_real_of_text("-2.5e-1x", &end) == -0.25);
    assert_string_equal(end, "x");
    assert_true(isinf(tb_real_of_text("1.0e999", NULL)));
}

static void test_locale_is_left_as_it_was(void **state)
{
    (void)state;
    char text[20];
    locale_t before = uselocale((locale_t)0);
    tb_real_to_text(text, sizeof(text), 1, 'f', 1.5);
    assert_true(uselocale((locale_t)0) == before);
    assert_string_equal(localeconv()->decimal_point, is_comma ? "," : ".");
}

static void test_time_to_text(void **state)
{
    (void)state;
    char text[40];
    struct tm parts = {.tm_year = 124, .tm_mon = 9, .tm_mday = 1, .tm_wday = 2};
    size_t len = tb_time_to_text(text, sizeof(text), "%A %d %B %Y", &parts);
    assert_string_equal(text, "Tuesday 01 October 2024");
    assert_int_equal(len, strlen(text));
}

static struct tb_mooncake_value value_of(struct tb_arena *arena,
                                         const char *json)
{
    struct tb_json_reader reader;
    struct tb_mooncake_value value = {0};
    tb_json_reader_init_span(&reader, tb_span_of(json), 0, 1);
    assert_int_equal(tb_mooncake_value_read(&reader, arena, &value), TB_OK);
    tb_json_reader_release(&reader);
    return value;
}

static void test_json_is_read(void **state)
{
    (void)state;
    struct tb_json_reader reader;
    struct tb_json_number number;
    tb_json_reader_init_span(&reader, TB_SPAN("1753351200.75"), 0, 1);
    assert_int_equal(tb_json_read_number(&reader, &number), TB_OK);
    assert_true(number.value == 1753351200.75);
    tb_json_reader_release(&reader);
}

static void test_row_values_are_read(void **state)
{
    (void)state;
    struct tb_arena arena = {0};
    struct tb_mooncake_integer integer;
    double real;
    struct tb_mooncake_value value = value_of(&arena, "12.5");
    assert_int_equal(tb_mooncake_value_real(&value, &real), TB_MOONCAKE_READ);
    assert_true(real == 12.5);
    value = value_of(&arena, "\"12.5\"");
    assert_int_equal(tb_mooncake_value_real(&value, &real), TB_MOONCAKE_READ);
    assert_true(real == 12.5);
    value = value_of(&arena, "4.0");
    assert_int_equal(tb_mooncake_value_integer(&value, &integer),
                     TB_MOONCAKE_READ);
    assert_int_equal(integer.magnitude, 4);
    tb_arena_release(&arena);
}

static void test_json_is_written(void **state)
{
    (void)state;
    struct tb_buffer text = TB_BUFFER(1000);
    struct tb_json_form form = tb_json_form_on(&text, false);
    tb_json_form_open(&form, NULL, '[');
    tb_json_form_real(&form, NULL, 0.25);
    tb_json_form_real(&form, NULL, 3);
    tb_json_form_close(&form, ']');
    assert_int_equal(form.status, TB_OK);
    assert_true(tb_span_equal(tb_buffer_span(&text), TB_SPAN("[0.25, 3.0]\n")));
    tb_buffer_release(&text);
}

static void test_text_page(void **state)
{
    (void)state;
    struct tb_buffer text = TB_BUFFER(1000);
    struct tb_page page = {.buffer = &text};
    tb_page_put(&page, "%.1f MB %s\n", 1.25, tb_grouped_real(0.5).text);
    tb_page_entry(&page, "share", "%.1f %%", 97.5);
    assert_int_equal(page.status, TB_OK);
    assert_int_equal(tb_buffer_append_byte(&text, 0), TB_OK);
    assert_non_null(strstr((const char *)text.ptr, "1.2 MB 0.5\n"));
    assert_non_null(strstr((const char *)text.ptr, "97.5 %\n"));
    tb_buffer_release(&text);
}

static void test_python_repr(void **state)
{
    (void)state;
    struct tb_buffer text = TB_BUFFER(1000);
    assert_int_equal(
        tb_python_repr(TB_SPAN("[0.1, 2.5e-7, 1e300]"), &text, NULL), TB_OK);
    assert_true(tb_span_equal(tb_buffer_span(&text),
                              TB_SPAN("[0.1, 2.5e-07, 1e+300]")));
    tb_buffer_release(&text);
}

static void test_chat_template(void **state)
{
    (void)state;
    static const char source[] =
        "{{ '%.2f' % 1.5 }} {{ 0.75 }} {{ '2.5'|float }} {{ 1.257|round(2) }} "
        "{{ 1500|filesizeformat }} {{ 1e15 * x }} {{ big + 0.5 }} "
        "{{ strftime_now('%d %b %Y') }}";
    struct tb_chat_template *chat_template;
    struct tb_arena arena = {0};
    struct tb_buffer out = TB_BUFFER(1000);
    struct tb_chat_input input = {
        .messages = TB_SPAN("[{\"role\": \"user\"}]"),
        .kwargs = TB_SPAN("{\"x\": 0.25, \"big\": 100000000000000000000}"),
        .now_s = 1728000000};
    assert_int_equal(
        tb_chat_template_compile(tb_span_of(source), &chat_template, NULL),
        TB_OK);
    assert_int_equal(
        tb_chat_template_render(chat_template, &input, &arena, &out, NULL),
        TB_OK);
    assert_int_equal(tb_buffer_append_byte(&out, 0), TB_OK);
    assert_string_equal((const char *)out.ptr,
                        "1.50 0.75 2.5 1.26 1.5 kB 250000000000000.0 1e+20 "
                        "04 Oct 2024");
    tb_chat_template_free(chat_template);
    tb_arena_release(&arena);
    tb_buffer_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_locale_bites),
        cmocka_unit_test(test_real_to_text),
        cmocka_unit_test(test_real_of_text),
        cmocka_unit_test(test_locale_is_left_as_it_was),
        cmocka_unit_test(test_time_to_text),
        cmocka_unit_test(test_json_is_read),
        cmocka_unit_test(test_row_values_are_read),
        cmocka_unit_test(test_json_is_written),
        cmocka_unit_test(test_text_page),
        cmocka_unit_test(test_python_repr),
        cmocka_unit_test(test_chat_template),
    };
    return cmocka_run_group_tests_name("c_locale", tests, set_up, tear_down);
}
