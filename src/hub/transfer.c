#include "transfer.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum {
    FIRST_PAUSE_MS = 500,
    LONGEST_PAUSE_MS = 60000,
    SLICE_MS = 100 // between two looks at the caller
};

bool tb_transfer_tell(struct tb_transfer *transfer)
{
    const struct tb_hub_access *access = transfer->access;
    return !access->on_progress ||
           access->on_progress(access->context, &transfer->progress);
}

bool tb_transfer_is_passing(const struct tb_http_answer *answer)
{
    if (answer->fault != TB_HTTP_ANSWERED)
        return answer->fault == TB_HTTP_CUT || answer->fault == TB_HTTP_TIMEOUT;
    return answer->status == 408 || answer->status == 429 ||
           (answer->status >= 500 && answer->status <= 599);
}

tb_status tb_transfer_pause(struct tb_transfer *transfer, unsigned attempt,
                            const struct tb_http_answer *answer,
                            struct tb_error *error)
{
    long left_ms = (long)FIRST_PAUSE_MS << (attempt < 7 ? attempt : 7);
    if (answer->head.retry_after_s)
        left_ms = (long)answer->head.retry_after_s * 1000;
    if (left_ms > LONGEST_PAUSE_MS)
        left_ms = LONGEST_PAUSE_MS;
    transfer->progress.is_waiting = true;
    bool is_wanted = tb_transfer_tell(transfer);
    for (; is_wanted && left_ms > 0; left_ms -= SLICE_MS) {
        struct timespec slice = {.tv_nsec = SLICE_MS * 1000000L};
        (void)nanosleep(&slice, NULL);
        is_wanted = tb_transfer_tell(transfer);
    }
    transfer->progress.is_waiting = false;
    return is_wanted ? TB_OK
                     : tb_fail(error, TB_ERR_INTERRUPTED, "interrupted");
}

struct collection {
    struct tb_transfer *transfer;
    struct tb_buffer *body;
};

static tb_status collect(void *context, const struct tb_http_answer *answer,
                         struct tb_span bytes)
{
    const struct collection *collection = context;
    (void)answer;
    return tb_buffer_append(collection->body, bytes);
}

static bool tell(void *context)
{
    const struct collection *collection = context;
    return tb_transfer_tell(collection->transfer);
}

tb_status tb_transfer_send(struct tb_transfer *transfer, const char *url,
                           struct tb_buffer *body,
                           struct tb_http_answer *answer,
                           struct tb_error *error)
{
    struct collection collection = {.transfer = transfer, .body = body};
    struct tb_http_request request = {
        .url = url,
        .is_head = !body,
        .max_len = body ? body->max_len : 0,
        .on_bytes = body ? collect : NULL,
        .on_wait = tell,
        .context = &collection,
    };
    for (unsigned attempt = 0;; attempt++) {
        if (body)
            tb_buffer_clear(body);
        TB_TRY(tb_http_send(transfer->http, &request, answer, error));
        if (attempt == TB_TRANSFER_RETRIES || !tb_transfer_is_passing(answer))
            return TB_OK;
        TB_TRY(tb_transfer_pause(transfer, attempt, answer, error));
    }
}

/* ---- in words --------------------------------------------------------- */

static tb_status fail_network(const struct tb_transfer *transfer,
                              const struct tb_http_answer *answer,
                              const char *file, struct tb_error *error)
{
    const char *hub = transfer->settings.endpoint;
    const char *why = answer->fault_text;
    switch (answer->fault) {
    case TB_HTTP_NO_HOST:
        return tb_fail(error, TB_ERR_IO,
                       "cannot reach %.100s (%.120s): check the network, the "
                       "proxy (https_proxy) or HF_ENDPOINT",
                       hub, why);
    case TB_HTTP_TIMEOUT:
        return tb_fail(error, TB_ERR_IO,
                       "%.100s does not answer in time (%.120s): try again, or "
                       "give it longer by HF_HUB_DOWNLOAD_TIMEOUT (seconds)",
                       hub, why);
    case TB_HTTP_CUT:
        return tb_fail(error, TB_ERR_IO,
                       "the connection to %.100s was cut (%.120s): try again, "
                       "it goes on where it stopped",
                       hub, why);
    case TB_HTTP_UNTRUSTED:
        return tb_fail(error, TB_ERR_IO,
                       "the certificate of %.100s cannot be trusted (%.120s): "
                       "one of your own is given by SSL_CERT_FILE",
                       hub, why);
    case TB_HTTP_FORBIDDEN:
        return tb_fail(error, TB_ERR_IO,
                       "%.100s leads '%.80s' to an address that is not https",
                       hub, file);
    case TB_HTTP_TOO_LONG:
        return tb_fail(error, TB_ERR_LIMIT,
                       "what %.100s sends for '%.80s' is far too long", hub,
                       file);
    case TB_HTTP_ANSWERED:
    case TB_HTTP_OTHER:
    default:
        return tb_fail(error, TB_ERR_IO, "%.100s: %.150s", hub, why);
    }
}

