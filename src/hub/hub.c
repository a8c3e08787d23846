#include "hub.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "blob.h"
#include "temp_file.h"
#include "transfer.h"

/* Longest list of a model's files that is read, bytes. */
#define INFO_MAX_LEN ((size_t)64 << 20)

/* ---- what there is ---------------------------------------------------- */

// Branches may have folders; the address takes a revision as one word.
static bool make_info_url(const struct tb_transfer *transfer, char *url,
                          size_t size)
{
    char revision[3 * TB_HUB_REVISION_MAX + 1];
    size_t len = 0;
    for (const char *at = transfer->name->revision; *at; at++) {
        if (*at != '/') {
            revision[len++] = *at;
            continue;
        }
        memcpy(revision + len, "%2F", 3);
        len += 3;
    }
    return tb_path_format(url, size, "%s/api/models/%s/revision/%.*s",
                          transfer->settings.endpoint, transfer->name->repo,
                          (int)len, revision);
}

static tb_status fail_info(const struct tb_transfer *transfer, tb_status status,
                           const struct tb_error *why, struct tb_error *error)
{
    if (status == TB_ERR_MEMORY || status == TB_ERR_LIMIT)
        return tb_fail(error, status, "cannot read the list of files: %s",
                       tb_status_name(status));
    return tb_fail(error, status,
                   "what answers at %.100s is no Hugging Face hub (%.120s): "
                   "check HF_ENDPOINT and the proxy",
                   transfer->settings.endpoint, why->message);
}

static tb_status read_info(struct tb_transfer *transfer,
                           const struct tb_hub_files *files,
                           struct tb_model_info *info, struct tb_error *error)
{
    struct tb_buffer json = TB_BUFFER(INFO_MAX_LEN);
    struct tb_http_answer answer;
    struct tb_error why = {0};
    char url[TB_HTTP_URL_SIZE];
    if (!make_info_url(transfer, url, sizeof(url)))
        return tb_fail(error, TB_ERR_LIMIT, "an address is too long");
    tb_status status = tb_transfer_send(transfer, url, &json, &answer, error);
    bool is_good = status == TB_OK && answer.fault == TB_HTTP_ANSWERED &&
                   answer.status == 200;
    if (status == TB_OK && !is_good)
        status = tb_transfer_fail(transfer, &answer, "", error);
    if (is_good) {
        status = tb_model_info_read(tb_buffer_span(&json), files, info, &why);
        if (status != TB_OK)
            status = fail_info(transfer, status, &why, error);
    }
    tb_buffer_release(&json);
    return status;
}

/* ---- one file --------------------------------------------------------- */

// Where it is, what it is called in the cache, and how long it is.
static tb_status check_head(const struct tb_transfer *transfer,
                            const char *commit, const char *file,
                            const struct tb_http_answer *answer,
                            struct tb_error *error)
{
    const struct tb_http_head *head = &answer->head;
    const struct tb_http_etag *etag =
        head->linked_etag.text[0] ? &head->linked_etag : &head->etag;
    bool is_other =
        head->commit.text[0] && strcmp(head->commit.text, commit) != 0;
    if (head->commit.is_bad || is_other)
        return tb_fail(error, TB_ERR_VALUE,
                       "%.100s gives '%.96s' of another commit than it was "
                       "asked for: try again",
                       transfer->settings.endpoint, file);
    if (head->linked_etag.is_bad || !etag->text[0])
        return tb_fail(error, TB_ERR_VALUE,
                       "%.100s gives no usable ETag for '%.96s': what answers "
                       "there is no Hugging Face hub",
                       transfer->settings.endpoint, file);
    return TB_OK;
}

static struct tb_blob blob_of(const struct tb_http_answer *answer,
                              const char *file)
{
    const struct tb_http_head *head = &answer->head;
    struct tb_blob blob = {
        .file = file,
        .etag = head->linked_etag.text[0] ? head->linked_etag.text
                                          : head->etag.text,
        .url = answer->url,
        .len = head->linked_len,
    };
    // That of a redirection is its own.
    if (blob.len == TB_HTTP_NO_LEN && answer->status == 200)
        blob.len = head->content_len;
    return blob;
}

static tb_status ask_for_file(struct tb_transfer *transfer, const char *commit,
                              const char *file, struct tb_http_answer *answer,
                              struct tb_error *error)
{
    char url[TB_HTTP_URL_SIZE];
    if (!tb_path_format(url, sizeof(url), "%s/%s/resolve/%s/%s",
                        transfer->settings.endpoint, transfer->name->repo,
                        commit, file))
        return tb_fail(error, TB_ERR_LIMIT, "an address is too long");
    TB_TRY(tb_transfer_send(transfer, url, NULL, answer, error));
    bool is_good = answer->fault == TB_HTTP_ANSWERED &&
                   (answer->status == 200 || answer->status / 100 == 3);
    if (!is_good)
        return tb_transfer_fail(transfer, answer, file, error);
    return check_head(transfer, commit, file, answer, error);
}

static tb_status fetch_file(struct tb_transfer *transfer, const char *commit,
                            const char *file, struct tb_error *error)
{
    struct tb_http_answer answer;
    char path[TB_PATH_SIZE];
    if (tb_path_format(path, sizeof(path), "%s/snapshots/%s/%s",
                       transfer->model, commit, file) &&
        tb_path_is_file(path)) {
        transfer->fetched.kept_count++;
        return TB_OK;
    }
    transfer->progress.file = file;
    transfer->progress.bytes_done = 0;
    TB_TRY(ask_for_file(transfer, commit, file, &answer, error));
    struct tb_blob blob = blob_of(&answer, file);
    bool is_known = blob.len != TB_HTTP_NO_LEN;
    if (is_known && blob.len > TB_BLOB_MAX_LEN)
        return tb_fail(error, TB_ERR_LIMIT,
                       "'%.96s' of '%.150s' has %llu MB, more than any "
                       "tokenizer",
                       file, transfer->name->repo,
                       (unsigned long long)(blob.len >> 20));
    transfer->progress.bytes_total = is_known ? blob.len : 0;
    TB_TRY(tb_blob_fetch(transfer, &blob, error));
    return tb_blob_link(transfer, &blob, commit, error);
}

