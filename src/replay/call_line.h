/* A line of the calls file that the converters write with --calls
 * (docs/FORMATS.md, "Calls"): what was recorded of one call, and what its row
 * asks for. */
#ifndef TB_CALL_LINE_H
#define TB_CALL_LINE_H

#include "call_analysis.h"
#include "json_reader.h"

struct tb_call_line {
    bool has_row;              /* false: it became none; of its row: */
    uint64_t row;              /* line of its row in the rows, from 1 */
    struct tb_span session_id; /* of its row */
    uint64_t turn;             /* from 0 */
    bool has_continued;        /* of a whole prompt: it goes on another row: */
    uint64_t continued_row;    /* ... this, or 0: none */
    uint64_t input_length;     /* as in its row, tokens */
    uint64_t output_length;    /* as in its row, tokens */
    uint64_t prompt_tokens;    /* of the whole prompt */
    bool is_joined;            /* its text is not the chat template's */
    bool has_delay;            /* there is a gap before it: */
    uint64_t delay_ms;
    bool has_timestamp; /* its session begins then: */
    uint64_t timestamp_ms;
    bool has_cached; /* the server said what its cache had of the prompt: */
    uint64_t cached_tokens;
    bool has_usage; /* the server counted the prompt: */
    uint64_t usage_tokens;
    /* also without a row: */
    struct tb_span priority, trace;
    struct tb_span skipped;          /* why there is none */
    struct tb_span recorded_session; /* texts are empty when not recorded */
    struct tb_span agent, model;
    double start_s, first_token_s, end_s; /* NAN: not recorded */
    uint64_t counted_tokens;              /* our count of its prompt */
    bool is_failed, is_tried_again;
};

/* Reads a line; texts borrow from it or from `arena`. TB_ERR_SYNTAX or
 * TB_ERR_CUT: it is not JSON; TB_ERR_TYPE: it is not an object with what a call
 * has. `offset` and `number` (from 1) say in `error` where it stands. */
TB_NODISCARD tb_status tb_call_line_read(struct tb_span line, uint64_t offset,
                                         uint64_t number,
                                         struct tb_arena *arena,
                                         struct tb_call_line *call,
                                         struct tb_error *error);

/* The call as its figures see it; borrows from `call`. */
struct tb_call_record tb_call_line_record(const struct tb_call_line *call);

#endif
