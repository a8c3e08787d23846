#include "path.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arena.h"
#include "buffer.h"
#include "memory.h"

bool tb_path_format(char *path, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(path, size, format, arguments);
    va_end(arguments);
    return len >= 0 && (size_t)len < size;
}

bool tb_path_is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

bool tb_path_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

uint64_t tb_path_file_len(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < 0)
        return 0;
    return (uint64_t)info.st_size;
}

void tb_path_make_folders(const char *path, unsigned mode)
{
    char folder[TB_PATH_SIZE];
    if (!tb_path_format(folder, sizeof(folder), "%s", path))
        return;
    for (char *slash = folder + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void)mkdir(folder, (mode_t)mode);
        *slash = '/';
    }
}

/* ---- the names in a folder -------------------------------------------- */

struct names {
    struct tb_arena arena;
    const char **items;
    size_t count, capacity;
};

static tb_status keep_name(struct names *names, const char *name)
{
    size_t size = strlen(name) + 1;
    const char **items = tb_array_grow((void *)names->items, &names->capacity,
                                       names->count + 1, sizeof(*items));
    if (!items)
        return TB_ERR_MEMORY;
    names->items = items;
    char *copy = tb_arena_alloc(&names->arena, size);
    if (!copy)
        return TB_ERR_MEMORY;
    memcpy(copy, name, size);
    names->items[names->count++] = copy;
    return TB_OK;
}

static tb_status read_names(DIR *folder, struct names *names)
{
    for (;;) {
        const struct dirent *entry = readdir(folder);
        if (!entry)
            return TB_OK;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            TB_TRY(keep_name(names, entry->d_name));
    }
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

tb_status tb_path_list(const char *folder,
                       bool (*on_name)(void *context, const char *name),
                       void *context)
{
    DIR *stream = opendir(folder);
    if (!stream)
        return TB_OK;
    struct names names = {0};
    tb_status status = read_names(stream, &names);
    (void)closedir(stream);
    if (status == TB_OK && names.count > 0)
        qsort((void *)names.items, names.count, sizeof(*names.items),
              compare_names);
    for (size_t i = 0; status == TB_OK && i < names.count; i++)
        if (!on_name(context, names.items[i]))
            break;
    tb_memory_free((void *)names.items);
    tb_arena_release(&names.arena);
    return status;
}
