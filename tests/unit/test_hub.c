/* hub: names, header fields, what the hub says of a model, and the cache. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http_head.h"
#include "hub.h"
#include "hub_settings.h"
#include "memory.h"

#define COMMIT_A "0123456789abcdef0123456789abcdef01234567"
#define COMMIT_GONE "ffffffffffffffffffffffffffffffffffffffff"
#define COMMIT_B "01234aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const char *const main_files[] = {"tokenizer.json", "*.tiktoken", NULL};
static const char *const beside_files[] = {"config.json", NULL};
static const struct tb_hub_files files = {main_files, beside_files};

/* ---- names ---- */

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *text, *repo, *folder, *revision; // repo NULL: no name
    } cases[] = {
        {"org/model", "org/model", "models--org--model", "main"},
        {"gpt2", "gpt2", "models--gpt2", "main"},
        {"a/b-c_d.1@v1.0", "a/b-c_d.1", "models--a--b-c_d.1", "v1.0"},
        {"a/b@refs/pr/1", "a/b", "models--a--b", "refs/pr/1"},
        {"", NULL, NULL, NULL},
        {"a/", NULL, NULL, NULL},
        {"/a", NULL, NULL, NULL},
        {"a/b/c", NULL, NULL, NULL},
        {"../a", NULL, NULL, NULL},
        {"a/..", NULL, NULL, NULL},
        {"a/b--c", NULL, NULL, NULL},
        {"a/.b", NULL, NULL, NULL},
        {"a/b.", NULL, NULL, NULL},
        {"-a/b", NULL, NULL, NULL},
        {"a/b c", NULL, NULL, NULL},
        {"a/b%2e", NULL, NULL, NULL},
        {"tokenizer.json", NULL, NULL, NULL},
        {"a/b.tiktoken", NULL, NULL, NULL},
        {"a/b@", NULL, NULL, NULL},
        {"a/b@/x", NULL, NULL, NULL},
        {"a/b@x/", NULL, NULL, NULL},
        {"a/b@x//y", NULL, NULL, NULL},
        {"a/b@../x", NULL, NULL, NULL},
        {"a/b@x/.y", NULL, NULL, NULL},
        {"a/b@x?y", NULL, NULL, NULL},
        {"a/b@c@d", NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tb_hub_name name;
        bool is_name = tb_hub_name_parse(cases[i].text, &name);
        if (is_name != (cases[i].repo != NULL))
            fail_msg("'%s'", cases[i].text);
        if (!is_name)
            continue;
        assert_string_equal(name.repo, cases[i].repo);
        assert_string_equal(name.folder, cases[i].folder);
        assert_string_equal(name.revision, cases[i].revision);
    }
}

static void test_long_names(void **state)
{
    (void)state;
    struct tb_hub_name name;
    for (int part = 94; part < 99; part++) {
        char text[256];
        (void)snprintf(text, sizeof(text), "%0*d/%0*d", part, 1, part, 1);
        assert_int_equal(tb_hub_name_parse(text, &name), part <= 96);
        (void)snprintf(text, sizeof(text), "a/b@%0*d", part + 32, 1);
        assert_int_equal(tb_hub_name_parse(text, &name), part <= 96);
    }
}

static void test_names_of_folders(void **state)
{
    (void)state;
    struct tb_hub_name name;
    assert_true(tb_hub_name_of_folder("models--org--name", &name));
    assert_string_equal(name.repo, "org/name");
    assert_true(tb_hub_name_of_folder("models--gpt2", &name));
    assert_string_equal(name.repo, "gpt2");
    assert_true(tb_hub_name_is_bare(&name));
    assert_false(tb_hub_name_of_folder("datasets--org--name", &name));
    assert_false(tb_hub_name_of_folder("models--", &name));
    assert_false(tb_hub_name_of_folder("models--a--b--c", &name));
    // It has no revision: that is what the folders in it are called after.
    assert_false(tb_hub_name_of_folder("models--org--name@v2", &name));
}

/* ---- header fields ---- */

static struct tb_http_head head_of(const char *text)
{
    struct tb_http_head head = tb_http_head_none();
    while (*text) {
        size_t len = strcspn(text, "\n") + 1;
        tb_http_head_add(&head, (struct tb_span){(const uint8_t *)text, len});
        text += len;
    }
    return head;
}

