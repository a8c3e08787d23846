/* All requests of a run as rows of numbers, in order of their sessions' names
 * as they first came, then of plays of the session, then of turns, then of
 * time. Memory is a hundred bytes a request and the names. One thread at a
 * time; zero-initialised is empty. */
#ifndef TB_REQUEST_TABLE_H
#define TB_REQUEST_TABLE_H

#include "line_file.h"
#include "name_table.h"

/* Members as in request_line.h. */
struct tb_replay_request {
    uint32_t session; /* its number in the table's names */
    uint32_t play;    /* number of the conversation */
    uint32_t turn;
    bool is_failed, has_prompt, has_text, has_output, has_cached;
    uint64_t prompt_tokens, text_tokens, output_tokens, cached_tokens;
    double start_ms, end_ms;
};

struct tb_request_table {
    struct tb_name_table sessions, conversations;
    struct tb_replay_request *items;
    size_t count, capacity;
    uint64_t warmup_count; /* left out */
    uint64_t failed_count; /* of the items */
    char fault[256];       /* what the first error says, or "" */
    struct tb_line_losses losses;
};

/* Reads aiperf's profile_export.jsonl; the table is empty before, and may be
 * so afterwards. The statuses of tb_line_file_read. */
TB_NODISCARD tb_status tb_request_table_read(struct tb_request_table *table,
                                             const char *path,
                                             bool (*is_stopping)(void *),
                                             struct tb_error *error);

void tb_request_table_release(struct tb_request_table *table);

#endif
