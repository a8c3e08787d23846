/* Proves: whatever a hub answers and however connections end, a fetch ends; it
 * fails with a message, without the token in it, or what it gives is a file in
 * the cache at a commit, which is found there again; files that are called by
 * their SHA-256 have it, and nothing is left but what the next fetch takes up.
 *
 * Parts with a zero behind each: a name, HF_ENDPOINT, the file with the token;
 * then answers in two parts, one digit of enum tb_http_fault, three of the
 * status and the header fields, and the body. This file takes the place of
 * http.c, and nobody waits. */
#include "fuzz_files.h"

#include <ftw.h>
#include <string.h>
#include <time.h>

#include "digest.h"
#include "http.h"
#include "hub.h"

static const char *const main_files[] = {"tokenizer.json", "*.model", NULL};
static const char *const beside_files[] = {"config.json", "*.jinja", NULL};
static const struct tb_hub_files files = {main_files, beside_files};
static char cache[300];
static struct tb_span answers; // that are still to come

/* ---- instead of a network --------------------------------------------- */

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)wanted;
    (void)left;
    return 0;
}

tb_status tb_http_new(const struct tb_hub_settings *settings,
                      struct tb_http **http, struct tb_error *error)
{
    (void)error;
    FUZZ_CHECK(settings->endpoint[0]);
    *http = NULL;
    return TB_OK;
}

bool tb_http_sends_token(const struct tb_http *http)
{
    (void)http;
    return false;
}

void tb_http_free(struct tb_http *http)
{
    (void)http;
}

static void add_head(struct tb_http_head *head, struct tb_span text)
{
    while (text.len > 0) {
        const uint8_t *end = memchr(text.ptr, '\n', text.len);
        size_t len = end ? (size_t)(end - text.ptr) + 1 : text.len;
        tb_http_head_add(head, (struct tb_span){text.ptr, len});
        text = tb_span_from(text, len);
    }
}

// Of `text` the next digit, 0 where there is none.
static unsigned take_digit(struct tb_span *text)
{
    unsigned digit = text->len > 0 ? (unsigned)(*text->ptr - '0') % 10 : 0;
    *text = tb_span_from(*text, text->len > 0);
    return digit;
}

static void read_answer(struct tb_http_answer *answer, struct tb_span *body)
{
    struct tb_span head = fuzz_take_file(&answers.ptr, &answers.len);
    *body = fuzz_take_file(&answers.ptr, &answers.len);
    answer->fault =
        head.len ? (tb_http_fault)(take_digit(&head) % (TB_HTTP_OTHER + 1))
                 : TB_HTTP_NO_HOST;
    for (int i = 0; i < 3; i++)
        answer->status = 10 * answer->status + (long)take_digit(&head);
    answer->head = tb_http_head_none();
    add_head(&answer->head, head);
    answer->is_elsewhere = answer->status / 100 == 3;
}

tb_status tb_http_send(struct tb_http *http,
                       const struct tb_http_request *request,
                       struct tb_http_answer *answer, struct tb_error *error)
{
    struct tb_span body;
    (void)http;
    *answer = (struct tb_http_answer){.fault_text = "as it was told"};
    (void)snprintf(answer->url, sizeof(answer->url), "%s", request->url);
    read_answer(answer, &body);
    if (!request->on_wait(request->context))
        return tb_fail(error, TB_ERR_INTERRUPTED, "interrupted");
    bool is_body = !request->is_head &&
                   (answer->status == 200 || answer->status == 206) &&
                   answer->fault != TB_HTTP_NO_HOST;
    for (size_t step = body.len / 2; is_body && body.len > 0;) {
        size_t len = step > 0 ? step : body.len;
        TB_TRY(request->on_bytes(request->context, answer,
                                 (struct tb_span){body.ptr, len}));
        body = tb_span_from(body, len);
        step = 0;
    }
    return TB_OK;
}

/* ---- what lies in the cache ------------------------------------------- */

