#include "compiled_cache.h"

#include <string.h>
#include <unistd.h>

#include "compiled.h"
#include "path.h"

static const char extension[] = ".tok";

enum { NAME_DIGITS = 32 };

static bool is_compiled_name(const char *name)
{
    return strspn(name, "0123456789abcdef") == NAME_DIGITS &&
           strcmp(name + NAME_DIGITS, extension) == 0;
}

static bool path_of(const char *source, char *path, size_t size)
{
    char cached[TB_PATH_SIZE];
    struct tb_rank_source rank_source = tb_tokenizer_source(source, cached);
    return tb_compiled_path(&rank_source, path, size);
}

uint64_t tb_compiled_cache_len(const char *source)
{
    char path[TB_PATH_SIZE];
    return path_of(source, path, sizeof(path)) ? tb_path_file_len(path) : 0;
}

struct walk {
    char folder[TB_PATH_SIZE];
    struct tb_compiled_sum sum;
    struct tb_error *error;
    tb_status status;
};

static bool add_one(void *context, const char *name)
{
    struct walk *walk = context;
    char path[TB_PATH_SIZE];
    if (is_compiled_name(name) &&
        tb_path_format(path, sizeof(path), "%s/%s", walk->folder, name)) {
        walk->sum.count++;
        walk->sum.bytes += tb_path_file_len(path);
    }
    return true;
}

tb_status tb_compiled_cache_sum(struct tb_compiled_sum *sum)
{
    struct walk walk = {0};
    *sum = (struct tb_compiled_sum){0};
    if (!tb_compiled_cache_folder(walk.folder, sizeof(walk.folder)))
        return TB_OK;
    TB_TRY(tb_path_list(walk.folder, add_one, &walk));
    *sum = walk.sum;
    return TB_OK;
}

static void remove_file(const char *path, struct walk *walk)
{
    uint64_t len = tb_path_file_len(path);
    if (unlink(path) == 0) {
        walk->sum.count++;
        walk->sum.bytes += len;
        return;
    }
    walk->status = tb_fail_errno(walk->error, TB_ERR_IO, "cannot remove");
    tb_error_set_path(walk->error, path);
}

static bool remove_one(void *context, const char *name)
{
    struct walk *walk = context;
    char path[TB_PATH_SIZE];
    if (is_compiled_name(name) &&
        tb_path_format(path, sizeof(path), "%s/%s", walk->folder, name))
        remove_file(path, walk);
    return true;
}

tb_status tb_compiled_cache_clear(const char *source,
                                  struct tb_compiled_sum *removed,
                                  struct tb_error *error)
{
    struct walk walk = {.error = error};
    char path[TB_PATH_SIZE];
    *removed = (struct tb_compiled_sum){0};
    if (!tb_compiled_cache_folder(walk.folder, sizeof(walk.folder)))
        return TB_OK;
    if (!source) {
        if (tb_path_list(walk.folder, remove_one, &walk) != TB_OK)
            return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    } else if (path_of(source, path, sizeof(path)) && tb_path_is_file(path)) {
        remove_file(path, &walk);
    }
    *removed = walk.sum;
    return walk.status;
}
