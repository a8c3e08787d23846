#include "hub_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "path.h"

enum {
    CONNECT_S = 10,
    STALL_S = 20, // without a byte
    TIMEOUT_MAX_S = 3600
};

static const char *text_of(const char *variable)
{
    const char *text = getenv(variable);
    return text && *text ? text : NULL;
}

static bool is_set(const char *variable)
{
    static const char *const yes[] = {"1", "on", "yes", "true"};
    const char *text = text_of(variable);
    for (size_t i = 0; text && i < sizeof(yes) / sizeof(yes[0]); i++)
        if (strcasecmp(text, yes[i]) == 0)
            return true;
    return false;
}

const char *tb_hub_offline_reason(void)
{
    // As the original has it, the second counts only without the first.
    if (text_of("HF_HUB_OFFLINE"))
        return is_set("HF_HUB_OFFLINE") ? "HF_HUB_OFFLINE" : NULL;
    return is_set("TRANSFORMERS_OFFLINE") ? "TRANSFORMERS_OFFLINE" : NULL;
}

/* ---- places ----------------------------------------------------------- */

// A value that no shell has seen may begin with "~/".
static bool expand(const char *text, char *path, size_t size)
{
    const char *home = text_of("HOME");
    if (home && text[0] == '~' && (text[1] == '/' || text[1] == '\0'))
        return tb_path_format(path, size, "%s%s", home, text + 1);
    return tb_path_format(path, size, "%s", text);
}

static bool find_home(char *path, size_t size)
{
    const char *folder = text_of("HF_HOME");
    if (folder)
        return expand(folder, path, size);
    folder = text_of("XDG_CACHE_HOME");
    if (folder)
        return tb_path_format(path, size, "%s/huggingface", folder);
    folder = text_of("HOME");
    return folder &&
           tb_path_format(path, size, "%s/.cache/huggingface", folder);
}

bool tb_hub_cache_folder(char *path, size_t size)
{
    char home[TB_PATH_SIZE];
    const char *folder = text_of("HF_HUB_CACHE");
    if (!folder)
        folder = text_of("HUGGINGFACE_HUB_CACHE");
    if (folder)
        return expand(folder, path, size);
    return find_home(home, sizeof(home)) &&
           tb_path_format(path, size, "%s/hub", home);
}

/* ---- the token -------------------------------------------------------- */

static bool find_token_file(char *path, size_t size)
{
    char home[TB_PATH_SIZE];
    const char *file = text_of("HF_TOKEN_PATH");
    if (file)
        return expand(file, path, size);
    return find_home(home, sizeof(home)) &&
           tb_path_format(path, size, "%s/token", home);
}

/* Without the white space around. A line break within would be another header
 * field, so what is no plain word is refused. */
static tb_status set_token(struct tb_hub_settings *settings, const char *text,
                           const char *from, struct tb_error *error)
{
    text += strspn(text, " \t\r\n");
    size_t len = strcspn(text, " \t\r\n");
    bool is_word = text[len + strspn(text + len, " \t\r\n")] == '\0' &&
                   len < sizeof(settings->token);
    for (size_t i = 0; i < len; i++)
        is_word = is_word && text[i] > ' ' && text[i] < 0x7F;
    if (!is_word)
        return tb_fail(error, TB_ERR_VALUE,
                       "what stands in %.200s is no token of a hub", from);
    memcpy(settings->token, text, len);
    settings->token[len] = '\0';
    return TB_OK;
}

static tb_status read_token_file(struct tb_hub_settings *settings,
                                 struct tb_error *error)
{
    char path[TB_PATH_SIZE], text[sizeof(settings->token) + 16];
    if (!find_token_file(path, sizeof(path)))
        return TB_OK;
    FILE *file = fopen(path, "rbe");
    if (!file)
        return TB_OK;
    size_t len = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    text[len] = '\0';
    return set_token(settings, text, path, error);
}

static tb_status read_token(struct tb_hub_settings *settings,
                            struct tb_error *error)
{
    static const char *const names[] = {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"};
    settings->is_token_barred = is_set("HF_HUB_DISABLE_IMPLICIT_TOKEN");
    if (settings->is_token_barred)
        return TB_OK;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (text_of(names[i]))
            return set_token(settings, text_of(names[i]), names[i], error);
    return read_token_file(settings, error);
}

/* ---- the rest --------------------------------------------------------- */

static tb_status read_endpoint(struct tb_hub_settings *settings,
                               struct tb_error *error)
{
    const char *text = text_of("HF_ENDPOINT");
    if (!text)
        text = "https://huggingface.co";
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '/')
        len--;
    bool is_address =
        strncmp(text, "https://", 8) == 0 || strncmp(text, "http://", 7) == 0;
    if (!is_address || len >= sizeof(settings->endpoint) ||
        strpbrk(text, " \t\r\n?#@"))
        return tb_fail(error, TB_ERR_VALUE,
                       "HF_ENDPOINT is no address such as "
                       "https://huggingface.co: '%.100s'",
                       strchr(text, '@') ? "(has a name in it)" : text);
    memcpy(settings->endpoint, text, len);
    settings->endpoint[len] = '\0';
    return TB_OK;
}

static unsigned seconds_of(const char *variable, unsigned initial)
{
    const char *text = text_of(variable);
    unsigned long seconds = text ? strtoul(text, NULL, 10) : 0;
    return seconds > 0 && seconds <= TIMEOUT_MAX_S ? (unsigned)seconds
                                                   : initial;
}

tb_status tb_hub_settings_read(struct tb_hub_settings *settings,
                               struct tb_error *error)
{
    *settings = (struct tb_hub_settings){
        .connect_s = seconds_of("HF_HUB_ETAG_TIMEOUT", CONNECT_S),
        .stall_s = seconds_of("HF_HUB_DOWNLOAD_TIMEOUT", STALL_S),
    };
    TB_TRY(read_endpoint(settings, error));
    return read_token(settings, error);
}
