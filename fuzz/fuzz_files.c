#include "fuzz_files.h"

#include <ftw.h>
#include <string.h>
#include <unistd.h>

#include "json_strict.h"

static char folder[256];

static int remove_entry(const char *path, const struct stat *info, int kind,
                        struct FTW *place)
{
    (void)info;
    (void)kind;
    return place->level > 0 ? remove(path) : 0;
}

void fuzz_clear(void)
{
    (void)nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void remove_folder(void)
{
    fuzz_clear();
    (void)rmdir(folder);
}

const char *fuzz_path(const char *name)
{
    static char paths[8][600];
    static unsigned next;
    if (!folder[0]) {
        const char *parent = getenv("TMPDIR");
        (void)snprintf(folder, sizeof(folder), "%.200s/tb_fuzz_XXXXXX",
                       parent ? parent : "/tmp");
        FUZZ_CHECK(mkdtemp(folder));
        (void)atexit(remove_folder);
    }
    char *path = paths[next++ % 8];
    (void)snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

const char *fuzz_put(const char *name, struct tb_span content)
{
    const char *path = fuzz_path(name);
    if (content.len == 0) {
        (void)unlink(path);
        return path;
    }
    FILE *file = fopen(path, "wb");
    FUZZ_CHECK(file);
    FUZZ_CHECK(fwrite(content.ptr, 1, content.len, file) == content.len);
    FUZZ_CHECK(fclose(file) == 0);
    return path;
}

struct tb_span fuzz_take_file(const uint8_t **data, size_t *size)
{
    const uint8_t *zero = *size ? memchr(*data, 0, *size) : NULL;
    struct tb_span file = {*data, zero ? (size_t)(zero - *data) : *size};
    *data += file.len + (zero != NULL);
    *size -= file.len + (zero != NULL);
    return file;
}

bool fuzz_is_object(struct tb_span json)
{
    struct tb_json_fault fault;
    return json.len > 0 && *json.ptr == '{' &&
           tb_json_check(json, &fault) == TB_OK;
}