static int check_file(const char *path, const struct stat *info, int kind,
                      struct FTW *place)
{
    const char *name = path + place->base;
    char text[TB_DIGEST_TEXT_SIZE];
    struct tb_buffer content = TB_BUFFER(1 << 20);
    (void)info;
    FUZZ_CHECK(kind == FTW_D || name[0] != '.'); // nothing temporary
    if (kind != FTW_F || strlen(name) != TB_DIGEST_SHA256_DIGITS ||
        strspn(name, "0123456789abcdef") != TB_DIGEST_SHA256_DIGITS)
        return 0;
    char fingerprint[33];
    FUZZ_CHECK(fuzz_read_file(path, 1 << 14, &content, fingerprint) == TB_OK);
    struct tb_digest digest = tb_digest_begin(TB_SHA256);
    tb_digest_add(&digest, tb_buffer_span(&content));
    tb_digest_end(&digest, text);
    FUZZ_CHECK(strcmp(text, name) == 0);
    tb_buffer_release(&content);
    return 0;
}

static void check_place(const struct tb_hub_name *name,
                        const struct tb_hub_place *place)
{
    struct tb_hub_place found;
    FUZZ_CHECK(strncmp(place->path, cache, strlen(cache)) == 0);
    FUZZ_CHECK(!strstr(place->path, "/../") && tb_path_is_file(place->path));
    FUZZ_CHECK(tb_hub_is_commit(tb_span_of(place->commit)));
    FUZZ_CHECK(tb_hub_cache_find(name, &files, &found, NULL) == TB_OK);
    FUZZ_CHECK(strcmp(found.path, place->path) == 0);
}

static void set_up(struct tb_span endpoint, struct tb_span token)
{
    static const char *const unset[] = {"HF_HUB_OFFLINE",
                                        "TRANSFORMERS_OFFLINE", "HF_TOKEN",
                                        "HUGGING_FACE_HUB_TOKEN"};
    char text[400];
    for (size_t i = 0; i < sizeof(unset) / sizeof(unset[0]); i++)
        FUZZ_CHECK(unsetenv(unset[i]) == 0);
    (void)snprintf(cache, sizeof(cache), "%.250s", fuzz_path("cache"));
    FUZZ_CHECK(setenv("HF_HUB_CACHE", cache, 1) == 0);
    FUZZ_CHECK(setenv("HF_TOKEN_PATH", fuzz_put("token", token), 1) == 0);
    (void)snprintf(text, sizeof(text), "%.*s",
                   (int)(endpoint.len < 390 ? endpoint.len : 390),
                   (const char *)endpoint.ptr);
    FUZZ_CHECK(setenv("HF_ENDPOINT", text, 1) == 0);
}

// Is a message that has this text one that has the token?
static bool is_only_token(struct tb_span before, struct tb_span behind)
{
    return !memmem(before.ptr, before.len, "hf_secret", 9) &&
           !memmem(behind.ptr, behind.len, "hf_secret", 9);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tb_span text = fuzz_take_file(&data, &size);
    struct tb_span endpoint = fuzz_take_file(&data, &size);
    struct tb_span token = fuzz_take_file(&data, &size);
    char typed[512];
    struct tb_hub_name name;
    struct tb_hub_place place;
    struct tb_hub_access access = {0};
    struct tb_error error = {0};
    answers = (struct tb_span){data, size};
    bool is_secret = is_only_token(
        (struct tb_span){text.ptr, (size_t)(token.ptr - text.ptr)}, answers);
    set_up(endpoint, token);
    (void)snprintf(typed, sizeof(typed), "%.*s",
                   (int)(text.len < 500 ? text.len : 500),
                   (const char *)text.ptr);
    if (tb_hub_name_parse(typed, &name)) {
        tb_status status =
            tb_hub_fetch(&name, &files, &access, &place, NULL, &error);
        FUZZ_CHECK(status == TB_OK ||
                   (error.status == status && error.message[0]));
        FUZZ_CHECK(!is_secret || !strstr(error.message, "hf_secret"));
        if (status == TB_OK)
            check_place(&name, &place);
        (void)nftw(cache, check_file, 8, FTW_PHYS);
    }
    fuzz_clear();
    return 0;
}
