/* HTTP by libcurl, which is loaded when the first request is made and not
 * before: linking it costs every start of the program 5 ms.
 *
 *     TB_TRY(tb_http_new(&settings, &http, error));
 *     struct tb_http_request request = {.url = url, ...};
 *     TB_TRY(tb_http_send(http, &request, &answer, error));
 *     if (answer.fault == TB_HTTP_ANSWERED && answer.status == 200) ...
 *     tb_http_free(http);
 *
 * Certificates are always checked. Addresses are https, unless HF_ENDPOINT
 * itself is http. The token goes to HF_ENDPOINT's own scheme, host and port
 * alone, wherever an answer leads to, and over plain http only to this
 * machine. One thread at a time.
 */
#ifndef TB_HTTP_H
#define TB_HTTP_H

#include "http_head.h"
#include "hub_settings.h"

struct tb_http;

enum { TB_HTTP_URL_SIZE = 4096 };

typedef enum tb_http_fault {
    TB_HTTP_ANSWERED,  /* whole, with whatever status */
    TB_HTTP_NO_HOST,   /* its name is not known, or nobody listens */
    TB_HTTP_TIMEOUT,   /* nothing came for too long */
    TB_HTTP_CUT,       /* the connection ended in the middle */
    TB_HTTP_UNTRUSTED, /* the certificate is not good */
    TB_HTTP_FORBIDDEN, /* it leads to an address that is not https */
    TB_HTTP_TOO_LONG,  /* longer than `max_len` */
    TB_HTTP_OTHER,
} tb_http_fault;

struct tb_http_answer {
    tb_http_fault fault;
    char fault_text[200]; /* in curl's words, or "" */
    long status;          /* 200; 0 when there was none */
    struct tb_http_head head;
    char url[TB_HTTP_URL_SIZE]; /* where it came from in the end; of a 3xx
                                   where it leads to */
    bool is_elsewhere;          /* `url` is not at HF_ENDPOINT */
};

struct tb_http_request {
    const char *url;
    bool is_head;     /* only the header fields; does not leave HF_ENDPOINT once
                         it knows what the file is */
    uint64_t from;    /* first byte that is wanted */
    uint64_t max_len; /* bytes of an answer */
    /* Takes the next bytes of an answer with status 200 or 206, whose fields
     * are in `answer` by now. Any status but TB_OK ends the request. */
    tb_status (*on_bytes)(void *context, const struct tb_http_answer *answer,
                          struct tb_span bytes);
    /* Called at least once a second; false ends the request. */
    bool (*on_wait)(void *context);
    void *context;
};

/* TB_ERR_UNSUPPORTED when there is no libcurl on this machine. */
TB_NODISCARD tb_status tb_http_new(const struct tb_hub_settings *settings,
                                   struct tb_http **http,
                                   struct tb_error *error);

/* Is there a token that goes to HF_ENDPOINT? */
bool tb_http_sends_token(const struct tb_http *http);

/* One request, redirections followed. What the network does is no failure but
 * stands in `answer->fault`. Statuses: those of `on_bytes`,
 * TB_ERR_INTERRUPTED, TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_http_send(struct tb_http *http,
                                    const struct tb_http_request *request,
                                    struct tb_http_answer *answer,
                                    struct tb_error *error);

/* NULL is accepted. */
void tb_http_free(struct tb_http *http);

#endif