static void test_head(void **state)
{
    (void)state;
    struct tb_http_head head =
        head_of("HTTP/1.1 302 Found\r\n"
                "etag: W/\"abc\"\r\n"
                "X-LINKED-ETAG:\"def-1\" \r\n"
                "x-linked-size: 123\r\n"
                "X-Repo-Commit: " COMMIT_A "\r\n"
                "X-Error-Code: GatedRepo\r\n"
                "Content-Range: bytes 7-9/10\r\n"
                "Retry-After: 3\r\n"
                "content-length:  18446744073709551615\r\n"
                "no colon\r\n");
    assert_string_equal(head.etag.text, "abc");
    assert_string_equal(head.linked_etag.text, "def-1");
    assert_string_equal(head.commit.text, COMMIT_A);
    assert_string_equal(head.error_code, "GatedRepo");
    assert_int_equal(head.linked_len, 123);
    assert_int_equal(head.range_start, 7);
    assert_int_equal(head.range_total, 10);
    assert_int_equal(head.retry_after_s, 3);
    assert_true(head.content_len == TB_HTTP_NO_LEN);
    head = head_of("ETag: x\nHTTP/2 200\nContent-Length: 5\n");
    assert_string_equal(head.etag.text, "");
    assert_int_equal(head.content_len, 5);
}

static void test_head_that_leads_out(void **state)
{
    (void)state;
    static const char *const etags[] = {"../x", "a/b",   "\"\"", ".hidden",
                                        "a b",  "a\tb;", "..",   "\"../..\""};
    for (size_t i = 0; i < sizeof(etags) / sizeof(etags[0]); i++) {
        char line[64];
        (void)snprintf(line, sizeof(line), "ETag: %s\n", etags[i]);
        struct tb_http_head head = head_of(line);
        assert_true(head.etag.is_bad);
        assert_string_equal(head.etag.text, "");
    }
    struct tb_http_head head = head_of("X-Repo-Commit: ../../x\n"
                                       "Content-Range: bytes x-1/2\n"
                                       "Retry-After: Fri, 31 Dec\n");
    assert_true(head.commit.is_bad);
    assert_true(head.range_start == TB_HTTP_NO_LEN);
    assert_int_equal(head.retry_after_s, 0);
}

/* ---- what the hub says of a model ---- */

#define SIBLINGS(names) "{\"sha\":\"" COMMIT_A "\",\"siblings\":[" names "]}"
#define FILE_NAMED(name) "{\"rfilename\":\"" name "\",\"size\":1}"

static tb_status read_info(const char *json, struct tb_model_info *info,
                           struct tb_error *error)
{
    return tb_model_info_read(tb_span_of(json), &files, info, error);
}

// clang-format off
static const char many_names[] = SIBLINGS(
    FILE_NAMED("b.tiktoken") "," FILE_NAMED("config.json") ","
    FILE_NAMED("tokenizer.json") "," FILE_NAMED("a.tiktoken"));
static const char other_name[] = SIBLINGS(FILE_NAMED("b.tiktoken"));
static const char two_names[] = SIBLINGS(
    FILE_NAMED("b.tiktoken") "," FILE_NAMED("c.tiktoken"));
static const char bad_names[] = SIBLINGS(
    FILE_NAMED("x/tokenizer.json") "," FILE_NAMED("../a.tiktoken") ","
    FILE_NAMED("..") "," FILE_NAMED(""));
// clang-format on

static void test_model_info(void **state)
{
    (void)state;
    struct tb_model_info info;
    assert_int_equal(read_info(many_names, &info, NULL), TB_OK);
    assert_string_equal(info.commit, COMMIT_A);
    assert_string_equal(info.main, "tokenizer.json");
    assert_int_equal(info.main_count, 1);
    assert_int_equal(info.beside_count, 1);
    assert_int_equal(read_info(other_name, &info, NULL), TB_OK);
    assert_string_equal(info.main, "b.tiktoken");
    assert_int_equal(info.main_count, 1);
    assert_int_equal(read_info(two_names, &info, NULL), TB_OK);
    assert_int_equal(info.main_count, 2);
    assert_int_equal(read_info(bad_names, &info, NULL), TB_OK);
    assert_string_equal(info.main, "");
}

