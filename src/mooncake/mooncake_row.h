/* One row of mooncake JSONL, and its writer.
 *
 * A row is one call: how long its prompt and answer are, and which blocks of
 * `block_size` tokens the prompt is made of, or its messages. Fields in the
 * order of
 * docs/FORMATS.md; equal byte for byte to Python's json.dumps of that dict.
 */
#ifndef TB_MOONCAKE_ROW_H
#define TB_MOONCAKE_ROW_H

#include "buffer.h"

struct tb_mooncake_row {
    struct tb_span session_id;
    bool has_agent_type; /* telemetry: agent_type stands second, */
    struct tb_span agent_type;
    struct tb_span messages; /* JSON list: the prompt as it was sent, instead
                                of its length and ids; or no ptr */
    struct tb_span tools;    /* JSON list beside it; or empty */
    uint64_t input_length;   /* tokens */
    uint64_t output_length;  /* tokens */
    const uint64_t *hash_ids;
    size_t hash_id_count;
    bool has_priority; /* ... and priority after hash_ids */
    bool is_priority_null;
    bool is_priority_number; /* as the number that tb_priority_number says */
    struct tb_span priority;
    bool has_timestamp;
    uint64_t timestamp_ms;
    bool has_delay;
    uint64_t delay_ms;
    bool has_exact_output; /* `extra` asks the server for just that many */
    bool has_labels;       /* ... and carries agent_type and priority to it */
    struct tb_span parent_session_id; /* that it branched off; or empty */
};

/* A priority's name (any case) as a number, the more urgent the larger: LOW 0,
 * MEDIUM 1, HIGH 2, CRITICAL 3; any other name as MEDIUM. For consumers who
 * know numbers only. */
unsigned tb_priority_number(struct tb_span priority);

/* Appends ids as the list they are in a row. TB_ERR_MEMORY, TB_ERR_LIMIT. */
TB_NODISCARD tb_status tb_mooncake_ids_write(const uint64_t *ids, size_t count,
                                             struct tb_buffer *buffer);

/* Appends the row and a newline. All of it or nothing. */
TB_NODISCARD tb_status tb_mooncake_row_write(const struct tb_mooncake_row *row,
                                             struct tb_buffer *buffer);

#endif