// What there is to say of the token, without a word of it.
static const char *about_token(const struct tb_transfer *transfer)
{
    if (transfer->settings.is_token_barred)
        return "HF_HUB_DISABLE_IMPLICIT_TOKEN keeps the token from being sent";
    if (!transfer->settings.token[0])
        return "set HF_TOKEN to a token that may read it";
    if (!tb_http_sends_token(transfer->http))
        return "the token is sent over plain http to this machine only";
    return "the token that is set may not read it, or is no longer valid";
}

static tb_status fail_rights(const struct tb_transfer *transfer,
                             const struct tb_http_answer *answer,
                             struct tb_error *error)
{
    const char *repo = transfer->name->repo;
    if (strcmp(answer->head.error_code, "GatedRepo") == 0)
        return tb_fail(error, TB_ERR_NOT_FOUND,
                       "'%.200s' is gated: accept its licence at %.100s/%.200s;"
                       " %s",
                       repo, transfer->settings.endpoint, repo,
                       about_token(transfer));
    if (answer->status == 403)
        return tb_fail(error, TB_ERR_NOT_FOUND,
                       "the hub refuses to give '%.200s' (403): %s", repo,
                       about_token(transfer));
    return tb_fail(error, TB_ERR_NOT_FOUND,
                   "the hub knows no model '%.200s', or it is private (%ld): "
                   "check the name; %s",
                   repo, answer->status, about_token(transfer));
}

static tb_status fail_missing(const struct tb_transfer *transfer,
                              const struct tb_http_answer *answer,
                              const char *file, struct tb_error *error)
{
    const char *code = answer->head.error_code;
    if (strcmp(code, "RevisionNotFound") == 0)
        return tb_fail(error, TB_ERR_NOT_FOUND,
                       "'%.200s' has no revision '%.128s' on the hub (404): "
                       "check what stands behind the @",
                       transfer->name->repo, transfer->name->revision);
    if (*file)
        return tb_fail(error, TB_ERR_NOT_FOUND,
                       "'%.200s' has no file '%.96s' on the hub (404)",
                       transfer->name->repo, file);
    return fail_rights(transfer, answer, error);
}

tb_status tb_transfer_fail(const struct tb_transfer *transfer,
                           const struct tb_http_answer *answer,
                           const char *file, struct tb_error *error)
{
    const char *hub = transfer->settings.endpoint;
    if (answer->fault != TB_HTTP_ANSWERED)
        return fail_network(transfer, answer, file, error);
    if (answer->status == 401 || answer->status == 403)
        return fail_rights(transfer, answer, error);
    if (answer->status == 404)
        return fail_missing(transfer, answer, file, error);
    if (answer->status == 429)
        return tb_fail(error, TB_ERR_IO,
                       "%.100s has had too many requests (429): try again in "
                       "a few minutes, or set HF_TOKEN",
                       hub);
    if (answer->status >= 500)
        return tb_fail(error, TB_ERR_IO,
                       "%.100s is out of order (%ld): try again later", hub,
                       answer->status);
    return tb_fail(error, TB_ERR_IO,
                   "%.100s answers with status %ld, which no hub does: check "
                   "HF_ENDPOINT and the proxy",
                   hub, answer->status);
}

tb_status tb_transfer_fail_write(const char *path, struct tb_error *error)
{
    return tb_fail_errno(error, TB_ERR_IO,
                         "cannot write '%.200s' (make room or give rights "
                         "there, or set HF_HUB_CACHE to another folder)",
                         path);
}
