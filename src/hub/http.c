#include "http.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "memory.h"

enum { REDIRECTS_MAX = 8, FIELD_SIZE = 320 };

/* The functions that are used, as curl.h declares them. */
struct library {
    __typeof__(curl_global_init) *global_init;
    __typeof__(curl_easy_init) *easy_init;
    __typeof__(curl_easy_setopt) *easy_setopt;
    __typeof__(curl_easy_perform) *easy_perform;
    __typeof__(curl_easy_getinfo) *easy_getinfo;
    __typeof__(curl_easy_strerror) *easy_strerror;
    __typeof__(curl_easy_cleanup) *easy_cleanup;
    __typeof__(curl_slist_append) *slist_append;
    __typeof__(curl_slist_free_all) *slist_free_all;
    __typeof__(curl_url) *url;
    __typeof__(curl_url_set) *url_set;
    __typeof__(curl_url_get) *url_get;
    __typeof__(curl_url_cleanup) *url_cleanup;
    __typeof__(curl_free) *free_text;
};

/* Scheme, host and port: who gets the token. */
struct origin {
    char scheme[8], host[256], port[8];
};

struct tb_http {
    struct library curl;
    CURL *handle;
    struct tb_hub_settings settings;
    struct origin home; /* of HF_ENDPOINT */
    char curl_text[CURL_ERROR_SIZE];
};

/* One request while it is under way. */
struct exchange {
    struct tb_http *http;
    const struct tb_http_request *request;
    struct tb_http_answer *answer;
    tb_status status; /* of the caller's functions */
    uint64_t len;     /* bytes that came */
};

/* ---- the library ------------------------------------------------------ */

static void *open_library(void)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4",
                                        "libcurl.4.dylib"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

static bool load_library(struct library *curl)
{
    const struct {
        const char *name;
        void *slot;
    } functions[] = {
        {"curl_global_init", &curl->global_init},
        {"curl_easy_init", &curl->easy_init},
        {"curl_easy_setopt", &curl->easy_setopt},
        {"curl_easy_perform", &curl->easy_perform},
        {"curl_easy_getinfo", &curl->easy_getinfo},
        {"curl_easy_strerror", &curl->easy_strerror},
        {"curl_easy_cleanup", &curl->easy_cleanup},
        {"curl_slist_append", &curl->slist_append},
        {"curl_slist_free_all", &curl->slist_free_all},
        {"curl_url", &curl->url},
        {"curl_url_set", &curl->url_set},
        {"curl_url_get", &curl->url_get},
        {"curl_url_cleanup", &curl->url_cleanup},
        {"curl_free", &curl->free_text},
    };
    // Stays open: what TLS libraries leave behind points into it.
    void *library = open_library();
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *symbol = library ? dlsym(library, functions[i].name) : NULL;
        if (!symbol)
            return false;
        // ISO C has no cast from an object's pointer to a function's.
        memcpy(functions[i].slot, &symbol, sizeof(symbol));
    }
    return true;
}

/* ---- addresses -------------------------------------------------------- */

static bool read_part(const struct library *curl, CURLU *url, CURLUPart part,
                      char *text, size_t size)
{
    char *found = NULL;
    if (curl->url_get(url, part, &found, CURLU_DEFAULT_PORT) != CURLUE_OK)
        return false;
    int len = snprintf(text, size, "%s", found);
    curl->free_text(found);
    return len >= 0 && (size_t)len < size;
}

static bool read_origin(const struct library *curl, const char *address,
                        struct origin *origin)
{
    CURLU *url = curl->url();
    bool is_good = url &&
                   curl->url_set(url, CURLUPART_URL, address, 0) == CURLUE_OK &&
                   read_part(curl, url, CURLUPART_SCHEME, origin->scheme,
                             sizeof(origin->scheme)) &&
                   read_part(curl, url, CURLUPART_HOST, origin->host,
                             sizeof(origin->host)) &&
                   read_part(curl, url, CURLUPART_PORT, origin->port,
                             sizeof(origin->port));
    curl->url_cleanup(url);
    return is_good;
}

