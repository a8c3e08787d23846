/* All calls of a calls file as rows of numbers, in order of their sessions'
 * names as they first came, then of turns. Memory is a hundred bytes a call and
 * the names of the sessions. One thread at a time; zero-initialised is empty.
 */
#ifndef TB_CALL_TABLE_H
#define TB_CALL_TABLE_H

#include "line_file.h"
#include "name_table.h"

/* Members as in call_line.h. */
struct tb_replay_call {
    uint32_t session; /* its number in the table's names */
    uint32_t turn;
    uint64_t row;
    uint64_t input_length, output_length, prompt_tokens;
    uint64_t delay_ms, timestamp_ms, cached_tokens, usage_tokens;
    uint64_t text_tokens; /* of the conversation up to here, as rows of
                             increments make it: all input lengths, and the
                             output lengths before */
    bool has_delay, has_timestamp, has_cached, has_usage, is_joined;
};

struct tb_call_table {
    struct tb_name_table sessions;
    struct tb_replay_call *items;
    size_t count, capacity;
    uint64_t skipped_count; /* calls that became no row */
    struct tb_line_losses losses;
};

/* Reads the file that --calls wrote; the table is empty before. The statuses of
 * tb_line_file_read; TB_ERR_EMPTY when no line of it is a call with a row. */
TB_NODISCARD tb_status tb_call_table_read(struct tb_call_table *table,
                                          const char *path,
                                          bool (*is_stopping)(void *),
                                          struct tb_error *error);

/* The number of a session's call in `items`; SIZE_MAX when there is none. Of
 * two with the same turn it is the one with the earlier row. */
size_t tb_call_table_find(const struct tb_call_table *table,
                          struct tb_span session_id, uint32_t turn);

void tb_call_table_release(struct tb_call_table *table);

#endif