static void test_bad_model_info(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        tb_status status;
    } cases[] = {
        {"", TB_ERR_CUT},
        {"<html>", TB_ERR_SYNTAX},
        {"[]", TB_ERR_TYPE},
        {"{}", TB_ERR_VALUE},
        {"{\"sha\":1}", TB_ERR_TYPE},
        {"{\"sha\":\"../../x\"}", TB_ERR_VALUE},
        {"{\"sha\":\"" COMMIT_A "\",\"siblings\":{}}", TB_ERR_TYPE},
        {"{\"sha\":\"" COMMIT_A "\",\"siblings\":[1]}", TB_ERR_TYPE},
        {"{\"sha\":\"" COMMIT_A "\"} x", TB_ERR_SYNTAX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tb_model_info info;
        struct tb_error error = {0};
        tb_status status = read_info(cases[i].json, &info, &error);
        if (status != cases[i].status)
            fail_msg("'%s': %s", cases[i].json, tb_status_name(status));
        assert_int_equal(error.status, status);
        assert_true(error.message[0] != '\0');
    }
}

/* ---- the environment ---- */

static void test_settings(void **state)
{
    (void)state;
    struct tb_hub_settings settings;
    char cache[TB_PATH_SIZE];
    assert_int_equal(setenv("HF_ENDPOINT", "https://hub.example/x//", 1), 0);
    assert_int_equal(setenv("HF_TOKEN", " hf_abc\n", 1), 0);
    assert_int_equal(setenv("HF_HUB_DOWNLOAD_TIMEOUT", "7", 1), 0);
    assert_int_equal(tb_hub_settings_read(&settings, NULL), TB_OK);
    assert_string_equal(settings.endpoint, "https://hub.example/x");
    assert_string_equal(settings.token, "hf_abc");
    assert_int_equal(settings.stall_s, 7);
    assert_int_equal(setenv("HF_TOKEN", "a\r\nb: c", 1), 0);
    assert_int_equal(tb_hub_settings_read(&settings, NULL), TB_ERR_VALUE);
    assert_int_equal(setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "ON", 1), 0);
    assert_int_equal(tb_hub_settings_read(&settings, NULL), TB_OK);
    assert_string_equal(settings.token, "");
    static const char *const bad[] = {"hub.example", "file:///x", "https://a b",
                                      "https://user:word@hub.example"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct tb_error error;
        assert_int_equal(setenv("HF_ENDPOINT", bad[i], 1), 0);
        assert_int_equal(tb_hub_settings_read(&settings, &error), TB_ERR_VALUE);
        assert_null(strstr(error.message, "word"));
    }
    assert_int_equal(setenv("HOME", "/h", 1), 0);
    assert_int_equal(setenv("HF_HUB_CACHE", "~/c", 1), 0);
    assert_true(tb_hub_cache_folder(cache, sizeof(cache)));
    assert_string_equal(cache, "/h/c");
    assert_int_equal(unsetenv("HF_HUB_CACHE"), 0);
    assert_int_equal(setenv("HF_HOME", "/hf", 1), 0);
    assert_true(tb_hub_cache_folder(cache, sizeof(cache)));
    assert_string_equal(cache, "/hf/hub");
}

static void test_offline(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("HF_HUB_OFFLINE"), 0);
    assert_int_equal(setenv("TRANSFORMERS_OFFLINE", "1", 1), 0);
    assert_string_equal(tb_hub_offline_reason(), "TRANSFORMERS_OFFLINE");
    assert_int_equal(setenv("HF_HUB_OFFLINE", "0", 1), 0);
    assert_null(tb_hub_offline_reason());
    assert_int_equal(setenv("HF_HUB_OFFLINE", "Yes", 1), 0);
    assert_string_equal(tb_hub_offline_reason(), "HF_HUB_OFFLINE");
}

/* ---- the cache ---- */

static char folder[64];

