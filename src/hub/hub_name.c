#include "hub_name.h"

#include <string.h>

#include "path.h"

enum { SHORT_COMMIT_MIN = 5 };

static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "0123456789-_.";

static bool is_plain(struct tb_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\0' || !strchr(plain, text.ptr[i]))
            return false;
    return true;
}

static bool is_hex(struct tb_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\0' ||
            !strchr("0123456789abcdefABCDEF", text.ptr[i]))
            return false;
    return true;
}

bool tb_hub_is_file_name(struct tb_span text)
{
    return text.len > 0 && text.ptr[0] != '.' && is_plain(text);
}

bool tb_hub_is_commit(struct tb_span text)
{
    return text.len == TB_HUB_COMMIT_LEN && is_hex(text);
}

bool tb_hub_is_short_commit(struct tb_span text)
{
    return text.len >= SHORT_COMMIT_MIN && text.len < TB_HUB_COMMIT_LEN &&
           is_hex(text);
}

/* The hub's rules; "--" would be read as the '/' of another name. */
static bool is_part(struct tb_span text)
{
    if (text.len == 0 || text.len > TB_HUB_PART_MAX || !is_plain(text))
        return false;
    uint8_t first = text.ptr[0], last = text.ptr[text.len - 1];
    return first != '.' && first != '-' && last != '.' && last != '-' &&
           !tb_span_contains(text, TB_SPAN("--")) &&
           !tb_span_contains(text, TB_SPAN(".."));
}

// What names a file is none on the hub, even if it is not there.
static bool is_like_a_file(struct tb_span text)
{
    return tb_span_ends_with(text, TB_SPAN(".json")) ||
           tb_span_ends_with(text, TB_SPAN(".model")) ||
           tb_span_ends_with(text, TB_SPAN(".tiktoken"));
}

// Branches and tags may have folders: "refs/pr/1".
static bool is_revision(const char *text)
{
    if (strlen(text) > TB_HUB_REVISION_MAX || strstr(text, ".."))
        return false;
    for (;;) {
        size_t len = strcspn(text, "/");
        struct tb_span part = {(const uint8_t *)text, len};
        if (!tb_hub_is_file_name(part))
            return false;
        if (text[len] == '\0')
            return true;
        text += len + 1;
    }
}

static bool set_repo(struct tb_hub_name *name, struct tb_span repo)
{
    size_t org_len = 0;
    while (org_len < repo.len && repo.ptr[org_len] != '/')
        org_len++;
    bool is_bare = org_len == repo.len;
    struct tb_span org = {repo.ptr, org_len};
    struct tb_span own = is_bare ? org : tb_span_from(repo, org_len + 1);
    if (!is_part(org) || !is_part(own) || is_like_a_file(own))
        return false;
    return tb_path_format(name->repo, sizeof(name->repo), "%.*s", (int)repo.len,
                          (const char *)repo.ptr) &&
           tb_path_format(name->folder, sizeof(name->folder),
                          "models--%.*s%s%.*s", is_bare ? 0 : (int)org.len,
                          (const char *)org.ptr, is_bare ? "" : "--",
                          (int)own.len, (const char *)own.ptr);
}

bool tb_hub_name_parse(const char *text, struct tb_hub_name *name)
{
    const char *at = strchr(text, '@');
    struct tb_span repo = tb_span_of(text);
    *name = (struct tb_hub_name){.has_revision = at != NULL};
    if (at)
        repo.len = (size_t)(at - text);
    const char *revision = at ? at + 1 : "main";
    return is_revision(revision) && set_repo(name, repo) &&
           tb_path_format(name->revision, sizeof(name->revision), "%s",
                          revision);
}

bool tb_hub_name_of_folder(const char *folder, struct tb_hub_name *name)
{
    static const char prefix[] = "models--";
    char text[sizeof(name->repo)];
    if (strncmp(folder, prefix, strlen(prefix)) != 0)
        return false;
    const char *repo = folder + strlen(prefix);
    const char *border = strstr(repo, "--");
    int org_len = border ? (int)(border - repo) : 0;
    return tb_path_format(text, sizeof(text), "%.*s%s%s", org_len, repo,
                          border ? "/" : "", border ? border + 2 : repo) &&
           tb_hub_name_parse(text, name) && !name->has_revision;
}

bool tb_hub_name_is_bare(const struct tb_hub_name *name)
{
    return !strchr(name->repo, '/');
}