static bool is_same_origin(const struct origin *a, const struct origin *b)
{
    return strcasecmp(a->scheme, b->scheme) == 0 &&
           strcasecmp(a->host, b->host) == 0 && strcmp(a->port, b->port) == 0;
}

static bool is_https(const struct origin *origin)
{
    return strcasecmp(origin->scheme, "https") == 0;
}

static bool is_this_machine(const struct origin *origin)
{
    return strcmp(origin->host, "localhost") == 0 ||
           strncmp(origin->host, "127.", 4) == 0 ||
           strcmp(origin->host, "[::1]") == 0;
}

// Plain http is for who asked for it by HF_ENDPOINT.
static bool is_allowed(const struct tb_http *http, const struct origin *origin)
{
    return is_https(origin) ||
           (!is_https(&http->home) && strcasecmp(origin->scheme, "http") == 0);
}

static bool is_token_due(const struct tb_http *http,
                         const struct origin *origin)
{
    return http->settings.token[0] && is_same_origin(origin, &http->home) &&
           (is_https(origin) || is_this_machine(origin));
}

bool tb_http_sends_token(const struct tb_http *http)
{
    return is_token_due(http, &http->home);
}

/* ---- what curl calls -------------------------------------------------- */

static size_t on_field(char *bytes, size_t size, size_t count, void *context)
{
    struct exchange *exchange = context;
    struct tb_span line = {(const uint8_t *)bytes, size * count};
    tb_http_head_add(&exchange->answer->head, line);
    return size * count;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
    struct exchange *exchange = context;
    struct tb_http_answer *answer = exchange->answer;
    const struct tb_http_request *request = exchange->request;
    size_t len = size * count;
    (void)exchange->http->curl.easy_getinfo(
        exchange->http->handle, CURLINFO_RESPONSE_CODE, &answer->status);
    exchange->len += len;
    if (exchange->len > request->max_len) {
        answer->fault = TB_HTTP_TOO_LONG;
        return 0;
    }
    bool is_content = answer->status == 200 || answer->status == 206;
    if (!is_content || !request->on_bytes)
        return len;
    exchange->status = request->on_bytes(
        request->context, answer, (struct tb_span){(uint8_t *)bytes, len});
    return exchange->status == TB_OK ? len : 0;
}

static int on_wait(void *context, curl_off_t total, curl_off_t now,
                   curl_off_t up_total, curl_off_t up_now)
{
    struct exchange *exchange = context;
    const struct tb_http_request *request = exchange->request;
    (void)total, (void)now, (void)up_total, (void)up_now;
    if (!request->on_wait || request->on_wait(request->context))
        return 0;
    exchange->status = TB_ERR_INTERRUPTED;
    return 1;
}

/* ---- one request ------------------------------------------------------ */

static bool set_callbacks(struct exchange *exchange)
{
    const struct library *curl = &exchange->http->curl;
    CURL *handle = exchange->http->handle;
    return !curl->easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_field) &&
           !curl->easy_setopt(handle, CURLOPT_HEADERDATA, exchange) &&
           !curl->easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body) &&
           !curl->easy_setopt(handle, CURLOPT_WRITEDATA, exchange) &&
           !curl->easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, on_wait) &&
           !curl->easy_setopt(handle, CURLOPT_XFERINFODATA, exchange) &&
           !curl->easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
}

static bool set_request(struct exchange *exchange, const char *url,
                        struct curl_slist *fields)
{
    const struct library *curl = &exchange->http->curl;
    const struct tb_http_request *request = exchange->request;
    CURL *handle = exchange->http->handle;
    char range[32];
    (void)snprintf(range, sizeof(range), "%llu-",
                   (unsigned long long)request->from);
    return !curl->easy_setopt(handle, CURLOPT_URL, url) &&
           !curl->easy_setopt(handle, CURLOPT_HTTPHEADER, fields) &&
           !curl->easy_setopt(handle, CURLOPT_NOBODY,
                              request->is_head ? 1L : 0L) &&
           !curl->easy_setopt(handle, CURLOPT_RANGE,
                              request->from ? range : NULL);
}

