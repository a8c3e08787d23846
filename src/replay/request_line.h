/* A line of profile_export.jsonl as aiperf 0.13 writes it: what became of one
 * request. */
#ifndef TB_REQUEST_LINE_H
#define TB_REQUEST_LINE_H

#include "json_reader.h"

struct tb_request_line {
    struct tb_span session_id;   /* of the row that was replayed */
    struct tb_span conversation; /* one play of that session; may be empty */
    uint64_t turn;               /* from 0 */
    bool is_warmup;              /* it was not to be measured */
    bool is_failed;              /* it ended in an error, or was cancelled: */
    struct tb_span fault;        /* what the error says; may be empty */
    double start_ms, end_ms;     /* since 1970; a double holds them to less than
                                    a microsecond. NAN: not said */
    bool has_prompt;             /* the server counted the prompt's tokens: */
    uint64_t prompt_tokens;
    bool has_text; /* aiperf counted the texts of the messages: */
    uint64_t text_tokens;
    bool has_output; /* tokens of the answer: the server's count, else aiperf's:
                      */
    uint64_t output_tokens;
    bool has_cached; /* the server said what its cache had: */
    uint64_t cached_tokens;
};

/* Reads a line; texts borrow from it or from `arena`. TB_ERR_SYNTAX or
 * TB_ERR_CUT: it is not JSON; TB_ERR_TYPE: it is not an object with what a
 * request has. `offset` and `number` (from 1) say in `error` where it stands.
 */
TB_NODISCARD tb_status tb_request_line_read(struct tb_span line,
                                            uint64_t offset, uint64_t number,
                                            struct tb_arena *arena,
                                            struct tb_request_line *request,
                                            struct tb_error *error);

#endif
