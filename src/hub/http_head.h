/* The header fields of an answer that a download looks at, one line after the
 * other as they arrive. Untrusted: what becomes part of a path is kept only
 * when it cannot lead anywhere else. */
#ifndef TB_HTTP_HEAD_H
#define TB_HTTP_HEAD_H

#include "status.h"

#define TB_HTTP_NO_LEN UINT64_MAX

/* An ETag without its quotes, or ""; `is_bad`: there was one, and it cannot
 * be a file's name. */
struct tb_http_etag {
    char text[128];
    bool is_bad;
};

struct tb_http_head {
    struct tb_http_etag etag;        /* ETag */
    struct tb_http_etag linked_etag; /* X-Linked-Etag: of what it leads to */
    struct tb_http_etag commit;      /* X-Repo-Commit; 40 hex digits */
    char error_code[32];             /* X-Error-Code */
    uint64_t content_len;            /* Content-Length, or TB_HTTP_NO_LEN */
    uint64_t linked_len;             /* X-Linked-Size */
    uint64_t range_start;            /* Content-Range */
    uint64_t range_total;
    unsigned retry_after_s; /* Retry-After, or 0 */
};

/* No field is there yet. */
struct tb_http_head tb_http_head_none(void);

/* Takes a line with or without its line break. A status line begins a new
 * answer and forgets what was there. */
void tb_http_head_add(struct tb_http_head *head, struct tb_span line);

#endif
