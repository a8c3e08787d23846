#include "hub_cache.h"

#include <stdio.h>
#include <string.h>

#include "hub_settings.h"

enum { REFS_SIZE = 256 };

/* ---- one model -------------------------------------------------------- */

struct offer {
    const struct tb_hub_files *files;
    struct tb_model_info info;
};

static bool offer_file(void *context, const char *name)
{
    struct offer *offer = context;
    tb_model_info_offer(&offer->info, tb_span_of(name), offer->files);
    return true;
}

tb_status tb_hub_find_main(const char *folder, const struct tb_hub_files *files,
                           char *path, size_t size)
{
    struct offer offer = {.files = files};
    TB_TRY(tb_path_list(folder, offer_file, &offer));
    bool is_there =
        offer.info.main[0] &&
        tb_path_format(path, size, "%s/%s", folder, offer.info.main) &&
        tb_path_is_file(path);
    return is_there ? TB_OK : TB_ERR_NOT_FOUND;
}

static tb_status set_place(const char *model, const char *commit,
                           const struct tb_hub_files *files,
                           struct tb_hub_place *place)
{
    if (!tb_path_format(place->commit, sizeof(place->commit), "%s", commit) ||
        !tb_path_format(place->folder, sizeof(place->folder), "%s/snapshots/%s",
                        model, commit))
        return TB_ERR_NOT_FOUND;
    return tb_hub_find_main(place->folder, files, place->path,
                            sizeof(place->path));
}

// The commit that a branch or tag leads to, as the cache remembers it.
static bool read_ref(const char *path, char commit[TB_HUB_COMMIT_LEN + 1])
{
    char text[TB_HUB_COMMIT_LEN + 8];
    FILE *file = fopen(path, "rbe");
    if (!file)
        return false;
    size_t len = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    text[len] = '\0';
    text[strcspn(text, "\r\n \t")] = '\0';
    if (!tb_hub_is_commit(tb_span_of(text)))
        return false;
    memcpy(commit, text, TB_HUB_COMMIT_LEN + 1);
    return true;
}

struct commit_search {
    const char *model;
    const char *begin; /* of the commit */
    const struct tb_hub_files *files;
    struct tb_hub_place place, found;
    unsigned found_count;
    tb_status status;
};

static bool try_commit(void *context, const char *name)
{
    struct commit_search *search = context;
    if (!tb_hub_is_commit(tb_span_of(name)) ||
        strncmp(name, search->begin, strlen(search->begin)) != 0)
        return true;
    search->status =
        set_place(search->model, name, search->files, &search->place);
    if (search->status == TB_OK) {
        search->found = search->place;
        search->found_count++;
    }
    return search->status != TB_ERR_MEMORY;
}

static tb_status find_short_commit(const char *model, const char *revision,
                                   const struct tb_hub_files *files,
                                   struct tb_hub_place *place,
                                   struct tb_error *error)
{
    struct commit_search search = {
        .model = model, .begin = revision, .files = files};
    char folder[TB_PATH_SIZE];
    if (!tb_path_format(folder, sizeof(folder), "%s/snapshots", model))
        return TB_ERR_NOT_FOUND;
    TB_TRY(tb_path_list(folder, try_commit, &search));
    if (search.status == TB_ERR_MEMORY)
        return search.status;
    if (search.found_count == 0)
        return TB_ERR_NOT_FOUND;
    if (search.found_count > 1)
        return tb_fail(error, TB_ERR_VALUE,
                       "%u commits in the cache begin with '%s': give more of "
                       "it",
                       search.found_count, revision);
    *place = search.found;
    return TB_OK;
}

static tb_status find_in_model(const char *model, const char *revision,
                               const struct tb_hub_files *files,
                               struct tb_hub_place *place,
                               struct tb_error *error)
{
    char path[TB_PATH_SIZE], commit[TB_HUB_COMMIT_LEN + 1];
    struct tb_span text = tb_span_of(revision);
    tb_status status = TB_ERR_NOT_FOUND;
    if (tb_path_format(path, sizeof(path), "%s/refs/%s", model, revision) &&
        read_ref(path, commit))
        status = set_place(model, commit, files, place);
    if (status != TB_ERR_NOT_FOUND)
        return status;
    if (tb_hub_is_commit(text))
        return set_place(model, revision, files, place);
    if (tb_hub_is_short_commit(text))
        return find_short_commit(model, revision, files, place, error);
    return TB_ERR_NOT_FOUND;
}

/* ---- a name without its organisation ---------------------------------- */

struct alias_search {
    const char *cache;
    const struct tb_hub_name *name;
    const struct tb_hub_files *files;
    struct tb_hub_place place, found;
    unsigned found_count;
    tb_status status;
    char list[160]; /* the models found, "a/x, b/x" */
};

static void add_to_list(char *list, size_t size, const char *word)
{
    size_t len = strlen(list);
    if (len + strlen(word) + 8 < size)
        (void)snprintf(list + len, size - len, "%s%s", len ? ", " : "", word);
    else if (len + 6 < size && !strstr(list, ", ..."))
        (void)snprintf(list + len, size - len, ", ...");
}

