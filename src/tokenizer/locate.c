/* Where a tokenizer's file is: a path, the built-in one, a name in the Hugging
 * Face cache, or one on the hub, in this order. Never another tokenizer than
 * the one that was asked for. */
#include "encoding.h"
#include "tokenizer_model.h"

#include <string.h>

#include "hub.h"
#include "hub_settings.h"

/* What a tokenizer is made of, the best form first; and what lies beside it
 * and says how messages become a prompt. config.json is for the replay: without
 * it transformers does not load a tokenizer from the cache alone. */
static const char *const main_files[] = {"tokenizer.json",  "tekken.json",
                                         "tokenizer.model", "tiktoken.model",
                                         "*.tiktoken",      NULL};
static const char *const beside_files[] = {
    "tokenizer_config.json",   "chat_template.jinja", "chat_template.json",
    "special_tokens_map.json", "config.json",         NULL};
static const struct tb_hub_files files = {main_files, beside_files};

const struct tb_hub_files *tb_tokenizer_files(void)
{
    return &files;
}

bool tb_tokenizer_is_builtin(const char *name)
{
    return strcmp(name, "builtin") == 0 || strcmp(name, "o200k_base") == 0;
}

static tb_status copy_path(const char *from, char *path, size_t size,
                           struct tb_error *error)
{
    if (tb_path_format(path, size, "%s", from))
        return TB_OK;
    return tb_fail(error, TB_ERR_LIMIT, "a path is too long");
}

static bool count_rank_file(void *context, const char *name)
{
    unsigned *count = context;
    *count += tb_span_ends_with(tb_span_of(name), TB_SPAN(".tiktoken"));
    return true;
}

/* A rank file that was found by its name's end must be the only one. */
static tb_status check_only(const char *path, struct tb_error *error)
{
    char folder[TB_PATH_SIZE];
    unsigned count = 0;
    if (!tb_span_ends_with(tb_span_of(path), TB_SPAN(".tiktoken")) ||
        !tb_path_format(folder, sizeof(folder), "%.*s",
                        (int)(strrchr(path, '/') - path), path))
        return TB_OK;
    TB_TRY(tb_path_list(folder, count_rank_file, &count));
    if (count < 2)
        return TB_OK;
    tb_fail(error, TB_ERR_VALUE,
            "folder has %u files *.tiktoken: name one of them", count);
    tb_error_set_path(error, folder);
    return TB_ERR_VALUE;
}

static tb_status locate_folder(const char *name, char *path, size_t size,
                               struct tb_error *error)
{
    tb_status status = tb_hub_find_main(name, &files, path, size);
    if (status == TB_OK)
        return check_only(path, error);
    if (status == TB_ERR_MEMORY)
        return tb_fail(error, status, "out of memory");
    tb_fail(error, TB_ERR_NOT_FOUND,
            "folder has no tokenizer.json, tekken.json, tokenizer.model, "
            "tiktoken.model or *.tiktoken");
    tb_error_set_path(error, name);
    return TB_ERR_NOT_FOUND;
}

/* tiktoken's own copy of its file; of encodings that share one, the name that
 * tells them apart. */
static tb_status locate_encoding(const struct tb_encoding *encoding, char *path,
                                 size_t size, struct tb_error *error)
{
    if (!tb_encoding_find_cached(encoding, path, size))
        return tb_fail(error, TB_ERR_NOT_FOUND,
                       "tiktoken's %s is not in its cache (%.110s): let "
                       "tiktoken fetch it once, or give its file",
                       encoding->name, path[0] ? path : "no folder");
    if (tb_encoding_of_cached(path) != encoding)
        return copy_path(encoding->name, path, size, error);
    return TB_OK;
}

// Everything that was tried, and why the last of it failed.
static tb_status fail_all(const char *name, const struct tb_hub_name *hub_name,
                          tb_status status, const struct tb_error *why,
                          struct tb_error *error)
{
    char cache[TB_PATH_SIZE];
    if (!tb_hub_cache_folder(cache, sizeof(cache)))
        (void)tb_path_format(cache, sizeof(cache), "no home");
    return tb_fail(error, status,
                   "no tokenizer '%.80s': no such file or folder, not in the "
                   "Hugging Face cache (%.90s/%.80s), and %s; or give a path, "
                   "or --tokenizer builtin",
                   name, cache, hub_name->folder, why->message);
}

static tb_status locate_on_hub(const char *name,
                               const struct tb_hub_name *hub_name,
                               const struct tb_hub_access *access,
                               struct tb_hub_place *place,
                               struct tb_error *error)
{
    struct tb_error why = {.message = "nothing is fetched here"};
    tb_status status = TB_ERR_NOT_FOUND;
    if (access)
        status = tb_hub_fetch(hub_name, &files, access, place, NULL, &why);
    if (status == TB_OK)
        return TB_OK;
    if (status == TB_ERR_INTERRUPTED || status == TB_ERR_MEMORY)
        return tb_fail(error, status, "%s", why.message);
    return fail_all(name, hub_name, status, &why, error);
}

/* "gpt2" is a name of tiktoken's and a model. What is no model is told of as
 * the first, so that nobody cares why. */
static bool is_on_hub(const struct tb_hub_name *hub_name,
                      const struct tb_hub_access *access,
                      struct tb_hub_place *place)
{
    return access &&
           tb_hub_fetch(hub_name, &files, access, place, NULL, NULL) == TB_OK;
}

tb_status tb_tokenizer_locate(const char *name,
                              const struct tb_hub_access *access, char *path,
                              size_t size, struct tb_error *error)
{
    struct tb_hub_name hub_name;
    struct tb_hub_place place;
    if (tb_tokenizer_is_builtin(name))
        return copy_path(name, path, size, error);
    if (tb_path_is_folder(name))
        return locate_folder(name, path, size, error);
    if (tb_path_is_file(name))
        return copy_path(name, path, size, error);
    if (!tb_hub_name_parse(name, &hub_name))
        return tb_fail(error, TB_ERR_NOT_FOUND,
                       "no tokenizer '%.200s': no such file or folder, and no "
                       "name on the Hugging Face hub; give a path, org/model, "
                       "or --tokenizer builtin",
                       name);
    tb_status status = tb_hub_cache_find(&hub_name, &files, &place, error);
    const struct tb_encoding *encoding = tb_encoding_of_name(name);
    if (status == TB_ERR_NOT_FOUND && encoding && encoding->cache_name) {
        status = locate_encoding(encoding, path, size, error);
        if (status != TB_ERR_NOT_FOUND || !is_on_hub(&hub_name, access, &place))
            return status;
        status = TB_OK;
    }
    if (status == TB_ERR_NOT_FOUND)
        status = locate_on_hub(name, &hub_name, access, &place, error);
    TB_TRY(status);
    TB_TRY(check_only(place.path, error));
    return copy_path(place.path, path, size, error);
}
