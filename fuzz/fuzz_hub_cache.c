/* Proves: whatever lies in a cache, what is found there for any name, and all
 * that is listed, is a file below it at a commit; and each model that is listed
 * is found at its commit.
 *
 * The first line is a name; then each two are a file of the cache and what is
 * in it. */
#include "fuzz_files.h"

#include <string.h>

#include "hub_cache.h"

enum { FILES_MAX = 12 };

static const char *const main_files[] = {"tokenizer.json", "*.model", NULL};
static const char *const beside_files[] = {"config.json", NULL};
static const struct tb_hub_files files = {main_files, beside_files};
static char cache[256];

static struct tb_span take_line(const uint8_t **data, size_t *size)
{
    const uint8_t *end = *size ? memchr(*data, '\n', *size) : NULL;
    struct tb_span line = {*data, end ? (size_t)(end - *data) : *size};
    *data += line.len + (end != NULL);
    *size -= line.len + (end != NULL);
    return line;
}

/* Puts a file below the cache; what would lead out of it is left out. */
static void put(struct tb_span name, struct tb_span content)
{
    char path[600], folder[610];
    if (name.len == 0 || name.len > 250 || memchr(name.ptr, 0, name.len))
        return;
    (void)snprintf(path, sizeof(path), "%s/%.*s", cache, (int)name.len,
                   (const char *)name.ptr);
    (void)snprintf(folder, sizeof(folder), "%s/", path);
    if (strstr(folder, "/../"))
        return;
    tb_path_make_folders(path, 0777);
    FILE *file = fopen(path, "wb");
    if (!file)
        return; // a folder, or a name that is too long
    (void)fwrite(content.ptr, 1, content.len, file);
    (void)fclose(file);
}

static void check_place(const struct tb_hub_place *place)
{
    size_t len = strlen(cache);
    FUZZ_CHECK(strncmp(place->path, cache, len) == 0);
    FUZZ_CHECK(strncmp(place->folder, cache, len) == 0);
    FUZZ_CHECK(!strstr(place->path, "/../") && tb_path_is_file(place->path));
    FUZZ_CHECK(tb_hub_is_commit(tb_span_of(place->commit)));
    FUZZ_CHECK(place->repo[0]);
}

static bool find(const char *text, struct tb_hub_place *place)
{
    struct tb_hub_name name;
    struct tb_error error = {0};
    if (!tb_hub_name_parse(text, &name))
        return false;
    tb_status status = tb_hub_cache_find(&name, &files, place, &error);
    FUZZ_CHECK(status == TB_OK || status == TB_ERR_NOT_FOUND ||
               (status == TB_ERR_VALUE && error.message[0]));
    if (status == TB_OK)
        check_place(place);
    return status == TB_OK;
}

static bool see(void *context, const struct tb_hub_place *place,
                const char *refs)
{
    struct tb_hub_place found;
    char text[sizeof(place->repo) + TB_HUB_COMMIT_LEN + 2];
    unsigned *count = context;
    (void)refs;
    check_place(place);
    (void)snprintf(text, sizeof(text), "%s@%s", place->repo, place->commit);
    // A branch may be called like a commit.
    FUZZ_CHECK(find(text, &found));
    FUZZ_CHECK(strcmp(found.repo, place->repo) == 0);
    return ++*count < FILES_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[512];
    struct tb_hub_place place;
    unsigned count = 0;
    if (!cache[0]) {
        (void)snprintf(cache, sizeof(cache), "%.250s", fuzz_path("."));
        *strrchr(cache, '/') = '\0';
        FUZZ_CHECK(setenv("HF_HUB_CACHE", cache, 1) == 0);
    }
    struct tb_span name = take_line(&data, &size);
    for (unsigned i = 0; i < FILES_MAX && size > 0; i++) {
        struct tb_span path = take_line(&data, &size);
        put(path, take_line(&data, &size));
    }
    (void)snprintf(text, sizeof(text), "%.*s",
                   (int)(name.len < 500 ? name.len : 500),
                   (const char *)name.ptr);
    (void)find(text, &place);
    FUZZ_CHECK(tb_hub_cache_list(&files, see, &count) == TB_OK);
    fuzz_clear();
    return 0;
}