static bool try_alias(void *context, const char *folder)
{
    struct alias_search *search = context;
    struct tb_hub_name name;
    char model[TB_PATH_SIZE];
    if (!tb_hub_name_of_folder(folder, &name) || tb_hub_name_is_bare(&name) ||
        strcmp(strchr(name.repo, '/') + 1, search->name->repo) != 0 ||
        !tb_path_format(model, sizeof(model), "%s/%s", search->cache, folder))
        return true;
    search->status = find_in_model(model, search->name->revision, search->files,
                                   &search->place, NULL);
    if (search->status != TB_OK)
        return search->status != TB_ERR_MEMORY;
    search->found = search->place;
    memcpy(search->found.repo, name.repo, sizeof(name.repo));
    search->found_count++;
    add_to_list(search->list, sizeof(search->list), name.repo);
    return true;
}

static tb_status find_alias(const char *cache, const struct tb_hub_name *name,
                            const struct tb_hub_files *files,
                            struct tb_hub_place *place, struct tb_error *error)
{
    struct alias_search search = {.cache = cache, .name = name, .files = files};
    TB_TRY(tb_path_list(cache, try_alias, &search));
    if (search.status == TB_ERR_MEMORY)
        return search.status;
    if (search.found_count == 0)
        return TB_ERR_NOT_FOUND;
    if (search.found_count > 1)
        return tb_fail(error, TB_ERR_VALUE,
                       "'%s' could be any of %u models in the cache: %s; give "
                       "the whole name",
                       name->repo, search.found_count, search.list);
    *place = search.found;
    return TB_OK;
}

tb_status tb_hub_cache_find(const struct tb_hub_name *name,
                            const struct tb_hub_files *files,
                            struct tb_hub_place *place, struct tb_error *error)
{
    char cache[TB_PATH_SIZE], model[TB_PATH_SIZE];
    if (!tb_hub_cache_folder(cache, sizeof(cache)) ||
        !tb_path_format(model, sizeof(model), "%s/%s", cache, name->folder))
        return TB_ERR_NOT_FOUND;
    tb_status status =
        find_in_model(model, name->revision, files, place, error);
    if (status == TB_OK)
        memcpy(place->repo, name->repo, sizeof(place->repo));
    if (status == TB_ERR_NOT_FOUND && tb_hub_name_is_bare(name))
        status = find_alias(cache, name, files, place, error);
    return status;
}

/* ---- all there is ----------------------------------------------------- */

struct listing {
    const struct tb_hub_files *files;
    bool (*on_place)(void *context, const struct tb_hub_place *place,
                     const char *refs);
    void *context;
    const char *cache;
    char model[TB_PATH_SIZE];
    struct tb_hub_place place;
    char refs[REFS_SIZE];
    bool is_over;
    tb_status status; /* the first failure */
};

// Branches and tags with folders of their own are not walked into.
static bool list_ref(void *context, const char *name)
{
    struct listing *listing = context;
    char path[TB_PATH_SIZE], commit[TB_HUB_COMMIT_LEN + 1];
    bool is_temporary = name[0] == '.';
    if (!is_temporary &&
        tb_path_format(path, sizeof(path), "%s/refs/%s", listing->model,
                       name) &&
        read_ref(path, commit) && strcmp(commit, listing->place.commit) == 0)
        add_to_list(listing->refs, sizeof(listing->refs), name);
    return true;
}

static bool list_commit(void *context, const char *commit)
{
    struct listing *listing = context;
    char refs[TB_PATH_SIZE];
    if (!tb_hub_is_commit(tb_span_of(commit)))
        return true;
    tb_status status =
        set_place(listing->model, commit, listing->files, &listing->place);
    if (status == TB_ERR_NOT_FOUND)
        return true;
    listing->refs[0] = '\0';
    if (status == TB_OK &&
        tb_path_format(refs, sizeof(refs), "%s/refs", listing->model))
        status = tb_path_list(refs, list_ref, listing);
    listing->status = status;
    listing->is_over =
        status != TB_OK ||
        !listing->on_place(listing->context, &listing->place, listing->refs);
    return !listing->is_over;
}

static bool list_model(void *context, const char *folder)
{
    struct listing *listing = context;
    struct tb_hub_name name;
    char snapshots[TB_PATH_SIZE];
    if (!tb_hub_name_of_folder(folder, &name) ||
        !tb_path_format(listing->model, sizeof(listing->model), "%s/%s",
                        listing->cache, folder) ||
        !tb_path_format(snapshots, sizeof(snapshots), "%s/snapshots",
                        listing->model))
        return true;
    memcpy(listing->place.repo, name.repo, sizeof(name.repo));
    tb_status status = tb_path_list(snapshots, list_commit, listing);
    if (status != TB_OK)
        listing->status = status;
    return status == TB_OK && !listing->is_over;
}

tb_status tb_hub_cache_list(const struct tb_hub_files *files,
                            bool (*on_place)(void *context,
                                             const struct tb_hub_place *place,
                                             const char *refs),
                            void *context)
{
    char cache[TB_PATH_SIZE];
    if (!tb_hub_cache_folder(cache, sizeof(cache)))
        return TB_OK;
    struct listing listing = {.files = files,
                              .on_place = on_place,
                              .context = context,
                              .cache = cache};
    TB_TRY(tb_path_list(cache, list_model, &listing));
    return listing.status;
}