/* ---- all of them ------------------------------------------------------ */

static tb_status fill_ref(int fd, const char *beside, const char *path,
                          const char *commit, struct tb_error *error)
{
    size_t len = strlen(commit);
    if (write(fd, commit, len) == (ssize_t)len && fsync(fd) == 0 &&
        rename(beside, path) == 0)
        return TB_OK;
    tb_status status = tb_transfer_fail_write(path, error);
    (void)unlink(beside);
    return status;
}

/* Branches and tags lead to commits; written beside and renamed, so that
 * nobody reads half of it. */
static tb_status write_ref(const struct tb_transfer *transfer,
                           const char *commit, struct tb_error *error)
{
    char path[TB_PATH_SIZE];
    struct tb_buffer beside = TB_BUFFER(2 * TB_PATH_SIZE);
    int fd = -1;
    if (strcmp(transfer->name->revision, commit) == 0)
        return TB_OK;
    if (!tb_path_format(path, sizeof(path), "%s/refs/%s", transfer->model,
                        transfer->name->revision))
        return tb_fail(error, TB_ERR_LIMIT, "the cache's path is too long");
    tb_path_make_folders(path, 0777);
    tb_temp_file_sweep(path);
    tb_status status = tb_temp_file_create(path, 0666, &beside, &fd);
    if (status == TB_OK)
        status = fill_ref(fd, (const char *)beside.ptr, path, commit, error);
    else if (status == TB_ERR_MEMORY)
        tb_fail(error, status, "out of memory");
    else
        status = tb_transfer_fail_write(path, error);
    if (fd >= 0)
        (void)close(fd); // with its lock
    tb_buffer_release(&beside);
    return status;
}

static tb_status fail_files(const struct tb_transfer *transfer,
                            const struct tb_hub_files *files,
                            struct tb_error *error)
{
    char list[160] = "";
    for (size_t i = 0, len = 0; files->main[i] && len < sizeof(list) - 1; i++)
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%.40s",
                                i > 0 ? ", " : "", files->main[i]);
    return tb_fail(error, TB_ERR_NOT_FOUND,
                   "'%.200s' on the hub has none of %s", transfer->name->repo,
                   list);
}

static tb_status fetch_all(struct tb_transfer *transfer,
                           const struct tb_hub_files *files,
                           struct tb_hub_place *place, struct tb_error *error)
{
    struct tb_model_info info;
    transfer->progress.file = "";
    if (!tb_transfer_tell(transfer))
        return tb_fail(error, TB_ERR_INTERRUPTED, "interrupted");
    TB_TRY(read_info(transfer, files, &info, error));
    if (!info.main[0])
        return fail_files(transfer, files, error);
    if (info.main_count > 1)
        return tb_fail(
            error, TB_ERR_VALUE,
            "'%.200s' on the hub has %u files such as '%.96s': fetch "
            "the one that is meant and give its path",
            transfer->name->repo, info.main_count, info.main);
    for (size_t i = 0; i < info.beside_count; i++)
        TB_TRY(fetch_file(transfer, info.commit, info.beside[i], error));
    TB_TRY(fetch_file(transfer, info.commit, info.main, error));
    TB_TRY(write_ref(transfer, info.commit, error));
    *place = (struct tb_hub_place){0};
    memcpy(place->repo, transfer->name->repo, sizeof(place->repo));
    memcpy(place->commit, info.commit, sizeof(place->commit));
    bool fits =
        tb_path_format(place->folder, sizeof(place->folder), "%s/snapshots/%s",
                       transfer->model, info.commit) &&
        tb_path_format(place->path, sizeof(place->path), "%s/%s", place->folder,
                       info.main);
    return fits ? TB_OK
                : tb_fail(error, TB_ERR_LIMIT, "the cache's path is too long");
}

static tb_status begin(struct tb_transfer *transfer, struct tb_error *error)
{
    const char *offline = tb_hub_offline_reason();
    if (offline)
        return tb_fail(error, TB_ERR_NOT_FOUND,
                       "%s is set, so that nothing is fetched: unset it, or "
                       "fetch '%.150s' where there is a network",
                       offline, transfer->name->repo);
    if (!tb_hub_cache_folder(transfer->cache, sizeof(transfer->cache)) ||
        !tb_path_format(transfer->model, sizeof(transfer->model), "%s/%s",
                        transfer->cache, transfer->name->folder))
        return tb_fail(error, TB_ERR_IO,
                       "there is no place for the Hugging Face cache: set "
                       "HF_HUB_CACHE to a folder");
    TB_TRY(tb_hub_settings_read(&transfer->settings, error));
    return tb_http_new(&transfer->settings, &transfer->http, error);
}

tb_status tb_hub_fetch(const struct tb_hub_name *name,
                       const struct tb_hub_files *files,
                       const struct tb_hub_access *access,
                       struct tb_hub_place *place,
                       struct tb_hub_fetched *fetched, struct tb_error *error)
{
    struct tb_transfer transfer = {
        .name = name,
        .access = access,
        .progress = {.repo = name->repo, .file = ""},
    };
    tb_status status = begin(&transfer, error);
    if (status == TB_OK)
        status = fetch_all(&transfer, files, place, error);
    tb_http_free(transfer.http);
    if (fetched)
        *fetched = transfer.fetched;
    return status;
}
