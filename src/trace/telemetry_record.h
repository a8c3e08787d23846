/* One llm_call of a telemetry trace to a call. Private to this layer. */
#ifndef TB_TELEMETRY_RECORD_H
#define TB_TELEMETRY_RECORD_H

#include "trace.h"

/* See struct tb_dialect. */
TB_NODISCARD tb_status tb_telemetry_record_parse(
    const struct tb_trace_parser *parser, struct tb_span json, uint64_t offset,
    uint64_t line, struct tb_arena *arena, struct tb_part *part,
    struct tb_error *error);
TB_NODISCARD tb_status tb_telemetry_record_peek_model(struct tb_span json,
                                                      struct tb_arena *arena,
                                                      struct tb_span *model);

#endif
