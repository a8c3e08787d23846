/* What is remembered of a session from row to row. */
#ifndef TB_MOONCAKE_SESSION_H
#define TB_MOONCAKE_SESSION_H

#include "mooncake_record.h"
#include "name_table.h"

enum {                         /* kinds of prompts, bits */
       TB_SESSION_LENGTHS = 1, /* made from lengths and ids, or from a text */
       TB_SESSION_MESSAGES = 2,
       TB_SESSION_PAYLOAD = 4
};

/* The beginning of a prompt: its full blocks, by a hash of their ids. */
struct tb_prompt_head {
    uint64_t block_count;
    uint64_t hash;
    uint64_t input_length;
};

struct tb_mooncake_session {
    uint64_t row_count;
    uint32_t number; /* from 1; 0: a row without a session */
    uint32_t recent; /* belongs to id_check.c */
    unsigned kinds;  /* that its rows have */
    bool has_time;
    double time_ms; /* the last row's, when has_time */
    struct tb_prompt_head first, last;
};

/* Sessions by name. One thread at a time; zero-initialised is empty. */
struct tb_mooncake_sessions {
    struct tb_name_table names;
    struct tb_mooncake_session *items;
    size_t capacity;
};

/* The session called `name`, a new one when there is none. Lives until the
 * next call. TB_ERR_MEMORY. */
TB_NODISCARD tb_status tb_mooncake_sessions_find(
    struct tb_mooncake_sessions *sessions, struct tb_span name,
    struct tb_mooncake_session **session);

void tb_mooncake_sessions_release(struct tb_mooncake_sessions *sessions);

/* Does a row begin with all full blocks, one at least, of the session's first
 * or last row, and is it no shorter? Then rows are whole prompts: what a turn
 * adds never begins like what was there before. */
bool tb_mooncake_session_is_extended(const struct tb_mooncake_session *session,
                                     const struct tb_mooncake_record *record,
                                     uint64_t input_length);

/* Keeps the beginning of a row for that. */
void tb_mooncake_session_keep(struct tb_mooncake_session *session,
                              const struct tb_mooncake_record *record,
                              uint64_t input_length, uint64_t block_size);

#endif