static tb_http_fault fault_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return TB_HTTP_ANSWERED;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
        return TB_HTTP_NO_HOST;
    case CURLE_OPERATION_TIMEDOUT:
        return TB_HTTP_TIMEOUT;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return TB_HTTP_CUT;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
        return TB_HTTP_UNTRUSTED;
    default:
        return TB_HTTP_OTHER;
    }
}

static struct curl_slist *make_fields(const struct tb_http *http,
                                      const struct origin *origin)
{
    const struct library *curl = &http->curl;
    char field[FIELD_SIZE];
    // The size of what is stored is wanted, not of a compressed form.
    struct curl_slist *fields =
        curl->slist_append(NULL, "Accept-Encoding: identity");
    if (!fields || !is_token_due(http, origin))
        return fields;
    (void)snprintf(field, sizeof(field), "Authorization: Bearer %s",
                   http->settings.token);
    struct curl_slist *all = curl->slist_append(fields, field);
    if (!all)
        curl->slist_free_all(fields);
    return all;
}

static tb_status perform(struct exchange *exchange, const char *url,
                         const struct origin *origin)
{
    struct tb_http *http = exchange->http;
    struct tb_http_answer *answer = exchange->answer;
    struct curl_slist *fields = make_fields(http, origin);
    if (!fields)
        return TB_ERR_MEMORY;
    http->curl_text[0] = '\0';
    CURLcode code = CURLE_OUT_OF_MEMORY;
    if (set_callbacks(exchange) && set_request(exchange, url, fields))
        code = http->curl.easy_perform(http->handle);
    http->curl.slist_free_all(fields);
    if (code == CURLE_OUT_OF_MEMORY)
        return TB_ERR_MEMORY;
    (void)http->curl.easy_getinfo(http->handle, CURLINFO_RESPONSE_CODE,
                                  &answer->status);
    if (answer->fault == TB_HTTP_ANSWERED)
        answer->fault = fault_of(code);
    if (code != CURLE_OK)
        (void)snprintf(answer->fault_text, sizeof(answer->fault_text), "%.199s",
                       http->curl_text[0] ? http->curl_text
                                          : http->curl.easy_strerror(code));
    return exchange->status;
}

/* Where a redirection leads to, or "". */
static void read_target(struct exchange *exchange)
{
    struct tb_http_answer *answer = exchange->answer;
    char *target = NULL;
    answer->url[0] = '\0';
    (void)exchange->http->curl.easy_getinfo(exchange->http->handle,
                                            CURLINFO_REDIRECT_URL, &target);
    if (target && strlen(target) < sizeof(answer->url))
        memcpy(answer->url, target, strlen(target) + 1);
}

static bool is_redirect(const struct tb_http_answer *answer)
{
    return answer->fault == TB_HTTP_ANSWERED && answer->status / 100 == 3 &&
           answer->status != 304;
}

// Does the hub say here what the file is, so that it need not be fetched?
static bool is_known(const struct tb_http_answer *answer)
{
    return answer->head.linked_etag.text[0] || answer->head.linked_etag.is_bad;
}

static tb_status follow(struct exchange *exchange)
{
    const struct tb_http *http = exchange->http;
    struct tb_http_answer *answer = exchange->answer;
    for (int i = 0; i <= REDIRECTS_MAX; i++) {
        struct origin origin = {0};
        char url[TB_HTTP_URL_SIZE];
        memcpy(url, answer->url, sizeof(url));
        if (!read_origin(&http->curl, url, &origin) ||
            !is_allowed(http, &origin)) {
            answer->fault = TB_HTTP_FORBIDDEN;
            return TB_OK;
        }
        answer->is_elsewhere = !is_same_origin(&origin, &http->home);
        if (i > 0 && exchange->request->is_head && answer->is_elsewhere &&
            is_known(answer))
            return TB_OK;
        exchange->len = 0;
        TB_TRY(perform(exchange, url, &origin));
        if (!is_redirect(answer))
            return TB_OK;
        read_target(exchange);
        if (answer->url[0] == '\0') {
            answer->fault = TB_HTTP_OTHER;
            (void)snprintf(answer->fault_text, sizeof(answer->fault_text),
                           "a redirection without a usable address");
            return TB_OK;
        }
    }
    answer->fault = TB_HTTP_OTHER;
    (void)snprintf(answer->fault_text, sizeof(answer->fault_text),
                   "too many redirections");
    return TB_OK;
}

