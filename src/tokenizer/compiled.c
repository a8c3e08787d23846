#include "compiled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiled_cache.h"
#include "compiled_form.h"
#include "map_file.h"
#include "output.h"
#include "path.h"
#include "tokenizer_config.h"

/* To be raised whenever anything that is written here, or what it means,
 * changes: hashes, slots, numbers of patterns, values of enums. */
#define FORMAT_VERSION 8

struct header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order; /* 1, as this machine writes it */
    uint32_t word_len;   /* bytes of its size_t */
    uint32_t unused;
    uint64_t len;           /* of the file */
    struct tb_hash128 hash; /* of all behind the header */
};

static const char magic[8] = "tbtoken";

/* ---- where ------------------------------------------------------------------
 */

bool tb_compiled_cache_folder(char *path, size_t size)
{
    const char *folder = getenv("XDG_CACHE_HOME");
    int len = -1;
    if (getenv("TRACEBAKE_NO_CACHE"))
        return false;
    if (folder && folder[0] == '/') {
        len = snprintf(path, size, "%s/tracebake", folder);
    } else if ((folder = getenv("HOME")) && folder[0] == '/') {
        len = snprintf(path, size, "%s/.cache/tracebake", folder);
    }
    return len > 0 && (size_t)len < size;
}

// Which file it is, as far as that can be told without reading it.
static int spell_file(const char *path, char *key, size_t size)
{
    struct stat info = {0};
    if (*path && stat(path, &info) != 0)
        return snprintf(key, size, "none");
    return snprintf(
        key, size, "%llx %llu %llu %lld.%09ld", (unsigned long long)info.st_dev,
        (unsigned long long)info.st_ino, (unsigned long long)info.st_size,
        (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

/* A JSON file says all. Of others the name may count, and a configuration
 * beside them. */
static void spell_place(const char *path, char *key, size_t size)
{
    char config[4096], file[256] = "";
    key[0] = '\0';
    if (!*path || tb_span_ends_with(tb_span_of(path), TB_SPAN(".json")))
        return;
    const char *slash = strrchr(path, '/');
    if (tb_tokenizer_config_path(path, config, sizeof(config)))
        (void)spell_file(config, file, sizeof(file));
    (void)snprintf(key, size, "%s %.255s", file, slash ? slash + 1 : path);
}

bool tb_compiled_path(const struct tb_rank_source *source, char *path,
                      size_t size)
{
    char folder[2048], file[256], place[600], key[1024];
    const char *source_path = source->path;
    if (!tb_compiled_cache_folder(folder, sizeof(folder)) ||
        (*source_path && access(source_path, F_OK) != 0))
        return false;
    (void)spell_file(source_path, file, sizeof(file));
    spell_place(source_path, place, sizeof(place));
    int len = snprintf(
        key, sizeof(key), "%d %llx %s %s %s", FORMAT_VERSION,
        *source_path ? 0 : (unsigned long long)tb_tokenizer_builtin_version(),
        file, place, source->name ? source->name : "");
    struct tb_hash128 name =
        tb_hash128((struct tb_span){(const uint8_t *)key, (size_t)len}, 0);
    len = snprintf(path, size, "%s/%016llx%016llx.tok", folder,
                   (unsigned long long)name.high, (unsigned long long)name.low);
    return len > 0 && (size_t)len < size;
}

/* ---- writing ----------------------------------------------------------------
 */

static struct header header_of(size_t len, struct tb_hash128 hash)
{
    struct header header = {.version = FORMAT_VERSION,
                            .byte_order = 1,
                            .word_len = sizeof(size_t),
                            .len = len,
                            .hash = hash};
    memcpy(header.magic, magic, sizeof(magic));
    return header;
}

static tb_status write_form(const struct tb_compiled_form *form,
                            struct tb_output *output)
{
    struct tb_span parts[TB_FORM_PARTS];
    size_t count = tb_form_parts(form, parts);
    struct header header =
        header_of(form->len, tb_hash128_of_parts(parts, count, 0));
    struct tb_span first = {(const uint8_t *)&header, sizeof(header)};
    TB_TRY(tb_output_write(output, first, NULL));
    for (size_t i = 0; i < count; i++)
        TB_TRY(tb_output_write(output, parts[i], NULL));
    return tb_output_commit(output, NULL);
}

tb_status tb_compiled_save(const struct tb_tokenizer *tokenizer,
                           const char *path)
{
    struct tb_compiled_form form = {.out = TB_BUFFER(UINT32_MAX),
                                    .len = sizeof(struct header)};
    struct tb_tokenizer copy = *tokenizer;
    struct tb_output *output = NULL;
    tb_form_tokenizer(&form, &copy);
    tb_status status = form.status;
    if (status == TB_OK) {
        tb_path_make_folders(path, 0700);
        status = tb_output_open(path, &output, NULL);
    }
    if (status == TB_OK) {
        tb_output_set_disposable(output);
        status = write_form(&form, output);
    }
    tb_output_close(output);
    tb_buffer_release(&form.out);
    return status;
}

/* ---- reading ----------------------------------------------------------------
 */

static bool has_header(struct tb_span file)
{
    struct header header;
    if (file.len < sizeof(header))
        return false;
    struct tb_span content = tb_span_from(file, sizeof(header));
    struct header wanted = header_of(file.len, tb_hash128(content, 0));
    memcpy(&header, file.ptr, sizeof(header));
    return memcmp(&header, &wanted, sizeof(header)) == 0;
}

tb_status tb_compiled_load(const char *path, struct tb_tokenizer **tokenizer)
{
    struct tb_compiled_form form = {.is_reading = true,
                                    .at = sizeof(struct header)};
    if (tb_map_file(path, &form.in) != TB_OK)
        return TB_ERR_NOT_FOUND;
    struct tb_tokenizer *made;
    if (!has_header(form.in) || tb_tokenizer_new(&made) != TB_OK) {
        tb_unmap_file(form.in);
        return TB_ERR_NOT_FOUND;
    }
    made->mapped = form.in; // from here on, the tokenizer's
    tb_form_tokenizer(&form, made);
    if (form.status != TB_OK || form.at != form.in.len) {
        tb_tokenizer_free(made);
        return TB_ERR_NOT_FOUND;
    }
    *tokenizer = made;
    return TB_OK;
}
