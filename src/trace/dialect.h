/* What a trace dialect has to offer. Private to this layer: trace.c looks the
 * dialect up in a table and hands on. */
#ifndef TB_DIALECT_H
#define TB_DIALECT_H

#include "trace.h"

struct tb_dialect {
    /* As the functions of trace.h. `state` is the dialect's own; close
     * accepts what open left behind when it failed (NULL). */
    tb_status (*open)(const struct tb_trace_options *options,
                      struct tb_input *input, void **state,
                      struct tb_error *error);
    tb_status (*next)(void *state, struct tb_trace_event *event,
                      struct tb_error *error);
    struct tb_trace_counts (*counts)(const void *state);
    void (*close)(void *state);
    /* `part` is empty, with unknown times. `error` is not NULL. */
    tb_status (*parse)(const struct tb_trace_parser *parser,
                       struct tb_span json, uint64_t offset, uint64_t line,
                       struct tb_arena *arena, struct tb_part *part,
                       struct tb_error *error);
    tb_status (*peek_model)(struct tb_span json, struct tb_arena *arena,
                            struct tb_span *model);
};

extern const struct tb_dialect tb_dialect_nat;
extern const struct tb_dialect tb_dialect_telemetry;

/* Is it about the content of a trace, so that it costs a record and not the
 * run? */
bool tb_dialect_is_loss(tb_status status, tb_loss *loss);

/* Makes `event` a loss with what is in `error`. */
void tb_dialect_make_loss(struct tb_trace_event *event, tb_loss loss,
                          const struct tb_error *error,
                          const struct tb_input *input);

#endif
