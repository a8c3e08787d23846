/* A conversion as it is asked for in words: "nat", and behind it options and
 * traces. The words are the program's, and those of who uses the library.
 *
 *     struct tb_convert_request request;
 *     tb_convert_request_init(&request, TB_DIALECT_NAT);
 *     status = tb_convert_request_read(&request, argc, argv, &error);
 *     if (status == TB_OK)
 *         status = tb_convert(&request.options, &stats, &error);
 *     tb_convert_request_release(&request);
 */
#ifndef TB_CONVERT_REQUEST_H
#define TB_CONVERT_REQUEST_H

#include "arena.h"
#include "convert_options.h"

struct tb_convert_request {
    struct tb_convert_arguments arguments; /* as they were given */
    struct tb_convert_options options;     /* what they mean; borrows from the
                                              words and from here */
    struct tb_arena arena;                 /* names that a file lists */
    struct tb_buffer command; /* how a shell would ask for it again */
};

void tb_convert_request_init(struct tb_convert_request *request,
                             tb_dialect_id dialect);

/* Reads the words behind the command's name, which must stay as long as the
 * request. With --help among them nothing else is looked at. TB_ERR_USAGE with
 * what to say instead; the statuses of tb_path_list_read. */
TB_NODISCARD tb_status
tb_convert_request_read(struct tb_convert_request *request, int argc,
                        char *const *argv, struct tb_error *error);

void tb_convert_request_release(struct tb_convert_request *request);

#endif
