/* What the requests of one download have in common: whom to tell, when to try
 * again, and how a fault is put in words. Private to this layer. */
#ifndef TB_TRANSFER_H
#define TB_TRANSFER_H

#include "buffer.h"
#include "http.h"
#include "hub.h"

struct tb_transfer {
    const struct tb_hub_name *name;
    const struct tb_hub_access *access;
    struct tb_hub_settings settings;
    struct tb_http *http;
    char cache[TB_PATH_SIZE];
    char model[TB_PATH_SIZE]; /* cache/models--org--name */
    struct tb_hub_progress progress;
    struct tb_hub_fetched fetched;
};

/* Tells the caller how far it is; false: stop. */
bool tb_transfer_tell(struct tb_transfer *transfer);

/* Is it a fault that may be gone in a moment: a cut, a time-out, 408, 429 or
 * 5xx? */
bool tb_transfer_is_passing(const struct tb_http_answer *answer);

/* How often a request without any progress is made again. */
enum { TB_TRANSFER_RETRIES = 3 };

/* Waits before the `attempt`-th try (0 is the first repetition): half a
 * second, and twice as long each time, or what the hub asked for.
 * TB_ERR_INTERRUPTED. */
TB_NODISCARD tb_status tb_transfer_pause(struct tb_transfer *transfer,
                                         unsigned attempt,
                                         const struct tb_http_answer *answer,
                                         struct tb_error *error);

/* Asks for `url`, again and again while the fault is a passing one: the header
 * fields alone when `body` is NULL, else all of it into `body`, up to its cap.
 */
TB_NODISCARD tb_status tb_transfer_send(struct tb_transfer *transfer,
                                        const char *url, struct tb_buffer *body,
                                        struct tb_http_answer *answer,
                                        struct tb_error *error);

/* Says in `error` why there is no `file` (or "": no model) in the answer, and
 * what to do; returns the status. */
tb_status tb_transfer_fail(const struct tb_transfer *transfer,
                           const struct tb_http_answer *answer,
                           const char *file, struct tb_error *error);

/* The same for a file in the cache that cannot be written, by errno. */
tb_status tb_transfer_fail_write(const char *path, struct tb_error *error);

#endif
