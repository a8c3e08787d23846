/* Where a tokenizer's file is: a path, or a name in the Hugging Face cache
 * (models--org--name/refs/<revision> -> snapshots/<commit>/tokenizer.json). */
#include "tokenizer_model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

// Writes into `path`; false when it does not fit.
TB_PRINTF(3, 4)
static bool join(char *path, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(path, size, format, arguments);
    va_end(arguments);
    return len >= 0 && (size_t)len < size;
}

// The folder of the hub's cache, as huggingface_hub finds it.
static bool cache_folder(char *path, size_t size)
{
    const char *folder = getenv("HF_HUB_CACHE");
    if (folder && *folder)
        return join(path, size, "%s", folder);
    folder = getenv("HF_HOME");
    if (folder && *folder)
        return join(path, size, "%s/hub", folder);
    folder = getenv("XDG_CACHE_HOME");
    if (folder && *folder)
        return join(path, size, "%s/huggingface/hub", folder);
    folder = getenv("HOME");
    return folder && *folder &&
           join(path, size, "%s/.cache/huggingface/hub", folder);
}

/* "org/name@revision" in parts. A name may not lead out of the cache: only
 * what the hub allows in names is accepted. */
struct hub_name {
    char folder[300];   /* models--org--name */
    char revision[128]; /* main when none is given */
};

static bool is_allowed(const char *name)
{
    if (strstr(name, "..") || name[0] == '/' || name[0] == '\0')
        return false;
    const char *allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                          "0123456789-_./@";
    return strspn(name, allowed) == strlen(name);
}

static bool split_name(const char *name, struct hub_name *parts)
{
    if (!is_allowed(name))
        return false;
    const char *at = strchr(name, '@');
    int len = at ? (int)(at - name) : (int)strlen(name);
    if (!join(parts->revision, sizeof(parts->revision), "%s",
              at ? at + 1 : "main") ||
        len == 0 || len > 200)
        return false;
    size_t used = strlen("models--");
    memcpy(parts->folder, "models--", used);
    for (int i = 0; i < len; i++) {
        if (name[i] == '/')
            parts->folder[used++] = '-';
        parts->folder[used++] = name[i] == '/' ? '-' : name[i];
    }
    parts->folder[used] = '\0';
    return true;
}

// The commit that refs/<revision> names, or the revision itself.
static void read_revision(const char *folder, struct hub_name *parts)
{
    char path[4096];
    if (!join(path, sizeof(path), "%s/refs/%s", folder, parts->revision))
        return;
    FILE *file = fopen(path, "rb");
    if (!file)
        return;
    char commit[sizeof(parts->revision)];
    size_t len = fread(commit, 1, sizeof(commit) - 1, file);
    (void)fclose(file);
    commit[len] = '\0';
    commit[strcspn(commit, "\r\n \t")] = '\0';
    if (is_allowed(commit))
        memcpy(parts->revision, commit, sizeof(commit));
}

static bool find_in_cache(const char *name, char *path, size_t size,
                          char *folder, size_t folder_size)
{
    struct hub_name parts;
    char cache[2048];
    if (!cache_folder(cache, sizeof(cache)) || !split_name(name, &parts) ||
        !join(folder, folder_size, "%s/%s", cache, parts.folder))
        return false;
    read_revision(folder, &parts);
    return join(path, size, "%s/snapshots/%s/tokenizer.json", folder,
                parts.revision) &&
           is_file(path);
}

tb_status tb_tokenizer_locate(const char *name, char *path, size_t size,
                              struct tb_error *error)
{
    if (is_folder(name)) {
        if (join(path, size, "%s/tokenizer.json", name) && is_file(path))
            return TB_OK;
        tb_fail(error, TB_ERR_NOT_FOUND, "folder has no tokenizer.json");
        tb_error_set_path(error, name);
        return TB_ERR_NOT_FOUND;
    }
    if (is_file(name) && join(path, size, "%s", name))
        return TB_OK;
    char folder[2500] = "";
    if (find_in_cache(name, path, size, folder, sizeof(folder)))
        return TB_OK;
    return tb_fail(error, TB_ERR_NOT_FOUND,
                   "no tokenizer '%.80s': no such file or folder, and none in "
                   "the Hugging Face cache (%.90s); give a path, or "
                   "--tokenizer builtin",
                   name, folder[0] ? folder : "no cache folder");
}
