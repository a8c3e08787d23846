/* http.h for a program that cannot load a library: one that is linked
 * statically (-DTB_FETCH=OFF). What is in the cache is used all the same. */
#include <assert.h>

#include "http.h"

tb_status tb_http_new(const struct tb_hub_settings *settings,
                      struct tb_http **http, struct tb_error *error)
{
    (void)settings;
    (void)http;
    return tb_fail(error, TB_ERR_UNSUPPORTED,
                   "downloads need libcurl, which this static program cannot "
                   "load: fetch it with another tracebake or 'hf download'");
}

bool tb_http_sends_token(const struct tb_http *http)
{
    (void)http;
    return false;
}

tb_status tb_http_send(struct tb_http *http,
                       const struct tb_http_request *request,
                       struct tb_http_answer *answer, struct tb_error *error)
{
    (void)http;
    (void)request;
    (void)answer;
    assert(false); // nobody has a tb_http
    return tb_fail(error, TB_ERR_UNSUPPORTED, "no downloads");
}

void tb_http_free(struct tb_http *http)
{
    (void)http;
}
