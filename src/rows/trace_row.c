#include "trace_row.h"

bool tb_trace_row_read(const struct tb_mooncake_record *record,
                       struct tb_trace_row *row)
{
    *row = (struct tb_trace_row){
        .session = tb_mooncake_record_name(record, TB_MOONCAKE_SESSION_ID),
        .agent = tb_mooncake_record_name(record, TB_MOONCAKE_AGENT_TYPE),
        .priority = tb_mooncake_record_name(record, TB_MOONCAKE_PRIORITY),
        .ids = record->ids,
        .id_count = record->id_count,
    };
    row->has_output = tb_mooncake_record_length(
        record, TB_MOONCAKE_OUTPUT_LENGTH, TB_MOONCAKE_OUTPUT_TOKENS,
        &row->output_length);
    row->has_time = tb_mooncake_record_time(
        record, TB_MOONCAKE_TIMESTAMP, TB_MOONCAKE_CREATED_TIME, &row->time_ms);
    row->has_delay = tb_mooncake_record_time(
        record, TB_MOONCAKE_DELAY, TB_MOONCAKE_DELAY_MS, &row->delay_ms);
    return tb_mooncake_record_length(record, TB_MOONCAKE_INPUT_LENGTH,
                                     TB_MOONCAKE_INPUT_TOKENS,
                                     &row->input_length);
}