tb_status tb_http_send(struct tb_http *http,
                       const struct tb_http_request *request,
                       struct tb_http_answer *answer, struct tb_error *error)
{
    struct exchange exchange = {
        .http = http, .request = request, .answer = answer};
    *answer = (struct tb_http_answer){.head = tb_http_head_none()};
    size_t len = strlen(request->url);
    if (len >= sizeof(answer->url))
        return tb_fail(error, TB_ERR_LIMIT, "an address is too long");
    memcpy(answer->url, request->url, len + 1);
    tb_status status = follow(&exchange);
    if (status == TB_ERR_INTERRUPTED)
        return tb_fail(error, status, "interrupted");
    if (status == TB_ERR_MEMORY)
        return tb_fail(error, status, "out of memory");
    return status;
}

/* ---- the handle ------------------------------------------------------- */

/* Certificates of one's own, as a company's proxy needs them: by the variable
 * of OpenSSL, or those of Python's libraries. */
static const char *certificates(void)
{
    static const char *const names[] = {"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE",
                                        "CURL_CA_BUNDLE"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *path = getenv(names[i]);
        if (path && *path)
            return path;
    }
    return NULL;
}

static bool set_always(struct tb_http *http)
{
    const struct library *curl = &http->curl;
    const struct tb_hub_settings *settings = &http->settings;
    CURL *handle = http->handle;
    const char *path = certificates();
    return !curl->easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L) &&
           !curl->easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L) &&
           (!path || !curl->easy_setopt(handle, CURLOPT_CAINFO, path)) &&
           !curl->easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L) &&
           !curl->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L) &&
           !curl->easy_setopt(handle, CURLOPT_USERAGENT, "tracebake") &&
           !curl->easy_setopt(handle, CURLOPT_ERRORBUFFER, http->curl_text) &&
           !curl->easy_setopt(handle, CURLOPT_CONNECTTIMEOUT,
                              (long)settings->connect_s) &&
           !curl->easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L) &&
           !curl->easy_setopt(handle, CURLOPT_LOW_SPEED_TIME,
                              (long)settings->stall_s);
}

static tb_status open_handle(struct tb_http *http, struct tb_error *error)
{
    if (!load_library(&http->curl))
        return tb_fail(error, TB_ERR_UNSUPPORTED,
                       "downloads need libcurl, and this machine has no "
                       "libcurl.so.4 (Debian: apt install libcurl4)");
    if (http->curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
        http->handle = http->curl.easy_init();
    if (!http->handle || !set_always(http))
        return tb_fail(error, TB_ERR_MEMORY, "libcurl does not start");
    if (!read_origin(&http->curl, http->settings.endpoint, &http->home))
        return tb_fail(error, TB_ERR_VALUE,
                       "HF_ENDPOINT is no address: '%.100s'",
                       http->settings.endpoint);
    return TB_OK;
}

tb_status tb_http_new(const struct tb_hub_settings *settings,
                      struct tb_http **http, struct tb_error *error)
{
    struct tb_http *made = tb_memory_zeroed(1, sizeof(*made));
    if (!made)
        return tb_fail(error, TB_ERR_MEMORY, "out of memory");
    made->settings = *settings;
    tb_status status = open_handle(made, error);
    if (status != TB_OK) {
        tb_http_free(made);
        return status;
    }
    *http = made;
    return TB_OK;
}

void tb_http_free(struct tb_http *http)
{
    if (!http)
        return;
    if (http->handle)
        http->curl.easy_cleanup(http->handle);
    tb_memory_free(http);
}