static void put(const char *path, const char *content)
{
    char full[TB_PATH_SIZE];
    assert_true(tb_path_format(full, sizeof(full), "%s/%s", folder, path));
    tb_path_make_folders(full, 0700);
    FILE *file = fopen(full, "wb");
    assert_non_null(file);
    assert_true(fputs(content, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int make_cache(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof(folder), "/tmp/test_hub-XXXXXX");
    if (!mkdtemp(folder) || setenv("HF_HUB_CACHE", folder, 1) != 0)
        return -1;
    put("models--a--one/refs/main", COMMIT_A);
    put("models--a--one/refs/bad", "../../elsewhere");
    put("models--a--one/refs/gone", COMMIT_GONE);
    put("models--a--one/snapshots/" COMMIT_A "/tokenizer.json", "{}");
    put("models--a--one/snapshots/" COMMIT_B "/x.tiktoken", "{}");
    put("models--b--two/refs/main", COMMIT_A);
    put("models--b--two/snapshots/" COMMIT_A "/config.json", "{}");
    put("models--c--one/refs/v1", COMMIT_A);
    put("models--c--one/snapshots/" COMMIT_A "/tokenizer.json", "{}");
    put("models--d--twin/refs/main", COMMIT_A);
    put("models--d--twin/snapshots/" COMMIT_A "/tokenizer.json", "{}");
    put("models--e--twin/refs/main", COMMIT_A);
    put("models--e--twin/snapshots/" COMMIT_A "/tokenizer.json", "{}");
    put("datasets--a--one/refs/main", COMMIT_A);
    return 0;
}

static int remove_cache(void **state)
{
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -r '%s'", folder);
    return system(command);
}

static tb_status find(const char *text, struct tb_hub_place *place,
                      struct tb_error *error)
{
    struct tb_hub_name name;
    assert_true(tb_hub_name_parse(text, &name));
    return tb_hub_cache_find(&name, &files, place, error);
}

static void test_find(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        tb_status status;
        const char *repo, *commit;
    } cases[] = {
        {"a/one", TB_OK, "a/one", COMMIT_A},
        {"a/one@" COMMIT_B, TB_OK, "a/one", COMMIT_B},
        {"a/one@01234a", TB_OK, "a/one", COMMIT_B},
        {"a/one@01234", TB_ERR_VALUE, NULL, NULL},
        {"a/one@0123", TB_ERR_NOT_FOUND, NULL, NULL},
        {"a/one@bad", TB_ERR_NOT_FOUND, NULL, NULL},
        {"a/one@gone", TB_ERR_NOT_FOUND, NULL, NULL},
        {"b/two", TB_ERR_NOT_FOUND, NULL, NULL},
        {"c/one", TB_ERR_NOT_FOUND, NULL, NULL},
        {"one", TB_OK, "a/one", COMMIT_A},
        {"one@v1", TB_OK, "c/one", COMMIT_A},
        {"two", TB_ERR_NOT_FOUND, NULL, NULL},
        {"twin", TB_ERR_VALUE, NULL, NULL},
        {"twi", TB_ERR_NOT_FOUND, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tb_hub_place place;
        tb_status status = find(cases[i].name, &place, NULL);
        if (status != cases[i].status)
            fail_msg("%s: %s", cases[i].name, tb_status_name(status));
        if (status != TB_OK)
            continue;
        assert_string_equal(place.repo, cases[i].repo);
        assert_string_equal(place.commit, cases[i].commit);
        assert_true(tb_path_is_file(place.path));
    }
}

static void test_several(void **state)
{
    (void)state;
    struct tb_hub_place place;
    struct tb_error error;
    assert_int_equal(find("twin", &place, &error), TB_ERR_VALUE);
    assert_non_null(strstr(error.message, "d/twin, e/twin"));
}

static bool note(void *context, const struct tb_hub_place *place,
                 const char *refs)
{
    char *text = context;
    size_t len = strlen(text);
    (void)snprintf(text + len, 500 - len, "%s@%.5s[%s] ", place->repo,
                   place->commit, refs);
    return true;
}

static void test_list(void **state)
{
    (void)state;
    char text[500] = "";
    assert_int_equal(tb_hub_cache_list(&files, note, text), TB_OK);
    assert_string_equal(text, "a/one@01234[main] a/one@01234[] "
                              "c/one@01234[v1] d/twin@01234[main] "
                              "e/twin@01234[main] ");
}

/* ---- without memory ---- */

static tb_status try_all(void)
{
    struct tb_model_info info;
    struct tb_hub_place place;
    char text[500] = "";
    TB_TRY(read_info(SIBLINGS(FILE_NAMED("\\u0061.tiktoken")), &info, NULL));
    TB_TRY(find("one", &place, NULL));
    return tb_hub_cache_list(&files, note, text);
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    tb_status status = TB_ERR_MEMORY;
    assert_int_equal(try_all(), TB_OK);
    for (long count = 0; status != TB_OK; count++) {
        assert_in_range(count, 0, 1000);
        tb_memory_fail_after(count);
        status = try_all();
        tb_memory_fail_after(-1);
        assert_true(status == TB_OK || status == TB_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_names_of_folders),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_head_that_leads_out),
        cmocka_unit_test(test_model_info),
        cmocka_unit_test(test_bad_model_info),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_offline),
        cmocka_unit_test_setup_teardown(test_find, make_cache, remove_cache),
        cmocka_unit_test_setup_teardown(test_several, make_cache, remove_cache),
        cmocka_unit_test_setup_teardown(test_list, make_cache, remove_cache),
        cmocka_unit_test_setup_teardown(test_every_allocation_fails, make_cache,
                                        remove_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
